// What went wrong on a connection, in our own words: OpenSSL's and Beast's mislead.
// Every text is "as said of the other side" and goes after its name or address.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "node/base/time.h"

namespace boost::system {
class error_code;
}

namespace ostraka::net {

bool IsTlsError(const boost::system::error_code& error);
// Of WebSocket or of the HTTP upgrade before it.
bool IsWebSocketError(const boost::system::error_code& error);

// Of the TLS handshake, or of the network at any time.
std::string Explain(const boost::system::error_code& error);
// Of the WebSocket upgrade. REQUIRES: IsWebSocketError.
std::string ExplainUpgrade(const boost::system::error_code& error);
// Of whatever comes after the TLS handshake.
std::string ExplainOnLink(const boost::system::error_code& error);

// What somebody speaks whose first bytes are not TLS's. REQUIRES: !bytes.empty().
std::string ExplainFirstBytes(std::string_view bytes);

// Text that a stranger chose, fit for a terminal: anything but printable ASCII becomes '?'.
std::string Printable(std::string_view text);

// "5 s", "250 ms".
std::string FormatSeconds(base::Duration duration);

}  // namespace ostraka::net
