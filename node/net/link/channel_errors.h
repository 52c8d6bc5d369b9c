// Explains connection errors in our own terms, because OpenSSL's and Beast's texts mislead. Every
// text is a predicate about the other side and follows its name or address.
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
// True for errors of WebSocket or of the HTTP upgrade before it.
bool IsWebSocketError(const boost::system::error_code& error);

// For errors of the TLS handshake, or of the network at any time.
std::string Explain(const boost::system::error_code& error);
// For errors of the WebSocket upgrade. REQUIRES: IsWebSocketError.
std::string ExplainUpgrade(const boost::system::error_code& error);
// For errors after the TLS handshake.
std::string ExplainOnLink(const boost::system::error_code& error);

// Names the protocol of a peer whose first bytes are not TLS. REQUIRES: !bytes.empty().
std::string ExplainFirstBytes(std::string_view bytes);

// Makes text from a stranger safe for a terminal: anything but printable ASCII becomes '?'.
std::string Printable(std::string_view text);

// "5 s", "250 ms".
std::string FormatSeconds(base::Duration duration);

}  // namespace ostraka::net
