// What the page of a running node shows, as values: names, words and numbers, not yet HTML.
//
// Texts may contain any bytes of peers; page_html.h escapes them.
//
// Thread safety: plain values and pure functions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "node/cli/terminal/member_names.h"
#include "node/host/report/figures.h"
#include "node/host/report/node_status.h"
#include "node/host/report/run_history.h"
#include "node/protocol/ground/manifest.h"

namespace ostraka::cli {

// What does not change during a run.
struct PageRun {
  std::shared_ptr<const protocol::Manifest> manifest;  // REQUIRES: not null
  MemberNames names;
  bool unprotected = false;
};

struct PagePeer {
  std::string id;    // all digits
  std::string name;  // empty: it has none
  bool operator==(const PagePeer&) const = default;
};

enum class Mood : std::uint8_t { kGood, kWaits, kBad };

// The state of the run in one line. `headline` has no numbers that change by themselves, so that
// a screen reader says it only when something has happened.
struct PageNews {
  Mood mood = Mood::kGood;
  std::string headline;
  std::string detail;
};

struct PageProgress {
  std::uint64_t step = 0;  // in progress; after the end, the number of steps done
  std::uint64_t steps = 0;
  std::string phase;
  double seconds_in_phase = 0;
  std::optional<double> seconds_per_step;
  std::optional<double> seconds_left;
};

struct PageLearning {
  std::string metric;  // empty before the first evaluation
  std::vector<host::CurvePoint> points;
  std::optional<host::Figures::OwnBatch> batch = std::nullopt;
  // The curve begins after this step, and the run before: the ledger keeps no older evaluation.
  std::optional<std::uint64_t> begins_late = std::nullopt;
};

// Messages of one kind that the node waits for.
struct PageAwaited {
  std::string message;
  struct Author {
    PagePeer peer;
    bool linked = false;  // or its messages are carried
  };
  std::vector<Author> authors;
};

enum class MemberState : std::uint8_t {
  kReady,    // linked, and the run has not begun
  kTrains,   // computes a gradient and aggregates a part
  kChecks,   // recomputes a gradient as a validator
  kOnTrial,  // party of an open case: it has no role until the case is judged
  kAsleep,   // linked and silent: the run has waited for its messages for seconds
  kAway,     // without a path to this node; or this node itself, out of the run for now
  kLeaving,  // said that it leaves: it has no role any more
  kLeft,     // gone by its own word, may return
  kDropped,  // removed, may return
  kBanned,   // removed for ever
};
const char* MemberStateName(MemberState state);  // ready, trains, checks, on trial, away, ...

struct PageMember {
  PagePeer peer;
  bool self = false;
  MemberState state = MemberState::kReady;
  bool only_dials = false;  // it declares that it cannot be dialed
  bool carried = false;     // without a link: its messages come by way of others
  std::string address;      // where it is dialed first; empty: nowhere
  bool returned = false;    // was dropped, and is a member again
  bool asks = false;        // is dropped, and asks to return
  std::optional<std::uint64_t> may_return = {};  // it is out, and may not ask before this step
  std::optional<PagePeer> vouched = {};          // the moderator whose invite let it in
  std::uint64_t samples = 0;                     // verified: page_data.cpp
  double share = 0;                              // of all members' verified samples
  std::uint64_t checked = 0;                     // RunHistory, H2
  std::uint64_t checks = 0;                      // likewise
  std::uint64_t late_ms = 0;  // for which it delayed the others and that is not forgiven yet
  std::uint64_t sent = 0;     // bytes from this node to it
  std::uint64_t received = 0;
};

// The door of the run: its policy, its seats, and the keys that ask to come in.
struct PageDoor {
  std::string policy;  // as in JSON
  std::size_t seats = 0;
  std::size_t members = 0;
  std::size_t kept = 0;
  std::uint32_t bears = 0;
  struct Moderator {
    PagePeer peer;
    std::uint32_t admitted = 0;
    std::uint32_t quota = 0;
    bool revoked = false;
  };
  std::vector<Moderator> moderators;
  struct Asking {
    PagePeer peer;
    std::uint64_t blocks = 0;
    std::uint64_t needed = 0;
    std::optional<PagePeer> moderator = {};
  };
  std::vector<Asking> asking;
};

struct PageProof {
  std::string id;    // of the file, all digits
  std::string text;  // "equivocation, 2 signed messages"
};

struct PageVotes {
  std::vector<PagePeer> against;  // the removed member
  std::vector<PagePeer> in_favour;
  std::uint32_t voters = 0;  // who could vote
};

struct PageRemoval {
  PagePeer peer;
  std::uint64_t step = 0;
  bool ban = false;  // else a drop
  std::string kind;  // as in JSON
  bool seen = true;  // else `step` of a ban and `kind` are not known
  std::string reason;
  std::optional<std::uint64_t> returned;  // the step
  std::optional<PageVotes> votes;         // known to this process
  std::vector<PageProof> proofs;
};

// Mean seconds of a recent step.
struct PagePrice {
  double compute = 0;
  double aggregate = 0;
  double agree = 0;
  double Whole() const { return compute + aggregate + agree; }
};

struct PageLeaders {
  std::vector<std::size_t> places;  // indices of members, most verified samples first
  std::uint64_t from = 0;           // the first step of which samples are counted
};

// The node that serves the page.
struct PageNode {
  PagePeer peer;
  double uptime_seconds = 0;
  std::uint64_t rss_bytes = 0;
  std::string unread;  // why what its ledger had kept is missing here; empty if it is not
  std::vector<std::string> dialed;  // whether members could dial it: a line each
  std::string advice;               // what to open if they could not; else empty
};

struct PageData {
  std::string run_id;
  std::string run_name;
  std::string model;
  std::string data;
  bool unprotected = false;
  PageNode self;
  bool ended = false;
  PageNews news;
  PageProgress progress;
  PageLearning learning;
  std::vector<PageAwaited> awaited;  // in the order in which the machine names them
  std::vector<PageMember> members;   // this node, then by name and id
  PageLeaders leaders;
  std::uint64_t late_allowed_ms = 0;  // beyond it a member is dropped; 0: unknown
  std::vector<PageRemoval> removals;  // the newest first
  std::optional<PagePrice> price;
  std::vector<host::StepSpan> spans;
  std::optional<host::SealedRoot> root;
  std::optional<PageDoor> door;
};

PageData PageDataOf(const PageRun& run, const host::NodeStatus& status,
                    const host::RunHistory& history);

}  // namespace ostraka::cli
