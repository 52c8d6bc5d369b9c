// What happened in a run so far, for people who watch it: in bounded memory, beside NodeStatus,
// which says what is now.
//
// Promises:
//   H1  Everything here follows from the observations of this process, and from what its ledger had
//       kept before it (recall.h). No block counts twice: one that was recalled and is seen again,
//       because its update was lost, changes nothing but the newest block.
//   H2  A member's work counts a step once: if the block seals its PROOF of that step, and a column
//       that was applied includes its part. `checked` counts the times that a validator was drawn
//       to recompute one of its steps, `checks` the steps in which it was such a validator.
//       Work counts from the block of `counted_from` on.
//   H3  A span is of a whole step that began in this process; its parts sum to its duration.
//   H4  No list grows beyond its bound. Removals and proofs drop the oldest; a peer that would be
//       one too many has no work counted.
// May not know: texts, pages, other runs.
// Memory: kSpans spans, kMostRemovals removals, kMostProofs proofs, kMostPeers counters, a curve,
// and the newest block.
// What an attacker can do here: be dropped and return again and again, which pushes the oldest
// removals out. Reasons are bytes that a block sealed; a reader escapes them.
//
// Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "node/base/time.h"
#include "node/host/report/curve.h"
#include "node/host/report/door_report.h"
#include "node/protocol/ground/machine.h"
#include "node/train/trainer.h"
#include "node/wire/evidence_codec.h"
#include "node/wire/limits.h"

namespace ostraka::host {

// A member's share of the run.
struct MemberWork {
  std::uint64_t steps = 0;  // of which its gradient entered the model (H2)
  std::uint64_t checked = 0;
  std::uint64_t checks = 0;
  // Of these steps, those of which a block lists how many batches it averaged, and their sum.
  std::uint64_t listed_steps = 0;
  std::uint64_t listed_batches = 0;
  // Batches that it averaged into each gradient, summed over its steps; those not listed had
  // `least`.
  std::uint64_t BatchesOf(std::uint64_t least) const {
    return (steps - listed_steps) * least + listed_batches;
  }
  bool operator==(const MemberWork&) const = default;
};

// The phases of one step, as this node saw them.
struct StepSpan {
  std::uint64_t step = 0;
  base::Duration collect;     // from its begin to seal A
  base::Duration reveal;      // from there to seal B
  base::Duration prove;       // from there to seal C
  base::Duration settle;      // from there to its block
  bool slow = false;          // some seal took the slow path
  protocol::StepTimes times;  // zeros until they are observed
  base::Duration Whole() const { return collect + reveal + prove + settle; }
};

// The votes that decided a ban, or a suspension (decisions/0022).
struct PastVotes {
  std::vector<base::PeerId> against;    // who voted that the member lied, in sealed order
  std::vector<base::PeerId> in_favour;  // who voted that it did not
  std::uint32_t voters = 0;             // members that could vote
};

struct PastRemoval {
  wire::Removal removal;
  std::optional<std::uint64_t> returned;  // the step in which the peer was a member again
  std::optional<PastVotes> votes;         // nullopt: none decided, or this process did not see them
  // False: a later block says that it happened (figures.h, RemovalsAsOf).
  bool seen = true;
};

// A proof in this node's ledger.
struct KnownProof {
  base::Digest id;
  base::PeerId accused;
  wire::EvidenceKind kind = wire::EvidenceKind::kEquivocation;
  std::size_t frames = 0;  // signed messages in it
};

struct SealedRoot {
  std::uint64_t step = 0;  // the block that seals it, of the state before that step
  base::Digest root;
};

class RunHistory {
 public:
  static constexpr std::size_t kSpans = 24;
  static constexpr std::size_t kMostRemovals = 512;
  static constexpr std::size_t kMostProofs = 512;
  static constexpr std::size_t kMostPeers = 4 * wire::kMaxPeers;

  void See(base::Time now, const protocol::Observation& what);
  void SeeEvaluation(std::uint64_t step, const train::Evaluation& evaluation);
  // A record that was stored: evidence is noted, others change nothing.
  void SeeStored(const protocol::Record& record);

