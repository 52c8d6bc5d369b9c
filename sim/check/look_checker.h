// "looks": a message has an honest machine decode no more frames than it carries itself and is
// answered with: what is looked up for a question, and not sent, is found without being decoded, or
// is counted by no ration (node/protocol/mail/ration.h).
//
// Memory: two numbers for each peer.
//
// What an attacker can do here: nothing; only honest machines are counted.
//
// Thread safety: none; one simulation.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "sim/engine/checker.h"

namespace ostraka::sim {

class Looks final : public Checker, public StepObserver {
 public:
  // Frames that one message may have decoded whatever follows: itself and one that it carries,
  // twice where it makes a member leave the genesis.
  static constexpr std::uint64_t kOwn = 4;

  // `opened`: how many frames each peer's machine has opened so far, of their lives all together
  // (sim/engine/counting_opener.h); as many as the roster has.
  Looks(const Roster& roster, std::shared_ptr<const std::vector<std::uint64_t>> opened)
      : roster_(roster), opened_(std::move(opened)), before_(opened_->size(), 0) {}
  std::string_view name() const override { return "looks"; }
  // Register with the simulator before the set.
  void OnStep(const StepRecord& record) override;
  base::Status OnAction(std::uint32_t peer, const protocol::Action& action) override;
  base::Status AtEnd() override { return fault_; }

 private:
  Roster roster_;
  std::shared_ptr<const std::vector<std::uint64_t>> opened_;
  std::vector<std::uint64_t> before_;
  base::Status fault_ = base::OkStatus();  // the first one
};

}  // namespace ostraka::sim
