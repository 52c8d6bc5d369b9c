// A second writing of docs/protocol.md 2 and docs/protocol/: from the sealed messages of a step and
// the last block to the next block. tests/property/rules_property_test.cpp compares it with
// node/protocol/rules, of which nothing is included here.
//
// It is meant to be read beside these pages: each function names the rule that it writes down, in
// loops over plain lists. Given, and not written a second time: roles and draws
// (node/protocol/ground/roles.h), encodings (node/wire), hashes, and evidence files, whose second
// writing is proofs/verifier.
//
//   naive_step     which message is sealed, and what the seals prove (2, 3, 6)
//   naive_columns  which columns are applied, and the next tau (4, 5)
//   naive_cases    accusations, namings and votes (5)
//   naive_removals passes, disputes, slowness, voids (5, 6)
//   naive_admissions  who returns, and who comes in (7)
//   naive_rules    the block (5 to 7)
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "crypto/sign.h"
#include "node/protocol/ground/manifest.h"
#include "node/protocol/ground/numbers.h"
#include "node/wire/block.h"

namespace ostraka::protocol::naive {

using wire::Block;

// One entry of a sealed vector.
struct Entry {
  enum class State : std::uint8_t { kAbsent, kPresent, kEquivocated };
  State state = State::kAbsent;
  wire::SharedMessage message;  // set iff present
};

// The decisions of the seals of one step. All lists are by member of the last block.
struct Sealed {
  std::vector<Entry> commits;
  std::vector<Entry> aggregates;
  std::vector<std::vector<Entry>> reveals;  // a draw each
  std::vector<Entry> proofs;
  Digest decision;                  // of seal C
  std::vector<ResultSize> results;  // a column each
};

// The block after `last`; nullopt if no draw gives a coin.
std::optional<Block> BlockAfter(const Block& last, const Manifest& manifest,
                                std::uint64_t dimension, const Sealed& sealed,
                                crypto::Verifier& verifier);

}  // namespace ostraka::protocol::naive
