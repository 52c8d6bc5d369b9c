// "sizes": no applied column is larger than its honest rows allow, whatever sizes others state
// (docs/protocol/numbers.md; node/protocol/rules/sizes.h has the proof).
//
// With h honest senders whose true parts have sizes up to R, and B others, B < h:
//   |ghat| <= max(R + tau q, R / sqrt(1 - q^2)),  q = (B + 1/4) / h.
// The quarter is the largest residual of a column that is not blind. Parts are cut from what the
// honest trainers computed, and the aggregate is the blob that the block names: no sealed number is
// trusted.
//
// Memory: gradients and sizes of steps whose block is not judged yet.
//
// Thread safety: none; one simulation.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "node/protocol/ground/manifest.h"
#include "sim/check/sealed_tip.h"
#include "sim/check/speech.h"
#include "sim/engine/checker.h"

namespace ostraka::sim {

class Sizes final : public Checker, public StepObserver {
 public:
  Sizes(const Roster& roster, std::shared_ptr<const protocol::Manifest> manifest,
        std::shared_ptr<wire::Opener> opener = std::make_shared<wire::PlainOpener>());
  std::string_view name() const override { return "sizes"; }
  // Reads gradients and aggregates. Register with the simulator before the set.
  void OnStep(const StepRecord& record) override;
  base::Status OnAction(std::uint32_t peer, const protocol::Action& action) override;

 private:
  struct Seen {                                                // in one step
    std::map<base::PeerId, protocol::SharedVector> gradients;  // of honest peers, by their trainers
    std::map<base::Digest, protocol::SharedBlob> results;      // by root
  };
  base::Status JudgeStep(const protocol::StepDone& done) const;
  bool BearsTooFew(const std::vector<base::PeerId>& senders) const;
  base::Status JudgeColumn(const wire::Block& block, std::size_t column,
                           const protocol::PartRange& range, const Seen& seen) const;

  Roster roster_;
  std::shared_ptr<const protocol::Manifest> manifest_;
  Speech speech_;
  std::map<std::pair<std::uint32_t, protocol::JobId>, std::uint64_t> training_;  // job -> step
  std::map<std::uint64_t, Seen> seen_;                                           // by step
  SealedTip before_;
};

}  // namespace ostraka::sim
