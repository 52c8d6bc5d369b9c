// What a reader is made of that tests change: its limits, whom it trusts, whom it connects to.
//
// Thread safety: plain values.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "node/net/fetch/address_rules.h"

namespace ostraka::net {

struct FetchLimits {
  std::chrono::milliseconds connect{15'000};  // its name, TCP and TLS
  // A request with its redirects takes at most `least_whole`, and 1 s more for `bytes_a_second`.
  std::chrono::milliseconds least_whole{30'000};
  std::uint64_t bytes_a_second = 20'000;
  // Fewer than `stall_bytes` within `stall` end a transfer.
  std::chrono::milliseconds stall{20'000};
  std::uint64_t stall_bytes = 20'000;
  std::size_t head_bytes = 64 * 1024;
};

struct FetchParts {
  FetchLimits limits;
  // A file of certificates that are trusted in place of the system's; empty: the system's.
  std::string authorities;
  // In place of address_rules.h; null: its rules. A connection without TLS is made to a loopback
  // address alone, whatever this says.
  std::function<bool(const IpAddress& address)> may_connect;
};

}  // namespace ostraka::net
