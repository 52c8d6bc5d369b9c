#include "aggregation/attacks/attack_mimic.h"

#include <cmath>

#include "aggregation/attacks/attack_vectors.h"
#include "node/base/check.h"
#include "node/base/rng.h"

namespace ostraka::aggregation {
namespace {

std::uint64_t IdOf(std::span<const std::uint64_t> ids, std::size_t row) {
  return ids.empty() ? row : ids[row];
}

void Normalize(std::vector<double>& values) {
  double squares = 0;
  for (const double value : values) squares += value * value;
  const double length = std::sqrt(squares);
  for (double& value : values) value = length > 0 ? value / length : 0.0;
}

void Learn(const Rows& honest, std::span<const std::uint64_t> ids, std::uint64_t seed,
           AttackState& state) {
  const std::vector<double> now = MeanOf(honest);
  if (state.steps == 0 || state.mean.size() != now.size()) {
    state.steps = 0;
    state.mean.assign(now.size(), 0.0);
    state.direction.resize(now.size());
    state.projections.clear();
    base::Rng rng = base::Rng(seed).Fork("mimic");
    for (double& value : state.direction) value = rng.Normal();
    Normalize(state.direction);
  }
  const auto t = static_cast<double>(state.steps++);
  for (std::size_t c = 0; c < now.size(); ++c) {
    state.mean[c] = (t * state.mean[c] + now[c]) / (t + 1);
  }
  std::vector<double> pulled(now.size(), 0.0);
  for (std::size_t i = 0; i < honest.count(); ++i) {
    double along = 0;
    for (std::size_t c = 0; c < now.size(); ++c) {
      along += (static_cast<double>(honest.row[i][c]) - state.mean[c]) * state.direction[c];
    }
    for (std::size_t c = 0; c < now.size(); ++c) {
      pulled[c] += (static_cast<double>(honest.row[i][c]) - state.mean[c]) * along;
    }
    state.projections[IdOf(ids, i)] += along;
  }
  for (std::size_t c = 0; c < now.size(); ++c) {
    state.direction[c] = (t * state.direction[c] + pulled[c]) / (t + 1);
  }
  Normalize(state.direction);
}

std::uint64_t MostProjected(const AttackState& state) {
  auto best = state.projections.begin();
  for (auto it = best; it != state.projections.end(); ++it) {
    if (std::abs(it->second) > std::abs(best->second)) best = it;
  }
  return best->first;
}

}  // namespace

std::vector<float> Mimic(const Rows& honest, std::span<const std::uint64_t> ids,
                         const MimicOptions& options, std::uint64_t seed, AttackState& state) {
  OSTRAKA_CHECK(honest.count() > 0 && (ids.empty() || ids.size() == honest.count()));
  if (state.steps < options.warm_up) Learn(honest, ids, seed, state);
  const bool chosen = options.warm_up > 0 && state.steps >= options.warm_up;
  const std::uint64_t worker = chosen ? MostProjected(state) : options.worker;
  // The identity that cyclically follows `worker` first: `worker` itself if it is among the rows.
  std::size_t copied = 0;
  for (std::size_t i = 1; i < honest.count(); ++i) {
    if (IdOf(ids, i) - worker < IdOf(ids, copied) - worker) copied = i;
  }
  return {honest.row[copied], honest.row[copied] + honest.dimension};
}

}  // namespace ostraka::aggregation
