#include "node/base/foreign_text.h"

#include <algorithm>

namespace ostraka::base {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

}  // namespace

bool HasForeignMarks(std::string_view text) {
  return text.starts_with(kByteOrderMark) || text.find(kLineEnd) != std::string_view::npos;
}

std::string WithoutForeignMarks(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::string plain;
  plain.reserve(text.size());
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(kLineEnd), text.size());
    plain += text.substr(0, end);
    text.remove_prefix(end);
    if (!text.empty()) text.remove_prefix(1);  // and the line feed comes next
  }
  return plain;
}

bool IsUtf16(std::string_view text) {
  return text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff");
}

}  // namespace ostraka::base
