#include "node/train/local_steps.h"

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/base/bytes.h"

namespace ostraka::train {
namespace {

base::StatusOr<std::vector<float>> GradientAt(Trainer& trainer, const Work& work,
                                              std::span<const float> parameters,
                                              const Digest& seed) {
  if (work.unwanted && work.unwanted()) {
    return base::Cancelled("nobody wants this gradient any more");
  }
  return work.again ? trainer.GradientAgain(parameters, seed) : trainer.Gradient(parameters, seed);
}

}  // namespace

base::StatusOr<std::vector<float>> WorkOf(Trainer& trainer, const Work& work) {
  if (work.batch_loss != nullptr) work.batch_loss->reset();
  const bool is_local = work.local.count > 1;
  if (is_local && work.local.rate == 0) return std::vector<float>(work.parameters.size());
  const Digest first_seed = is_local ? InnerBatchSeed(work.batch_seed, 0) : work.batch_seed;
  ASSIGN_OR_RETURN(std::vector<float> gradient,
                   GradientAt(trainer, work, work.parameters, first_seed));
  if (work.batch_loss != nullptr) *work.batch_loss = trainer.BatchLoss();
  if (!is_local) return gradient;
  aggregation::LocalDescent descent(work.local, work.parameters);
  descent.Step(gradient);
  while (descent.count() < work.local.count) {
    const Digest seed = InnerBatchSeed(work.batch_seed, descent.count());
    ASSIGN_OR_RETURN(gradient, GradientAt(trainer, work, descent.at(), seed));
    descent.Step(gradient);
  }
  return descent.TakeDistance();
}

Digest InnerBatchSeed(const Digest& seed, std::uint64_t step) {
  return crypto::Hasher(crypto::kDomainBatchInner)
      .Update(seed)
      .UpdateU64(step)
      .UpdateU64(0)  // the batch of that step
      .Finish();
}

}  // namespace ostraka::train
