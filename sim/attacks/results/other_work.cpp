#include "sim/attacks/results/other_work.h"

#include <vector>

#include "node/base/check.h"

namespace ostraka::sim {
namespace {

// Each gradient of `trainer` reversed.
class Uphill final : public train::Trainer {
 public:
  explicit Uphill(train::Trainer& trainer) : trainer_(trainer) {}

  const base::TensorLayout& layout() const override { return trainer_.layout(); }
  std::vector<float> InitialParameters(const base::Digest& seed) const override {
    return trainer_.InitialParameters(seed);
  }
  base::StatusOr<std::vector<float>> Gradient(std::span<const float> parameters,
                                              const base::Digest& batch_seed) override {
    base::StatusOr<std::vector<float>> gradient = trainer_.Gradient(parameters, batch_seed);
    if (gradient.ok()) {
      for (float& value : *gradient) value = -value;
    }
    return gradient;
  }
  base::StatusOr<train::Evaluation> Evaluate(std::span<const float> parameters) override {
    return trainer_.Evaluate(parameters);
  }

 private:
  train::Trainer& trainer_;
};

}  // namespace

base::StatusOr<train::Worked> OtherWork(std::string_view attack, train::Trainer& own,
                                        const train::Work& owed) {
  if (attack == "ascent") {
    Uphill uphill(own);
    return train::WorkOf(uphill, owed);
  }
  train::Work work = owed;
  if (attack == "skip_inner") {
    // One local step is a gradient, which is another kind of work and no shorter one.
    if (work.local.count > 2) --work.local.count;
  } else {
    OSTRAKA_CHECK(FlipsLabels(attack));
  }
  return train::WorkOf(own, work);
}

}  // namespace ostraka::sim
