// Which peers leave by their own word, and when, and the return of the honest ones.
//
// Thread safety: pure functions; Homecoming has one owner.
#pragma once

#include <cstdint>
#include <map>

#include "node/base/rng.h"
#include "sim/engine/checker.h"
#include "sim/engine/simulator.h"
#include "sim/setup/options.h"

namespace ostraka::sim {

// By peer: the first step in whose COMMIT it says that it leaves. Honest ones are drawn; the
// attackers all say so from SimOptions::attackers_leave on.
using Departures = std::map<std::uint32_t, std::uint64_t>;
Departures DrawDepartures(base::Rng rng, const SimOptions& options, const Roster& roster);

// What such a peer is told. An honest one says so in a few steps, as it may be sealed absent in
// one, and not again after its return; an attacker for ever.
protocol::Told::Leave LeavingFrom(std::uint64_t step, bool honest);

// Starts an honest peer again some time after the run has let it go.
class Homecoming final : public StepObserver {
 public:
  Homecoming(const Roster& roster, base::Duration away, Simulator* simulator)
      : roster_(roster), away_(away), simulator_(simulator) {}
  void OnStep(const StepRecord& record) override;

 private:
  Roster roster_;
  base::Duration away_;
  Simulator* simulator_;
};

}  // namespace ostraka::sim
