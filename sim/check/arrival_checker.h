// Checker "arrivals": who comes in from outside is let in by what its moderator or the manifest
// said, once a use, and finds a seat; and an honest one is let in. Who has left and comes back
// after its seat was given up does so by what let it in, while that is in force. Attackers are
// never more than the members bear.
//
// Thread safety: none; one simulation.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "sim/engine/checker.h"

namespace ostraka::sim {

// How many of the guests of one group may come in: those that share an invite.
struct Entitlement {
  std::uint32_t group = 0;
  std::uint32_t uses = 0;
  std::uint64_t ends_step = UINT64_MAX;
};

class ArrivalChecker final : public Checker {
 public:
  // `guests`: of those that come, in their order. `timely`: an honest guest that asks gets in
  // within kBlocksToComeIn.
  ArrivalChecker(const Roster& roster, std::vector<Entitlement> guests, std::size_t seats,
                 bool timely)
      : roster_(roster), guests_(std::move(guests)), seats_(seats), timely_(timely) {}
  std::string_view name() const override { return "arrivals"; }
  base::Status OnAction(std::uint32_t peer, const protocol::Action& action) override;

 private:
  // Probation, and the steps that the way to the head takes: many where a step takes 65 ms [swarm
  // seed 223839432829713: in after 31 to 40].
  static constexpr std::uint64_t kBlocksToComeIn = 40;
  // Who has left is kept a seat for so many steps, and is barred for as many before if it leaves
  // that soon after a return.
  static constexpr std::uint64_t kSeatIsKept = 1000;
  static constexpr std::uint64_t kLeavesTooSoon = 1000;
  base::Status OnBlock(const wire::Block& block);
  base::Status OnJoined(std::uint32_t peer, std::uint64_t step);
  base::Status OnReturned(std::uint32_t peer, std::uint64_t step);
  void OnLeft(std::uint32_t peer, std::uint64_t step);
  base::Status CheckMembers(const wire::Block& block) const;

  Roster roster_;
  std::vector<Entitlement> guests_;
  std::size_t seats_;
  bool timely_;
  std::uint64_t height_ = 0;
  std::set<std::uint32_t> came_;                  // guests, once
  std::map<std::uint32_t, std::uint32_t> used_;   // by group
  std::map<std::uint32_t, std::uint64_t> since_;  // guests that wait: the height at which each did
  // Guests that have left: the first step in which no seat is kept for them.
  std::map<std::uint32_t, std::uint64_t> seat_until_;
  std::map<std::uint32_t, std::uint64_t> returned_;  // guests that came back: the step
};

}  // namespace ostraka::sim
