// A trainer whose work is a function that the test gives.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "node/train/trainer.h"

namespace ostraka::host {

class FakeTrainer : public train::Trainer {
 public:
  using Vector = std::vector<float>;

  std::function<base::StatusOr<Vector>(std::span<const float>)> gradient =
      [](std::span<const float> x) { return Vector(x.begin(), x.end()); };
  // Of the first parameter, so that a test can tell states apart.
  std::function<base::StatusOr<train::Evaluation>(std::span<const float>)> evaluation =
      [](std::span<const float> x) {
        return train::Evaluation{"accuracy", x[0], 1 - x[0]};
      };

  std::optional<double> batch_loss;
  std::function<void()> abandon = [] {};

  const base::TensorLayout& layout() const override { return layout_; }
  Vector InitialParameters(const base::Digest&) const override { return {0, 0}; }
  base::StatusOr<Vector> Gradient(std::span<const float> parameters, const base::Digest&) override {
    return gradient(parameters);
  }
  using Trainer::CheckWanted;
  std::optional<double> BatchLoss() const override { return batch_loss; }
  void Abandon() override { abandon(); }
  base::StatusOr<train::Evaluation> Evaluate(std::span<const float> parameters) override {
    return evaluation(parameters);
  }

 private:
  base::TensorLayout layout_{{"x", {2}}};
};

}  // namespace ostraka::host
