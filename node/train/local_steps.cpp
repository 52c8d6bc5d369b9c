#include "node/train/local_steps.h"

#include <utility>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/base/bytes.h"

namespace ostraka::train {
namespace {

// Of a gradient alone it is the worker's own.
Digest SeedOf(const Work& work, std::uint64_t step, std::uint32_t batch) {
  const bool is_alone = work.local.count == 1 && work.batches == 1;
  return is_alone ? work.batch_seed : InnerBatchSeed(work.batch_seed, step, batch);
}

class Worker {
 public:
  Worker(Trainer& trainer, const Work& work) : trainer_(trainer), work_(work) {}

  // The mean over the batches of local step `step`, at `parameters`; of what is not finite +0.
  base::StatusOr<std::vector<float>> Mean(std::span<const float> parameters, std::uint64_t step) {
    if (work_.batches == 1) return Gradient(parameters, step, 0);
    std::vector<float> sum;
    for (std::uint32_t batch = 0; batch < work_.batches; ++batch) {
      ASSIGN_OR_RETURN(std::vector<float> gradient, Gradient(parameters, step, batch));
      aggregation::ZeroNonFinite(gradient);
      if (batch == 0) {
        sum = std::move(gradient);
        continue;
      }
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += gradient[i];
    }
    const auto share = static_cast<float>(1.0 / work_.batches);
    for (float& value : sum) value *= share;
    return sum;
  }

  const std::optional<double>& batch_loss() const { return batch_loss_; }

 private:
  base::StatusOr<std::vector<float>> Gradient(std::span<const float> parameters, std::uint64_t step,
                                              std::uint32_t batch) {
    RETURN_IF_ERROR(trainer_.CheckWanted());
    const Digest seed = SeedOf(work_, step, batch);
    ASSIGN_OR_RETURN(std::vector<float> gradient, work_.again
                                                      ? trainer_.GradientAgain(parameters, seed)
                                                      : trainer_.Gradient(parameters, seed));
    if (step == 0 && batch == 0) batch_loss_ = trainer_.BatchLoss();
    return gradient;
  }

  Trainer& trainer_;
  const Work& work_;
  std::optional<double> batch_loss_;
};

}  // namespace

base::StatusOr<Worked> WorkOf(Trainer& trainer, const Work& work) {
  if (work.local.MoveNothing()) return Worked{std::vector<float>(work.parameters.size()), {}};
  for (std::uint64_t step = 0; step < work.local.count; ++step) {
    for (std::uint32_t batch = 0; batch < work.batches; ++batch) {
      trainer.Expect(SeedOf(work, step, batch));
    }
  }
  Worker worker(trainer, work);
  if (work.local.count == 1) {
    ASSIGN_OR_RETURN(std::vector<float> gradient, worker.Mean(work.parameters, 0));
    return Worked{std::move(gradient), worker.batch_loss()};
  }
  if (!work.again) {
    const auto seed_of = [&](std::uint64_t step, std::uint32_t batch) {
      return InnerBatchSeed(work.batch_seed, step, batch);
    };
    ASSIGN_OR_RETURN(std::optional<Descended> whole,
                     trainer.Descend(work.parameters, work.local, work.batches, seed_of));
    if (whole) return Worked{std::move(whole->distance), whole->first_loss};
  }
  aggregation::LocalDescent descent(work.local, work.parameters);
  while (descent.count() < work.local.count) {
    ASSIGN_OR_RETURN(std::vector<float> gradient, worker.Mean(descent.at(), descent.count()));
    descent.Step(gradient);
  }
  return Worked{descent.TakeDistance(), worker.batch_loss()};
}

Digest InnerBatchSeed(const Digest& seed, std::uint64_t step, std::uint32_t batch) {
  return crypto::Hasher(crypto::kDomainBatchInner)
      .Update(seed)
      .UpdateU64(step)
      .UpdateU64(batch)
      .Finish();
}

}  // namespace ostraka::train
