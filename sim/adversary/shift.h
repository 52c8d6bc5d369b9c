// Aggregates that are not what their parts make.
//
// Thread safety: pure functions.
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "crypto/merkle.h"
#include "node/protocol/jobs.h"

namespace ostraka::sim {

inline std::vector<float> FloatsIn(const crypto::Blob& blob) {
  std::vector<float> values(blob.data.size() / sizeof(float));
  std::memcpy(values.data(), blob.data.data(), values.size() * sizeof(float));
  return values;
}

// `values` with `shift` added to each, as the result of `spec`.
inline protocol::AggregateResult Shifted(const protocol::AggregateSpec& spec,
                                         std::vector<float> values, double shift) {
  for (float& value : values) value += static_cast<float>(shift);
  const base::ByteView bytes = base::AsBytes(std::span<const float>(values));
  base::Bytes data(bytes.begin(), bytes.end());
  return {spec.hash ? crypto::MakeBlob(std::move(data))
                    : std::make_shared<const crypto::Blob>(crypto::Blob{std::move(data), {}})};
}

}  // namespace ostraka::sim
