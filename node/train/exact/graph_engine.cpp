#include "node/train/exact/graph_engine.h"

namespace ostraka::train {

base::StatusOr<double> MicroBatchEngine::Mean(std::span<const float> parameters,
                                              const MicroBatches& batches, std::span<float> mean) {
  ASSIGN_OR_RETURN(const float first, Gradient(parameters, batches.inputs(0), mean));
  double loss{first};
  if (batches.count == 1) return loss;
  std::vector<float> next(mean.size());
  for (std::size_t i = 1; i < batches.count; ++i) {
    RETURN_IF_ERROR(batches.CheckWanted(i));
    ASSIGN_OR_RETURN(const float more, Gradient(parameters, batches.inputs(i), next));
    loss += double{more};
    for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += next[k];
  }
  const float share = 1 / static_cast<float>(batches.count);
  for (float& value : mean) value *= share;
  return loss / static_cast<double>(batches.count);
}

base::Status MicroBatchEngine::Losses(std::span<const float> parameters,
                                      const MicroBatches& batches, const EachLoss& each) {
  for (std::size_t i = 0; i < batches.count; ++i) {
    RETURN_IF_ERROR(batches.CheckWanted(i));
    ASSIGN_OR_RETURN(const float loss, Loss(parameters, batches.inputs(i)));
    each(loss, Logits());
  }
  return base::OkStatus();
}

}  // namespace ostraka::train
