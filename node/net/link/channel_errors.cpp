#include "node/net/link/channel_errors.h"

#include <algorithm>
#include <array>
#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/websocket/error.hpp>

#include "node/base/bytes.h"
#include "node/net/link/tls_identity.h"

namespace ostraka::net {

namespace asio = boost::asio;
namespace beast_http = boost::beast::http;
namespace websocket = boost::beast::websocket;
using boost::system::error_code;

namespace {

// Names the broken rule of RFC 6455 or HTTP.
const char* BrokenRule(const error_code& error) {
  if (error.category() != make_error_code(websocket::error::closed).category()) {
    return "what it sent is no HTTP";
  }
  switch (static_cast<websocket::error>(error.value())) {
    case websocket::error::bad_http_version:
    case websocket::error::bad_method:
      return "its request is not GET with HTTP/1.1";
    case websocket::error::no_host:
    case websocket::error::no_connection:
    case websocket::error::no_connection_upgrade:
    case websocket::error::no_upgrade:
    case websocket::error::no_upgrade_websocket:
      return "its request asks for no upgrade";
    case websocket::error::no_sec_key:
    case websocket::error::bad_sec_key:
    case websocket::error::no_sec_version:
    case websocket::error::bad_sec_version:
      return "its request has no good key or version";
    case websocket::error::no_sec_accept:
    case websocket::error::bad_sec_accept:
      return "its answer does not fit our key";
    case websocket::error::upgrade_declined:
      return "it declined the upgrade";
    case websocket::error::bad_unmasked_frame:
    case websocket::error::bad_masked_frame:
      return "a frame is masked wrongly";
    case websocket::error::bad_data_frame:
    case websocket::error::bad_continuation:
      return "a frame goes on with nothing or begins within another";
    case websocket::error::bad_control_fragment:
    case websocket::error::bad_control_size:
    case websocket::error::bad_close_code:
    case websocket::error::bad_close_size:
    case websocket::error::bad_close_payload:
      return "a control frame is malformed";
    case websocket::error::bad_opcode:
    case websocket::error::bad_reserved_bits:
    case websocket::error::bad_size:
      return "the head of a frame is malformed";
    default:
      return "a frame is malformed";
  }
}

}  // namespace

bool IsTlsError(const error_code& error) {
  return error && error.category() == asio::error::get_ssl_category();
}

bool IsWebSocketError(const error_code& error) {
  static const error_code of_websocket = make_error_code(websocket::error::closed);
  static const error_code of_http = make_error_code(beast_http::error::bad_method);
  // A stream that ends within a request is a network error, not a malformed request.
  if (error == beast_http::error::end_of_stream || error == beast_http::error::partial_message)
    return false;
  return error &&
         (error.category() == of_websocket.category() || error.category() == of_http.category());
}

std::string Explain(const error_code& error) {
  if (IsTlsError(error)) return ExplainTlsError(static_cast<unsigned int>(error.value()));
  if (IsWebSocketError(error)) {
    return std::string("broke the WebSocket protocol: ") + BrokenRule(error);
  }
  if (error == asio::error::eof || error == asio::ssl::error::stream_truncated ||
      error == asio::error::connection_reset || error == asio::error::broken_pipe ||
      error == beast_http::error::end_of_stream || error == beast_http::error::partial_message) {
    return "closed the connection without a reason";
  }
  return "lost the connection: " + error.message();
}

std::string ExplainUpgrade(const error_code& error) {
  return std::string("does not speak WebSocket: ") + BrokenRule(error);
}

std::string ExplainOnLink(const error_code& error) {
  if (!IsTlsError(error)) return Explain(error);
  return ExplainTlsRecordError(static_cast<unsigned int>(error.value()));
}

std::string ExplainFirstBytes(std::string_view bytes) {
  constexpr std::array<std::string_view, 7> kMethods = {"GET ", "POST ", "HEAD ",  "PUT ",
                                                        "PRI ", "OPTI",  "CONNECT"};
  const bool is_http = std::any_of(
      kMethods.begin(), kMethods.end(),
      [bytes](std::string_view method) { return bytes.substr(0, method.size()) == method; });
  if (is_http) return "speaks plain HTTP; this port takes TLS only";
  const auto first = static_cast<std::uint8_t>(bytes.front());
  return "does not speak TLS (its first byte is 0x" + base::ToHex({&first, 1}) + ")";
}

std::string Printable(std::string_view text) {
  std::string printable(text);
  for (char& c : printable) {
    if (c < ' ' || c > '~') c = '?';
  }
  return printable;
}

std::string FormatSeconds(base::Duration duration) {
  const std::int64_t ms = duration.ns / 1'000'000;
  return ms % 1000 == 0 ? std::to_string(ms / 1000) + " s" : std::to_string(ms) + " ms";
}

}  // namespace ostraka::net
