// Columns of rows: their lines in a file, and what stands in a row.
//
//   NAME TYPE[EXTENTS] LOWEST BOUND          integers: u8, u16 or u32
//   NAME TYPE[EXTENTS]                       floats: p8 or f32
// e.g. `tokens u16[128] 0 30522`, `targets u8[] -1 2`. Numbers are decimal without leading zeros. A
// row has its columns in the order of the lines, each element little-endian: an integer less
// LOWEST, which together stay below BOUND; a pixel, as 2 (p / 255) - 1; or a finite binary32.
//
// What an attacker can do here: lines and rows are a stranger's. Lines are bounded, and nothing is
// allocated by what they say.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "node/base/status.h"
#include "node/train/dataset.h"

namespace ostraka::train {

inline constexpr std::size_t kMostColumns = 64;
inline constexpr std::size_t kMostRowBytes = std::size_t{1} << 26;

// The line with which `rest` begins, which is taken from it without its line feed. Nullopt: there
// is none, or it is longer than a line may be.
std::optional<std::string_view> TakeLine(std::string_view& rest);
// The numbers after `magic`, each at least 1, with one blank between two. Nullopt: another line.
std::optional<std::vector<std::uint64_t>> CountsIn(std::string_view line, std::string_view magic);
// `count` lines, which are taken from `rest`. InvalidArgument.
base::StatusOr<std::vector<Column>> ParseColumns(std::uint64_t count, std::string_view& rest);
// A column as its line, without the line feed.
std::string TextOf(const Column& column);

// InvalidArgument, naming the row, if a value is out of its range.
base::Status CheckRow(std::span<const std::uint8_t> row, const std::vector<Column>& columns,
                      std::uint64_t index);
// Of one row: what stands in a column. REQUIRES: a column of integers, or one of floats; `values`
// has its count.
void ReadIntegers(std::span<const std::uint8_t> row, const Column& column,
                  std::span<std::int32_t> values);
void ReadFloats(std::span<const std::uint8_t> row, const Column& column, std::span<float> values);

}  // namespace ostraka::train
