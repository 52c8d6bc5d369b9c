#include "node/base/toml_text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <utility>

#include "node/base/foreign_text.h"

namespace ostraka::base {
namespace {

constexpr std::size_t kThree = 3;  // quotes around a string of several lines

bool IsAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

struct Character {
  std::uint32_t value = 0;
  std::size_t bytes = 0;
};
// The UTF-8 character that `text` begins with (RFC 3629), if it does.
std::optional<Character> FirstCharacter(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return Character{byte(0), 1};
  const std::size_t bytes = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < bytes) return std::nullopt;
  std::uint32_t value = byte(0) & (0xffU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return std::nullopt;
    value = value << 6 | (byte(i) & 0x3fU);
  }
  constexpr std::array<std::uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  if (value < kLeast[bytes] || surrogate || value > 0x10ffff) return std::nullopt;
  return Character{value, bytes};
}

std::string Escape(std::uint32_t value) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), value > 0xffff ? "\\U%08X" : "\\u%04X", value);
  return text.data();
}

class Rewriter {
 public:
  explicit Rewriter(std::string_view text) : rest_(text) { out_.reserve(text.size()); }

  StatusOr<std::string> Run() && {
    while (!rest_.empty()) {
      const char c = rest_.front();
      if (c == '#') {
        RETURN_IF_ERROR(Replace(std::min(rest_.find('\n'), rest_.size())));
      } else if (c == '"') {
        RETURN_IF_ERROR(BasicString());
      } else if (c == '\'') {
        RETURN_IF_ERROR(LiteralString());
      } else if (!IsAscii(rest_.substr(0, 1))) {
        return Refused(FirstCharacter(rest_) ? "a character that is not ASCII, which only strings "
                                               "in quotes and comments may have"
                                             : kNotUtf8);
      } else {
        Copy(1);
      }
    }
    return std::move(out_);
  }

 private:
  static constexpr const char* kNotUtf8 = "bytes that are not UTF-8: save the file as UTF-8";

  Status Refused(const char* what) const {
    const auto line = 1 + std::count(out_.begin(), out_.end(), '\n');
    return InvalidArgument("line " + std::to_string(line) + ": " + what);
  }

  void Copy(std::size_t bytes) {
    out_ += rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
  }

  // The next `bytes`, with a '?' for each character that is not ASCII: what no value is read from.
  Status Replace(std::size_t bytes) {
    for (const std::size_t after = rest_.size() - bytes; rest_.size() > after;) {
      const auto character = FirstCharacter(rest_);
      if (!character) return Refused(kNotUtf8);
      if (character->bytes == 1) {
        Copy(1);
      } else {
        out_ += '?';
        rest_.remove_prefix(character->bytes);
      }
    }
    return OkStatus();
  }

  Status EscapeOne() {
    const auto character = FirstCharacter(rest_);
    if (!character) return Refused(kNotUtf8);
    out_ += Escape(character->value);
    rest_.remove_prefix(character->bytes);
    return OkStatus();
  }

  // Number of equal characters at the begin of the rest.
  std::size_t Repeats() const {
    return std::min(rest_.find_first_not_of(rest_.front()), rest_.size());
  }

  // A string that ends nowhere is copied to where the reader gives up on it.
  Status BasicString() {
    const bool lines = Repeats() >= kThree;
    Copy(lines ? kThree : 1);
    while (!rest_.empty()) {
      const char c = rest_.front();
      if (c == '"') {
        const std::size_t quotes = lines ? Repeats() : 1;
        Copy(quotes);
        if (!lines || quotes >= kThree) return OkStatus();
      } else if (c == '\n' && !lines) {
        return OkStatus();
      } else if (c == '\\') {
        if (!IsAscii(rest_.substr(1, 1))) {
          return Refused("a backslash before a character that is not ASCII");
        }
        Copy(std::min<std::size_t>(rest_.substr(1, 1) == "\n" ? 1 : 2, rest_.size()));
      } else if (!IsAscii(rest_.substr(0, 1))) {
        RETURN_IF_ERROR(EscapeOne());
      } else {
        Copy(1);
      }
    }
    return OkStatus();
  }

  // Literal strings have no escapes, so one with other characters becomes a basic string.
  Status LiteralString() {
    const std::size_t quotes = Repeats() >= kThree ? kThree : 1;
    const std::size_t length = LiteralLength(quotes);
    const std::string_view content = rest_.substr(quotes, length);
    const bool ends = rest_.size() > quotes + length && rest_[quotes + length] == '\'';
    if (!ends) return Replace(quotes + length);
    if (IsAscii(content)) {
      Copy(2 * quotes + length);
      return OkStatus();
    }
    out_.append(quotes, '"');
    rest_.remove_prefix(quotes);
    for (const std::size_t after = rest_.size() - length; rest_.size() > after;) {
      if (!IsAscii(rest_.substr(0, 1))) {
        RETURN_IF_ERROR(EscapeOne());
        continue;
      }
      if (rest_.front() == '"' || rest_.front() == '\\') out_ += '\\';
      Copy(1);
    }
    out_.append(quotes, '"');
    rest_.remove_prefix(quotes);
    return OkStatus();
  }

  // Number of bytes between the quotes of the literal string at the begin of the rest. One or two
  // quotes may stand before the last three.
  std::size_t LiteralLength(std::size_t quotes) const {
    const std::string_view inner = rest_.substr(quotes);
    if (quotes == 1) return std::min(inner.find_first_of("'\n"), inner.size());
    std::size_t at = inner.find("'''");
    if (at == std::string_view::npos) return inner.size();
    for (int more = 0; more < 2 && inner.substr(at + kThree, 1) == "'"; ++more) ++at;
    return at;
  }

  std::string_view rest_;
  std::string out_;
};

}  // namespace

StatusOr<std::string> AsciiToml(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (IsAscii(text)) return std::string(text);
  return Rewriter(text).Run();
}

}  // namespace ostraka::base
