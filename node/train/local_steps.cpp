#include "node/train/local_steps.h"

#include <utility>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/base/bytes.h"

namespace ostraka::train {
namespace {

base::StatusOr<std::vector<float>> GradientAt(Trainer& trainer, bool again,
                                              std::span<const float> parameters,
                                              const Digest& seed) {
  RETURN_IF_ERROR(trainer.CheckWanted());
  return again ? trainer.GradientAgain(parameters, seed) : trainer.Gradient(parameters, seed);
}

}  // namespace

base::StatusOr<Worked> WorkOf(Trainer& trainer, const Work& work) {
  if (work.local.MoveNothing()) return Worked{std::vector<float>(work.parameters.size()), {}};
  const bool is_local = work.local.count > 1;
  const Digest first_seed = is_local ? InnerBatchSeed(work.batch_seed, 0) : work.batch_seed;
  ASSIGN_OR_RETURN(std::vector<float> gradient,
                   GradientAt(trainer, work.again, work.parameters, first_seed));
  const std::optional<double> batch_loss = trainer.BatchLoss();
  if (!is_local) return Worked{std::move(gradient), batch_loss};
  aggregation::LocalDescent descent(work.local, work.parameters);
  descent.Step(gradient);
  while (descent.count() < work.local.count) {
    const Digest seed = InnerBatchSeed(work.batch_seed, descent.count());
    ASSIGN_OR_RETURN(gradient, GradientAt(trainer, work.again, descent.at(), seed));
    descent.Step(gradient);
  }
  return Worked{descent.TakeDistance(), batch_loss};
}

Digest InnerBatchSeed(const Digest& seed, std::uint64_t step) {
  return crypto::Hasher(crypto::kDomainBatchInner)
      .Update(seed)
      .UpdateU64(step)
      .UpdateU64(0)  // the batch of that step
      .Finish();
}

}  // namespace ostraka::train
