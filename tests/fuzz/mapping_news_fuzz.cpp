// Any bytes as a line of the port mapper: refused in one line, or news that its own line says
// again.
#include <cstdint>
#include <string_view>

#include "node/base/check.h"
#include "node/net/portmap/mapping_news.h"

namespace ostraka::net {
namespace {

void CheckLine(std::string_view line) {
  const auto news = ParseMappingNews(line);
  if (!news.ok()) {
    OSTRAKA_CHECK(news.status().code() == absl::StatusCode::kInvalidArgument);
    OSTRAKA_CHECK(base::MessageOf(news.status()).find('\n') == std::string::npos);
    return;
  }
  if (news->failure.empty()) {
    OSTRAKA_CHECK(dht::ScopeOf(news->outside) == dht::Scope::kPublic);
    OSTRAKA_CHECK(news->seconds > 0 && news->seconds <= kLongestMappingSeconds);
  }
  OSTRAKA_CHECK(ParseMappingNews(LineOf(*news)).value() == *news);
}

}  // namespace
}  // namespace ostraka::net

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ostraka::net::CheckLine({reinterpret_cast<const char*>(data), size});
  return 0;
}
