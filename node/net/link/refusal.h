// The reasons for which a connection is refused, for counters.
//
// Thread safety: pure function.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ostraka::net {

// For what a connection was refused, or a link closed by us.
enum class Refusal : std::uint8_t {
  kQuota,      // there are too many connections
  kHandshake,  // it did not finish TLS, WebSocket or HELLO, or broke their rules
  kIdentity,   // whose key, run or protocol it is: not a member, say
  kRecord,     // it broke the rules of the records
  kSlow,       // it sends or takes too slowly
};
inline constexpr std::size_t kRefusals = 5;

inline const char* RefusalName(Refusal refusal) {
  switch (refusal) {
    case Refusal::kQuota:
      return "quota";
    case Refusal::kHandshake:
      return "handshake";
    case Refusal::kIdentity:
      return "identity";
    case Refusal::kRecord:
      return "record";
    case Refusal::kSlow:
      return "slow";
  }
  return "unknown";
}

}  // namespace ostraka::net
