// LateWatch measures, for one member, how late messages of the others come in one seal of a step.
// The member states the findings in PROOF::late_ms; node/protocol/rules/lateness.h says what
// follows from them.
//
// The bar: a message is due one grace after what it waits for, and no later than the seal's
// deadline.
//   seal A  COMMIT, PART  the opening + grace
//           AGG           that + grace
//   seal B  REVEAL        the opening + 3/2 Delta (no work; openings lie within a Delta)
//   seal C  RESULT        the opening + grace
//           PROOF         the later of the opening and the last RESULT here, + grace + what its
//                         author gets for recomputing (node/protocol/rules/recomputing.h)
//   grace = max(4 q, patience) + 3 Delta
// q is the time that the quickest members took, measured here and never stated by any member:
//   seal A  until COMMITs of more than half of the workers were held; at the owner of a column also
//           their PARTs (so only owners judge PARTs and AGGs)
//   seal C  RESULTs: until all but `fault_bound` of them were held; PROOFs: of `quorum` members,
//           counted from the last RESULT here
//
// Late is the time from the bar to the message or the own ECHO, whichever comes first. If there is
// any and the seal is slow, it counts to the decision. Attack: a REVEAL shown to one member just
// before the deadline made each seal B slow, and was in time. An AGG is excepted: its owner may
// have waited for a part, and the excuse for that does not grow with the seal (lateness.h).
//
// Rationale:
// - Members without work commit at once, so their COMMITs measure nothing. [With COMMITs of any
//   quorum, five validators, five liars and an accuser among sixteen members set a bar of 4 s for
//   gradients of 9 s.]
// - COMMITs, not AGGs, set the first bar. Attack: with q until AGGs of a quorum were held, a part
//   kept back from all owners moved the bar itself. A seal waits for its slowest member, so only
//   the first messages of a phase measure anything.
// - A PROOF that waits for RESULTs is due after them: the members that owe these pay.
// - An owner names the worker that it waited for, and is excused by that worker's figure
//   (lateness.h). Attack: with AGGs due a grace after the last COMMIT the waiting was counted
//   twice, and friends of a late worker had its lateness for free.
//
// Promises [C: CHECKed]:
//   L1  Each expected message is either lacking or held, and is held once. [C]
//   L2  Arrivals of a kind ascend in time, and are never more than are expected. [C]
//   L3  If this machine stood still (OnTimer), no member is late.
//
// May not know: messages, signatures, the rules.
//
// Memory: one record for each expected message.
//
// What an attacker can do here: be quick, which lowers q to what the fastest honest member
// needs and no further; or be slow, which moves no bar, as honest members alone suffice for each q.
//
// Thread safety: none; one owner.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "crypto/hash_into.h"
#include "node/base/time.h"

namespace ostraka::protocol {

enum class DueMessage : std::uint8_t {
  kCommit,        // of a worker
  kIdleCommit,    // of another member
  kPart,          // for the own column
  kDisputedPart,  // sent to all members
  kAggregate,
  kReveal,
  kResult,
  kProof,
};
inline constexpr std::size_t kDueMessages = 8;

// How late one member was, in ms. AGGs have their own figure: an owner may have waited for a part,
// while nothing excuses a member's other messages. Attack: with one figure for both, three late
// workers that named each other as owners excused each other.
struct LateFigures {
  std::uint64_t own = 0;        // all its messages but AGG; late ECHOs are added (reports.h)
  std::uint64_t aggregate = 0;  // its AGG, beyond that
  auto operator<=>(const LateFigures&) const = default;
  void HashInto(crypto::Hasher& hasher) const;
};

class LateWatch {
 public:
  struct Options {
    base::Time opened;
    base::Duration delta;
    base::Duration patience;
    base::Duration deadline;  // of the seal, from the opening
    std::size_t members = 0;
    std::size_t quorum = 0;
    std::size_t fault_bound = 0;
    bool owns_column = false;  // seal A: PARTs are expected here
    void HashInto(crypto::Hasher& hasher) const {
      crypto::Feed(hasher, opened, delta, patience, deadline, members, quorum, fault_bound,
                   owns_column);
    }
  };
  // A due message: its kind, and the index of its subject (a member, a column or a dispute).
  struct Message {
    DueMessage kind = DueMessage::kCommit;
    std::size_t index = 0;
    auto operator<=>(const Message&) const = default;
    void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, kind, index); }
  };

  explicit LateWatch(const Options& options) : options_(options) {}
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // `author` owes the message, and has `extra` beyond its kind's bar. REQUIRES: not expected yet;
  // no Held before.
  void Expect(const Message& message, std::size_t author, base::Duration extra = {});
  // Messages that have not come.
  const std::set<Message>& lacking() const { return lacking_; }
  // The message has come. REQUIRES: it is lacking; `now` never goes back.
  void Held(const Message& message, base::Time now);
  // The wait for RESULTs ends: PROOFs are due a grace from now.
  void EndResults(base::Time now);

  // When to begin to ask all others for lacking COMMITs, AGGs, REVEALs and PROOFs: a Delta before
  // the earliest bar. Nullopt: none is lacking, or no bar is known yet.
  std::optional<base::Time> AskFrom() const;
  // The messages to ask for: lacking COMMITs, AGGs, REVEALs and PROOFs whose bar is at most a Delta
  // away.
  std::set<Message> Overdue(base::Time now) const;
  // A timer that was set for `set_for` fires. If it is more than a Delta late, this machine stood
  // still, and finds no member late in this seal.
  void OnTimer(base::Time set_for, base::Time now);
  // The own ECHO is said: a later message keeps no member waiting here. Idempotent.
  void Stop(base::Time now);

  // The seal is decided; `slow`: not by equal ECHOs. REQUIRES: stopped.
  void Decided(base::Time now, bool slow);

  // By author: the longest time from the bar to one of its messages, for each figure, by the rule
  // above. Authors without a figure are left out. REQUIRES: stopped.
  std::map<std::size_t, LateFigures> Late() const;
  // The author of the last PART for the own column, if that came more than half a grace after the
  // opening; a PART that never came counts as last. Nullopt: there is none.
  std::optional<std::size_t> Slowest() const;
  void CheckInvariants() const;  // aborts if L1 or L2 is broken

 private:
  std::optional<base::Duration> Quickest() const;
  std::optional<base::Time> FirstBar() const;
  std::optional<base::Time> LastBar() const;
  std::optional<base::Time> BarOf(const Message& message) const;
  base::Duration Grace(base::Duration quickest) const;
  base::Time Capped(base::Time bar) const;
  struct Due {
    std::size_t author = 0;
    base::Duration extra;
    void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, author, extra); }
  };
  // Messages of one kind.
  struct Tally {
    std::size_t expected = 0;
    std::vector<base::Time> arrivals;  // ascending
  };
  const Tally& TallyOf(DueMessage kind) const { return tallies_[static_cast<std::size_t>(kind)]; }
  Tally& TallyOf(DueMessage kind) { return tallies_[static_cast<std::size_t>(kind)]; }

  Options options_;
  std::map<Message, Due> due_;
  std::set<Message> lacking_;
  std::map<Message, base::Time> held_;
  std::array<Tally, kDueMessages> tallies_;  // by kind, derived from due_ and held_
  std::optional<base::Time> results_ended_;
  std::optional<base::Time> stopped_;
  std::optional<base::Time> slowly_decided_;
  bool stood_still_ = false;
};

}  // namespace ostraka::protocol
