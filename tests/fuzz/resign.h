// Signed messages changed and signed again, for custom mutators: what is changed at random after
// its signature never gets past the check of it.
//
// Part of libFuzzer builds only, for libFuzzer does the changing. Thread safety: one owner.
#pragma once

#include <cstddef>
#include <random>

#include "crypto/sign.h"
#include "node/base/bytes.h"
#include "node/wire/messages.h"

namespace ostraka::fuzz {

// Choices of a mutator: the same for the same seed, as libFuzzer asks.
class Choices {
 public:
  explicit Choices(unsigned seed) : generator_(seed) {}
  // In [0, bound). REQUIRES: 0 < bound.
  std::size_t Below(std::size_t bound) { return generator_() % bound; }
  bool OneIn(std::size_t bound) { return Below(bound) == 0; }

 private:
  std::mt19937 generator_;
};

// `bytes` as libFuzzer would change them, at most `max_size` (> 0) long.
base::Bytes Mutated(base::ByteView bytes, std::size_t max_size);

// Changes a field of the slot, the entry, or the body.
void MutateEnvelope(wire::Envelope& envelope, Choices& choices);

// The frame of what `key` now says in place of `envelope`, with a true signature; services go
// unsigned.
base::Bytes SignedAgain(wire::Envelope envelope, const crypto::SigningKey& key);

// Each mutator defines it: the input with something changed and signed again. Empty if the input is
// none that it knows, or this time is for changing bytes blindly.
base::Bytes Resigned(base::ByteView input, Choices& choices);

}  // namespace ostraka::fuzz
