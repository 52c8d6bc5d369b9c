// Attackers that come and go as a weapon (sim::ComesAndGoes): when each of them says that it
// leaves, and when its process starts, or starts again.
//
//   leave_reroll   all, the genesis members too: each says so in steps drawn, and comes back as
//   soon
//                  as the run has let it go
//   join_churn     all: each says so from its first step on, and comes back at once
//   rotate_keys    the intruders: each says so from its first step on; then the next key asks to
//   come
//                  in, and the first asks again `away` blocks later, when the run keeps no seat
//                  for it any more; after each second departure as soon as it may
//
// Thread safety: none; one simulation.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "node/base/rng.h"
#include "sim/engine/checker.h"
#include "sim/engine/simulator.h"
#include "sim/setup/options.h"

namespace ostraka::sim {

class Travels final : public StepObserver {
 public:
  // REQUIRES: ComesAndGoes(options.attack), and CheckOptions is ok. `rng` is this object's own.
  Travels(const base::Rng& rng, const SimOptions& options, const Roster& roster);
  // REQUIRES: before the run; the simulator outlives this.
  void Watch(Simulator* simulator) { simulator_ = simulator; }

  // Whether an attacker says in the COMMIT of `step` that it leaves. Equal answers to equal
  // questions.
  bool MustLeave(std::uint32_t peer, std::uint64_t step) const;
  // Whether this object starts that guest, at its turn.
  bool Starts(std::uint32_t peer) const;

  void OnStep(const StepRecord& record) override;

 private:
  struct Traveller {
    std::uint32_t peer = 0;
    std::uint64_t from = 0;  // height of the run
  };
  bool IsAttacker(std::uint32_t peer) const;
  void OnBlock(base::Time now, const wire::Block& block);
  void OnGone(const StepRecord& record, bool left);
  void StartNext(base::Time now);

  base::Rng rng_;
  SimOptions options_;
  Roster roster_;
  std::uint64_t one_in_ = 1;  // of so many steps an attacker leaves in one
  std::uint64_t away_ = 0;    // blocks between a departure and the next turn
  std::map<std::uint32_t, std::uint64_t> departures_;
  Simulator* simulator_ = nullptr;
  std::uint64_t height_ = 0;
  std::deque<Traveller> waiting_;     // keys that take turns, the longest out first
  std::optional<Traveller> on_turn_;  // since the height at which it was started
};

}  // namespace ostraka::sim
