// Text files as editors of other systems save them: with a byte order mark, with CRLF at the end of
// lines, or in UTF-16.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace ostraka::base {

inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // U+FEFF in UTF-8

// Whether WithoutForeignMarks changes `text`.
bool HasForeignMarks(std::string_view text);
// `text` without a leading byte order mark, and with a line feed in place of each CRLF. For formats
// in which neither has a meaning.
std::string WithoutForeignMarks(std::string_view text);

// Whether `text` begins with the byte order mark of UTF-16, which none of our formats is in.
bool IsUtf16(std::string_view text);

}  // namespace ostraka::base
