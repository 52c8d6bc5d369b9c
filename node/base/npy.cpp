#include "node/base/npy.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>

#include "node/base/check.h"

namespace ostraka::base {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::string_view kZip = "PK\x03\x04";
constexpr std::size_t kVersionEnd = 8;  // magic, major, minor
constexpr std::size_t kPadding = 64;

Status Malformed(std::string_view what) {
  return InvalidArgument("its .npy header cannot be read: " + std::string(what) +
                         "; write it with numpy.save");
}

// Parser for the Python literal in a header: a dict of a string, a boolean and a tuple of integers.
// It supports no escapes, nesting, expressions or comments. Python 2 wrote u'...' and 3L.
class Literal {
 public:
  explicit Literal(std::string_view text) : rest_(text) {}

  // If `symbol` comes next, skips it and returns true.
  bool Take(char symbol) {
    SkipSpace();
    if (rest_.empty() || rest_.front() != symbol) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool AtEnd() {
    SkipSpace();
    return rest_.empty();
  }
  char Peek() {
    SkipSpace();
    return rest_.empty() ? '\0' : rest_.front();
  }
  // A string of printable ASCII in single or double quotes.
  std::optional<std::string_view> String() {
    if ((Peek() == 'u' || Peek() == 'U') && rest_.size() > 1) rest_.remove_prefix(1);
    const char quote = rest_.empty() ? '\0' : rest_.front();
    if (quote != '\'' && quote != '"') return std::nullopt;
    for (std::size_t end = 1; end < rest_.size(); ++end) {
      if (rest_[end] == quote) {
        const std::string_view text = rest_.substr(1, end - 1);
        rest_.remove_prefix(end + 1);
        return text;
      }
      if (rest_[end] < ' ' || rest_[end] > '~' || rest_[end] == '\\') break;
    }
    return std::nullopt;
  }
  std::optional<bool> Boolean() {
    SkipSpace();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return value;
    }
    return std::nullopt;
  }
  // Decimal digits of a value below 2^63, without a leading zero, and perhaps L.
  std::optional<std::uint64_t> Integer() {
    SkipSpace();
    constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
    std::uint64_t value = 0;
    std::size_t digits = 0;
    for (; digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9'; ++digits) {
      const auto digit = static_cast<std::uint64_t>(rest_[digits] - '0');
      if ((digits > 0 && value == 0) || value > (kMax - digit) / 10) return std::nullopt;
      value = value * 10 + digit;
    }
    if (digits == 0) return std::nullopt;
    rest_.remove_prefix(digits);
    if (rest_.starts_with('L')) rest_.remove_prefix(1);
    return value;
  }

 private:
  void SkipSpace() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\f\r\n"), rest_.size()));
  }
  std::string_view rest_;
};

// The names that numpy.dtype knows for the two types, on a little-endian machine.
StatusOr<NpyType> TypeOf(std::string_view descr) {
  std::string_view name = descr;
  if (name.starts_with('<') || name.starts_with('=') || name.starts_with('|')) {
    name.remove_prefix(1);
  }
  if (name == "f4" || name == "f") return NpyType::kFloat32;
  if (name == "f8" || name == "d") return NpyType::kFloat64;
  if (descr == "float32" || descr == "single") return NpyType::kFloat32;
  if (descr == "float64" || descr == "double" || descr == "float") return NpyType::kFloat64;
  if (descr.find('O') != std::string_view::npos) {
    return InvalidArgument(
        "the array holds Python objects, and unpickling them would run their code: save it as "
        "float32");
  }
  return InvalidArgument("the array's dtype is '" + std::string(descr.substr(0, 16)) +
                         "', and only little-endian float32 and float64 are read: convert it with "
                         ".astype('<f4')");
}

StatusOr<std::vector<std::uint64_t>> ParseShape(Literal& text) {
  if (!text.Take('(')) return Malformed("the shape is no tuple");
  std::vector<std::uint64_t> shape;
  while (!text.Take(')')) {
    const auto extent = text.Integer();
    if (!extent) return Malformed("the shape holds something else than lengths");
    if (shape.size() == kMaxNpyDimensions) return Malformed("more than 32 dimensions");
    shape.push_back(*extent);
    const bool comma = text.Take(',');
    // (3) is a number in Python; a tuple of one element is (3,).
    if (!comma && (shape.size() == 1 || text.Peek() != ')')) {
      return Malformed("the shape is no tuple");
    }
  }
  return shape;
}

