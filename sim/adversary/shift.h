// Shifts of gradients and aggregates.
//
// Thread safety: pure functions.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "crypto/merkle.h"
#include "node/protocol/ground/jobs.h"

namespace ostraka::sim {

inline std::vector<float> ValuesIn(protocol::Codec codec, const crypto::Blob& blob,
                                   std::uint64_t count) {
  const protocol::Values values(codec, blob, count);
  return {values.span().begin(), values.span().end()};
}
inline std::vector<float> ResultOf(const protocol::AggregateSpec& spec,
                                   const protocol::AggregateResult& result) {
  return ValuesIn(spec.codecs.results, *result.result, spec.size);
}
// `values` as the result of `spec`.
inline protocol::AggregateResult AsResult(const protocol::AggregateSpec& spec,
                                          std::span<const float> values) {
  base::Bytes data = protocol::Encode(spec.codecs.results, values);
  return {spec.hash ? crypto::MakeBlob(std::move(data))
                    : std::make_shared<const crypto::Blob>(crypto::Blob{std::move(data), {}})};
}

// The root mean square, or 1 if it is zero: the unit of shifts.
inline double ScaleOf(std::span<const float> values) {
  double squares = 0;
  for (const float value : values) squares += double{value} * value;
  const double rms = std::sqrt(squares / static_cast<double>(values.size()));
  return rms > 0 ? rms : 1;
}

// `values` with `scale` times their root mean square added to each: a shift in one direction,
// relative to the gradient and so independent of the progress of training.
inline std::shared_ptr<const std::vector<float>> ShiftedBy(std::vector<float> values,
                                                           double scale) {
  const auto shift = static_cast<float>(scale * ScaleOf(values));
  for (float& value : values) value += shift;
  return std::make_shared<const std::vector<float>>(std::move(values));
}

// `values` with `shift` added to each, as the result of `spec`.
inline protocol::AggregateResult Shifted(const protocol::AggregateSpec& spec,
                                         std::vector<float> values, double shift) {
  for (float& value : values) value += static_cast<float>(shift);
  return AsResult(spec, values);
}

}  // namespace ostraka::sim
