// A seeded generator for drivers, tests and attacks: SplitMix64 with a forkable state. Never used
// for secrets (crypto/stream.h is), and never seeded by the operating system in layers 0-5.
//
// Fork(label) returns an independent child, so further draws in one part never shift the values in
// another. The values are part of the simulator's contract: equal seeds give equal runs on every
// machine.
//
// Thread safety: none; one owner each.
#pragma once

#include <cstdint>
#include <string_view>

namespace ostraka::base {

class Rng {
 public:
  explicit Rng(std::uint64_t seed) : state_(seed) {}

  std::uint64_t Next();
  // Uniform in [0, bound), without modulo bias. REQUIRES: bound > 0.
  std::uint64_t Below(std::uint64_t bound);
  // Uniform in [low, high]. REQUIRES: low <= high.
  std::int64_t Between(std::int64_t low, std::int64_t high);
  // True with probability numerator / denominator. REQUIRES: denominator > 0.
  bool Chance(std::uint64_t numerator, std::uint64_t denominator);
  // Uniform in [0, 1), a multiple of 2^-53: exact, so equal on every machine.
  double Unit();
  // Near-normal (mean 0, variance 1): the sum of 12 uniforms minus 6 (Irwin-Hall), bounded by +-6.
  // Uses no libm, so it is bit-identical on every machine.
  double Normal();

  // A child whose draws are independent of this generator's and of any other label's.
  Rng Fork(std::string_view label) const;
  Rng Fork(std::string_view label, std::uint64_t index) const;

 private:
  std::uint64_t state_;
};

}  // namespace ostraka::base