StatusOr<NpyHeader> ParseDict(std::string_view text) {
  Literal literal(text);
  NpyHeader header;
  bool has_descr = false;
  bool has_order = false;
  bool has_shape = false;
  if (!literal.Take('{')) return Malformed("the header is no dictionary");
  while (!literal.Take('}')) {
    const auto key = literal.String();
    if (!key || !literal.Take(':')) return Malformed("the header is no dictionary");
    if (*key == "descr" && !has_descr) {
      const auto descr = literal.String();
      if (!descr && literal.Peek() == '[') {
        return InvalidArgument(
            "the array holds records: save each field as an array of its own, as float32");
      }
      if (!descr) return Malformed("the dtype is no string");
      ASSIGN_OR_RETURN(header.type, TypeOf(*descr));
      has_descr = true;
    } else if (*key == "fortran_order" && !has_order) {
      const auto order = literal.Boolean();
      if (!order) return Malformed("fortran_order is neither True nor False");
      header.fortran_order = *order;
      has_order = true;
    } else if (*key == "shape" && !has_shape) {
      ASSIGN_OR_RETURN(header.shape, ParseShape(literal));
      has_shape = true;
    } else {
      return Malformed("the header says something else, or something twice");
    }
    if (!literal.Take(',') && literal.Peek() != '}') {
      return Malformed("the header is no dictionary");
    }
  }
  if (!literal.AtEnd()) return Malformed("something follows the header's dictionary");
  if (!has_descr || !has_order || !has_shape) return Malformed("the header is incomplete");
  return header;
}

// Nullopt if the size in bytes overflows.
std::optional<std::uint64_t> CountElements(const NpyHeader& header) {
  const std::uint64_t most = std::numeric_limits<std::int64_t>::max() / NpyItemBytes(header.type);
  std::uint64_t count = 1;
  for (const std::uint64_t extent : header.shape) {
    if (extent == 0) return 0;
  }
  for (const std::uint64_t extent : header.shape) {
    if (extent > most / count) return std::nullopt;
    count *= extent;
  }
  return count;
}

}  // namespace

std::string NpyTypeName(NpyType type) { return type == NpyType::kFloat32 ? "float32" : "float64"; }

std::string NpyHeader::ShapeText() const {
  std::string text = "(";
  for (const std::uint64_t extent : shape) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

StatusOr<NpyHeader> ParseNpy(ByteView file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (text.starts_with(kZip)) {
    return InvalidArgument("this is an archive of arrays (.npz): save one array with numpy.save");
  }
  if (!text.starts_with(kMagic)) {
    return InvalidArgument("this is no .npy file: write one with numpy.save");
  }
  if (text.size() < kVersionEnd) return Malformed("the file ends within its first 8 bytes");
  const std::uint8_t major = file[6];
  if (major < 1 || major > 3 || file[7] != 0) {
    return Malformed("its format is version " + std::to_string(major) + "." +
                     std::to_string(file[7]) + ", known are 1.0, 2.0 and 3.0");
  }
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  if (text.size() < kVersionEnd + length_bytes) return Malformed("the file ends within it");
  std::size_t length = 0;
  for (std::size_t i = length_bytes; i-- > 0;) length = length << 8 | file[kVersionEnd + i];
  if (length > kMaxNpyHeaderBytes) {
    return Malformed("it claims " + std::to_string(length) + " bytes, at most " +
                     std::to_string(kMaxNpyHeaderBytes) + " are read");
  }
  const std::size_t start = kVersionEnd + length_bytes;
  if (length > text.size() - start) return Malformed("the file ends within it");
  const std::string_view dict = text.substr(start, length);
  ASSIGN_OR_RETURN(NpyHeader header, ParseDict(dict));
  header.data_offset = start + length;

  const auto count = CountElements(header);
  if (!count) return Malformed("shape " + header.ShapeText() + " is beyond any memory");
  header.element_count = *count;
  const std::uint64_t announced = *count * NpyItemBytes(header.type);
  const std::uint64_t there = text.size() - header.data_offset;
  if (there < announced) {
    return InvalidArgument("the file is cut short: shape " + header.ShapeText() + " of " +
                           NpyTypeName(header.type) + " needs " + std::to_string(announced) +
                           " bytes of data and it has " + std::to_string(there) +
                           "; copy or write it again");
  }
  if (there > announced) {
    return InvalidArgument(std::to_string(there - announced) + " bytes follow the array of shape " +
                           header.ShapeText() +
                           ", and one alone is read: save it to a file of its own with "
                           "numpy.save");
  }
  return header;
}

std::string EncodeNpyHeader(NpyType type, const std::vector<std::uint64_t>& shape) {
  OSTRAKA_CHECK(shape.size() <= kMaxNpyDimensions);
  NpyHeader header;
  header.shape = shape;
  std::string dict = "{'descr': '";
  dict += type == NpyType::kFloat32 ? "<f4" : "<f8";
  dict += "', 'fortran_order': False, 'shape': " + header.ShapeText() + ", }";
  const std::size_t start = kVersionEnd + 2;
  dict.append((kPadding - (start + dict.size() + 1) % kPadding) % kPadding, ' ');
  dict += '\n';
  std::string text(kMagic);
  text += {'\x01', '\x00'};
  text += static_cast<char>(dict.size() & 0xff);
  text += static_cast<char>(dict.size() >> 8);
  return text + dict;
}

}  // namespace ostraka::base
