// "applied": an applied column adds to the model exactly CenteredClip's fixed point of what its
// senders' trainers computed, whatever path the aggregate took (docs/protocol/numbers.md).
//
// Promises:
//   A1  No statement of the protocol about itself is trusted. Parts of honest senders are cut from
//       their trainers' gradients, parts of adversaries are read from what they sent. tau is the
//       one that the block before sealed. The aggregate is the blob that the block names, and the
//       states before and after differ by exactly that.
//   A2  For an honest aggregator: |sum over S of D| <= |S| (eps + 2^-23 |ghat|). The sum is the
//       gradient of a convex function, so it vanishes only at the minimum, which is CenteredClip.
//       So measuring it equals comparing with an iteration that was run to convergence.
//   A3  For a Byzantine aggregator, the bound that V1, V2 and the range of honest numbers leave:
//       with the directions z of the step's coin, |sum over the honest in S of <z, D>| <= T + B
//       min(1, 10/sqrt(p)) tau, where B of S are Byzantine and may have sealed any number that an
//       honest peer could state.
//
// May not know: the protocol's own rules and the aggregation library's iteration.
//
// Memory: gradients, parts and aggregates of steps whose block is not judged yet.
//
// What an attacker can do here: grow the memory of one simulation by different parts of one slot.
//
// Thread safety: none; one simulation.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "node/base/tensor_layout.h"
#include "node/protocol/ground/manifest.h"
#include "sim/check/sealed_tip.h"
#include "sim/check/speech.h"
#include "sim/engine/checker.h"

namespace ostraka::sim {

class Applied final : public Checker, public StepObserver {
 public:
  Applied(const Roster& roster, std::shared_ptr<const protocol::Manifest> manifest,
          base::TensorLayout layout,
          std::shared_ptr<wire::Opener> opener = std::make_shared<wire::PlainOpener>());
  std::string_view name() const override { return "applied"; }
  // Reads gradients, parts and aggregates. Register with the simulator before the set of checkers.
  void OnStep(const StepRecord& record) override;
  base::Status OnAction(std::uint32_t peer, const protocol::Action& action) override;

 private:
  struct Said {  // of one step, until its block is judged
    std::map<base::PeerId, protocol::SharedVector> gradients;  // of honest peers, by their trainers
    // By sender and part: the different parts that a Byzantine peer sent.
    std::map<std::pair<base::PeerId, std::uint32_t>, std::vector<protocol::SharedBlob>> parts;
    std::map<base::Digest, protocol::SharedBlob> results;  // by root
  };
  // A column under judgement.
  struct Column {
    const wire::Block& block;
    std::size_t index = 0;
    protocol::PartRange range;
    std::vector<float> result;
    double quantum = 0;  // of its codec
    double tau = 0;
    float factor = 1;  // of clipping, for all columns of the block
  };
  // A coordinate before the step, with its slots after it.
  struct Moved {
    float parameter = 0;
    std::vector<float> slots;
    float direction = 0;  // by which the parameter goes back, times a rate
  };
  // REQUIRES: coordinate `at` lies in the column.
  Moved MoveOf(const Column& column, const aggregation::OptimizerStep& step,
               std::uint64_t at) const;
  // By coordinate: the rate of the step, and with LAMB that of its tensor.
  std::vector<float> RatesOf(const std::vector<Column>& columns,
                             const aggregation::OptimizerStep& step) const;
  void Hear(std::uint32_t peer, const protocol::Action& action);
  bool IsHonest(const base::PeerId& peer) const;
  base::Status JudgeStep(const protocol::StepDone& done) const;
  base::StatusOr<std::vector<Column>> AppliedColumns(const protocol::StepDone& done,
                                                     const Said& said) const;
  base::Status JudgeState(const Column& column, const aggregation::OptimizerStep& step,
                          std::span<const float> rates, const protocol::ModelState& after) const;
  base::Status JudgeClip(const Column& column, const Said& said) const;
  // `sum` of D over all senders; or over honest ones only, with `strangers` others.
  base::Status JudgeHonest(const Column& column, std::span<const double> sum) const;
  base::Status JudgeByzantine(const Column& column, std::span<const double> sum,
                              std::size_t strangers) const;
  base::Status Unsent(const Column& column, const base::PeerId& sender) const;

  Roster roster_;
  std::shared_ptr<const protocol::Manifest> manifest_;
  base::TensorLayout layout_;
  std::shared_ptr<wire::Opener> opener_;
  Speech speech_;
  std::map<std::pair<std::uint32_t, protocol::JobId>, std::uint64_t> training_;  // job -> step
  std::map<std::uint64_t, Said> said_;                                           // by step
  SealedTip before_;
};

}  // namespace ostraka::sim
