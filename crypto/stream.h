// Unlimited deterministic bytes from a public digest: ChaCha20 (RFC 8439) keyed by H(kDomainStream,
// sized label | key), nonce zero, counter from zero. Beyond the RFC's 2^32 blocks the counter
// continues in 64 bits, as in the original ChaCha20.
//
// For draws that all peers must make alike from the coin of a step (roles, batches, directions) and
// that no peer can predict before the coin is revealed. Numbers are little-endian.
//
// Thread safety: one owner each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "node/base/ids.h"

namespace ostraka::crypto {

using base::Digest;

class Stream {
 public:
  Stream(std::string_view label, const Digest& key);

  void Fill(std::span<std::uint8_t> out);
  std::uint64_t NextU64();
  // Uniform in [0, bound): the first NextU64() that is not below 2^64 mod bound, modulo bound.
  // REQUIRES: bound > 0.
  std::uint64_t Below(std::uint64_t bound);
  // A uniform permutation of 0..count-1 (Fisher-Yates from the end: for i = count-1
  // down to 1, swaps i with Below(i + 1)).
  std::vector<std::uint32_t> Permutation(std::uint32_t count);

 private:
  void Refill();
  std::array<std::uint8_t, 32> key_{};
  std::array<std::uint8_t, 1024> buffer_{};
  std::size_t used_ = 1024;
  std::uint64_t next_block_ = 0;
};

}  // namespace ostraka::crypto
