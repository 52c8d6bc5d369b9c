#include "sim/engine/job_times.h"

#include <variant>

namespace ostraka::sim {
namespace {

using protocol::SharedBlob;

std::uint64_t Floats(const protocol::SharedVector& vector) { return vector ? vector->size() : 0; }
std::uint64_t Floats(const SharedBlob& blob) {
  return blob ? blob->data.size() / sizeof(float) : 0;
}

template <typename Range>
std::uint64_t SumOfFloats(const Range& blobs) {
  std::uint64_t sum = 0;
  for (const SharedBlob& blob : blobs) sum += Floats(blob);
  return sum;
}

struct Counter {
  std::uint64_t operator()(const protocol::GradientSpec& spec) const {
    return Floats(spec.parameters);
  }
  std::uint64_t operator()(const protocol::PackSpec& spec) const { return Floats(spec.gradient); }
  std::uint64_t operator()(const protocol::AggregateSpec& spec) const {
    return SumOfFloats(spec.parts);
  }
  std::uint64_t operator()(const protocol::ProveSpec& spec) const {
    return 2 * SumOfFloats(spec.parts);
  }
  std::uint64_t operator()(const protocol::CrossCheckSpec& spec) const {
    return spec.claims.size() * 2 * spec.column.range.size();
  }
  std::uint64_t operator()(const protocol::RecomputeSpec& spec) const {
    return Floats(spec.gradient.parameters);
  }
  std::uint64_t operator()(const protocol::ParametersRootSpec& spec) const {
    return Floats(spec.parameters);
  }
  std::uint64_t operator()(const protocol::UpdateSpec& spec) const {
    return (2 + spec.state.slots.size()) * Floats(spec.state.parameters);
  }
  std::uint64_t operator()(const protocol::RootSpec& spec) const {
    return (1 + spec.state.slots.size()) * Floats(spec.state.parameters);
  }
};

// The gradient that the job computes; null: none.
const protocol::GradientSpec* GradientOf(const protocol::JobSpec& spec) {
  if (const auto* gradient = std::get_if<protocol::GradientSpec>(&spec)) return gradient;
  const auto* recompute = std::get_if<protocol::RecomputeSpec>(&spec);
  return recompute != nullptr ? &recompute->gradient : nullptr;
}

}  // namespace

std::uint64_t FloatsRead(const protocol::JobSpec& spec) { return std::visit(Counter{}, spec); }

std::int64_t BatchesOf(const protocol::JobSpec& spec) {
  const protocol::GradientSpec* gradient = GradientOf(spec);
  return gradient != nullptr ? static_cast<std::int64_t>(gradient->batches) : 1;
}

base::Duration DrawJobTime(const JobTimes& times, const protocol::JobSpec& spec, base::Rng& rng) {
  const auto floats = static_cast<std::int64_t>(FloatsRead(spec));
  base::Duration time = times.overhead;
  const protocol::GradientSpec* gradient = GradientOf(spec);
  if (gradient != nullptr && !gradient->local.MoveNothing()) {
    const base::Duration a_batch =
        times.gradient + base::Nanoseconds(floats * times.gradient_ns_per_float);
    time = time + a_batch * static_cast<std::int64_t>(gradient->batches);
  } else {
    time = time + base::Nanoseconds(floats * times.other_ns_per_float);
  }
  const std::int64_t percent = 100 + rng.Between(0, times.jitter_percent);
  // Division first for long jobs only: a nanosecond more or less decides nothing.
  return time.ns < INT64_MAX / 1000 ? base::Duration{time.ns * percent / 100}
                                    : base::Duration{time.ns / 100 * percent};
}

}  // namespace ostraka::sim
