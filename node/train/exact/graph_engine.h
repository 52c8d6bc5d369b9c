// What computes the losses and gradients of a graph: exact kernels (exact_trainer.h), a device
// (device_engine.h), or libtorch (node/train/torch/torch_graph_trainer.h). It was given the graph
// when it was made.
//
// Thread safety: one call at a time; Abandon, ComputesOn and TakeNotices from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "exact/run/runner.h"
#include "node/base/status.h"
#include "node/train/trainer.h"

namespace ostraka::train {

// Those of one gradient, or of one evaluation.
struct MicroBatches {
  std::size_t count = 1;
  // The inputs of one of them, which live until the next call; in any order, and more than once.
  std::function<std::vector<exact::InputValues>(std::size_t index)> inputs;
  // Asked before each but the first: an error of it ends the call. May be null.
  std::function<base::Status()> check_wanted;

  // To be called before micro-batch `index`.
  base::Status CheckWanted(std::size_t index) const {
    return index > 0 && check_wanted ? check_wanted() : base::OkStatus();
  }
};

// Local steps (Trainer::Descend).
struct LocalWork {
  const aggregation::LocalSteps& plan;
  std::uint32_t batches = 1;  // of each step
  // One of them, which lives until the next call; an error of it ends the work.
  std::function<base::StatusOr<MicroBatches>(std::uint64_t step, std::uint32_t batch)> batch;
};

class GraphEngine {
 public:
  virtual ~GraphEngine() = default;

  // To be called once, before anything else, with one micro-batch like those to come. An error says
  // why nothing can be computed as it was asked for.
  virtual base::Status Prepare(std::span<const float> parameters, const MicroBatches& batches) {
    static_cast<void>(parameters), static_cast<void>(batches);
    return base::OkStatus();
  }

  // `mean` gets ((g1 + g2) + ...) * (1 / count) of the micro-batches' gradients (docs/numerics.md
  // 8); the mean of their losses. Any of them may be infinite or NaN. An error leaves `mean`
  // undefined. REQUIRES: parameters and mean have the graph's parameter count; count > 0.
  virtual base::StatusOr<double> Mean(std::span<const float> parameters,
                                      const MicroBatches& batches, std::span<float> mean) = 0;

  // nullopt: not by this engine, or not now. Errors as Mean. REQUIRES: as Mean.
  virtual base::StatusOr<std::optional<Descended>> Descend(std::span<const float> parameters,
                                                           const LocalWork& work) {
    static_cast<void>(parameters), static_cast<void>(work);
    return std::nullopt;
  }

  // The mean loss of each micro-batch in turn, with what it was taken of, one row a target: empty
  // if it was taken of no logits. `each` is called before the next one's inputs are asked for.
  using EachLoss = std::function<void(float loss, std::span<const float> logits)>;
  virtual base::Status Losses(std::span<const float> parameters, const MicroBatches& batches,
                              const EachLoss& each) = 0;

  // Bytes that it needs beside parameters and a gradient; nullopt: not known.
  virtual std::optional<std::uint64_t> WorkingBytes() const { return std::nullopt; }

  // An engine that computes the same by other instructions of this machine; null if it has none. It
  // does not outlive this one.
  virtual std::unique_ptr<GraphEngine> Other() const { return nullptr; }

  // A call that is in progress ends soon with Unavailable, as does each later one, also of an
  // Other. Any thread. An engine that cannot do that ends what it has begun.
  virtual void Abandon() {}

  // To be called after each gradient of a batch, by this engine or by its Other, before anybody
  // sees it: whether this machine can still be trusted with one.
  virtual base::Status AfterGradient() { return base::OkStatus(); }

  // For people: what computes. Any thread.
  virtual std::string ComputesOn() const { return "processor"; }
  // For people: news of that since the last call. Any thread.
  virtual std::vector<TrainerNotice> TakeNotices() { return {}; }
};

// An engine that computes one micro-batch at a time.
class MicroBatchEngine : public GraphEngine {
 public:
  // The mean loss of a micro-batch at `parameters`; `gradient` gets its gradient. Either may be
  // infinite or NaN. Any error leaves `gradient` undefined.
  // REQUIRES: parameters and gradient have the graph's parameter count; the inputs are a Fill's.
  virtual base::StatusOr<float> Gradient(std::span<const float> parameters,
                                         std::span<const exact::InputValues> inputs,
                                         std::span<float> gradient) = 0;
  // The loss alone.
  virtual base::StatusOr<float> Loss(std::span<const float> parameters,
                                     std::span<const exact::InputValues> inputs) = 0;
  // Of the last call that succeeded, one row a target; empty if the loss is taken of no logits.
  virtual std::span<const float> Logits() const = 0;

  base::StatusOr<double> Mean(std::span<const float> parameters, const MicroBatches& batches,
                              std::span<float> mean) final;
  base::Status Losses(std::span<const float> parameters, const MicroBatches& batches,
                      const EachLoss& each) final;
};

// By exact kernels.
class RunnerEngine : public MicroBatchEngine {
 public:
  explicit RunnerEngine(exact::Runner runner) : runner_(std::move(runner)) {}

  const exact::Runner& runner() const { return runner_; }

  base::StatusOr<float> Gradient(std::span<const float> parameters,
                                 std::span<const exact::InputValues> inputs,
                                 std::span<float> gradient) override {
    return runner_.Gradient(parameters, inputs, gradient);
  }
  base::StatusOr<float> Loss(std::span<const float> parameters,
                             std::span<const exact::InputValues> inputs) override {
    return runner_.Loss(parameters, inputs);
  }
  std::span<const float> Logits() const override { return runner_.Logits(); }

 protected:
  exact::Runner runner_;
};

}  // namespace ostraka::train
