// What the process that talks to the router tells its parent, one line each:
//
//   mapped 203.0.113.5:7000 3600     from outside, for so many seconds
//   failed WHY
//
// The parent reads the lines as untrusted: the child handles bytes of the network.
//
// Thread safety: plain values and pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "dht/wire/endpoint.h"
#include "node/base/status.h"

namespace ostraka::net {

inline constexpr std::size_t kMostNewsBytes = 512;  // a line, without its end
inline constexpr std::uint32_t kLongestMappingSeconds = 86'400;

struct MappingNews {
  dht::Endpoint outside;      // public; the unspecified address if the mapping failed
  std::uint32_t seconds = 0;  // at least 1 if it is mapped
  std::string failure;        // printable ASCII; empty: it is mapped
  bool operator==(const MappingNews&) const = default;
};

// Without a line end. Bytes of `failure` that are not printable become '?', and it is cut.
std::string LineOf(const MappingNews& news);

// InvalidArgument: no such line, an address that the internet has not, more than
// kLongestMappingSeconds. Any bytes are safe.
base::StatusOr<MappingNews> ParseMappingNews(std::string_view line);

}  // namespace ostraka::net
