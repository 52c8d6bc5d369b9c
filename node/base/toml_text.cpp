#include "node/base/toml_text.h"

#include <algorithm>
#include <cstddef>
#include <string>

namespace ostraka::base {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::string_view kBareKey =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

bool IsAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

void Skip(std::string_view& line, std::string_view characters) {
  line.remove_prefix(std::min(line.find_first_not_of(characters), line.size()));
}

bool HasThreeQuotes(std::string_view text) {
  return text.find("\"\"\"") != std::string_view::npos ||
         text.find("'''") != std::string_view::npos;
}

// The text after the string in a line of the form `name = "..."`; the whole line otherwise.
std::string_view WithoutString(std::string_view line) {
  std::string_view rest = line;
  Skip(rest, " \t");
  Skip(rest, kBareKey);
  // Require white space there: without it, toml++ reads a malformed line as one token.
  if (!rest.starts_with(' ') && !rest.starts_with('\t')) return line;
  Skip(rest, " \t");
  if (!rest.starts_with('=')) return line;
  rest.remove_prefix(1);
  Skip(rest, " \t");
  if (!rest.starts_with('"') && !rest.starts_with('\'')) return line;
  if (HasThreeQuotes(rest.substr(0, 3))) return line;
  const char quote = rest.front();
  std::size_t at = 1;
  for (; at < rest.size() && rest[at] != quote; ++at) {
    if (quote == '"' && rest[at] == '\\') ++at;
  }
  return rest.substr(std::min(at + 1, rest.size()));
}

// Judges what WithoutString leaves of a line.
bool IsReadable(std::string_view rest) {
  const std::size_t comment = std::min(rest.find('#'), rest.size());
  const std::string_view before = rest.substr(0, comment);
  if (!IsAscii(before)) return false;
  // A quote before the comment makes the end of its string uncertain.
  return IsAscii(rest) || before.find_first_of("\"'") == std::string_view::npos;
}

}  // namespace

Status CheckTomlText(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (IsAscii(text)) return OkStatus();
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view rest = WithoutString(text.substr(0, end));
    const bool three_quotes = HasThreeQuotes(rest);
    if (three_quotes || !IsReadable(rest)) {
      return InvalidArgument("line " + std::to_string(number) + ": " +
                             (three_quotes ? "three quotes in a file that is not all ASCII"
                                           : "a character that is not ASCII, which only comments "
                                             "and lines like name = \"...\" may have"));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return OkStatus();
}

}  // namespace ostraka::base
