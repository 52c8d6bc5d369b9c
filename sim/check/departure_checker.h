// Checker "departures": who leaves by its own word goes soon, at no cost, and nobody else goes; and
// who leaves too soon after a return stays away for as long as the rules bar it.
//
// Thread safety: none; one simulation.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>

#include "sim/check/speech.h"
#include "sim/engine/checker.h"

namespace ostraka::sim {

class DepartureChecker final : public Checker {
 public:
  explicit DepartureChecker(const Roster& roster, std::shared_ptr<wire::Opener> opener)
      : roster_(roster), speech_(roster, std::move(opener)) {
    for (std::uint32_t i = 0; i < roster_.ids.size(); ++i) {
      if (!roster_.Comes(i)) known_.insert(roster_.ids[i]);
    }
  }
  std::string_view name() const override { return "departures"; }
  base::Status OnAction(std::uint32_t peer, const protocol::Action& action) override;

 private:
  // A member that leaves fewer steps than this after a return is barred for as many.
  static constexpr std::uint64_t kBarred = 1000;
  base::Status OnBlock(const wire::Block& block);
  base::Status CheckLeft(const wire::Block& block);
  base::Status CheckLeaving(const wire::Block& block);
  base::Status CheckJoined(const wire::Block& block);

  Roster roster_;
  Speech speech_;
  std::uint64_t height_ = 0;
  std::map<base::PeerId, std::uint64_t> said_;    // honest: the first step in which it said so
  std::map<base::PeerId, std::uint64_t> listed_;  // the first block that lists it
  std::set<base::PeerId> known_;                  // members once
  std::map<base::PeerId, std::uint64_t> returned_;
  std::map<base::PeerId, std::uint64_t> barred_until_;
};

}  // namespace ostraka::sim
