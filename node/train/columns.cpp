#include "node/train/columns.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "node/base/check.h"

namespace ostraka::train {
namespace {

using base::InvalidArgument;

constexpr std::size_t kMostLineBytes = 512;
constexpr std::size_t kMostNameBytes = 128;
constexpr std::size_t kMostExtents = 7;  // a graph's tensors have eight, one of them for examples

struct KnownElement {
  ColumnElement element;
  std::string_view name;
  std::uint32_t bytes;
};
constexpr std::array<KnownElement, 5> kElements = {{{ColumnElement::kU8, "u8", 1},
                                                    {ColumnElement::kU16, "u16", 2},
                                                    {ColumnElement::kU32, "u32", 4},
                                                    {ColumnElement::kPixel, "p8", 1},
                                                    {ColumnElement::kFloat, "f32", 4}}};

const KnownElement& Known(ColumnElement element) {
  return kElements[static_cast<std::size_t>(element)];
}

std::uint64_t ReadElement(const std::uint8_t* at, std::uint32_t bytes) {
  std::uint64_t value = 0;
  for (std::uint32_t i = bytes; i-- > 0;) value = value << 8 | at[i];
  return value;
}

// A decimal number as it would be printed.
std::optional<std::int64_t> NumberOf(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || std::to_string(value) != text) return std::nullopt;
  return value;
}

// The words of a text that one blank each parts.
std::vector<std::string_view> Words(std::string_view text, char separator = ' ') {
  std::vector<std::string_view> words;
  for (;;) {
    const std::size_t end = text.find(separator);
    words.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return words;
    text.remove_prefix(end + 1);
  }
}

bool IsName(std::string_view name) {
  return !name.empty() && name.size() <= kMostNameBytes &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_' || c == '.';
         });
}

// "u16[4,128]"
base::Status ParseType(std::string_view text, Column& column) {
  const std::size_t open = text.find('[');
  const auto known =
      std::find_if(kElements.begin(), kElements.end(),
                   [&](const KnownElement& each) { return each.name == text.substr(0, open); });
  if (known == kElements.end() || open == std::string_view::npos || text.back() != ']') {
    return InvalidArgument("'" + std::string(text) +
                           "' is no type such as u8[], u16[128], u32[4,8], p8[3,32,32] or f32[2]");
  }
  column.element = known->element;
  column.bytes = known->bytes;
  const std::string_view extents = text.substr(open + 1, text.size() - open - 2);
  if (extents.empty()) return base::OkStatus();
  std::uint64_t bytes = column.bytes;
  for (const std::string_view word : Words(extents, ',')) {
    const auto extent = NumberOf(word);
    if (!extent || *extent < 1 || *extent > std::int64_t{kMostRowBytes} ||
        column.shape.size() == kMostExtents) {
      return InvalidArgument("'" + std::string(text) + "' has other extents than 1 to " +
                             std::to_string(kMostRowBytes) + ", at most " +
                             std::to_string(kMostExtents) + " of them");
    }
    column.shape.push_back(*extent);
    column.count *= static_cast<std::uint64_t>(*extent);
    bytes *= static_cast<std::uint64_t>(*extent);
    if (bytes > kMostRowBytes) {
      return InvalidArgument("'" + std::string(text) + "' has more than " +
                             std::to_string(kMostRowBytes) + " bytes a row");
    }
  }
  return base::OkStatus();
}

base::StatusOr<Column> ParseColumn(std::string_view line) {
  const std::vector<std::string_view> words = Words(line);
  const auto wrong = [&](const std::string& what) {
    const bool is_text =
        std::all_of(line.begin(), line.end(), [](char c) { return c >= ' ' && c <= '~'; });
    return InvalidArgument((is_text
                                ? "its line '" + std::string(line.substr(0, kMostNameBytes)) + "'"
                                : std::string("a line of its columns that is no text")) +
                           ": " + what);
  };
  if (words.size() < 2 || !IsName(words[0])) return wrong("no name and type of a column");
  Column column{.name = std::string(words[0])};
  if (const base::Status type = ParseType(words[1], column); !type.ok()) {
    return wrong(base::MessageOf(type));
  }
  if (!column.of_integers()) {
    if (words.size() > 2) return wrong("floats have no range");
    return column;
  }
  const auto lowest = words.size() == 4 ? NumberOf(words[2]) : std::nullopt;
  const auto bound = words.size() == 4 ? NumberOf(words[3]) : std::nullopt;
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (!lowest || !bound || *lowest < -1 || *lowest > 0 || *bound <= *lowest || *bound > kMost) {
    return wrong("integers need LOWEST, 0 or -1, and BOUND above it, up to 2147483647");
  }
  column.lowest = static_cast<std::int32_t>(*lowest);
  column.bound = static_cast<std::int32_t>(*bound);
  if (static_cast<std::uint64_t>(*bound - *lowest - 1) >> (8 * column.bytes) != 0) {
    return wrong("the type has fewer values than the range");
  }
  return column;
}

}  // namespace

