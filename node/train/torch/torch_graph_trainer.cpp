#include "node/train/torch/torch_graph_trainer.h"

#include <string>
#include <utility>

#include "node/train/exact/graph_file.h"
#include "node/train/exact/graph_trainer.h"
#include "node/train/torch/eager_memory.h"
#include "node/train/torch/torch_graph.h"
#include "node/train/torch/torch_runtime.h"

namespace ostraka::train {
namespace {

class TorchEngine final : public MicroBatchEngine {
 public:
  explicit TorchEngine(TorchGraph graph) : graph_(std::move(graph)) {}

  base::StatusOr<float> Gradient(std::span<const float> parameters,
                                 std::span<const exact::InputValues> inputs,
                                 std::span<float> gradient) override {
    return CatchAll([&]() -> base::StatusOr<float> {
      graph_.SetParameters(parameters);
      graph_.SetInputs(inputs);
      graph_.Run();
      graph_.CopyGradient(gradient);
      return graph_.loss();
    });
  }

  base::StatusOr<float> Loss(std::span<const float> parameters,
                             std::span<const exact::InputValues> inputs) override {
    return CatchAll([&]() -> base::StatusOr<float> {
      graph_.SetParameters(parameters);
      graph_.SetInputs(inputs);
      graph_.RunForward();
      return graph_.loss();
    });
  }

  std::span<const float> Logits() const override { return graph_.logits(); }

 private:
  TorchGraph graph_;
};

base::Status CheckMemory(const exact::Graph& graph) {
  const std::uint64_t bytes = EagerBytes(graph);
  if (bytes <= kMaxPeakBytes) return base::OkStatus();
  return base::InvalidArgument(
      "by libtorch the graph may need " + std::to_string(bytes >> 20) + " MiB, and " +
      std::to_string(kMaxPeakBytes >> 20) +
      " MiB are allowed: give it fewer examples or positions, or use compute_profile "
      "exact/1, which needs less");
}

}  // namespace

base::StatusOr<std::unique_ptr<Trainer>> MakeTorchGraphTrainer(const TrainerOptions& options,
                                                               Dataset data) {
  ASSIGN_OR_RETURN(exact::Graph graph, GraphOf(options.graph));
  ASSIGN_OR_RETURN(GraphTask task, PrepareTask(options, std::move(graph), std::move(data)));
  RETURN_IF_ERROR(CheckMemory(task.graph));
  return CatchAll([&]() -> base::StatusOr<std::unique_ptr<Trainer>> {
    auto engine = std::make_unique<TorchEngine>(TorchGraph(task.graph, task.constants));
    return MakeGraphTrainer(std::move(task), options, std::move(engine));
  });
}

}  // namespace ostraka::train
