// "recovery": progress within a stated bound after the last fault (docs/simulation.md, "Crashes and
// partitions", which derives it from docs/seal.md, 6).
//
// Memory: a few numbers for each peer.
//
// Thread safety: RecoveryBound is a pure function; the checker has one owner.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "node/base/time.h"
#include "node/protocol/ground/manifest.h"
#include "sim/check/slack.h"
#include "sim/engine/checker.h"

namespace ostraka::sim {

// The terms of the bound.
struct RecoveryTerms {
  protocol::Manifest manifest = {};
  base::Duration delta = {};    // the largest of an honest peer since then
  std::uint32_t iteration = 0;  // the highest of an honest peer in a slow path at the end
  std::uint32_t faulty = 0;     // Byzantine peers, and the most honest peers away at once
  std::uint64_t behind = 0;     // blocks that the last honest peer lacked at the end
};

// The longest time, after the last fault, until every honest peer has a block that nobody had
// before.
base::Duration RecoveryBound(const RecoveryTerms& terms);

class Recovery final : public Checker, public StepObserver {
 public:
  // The last fault ends at `over`.
  Recovery(const Roster& roster, base::Time over, const protocol::Manifest& manifest);
  std::string_view name() const override { return "recovery"; }
  // Reads the clock. Register with the simulator before the set.
  void OnStep(const StepRecord& record) override;
  base::Status OnAction(std::uint32_t peer, const protocol::Action& action) override;

  // The time it took; nullopt: the run ended before. (`progress` checks that it did not end too
  // early.)
  std::optional<base::Duration> took() const { return took_; }
  // The run was over before the fault was: whoever had the newest block when the fault ended had
  // finished, so nobody is left who could give it to the others; and it had dropped all of these.
  // (A member of the newest block must be awaited at the end: Stay.) A run that never begins for
  // want of a Byzantine member's BOOT has nothing to recover.
  bool NobodyIsLeft() const { return nobody_left_; }
  base::Duration bound() const { return RecoveryBound(terms_); }

 private:
  struct Peer {
    std::uint64_t height = 0;  // number of blocks that it has
    base::Duration delta;      // of its newest block
    std::uint32_t iteration = 0;
    bool away = false;
    bool finished = false;
  };
  bool Waits(std::uint32_t peer) const;  // for its first new block
  void Note(std::uint32_t peer, const protocol::Action& action);
  void TakeStock();  // at the end of the last fault
  void CountAway();
  base::Status Judge();

  Roster roster_;
  base::Time over_;
  base::Time now_;
  std::vector<Peer> peers_;
  RecoveryTerms terms_;
  std::uint32_t byzantine_ = 0;
  Slack slack_;
  bool stock_taken_ = false;
  bool nobody_left_ = false;
  bool begun_ = false;         // some honest peer began
  std::uint64_t highest_ = 0;  // the height of the highest honest peer at `over`
  std::optional<base::Duration> took_;
};

}  // namespace ostraka::sim
