// The text of the tiny gpt: plain sentences over a few words, drawn from a seed. So a run needs no
// file, two seeds have different texts, and there is something to learn: letters, words, and which
// kind of word follows which.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "node/base/status.h"
#include "node/train/dataset.h"

namespace ostraka::sim {

// Lower-case letters, the space and the full stop.
inline constexpr std::uint32_t kTinySymbols = 28;

// The first `size` letters.
std::string TinyText(std::uint64_t seed, std::size_t size);

// That text as records of `context` + 1 symbols (node/train/tokens/tokens.h), with the three parts
// that any text has. InvalidArgument: RecordsOf's.
base::StatusOr<train::Dataset> TinyRecords(std::uint64_t seed, std::size_t size,
                                           std::uint32_t context);

}  // namespace ostraka::sim
