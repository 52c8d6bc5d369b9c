// What a TLS client says in the clear before anything is computed for it: whether it asks for our
// run. A dialer names the run in ALPN (docs/wire.md, "Channel"), so that who comes by chance, or
// floods every port there is, costs no handshake that a member needs.
//
// What an attacker can do here: name a run whose id it knows. The name proves nothing; it only
// chooses which of two queues pays for the handshake (node/net/mesh/admission.h).
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

// No honest ClientHello is longer: ours have about 300 bytes.
inline constexpr std::size_t kMaxClientHelloBytes = 4096;

enum class Opening : std::uint8_t {
  kIncomplete,  // more must come before anything can be said; at most kMaxClientHelloBytes of it
  kNotTls,
  kUnnamed,  // TLS, and perhaps malformed: it asks for no run, or for another
  kNamed,    // its ClientHello has `alpn` among its protocols
};

// Of the first bytes on a connection. Any bytes are safe. REQUIRES: !bytes.empty().
Opening JudgeOpening(base::ByteView bytes, std::string_view alpn);

}  // namespace ostraka::net
