// The reasons for which a connection is refused, as counted.
//
// Thread safety: pure function.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ostraka::net {

// Why a connection was refused, or a link was closed by this side.
enum class Refusal : std::uint8_t {
  kQuota,      // too many connections
  kHandshake,  // TLS, WebSocket or HELLO was not finished, or their rules were broken
  kIdentity,   // wrong key, run or protocol: for example, not a member
  kRecord,     // the rules of the records were broken
  kSlow,       // sends or reads too slowly
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
