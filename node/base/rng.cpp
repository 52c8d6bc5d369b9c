#include "node/base/rng.h"

#include "node/base/check.h"

namespace ostraka::base {
namespace {

// SplitMix64's finaliser (Steele, Lea, Flood 2014; public domain constants).
std::uint64_t Mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

}  // namespace

std::uint64_t Rng::Next() {
  state_ += 0x9e3779b97f4a7c15ULL;
  return Mix(state_);
}

std::uint64_t Rng::Below(std::uint64_t bound) {
  OSTRAKA_CHECK(bound > 0);
  // Reject draws below 2^64 mod bound, which would make small results likelier.
  const std::uint64_t threshold = (0 - bound) % bound;
  std::uint64_t draw = Next();
  while (draw < threshold) draw = Next();
  return draw % bound;
}

std::int64_t Rng::Between(std::int64_t low, std::int64_t high) {
  OSTRAKA_CHECK(low <= high);
  const auto span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  const std::uint64_t offset = span == 0 ? Next() : Below(span);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset);
}

bool Rng::Chance(std::uint64_t numerator, std::uint64_t denominator) {
  return Below(denominator) < numerator;
}

double Rng::Unit() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

double Rng::Normal() {
  double sum = 0;
  for (int i = 0; i < 12; ++i) sum += Unit();
  return sum - 6.0;
}

Rng Rng::Fork(std::string_view label) const { return Fork(label, 0); }

Rng Rng::Fork(std::string_view label, std::uint64_t index) const {
  std::uint64_t key = Mix(state_ ^ 0x6f737472616b61ULL);
  for (const char c : label) key = Mix(key ^ static_cast<unsigned char>(c)) + 0x9e3779b97f4a7c15ULL;
  return Rng(Mix(key ^ Mix(index + 1)));
}

}  // namespace ostraka::base
