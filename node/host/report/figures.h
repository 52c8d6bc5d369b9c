// What a node is in its run, and the numbers of it that people are told: each is derived here,
// once. The status, the page, the line of the terminal and the metrics show these, so they agree in
// every state.
//
// Thread safety: plain values and pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "node/host/report/node_status.h"

namespace ostraka::host {

// This node's place in the run, by the newest block that it has.
enum class Place : std::uint8_t {
  kMeeting,    // a member of a run that has not begun
  kComing,     // a newcomer: the run does not know its key yet
  kMember,     // takes part
  kLeaving,    // a member that has said that it leaves
  kFollowing,  // out of the run for now: it follows, and asks to return as soon as it may
  kBarred,     // out of the run, and may not ask before a certain step
  kEnded,      // this node's run is over
};
const char* PlaceName(Place place);  // as in JSON: meeting, coming, member, ...

struct Figures {
  Place place = Place::kMeeting;
  bool member = false;      // by the newest block; before the first, by the manifest
  std::size_t members = 0;  // likewise
  std::uint64_t step = 0;   // in progress; after the end, the number of steps done
  std::uint64_t steps = 0;  // of the plan
  std::optional<base::Duration> step_takes;  // mean of the last 16; nullopt before the first
  std::optional<base::Duration> left;  // at that pace; nullopt before the first and after the end

  // On this node's own batch of `step`, before that step's update. None while it is out of the run:
  // the last one says nothing of the run as it is.
  struct OwnBatch {
    double loss = 0;
    std::uint64_t step = 0;
  };
  std::optional<OwnBatch> batch;

  // Of a node that is out of the run (kFollowing, kBarred).
  struct Absence {
    std::optional<std::uint64_t> since;       // the step in which it was dropped or left, if known
    std::string reason;                       // one line; may be empty
    std::optional<std::uint64_t> may_return;  // kBarred: it may ask from this step on
    std::optional<double> seconds;            // kBarred: until then, at the pace of late
  };
  std::optional<Absence> absence;
};
Figures FiguresOf(const NodeStatus& status, std::uint64_t steps);

// Of a key that is no member: whether it went by its own word, and was not dropped.
bool HasLeft(const wire::Standing& standing);

// Keys that are out of the run after `block`, by key.
struct Outside {
  std::vector<base::PeerId> banned;
  std::vector<base::PeerId> dropped;  // may return
  std::vector<base::PeerId> left;     // likewise
};
Outside OutsideOf(const wire::Block& block);

// The removals that people are told, in the order sealed: those of the history, and those that
// `newest` states and the history has not seen (of a node that was away then). Of the latter the
// step of a ban and the reason are not known. `newest` may be null.
std::vector<PastRemoval> RemovalsAsOf(const RunHistory& history, const wire::Block* newest);

}  // namespace ostraka::host
