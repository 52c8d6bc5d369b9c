// "lateness": while no fault hits honest peers or the network, no block charges an honest member
// for lateness (node/protocol/rules/lateness.h), whatever colluders withhold or testify. So an
// honest member is not just below the limit of removal: it carries no charge at all, but for the
// one with which everybody begins that comes in or back.
//
// Thread safety: none; one simulation.
#pragma once

#include <cstdint>
#include <map>

#include "sim/engine/checker.h"

namespace ostraka::sim {

class HonestNeverLate final : public Checker {
 public:
  explicit HonestNeverLate(const Roster& roster) : roster_(roster) {}
  std::string_view name() const override { return "lateness"; }
  base::Status OnAction(std::uint32_t peer, const protocol::Action& action) override;

 private:
  Roster roster_;
  std::map<base::PeerId, std::uint64_t> begun_with_;  // ms
};

}  // namespace ostraka::sim
