// Checker "rerolls": who stays cannot be given other places by who leaves.
//
// The coin of the step before orders all keys. A column's owner is the next one in that order that
// holds a role, so a member that leaves moves the others up and never past each other. Attack: of
// an order drawn among those that are left, k colluders could choose among 2^k.
//
// The checker makes the order itself, of all members, and strikes afterwards. Then it asks the
// protocol's rule (AssignRoles) what it would say if nobody left, and if one member more did: any
// two that own a column in both cases must stand in the same order.
//
// Thread safety: none; one simulation.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "sim/engine/checker.h"

namespace ostraka::sim {

class RerollChecker final : public Checker {
 public:
  // `dimension`: of the model, which roles cut into columns.
  RerollChecker(const Roster& roster, std::uint64_t dimension)
      : roster_(roster), dimension_(dimension) {}
  std::string_view name() const override { return "rerolls"; }
  base::Status OnAction(std::uint32_t peer, const protocol::Action& action) override;

 private:
  base::Status OnRoles(const wire::Block& head, const protocol::Roles& roles);
  base::Status Compare(const wire::Block& head, const protocol::Roles& roles,
                       std::vector<base::PeerId> leaving) const;

  Roster roster_;
  std::uint64_t dimension_;
  std::map<std::uint64_t, std::shared_ptr<const wire::Block>> heads_;  // by height, the newest few
  std::uint64_t checked_ = 0;                                          // up to this height
};

}  // namespace ostraka::sim