  // From the ledger, before the first observation: blocks in ascending order, with the validators
  // of their steps (as far as they are known); removals of blocks older than these; evidence.
  void RecallBlock(const std::vector<wire::Assignment>& validators, const wire::Block& block);
  void RecallRemoval(const wire::Removal& removal);
  void RecallProof(const KnownProof& proof);
  // The ledger could not be read, so that the history begins with this process. `why` in one line.
  void RecallFailed(std::string why) { unread_ = std::move(why); }

  // Null before the genesis block.
  const std::shared_ptr<const wire::Block>& block() const { return block_; }
  // Of the step in progress, or of the last one that trained; empty before the first.
  const std::set<base::PeerId>& workers() const { return workers_; }
  const std::set<base::PeerId>& validators() const { return validators_; }
  const std::map<base::PeerId, MemberWork>& work() const { return work_; }
  const std::deque<StepSpan>& spans() const { return spans_; }
  const std::deque<PastRemoval>& removals() const { return removals_; }
  const std::deque<KnownProof>& proofs() const { return proofs_; }
  const std::optional<SealedRoot>& root() const { return root_; }
  const Curve& curve() const { return curve_; }
  const std::string& metric() const { return metric_; }  // empty before the first evaluation
  // The first step of which work is counted; nullopt before it.
  std::optional<std::uint64_t> counted_from() const { return counted_from_; }
  // Of keys that came by an invite, as far as the candidacy was seen.
  const Vouchers& vouched() const { return vouched_; }
  // Why what the ledger had kept is missing here; empty if it is not.
  const std::string& unread() const { return unread_; }
  // Why this node takes no part for now; empty if it does.
  const std::string& away() const { return away_; }

  // H3 and H4; also at the end of each mutation.
  void CheckInvariants() const;

 private:
  void On(base::Time now, const protocol::StepStarted& seen);
  void On(base::Time now, const protocol::Sealed& seen);
  void On(base::Time now, const protocol::SlowSeal& seen);
  void On(base::Time now, const protocol::StepDone& seen);
  void On(base::Time now, const protocol::StepTimes& seen);
  void On(base::Time now, const protocol::Resumed& seen);
  void On(base::Time now, const protocol::Away& seen);
  void On(base::Time now, const protocol::Back& seen);
  // Other observations change nothing here.
  template <typename T>
  void On(base::Time, const T&) {}

  void TakeBlock(const std::shared_ptr<const wire::Block>& block);
  // Removals, returns and work of a block that was not counted yet.
  void Count(const wire::Block& block, const std::vector<protocol::RuledCase>& ruled);
  void CountChecks(const std::vector<wire::Assignment>& validators);
  bool WasRecalled(std::uint64_t step) const { return recalled_ && step <= *recalled_; }
  void CountVouchers(const wire::Block& block);
  void CountWork(const wire::Block& block);
  MemberWork* WorkOf(const base::PeerId& peer);
  void EndSpan(base::Time now, std::uint64_t step);

  std::shared_ptr<const wire::Block> block_;
  std::vector<wire::BatchCount> counts_;  // of the step after the newest block
  std::set<base::PeerId> workers_;
  std::set<base::PeerId> validators_;
  std::map<base::PeerId, MemberWork> work_;
  std::optional<StepSpan> current_;  // parts that have not ended are zero
  base::Time phase_began_;           // of current_
  std::deque<StepSpan> spans_;
  std::deque<PastRemoval> removals_;
  std::deque<KnownProof> proofs_;
  std::optional<SealedRoot> root_;
  Curve curve_;
  std::string metric_;
  std::string away_;
  std::optional<std::uint64_t> recalled_;  // the newest step of a recalled block
  std::optional<std::uint64_t> counted_from_;
  std::string unread_;
  // The moderators that vouch for candidates of the newest block that was seen or recalled.
  Vouchers candidates_;
  Vouchers vouched_;
};

}  // namespace ostraka::host