std::optional<std::string_view> TakeLine(std::string_view& rest) {
  const std::size_t end = rest.substr(0, kMostLineBytes).find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  return line;
}

std::optional<std::vector<std::uint64_t>> CountsIn(std::string_view line, std::string_view magic) {
  if (!line.starts_with(magic)) return std::nullopt;
  std::vector<std::uint64_t> counts;
  for (const std::string_view word : Words(line.substr(magic.size()))) {
    const auto number = NumberOf(word);
    if (!number || *number < 1) return std::nullopt;
    counts.push_back(static_cast<std::uint64_t>(*number));
  }
  return counts;
}

base::StatusOr<std::vector<Column>> ParseColumns(std::uint64_t count, std::string_view& rest) {
  std::vector<Column> columns;
  std::size_t row_bytes = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto line = TakeLine(rest);
    if (!line) return InvalidArgument("it ends before its columns, or has a line that is too long");
    ASSIGN_OR_RETURN(Column column, ParseColumn(*line));
    for (const Column& other : columns) {
      if (other.name == column.name) {
        return InvalidArgument("it has two columns '" + column.name + "'");
      }
    }
    column.at = row_bytes;
    row_bytes += column.row_bytes();
    if (row_bytes > kMostRowBytes) {
      return InvalidArgument("a row has more than " + std::to_string(kMostRowBytes) + " bytes");
    }
    columns.push_back(std::move(column));
  }
  return columns;
}

base::Status CheckRow(std::span<const std::uint8_t> row, const std::vector<Column>& columns,
                      std::uint64_t index) {
  for (const Column& column : columns) {
    if (column.element == ColumnElement::kPixel) continue;
    const auto range = static_cast<std::uint64_t>(std::int64_t{column.bound} - column.lowest);
    for (std::uint64_t i = 0; i < column.count; ++i) {
      const std::uint64_t bits =
          ReadElement(row.data() + column.at + i * column.bytes, column.bytes);
      const bool fits = column.of_integers()
                            ? bits < range
                            : std::isfinite(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
      if (fits) continue;
      return InvalidArgument("row " + std::to_string(index) + ", column " + column.name +
                             (column.of_integers()
                                  ? " has a value beyond " + std::to_string(column.bound - 1)
                                  : " has a float that is not finite"));
    }
  }
  return base::OkStatus();
}

std::string TextOf(const Column& column) {
  std::string text = column.name + " " + std::string(Known(column.element).name) + "[";
  for (const std::int64_t extent : column.shape) {
    text += (text.back() == '[' ? "" : ",") + std::to_string(extent);
  }
  text += "]";
  if (!column.of_integers()) return text;
  return text + " " + std::to_string(column.lowest) + " " + std::to_string(column.bound);
}

void ReadIntegers(std::span<const std::uint8_t> row, const Column& column,
                  std::span<std::int32_t> values) {
  OSTRAKA_CHECK(column.of_integers() && values.size() == column.count);
  const std::uint8_t* at = row.data() + column.at;
  for (std::int32_t& value : values) {
    value = static_cast<std::int32_t>(ReadElement(at, column.bytes)) + column.lowest;
    at += column.bytes;
  }
}

void ReadFloats(std::span<const std::uint8_t> row, const Column& column, std::span<float> values) {
  OSTRAKA_CHECK(!column.of_integers() && values.size() == column.count);
  const std::uint8_t* at = row.data() + column.at;
  for (float& value : values) {
    const auto bits = static_cast<std::uint32_t>(ReadElement(at, column.bytes));
    value = column.element == ColumnElement::kPixel ? 2 * (static_cast<float>(bits) / 255.0F) - 1
                                                    : std::bit_cast<float>(bits);
    at += column.bytes;
  }
}

}  // namespace ostraka::train
