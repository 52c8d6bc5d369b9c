// Changes signed messages and signs them again, for custom mutators: a random change after the
// signature would never pass the signature check.
//
// Part of libFuzzer builds only, because libFuzzer makes the changes.
//
// Thread safety: one owner.
#pragma once

#include <cstddef>
#include <random>

#include "crypto/sign.h"
#include "node/base/bytes.h"
#include "node/wire/messages.h"

namespace ostraka::fuzz {

// Choices of a mutator: a function of the seed, as libFuzzer requires.
class Choices {
 public:
  explicit Choices(unsigned seed) : generator_(seed) {}
  // In [0, bound). REQUIRES: 0 < bound.
  std::size_t Below(std::size_t bound) { return generator_() % bound; }
  bool OneIn(std::size_t bound) { return Below(bound) == 0; }

 private:
  std::mt19937 generator_;
};

// `bytes` changed by libFuzzer, at most `max_size` (> 0) long.
base::Bytes Mutated(base::ByteView bytes, std::size_t max_size);

// Changes a field of the slot, the parent, or the body.
void MutateEnvelope(wire::Envelope& envelope, Choices& choices);

// The frame of `envelope`, validly signed by `key`; services go unsigned.
base::Bytes SignedAgain(wire::Envelope envelope, const crypto::SigningKey& key);

// Each mutator defines it: the input with something changed and signed again. Empty if the input is
// not of a known form, or this time is for changing bytes blindly.
base::Bytes Resigned(base::ByteView input, Choices& choices);

}  // namespace ostraka::fuzz
