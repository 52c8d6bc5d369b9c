#include "node/net/portmap/mapping_news.h"

#include <algorithm>
#include <charconv>

#include "node/net/udp/resolver.h"

namespace ostraka::net {
namespace {

constexpr std::string_view kMapped = "mapped ";
constexpr std::string_view kFailed = "failed ";

bool IsPrintable(char c) { return c >= ' ' && c <= '~'; }

base::Status NoNews() { return base::InvalidArgument("the port mapper wrote no news"); }

base::StatusOr<MappingNews> ParseMapped(std::string_view rest) {
  const std::size_t space = rest.find(' ');
  if (space == std::string_view::npos) return NoNews();
  const auto outside = NumericEndpoint(rest.substr(0, space));
  const std::string_view number = rest.substr(space + 1);
  std::uint32_t seconds = 0;
  const auto [end, error] = std::from_chars(number.begin(), number.end(), seconds);
  if (!outside || error != std::errc() || end != number.end()) return NoNews();
  if (dht::ScopeOf(*outside) != dht::Scope::kPublic || seconds == 0 ||
      seconds > kLongestMappingSeconds) {
    return base::InvalidArgument("the port mapper names an address or a time that cannot be");
  }
  return MappingNews{*outside, seconds, {}};
}

}  // namespace

std::string LineOf(const MappingNews& news) {
  if (news.failure.empty()) {
    return std::string(kMapped) + dht::TextOf(news.outside) + " " + std::to_string(news.seconds);
  }
  std::string why = news.failure.substr(0, kMostNewsBytes - kFailed.size());
  std::replace_if(
      why.begin(), why.end(), [](char c) { return !IsPrintable(c); }, '?');
  return std::string(kFailed) + why;
}

base::StatusOr<MappingNews> ParseMappingNews(std::string_view line) {
  if (line.size() > kMostNewsBytes) return NoNews();
  if (!std::all_of(line.begin(), line.end(), IsPrintable)) return NoNews();
  if (line.starts_with(kMapped)) return ParseMapped(line.substr(kMapped.size()));
  if (!line.starts_with(kFailed) || line.size() == kFailed.size()) return NoNews();
  return MappingNews{{}, 0, std::string(line.substr(kFailed.size()))};
}

}  // namespace ostraka::net
