// Shorthands of the trainers' tests.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "crypto/merkle.h"
#include "node/base/bytes.h"
#include "node/base/ids.h"

namespace ostraka::train {

inline base::Digest SeedOf(std::uint64_t number) {
  base::Digest seed;
  for (std::size_t i = 0; i < 8; ++i) seed.bytes[i] = static_cast<std::uint8_t>(number >> (8 * i));
  return seed;
}

// A fingerprint of every bit of `values`.
inline std::string FingerprintOf(const std::vector<float>& values) {
  return crypto::MerkleRootOfData(base::AsBytes(std::span<const float>(values))).Hex();
}

}  // namespace ostraka::train
