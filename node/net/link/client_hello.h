// Reads a TLS ClientHello, before any computation is spent on it, to see whether it asks for our
// run. A dialer names the run in ALPN (docs/wire.md, "Channel"). So port scans and floods cost no
// handshake that a member needs.
//
// Attack: an attacker that knows the run id can name it. The name proves nothing; it only selects
// which of two queues pays for the handshake (node/net/mesh/admission.h).
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "node/base/bytes.h"
#include "node/base/ids.h"

namespace ostraka::net {

// The ALPN name of a run: "ostraka/" and the first 32 hexadecimal digits of its id.
std::string AlpnOfRun(const base::Digest& run_id);

// No honest ClientHello is longer: ours are about 300 bytes.
inline constexpr std::size_t kMaxClientHelloBytes = 4096;

enum class Opening : std::uint8_t {
  kIncomplete,  // undecided until more bytes arrive, at most kMaxClientHelloBytes in all
  kNotTls,
  kUnnamed,  // TLS, perhaps malformed, that asks for no run or for another one
  kNamed,    // the ClientHello lists `alpn` among its protocols
};

// Judges the first bytes on a connection. Any bytes are safe. REQUIRES: !bytes.empty().
Opening JudgeOpening(base::ByteView bytes, std::string_view alpn);

}  // namespace ostraka::net
