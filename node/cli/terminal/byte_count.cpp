#include "node/cli/terminal/byte_count.h"

#include <charconv>

namespace ostraka::cli {

base::StatusOr<std::uint64_t> ParseByteCount(std::string_view text) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
  std::string shown(1, '\'');
  shown.append(text).append("': write bytes as 4096, 64K, 16M or 2G");
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const int shift = unit.empty() ? 0 : unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : -1;
  if (error != std::errc() || shift < 0 || count > kMost >> shift) {
    return base::InvalidArgument(shown);
  }
  return count << shift;
}

}  // namespace ostraka::cli
