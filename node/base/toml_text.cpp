#include "node/base/toml_text.h"

#include <algorithm>
#include <cstddef>
#include <string>

namespace ostraka::base {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

bool IsAscii(char c) { return static_cast<unsigned char>(c) < 0x80; }

// Where the string that begins at `at` ends: its closing quote, or the end of the line.
std::size_t EndOfString(std::string_view line, std::size_t at) {
  const char quote = line[at];
  for (++at; at < line.size() && line[at] != quote; ++at) {
    if (quote == '"' && line[at] == '\\') ++at;
  }
  return std::min(at, line.size());
}

bool IsReadable(std::string_view line) {
  const bool three_quotes =
      line.find("\"\"\"") != std::string_view::npos || line.find("'''") != std::string_view::npos;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '#' && !three_quotes) return true;
    if (!IsAscii(line[at])) return false;
    if ((line[at] == '"' || line[at] == '\'') && !three_quotes) at = EndOfString(line, at);
  }
  return true;
}

}  // namespace

Status CheckTomlText(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (!IsReadable(text.substr(0, end))) {
      return InvalidArgument("line " + std::to_string(number) +
                             ": a character that is not ASCII, outside of a string and a comment");
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return OkStatus();
}

}  // namespace ostraka::base
