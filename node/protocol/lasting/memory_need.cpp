#include "node/protocol/lasting/memory_need.h"

#include <algorithm>

#include "node/protocol/ground/codec.h"
#include "node/protocol/ground/stored_state.h"
#include "node/protocol/lasting/chain.h"
#include "node/protocol/sync/past_step.h"

namespace ostraka::protocol {
namespace {

std::uint64_t StateBytes(const Manifest& manifest, std::uint64_t dimension) {
  return (1 + SlotNamesOf(manifest.training.optimizer).size()) * 4 * dimension;
}

}  // namespace

MemoryNeed MemoryOf(const Manifest& manifest, std::uint64_t dimension) {
  const TrainingPlan& plan = manifest.training;
  const std::uint64_t vector = 4 * dimension;
  const std::uint64_t state = StateBytes(manifest, dimension);
  const std::uint64_t own_parts = EncodedBytes(manifest.codecs.parts, dimension);
  const std::uint64_t results = EncodedBytes(manifest.codecs.results, dimension);
  // y, m and v of local steps (aggregation/optim/local_steps.h), and the gradient; of several
  // batches also their sum.
  const std::uint64_t vectors =
      (plan.inner.steps > 1 ? 4U : 1U) + (plan.most_batches > 1 ? 1U : 0U);
  // Of so many states that are served, the store has one.
  const std::uint64_t served = Chain::ServedStates(manifest.state_root_every);
  const std::uint64_t stride = std::max<std::uint64_t>(kStateEvery / manifest.state_root_every, 1);
  // The case that may open next is about the step before the head's.
  const std::uint64_t past = 2 + LooksIn(manifest).before;
  return {.states = 3 * state,
          .served = (served - served / stride) * state,
          .past = past * vector,
          .parts = 4 * own_parts,  // an owner gets about as much as a worker sends
          .results = (past + 1) * results,
          .work = vectors * vector};
}

DiskNeed DiskOf(const Manifest& manifest, std::uint64_t dimension) {
  const std::uint64_t state = StateBytes(manifest, dimension);
  const std::uint64_t results = EncodedBytes(manifest.codecs.results, dimension);
  // One is written while the one before is still lent or not yet given back.
  const std::uint64_t states = Chain::ServedStates(manifest.state_root_every) + 2;
  return {.kept = (2 * kLongWay + 1) * results + states * state,
          .checkpoint = state,
          .each_step = results + state / StoredStateEvery(manifest)};
}

std::uint64_t MostWaitingForDisk(const Manifest& manifest, std::uint64_t dimension) {
  return (std::uint64_t{256} << 20) + 4 * EncodedBytes(manifest.codecs.results, dimension);
}

}  // namespace ostraka::protocol
