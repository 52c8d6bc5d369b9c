// Rows of named columns: examples for graphs of any inputs, such as classes of texts, pairs of
// texts, masked texts, images of any size.
//
// A file is lines, then the rows of training, validation and test, one after another:
//   ostraka-examples 1 COLUMNS TRAINING VALIDATION TEST
//   NAME TYPE[EXTENTS] LOWEST BOUND          integers: u8, u16 or u32
//   NAME TYPE[EXTENTS]                       floats: p8 or f32
// with one line for each column, e.g. `tokens u16[128] 0 30522`, `targets u8[] -1 2`. Numbers are
// decimal without leading zeros. A row has its columns in this order, each element little-endian:
// an integer less LOWEST, which together stay below BOUND; a pixel, as 2 (p / 255) - 1; or a finite
// binary32.
//
// The hash of the data is H(kDomainData, u64 0, which no image has as its channels | sized lines of
// the columns | u64 counts of training, validation and test | Merkle root), whose leaves are the
// rows (crypto/merkle.h).
//
// What an attacker can do here: a file is an organiser's or a stranger's. Its size must be the one
// that its lines state, so memory is bounded by the file; its lines are bounded.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "node/base/bytes.h"
#include "node/base/ids.h"
#include "node/base/status.h"
#include "node/train/dataset.h"

namespace ostraka::train {

// The name of such data.
inline constexpr char kExamples[] = "examples";
inline constexpr std::size_t kMostColumns = 64;
inline constexpr std::size_t kMostRowBytes = std::size_t{1} << 26;

// InvalidArgument: a file in another form, with values out of their range, or without held-out
// rows.
base::StatusOr<Dataset> ParseExamples(base::ByteView file);
base::Digest HashOfExamples(const Dataset& data);

// A column as its line in a file, without the line feed.
std::string TextOf(const Column& column);

// Of one row: what stands in a column. REQUIRES: a column of integers, or one of floats; `values`
// has its count.
void ReadIntegers(std::span<const std::uint8_t> row, const Column& column,
                  std::span<std::int32_t> values);
void ReadFloats(std::span<const std::uint8_t> row, const Column& column, std::span<float> values);

}  // namespace ostraka::train
