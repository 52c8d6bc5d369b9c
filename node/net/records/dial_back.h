// DIALBACK and DIALED: a member asks another, over their link, to dial it where the link comes
// from, and is told what came of that (docs/wire.md, "Channel").
//
//   DIALBACK  u16 port
//   DIALED    u16 port | u8 outcome | host (16)
//
// All little-endian but the host, which has network order; IPv4 is ::ffff:a.b.c.d. The question
// names no host. Attack: otherwise a member has others knock wherever it likes.
//
// Thread safety: plain values and pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <variant>

#include "node/base/bytes.h"
#include "node/base/status.h"
#include "node/net/records/record.h"

namespace ostraka::net {

enum class DialOutcome : std::uint8_t {
  kReached = 1,      // TLS proved the key of who asked
  kRefused = 2,      // the connection was refused: the machine, or a NAT before it, sends RST
  kSilent = 3,       // nothing came back: a NAT or a firewall drops packets
  kOtherKey = 4,     // another key answered
  kNoNode = 5,       // something answered that is no node
  kUnreachable = 6,  // the network knows no way
  kDeclined = 7,     // not dialed: the address may not be, or others were before
};
// reached, refused, silent, other_key, no_node, unreachable, declined.
const char* DialOutcomeName(DialOutcome outcome);

struct DialBackAsk {
  std::uint16_t port = 0;  // not 0
  bool operator==(const DialBackAsk&) const = default;
};
struct DialBackAnswer {
  std::uint16_t port = 0;               // that was asked for
  std::array<std::uint8_t, 16> host{};  // that was dialed; zero if none was
  DialOutcome outcome = DialOutcome::kDeclined;
  bool operator==(const DialBackAnswer&) const = default;
};
using DialBackRecord = std::variant<DialBackAsk, DialBackAnswer>;

RecordType TypeOf(const DialBackRecord& record);
base::Bytes EncodeDialBack(const DialBackRecord& record);
// InvalidArgument, phrased about the other side: not the bytes of such a record. REQUIRES: `type`
// is kDialBack or kDialed.
base::StatusOr<DialBackRecord> DecodeDialBack(RecordType type, base::ByteView body);

}  // namespace ostraka::net
