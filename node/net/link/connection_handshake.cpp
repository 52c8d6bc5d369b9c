// From the first byte of TCP until the link (node/net/link/websocket_connection.h).
#include <sys/socket.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <chrono>
#include <string_view>
#include <utility>

#include "node/base/check.h"
#include "node/base/little_endian.h"
#include "node/net/link/channel_errors.h"
#include "node/net/link/websocket_connection.h"
#include "node/os/endpoint.h"

namespace ostraka::net {
namespace {

namespace asio = boost::asio;
namespace websocket = boost::beast::websocket;

constexpr std::string_view kTarget = "/ostraka";
// More unsent bytes than this in the kernel would delay control messages that should overtake a
// blob.
constexpr int kUnsentBytes = 128 * 1024;

std::chrono::nanoseconds ToChrono(Duration duration) {
  return std::chrono::nanoseconds(duration.ns);
}

}  // namespace

// --- TCP -----------------------------------------------------------------------------------------

void WebSocketConnection::Start() {
  StartDeadline(settings_.timeouts.handshake - waited_, &WebSocketConnection::OnDeadline);
  if (dialed_) {
    Resolve();
  } else {
    StartTls();
  }
}

void WebSocketConnection::Resolve() {
  const base::StatusOr<os::HostPort> where = os::ParseHostPort(remote_);
  if (!where.ok()) return Lose(base::MessageOf(where.status()));
  error_code ec;
  const auto address = asio::ip::make_address(where->host, ec);
  if (!ec) {
    // A numeric address needs no resolver thread.
    socket().async_connect({address, where->port}, Then(&WebSocketConnection::OnConnected));
    return;
  }
  resolver_.async_resolve(where->host, std::to_string(where->port),
                          Then(&WebSocketConnection::OnResolved));
}

void WebSocketConnection::OnResolved(error_code ec, tcp::resolver::results_type where) {
  if (closing()) return;
  if (ec) return Lose("has an address that no name server knows: " + ec.message());
  asio::async_connect(
      socket(), where,
      [self = shared_from_this()](error_code result, const tcp::endpoint& /*which*/) {
        self->OnConnected(result);
      });
}

void WebSocketConnection::OnConnected(error_code ec) {
  if (closing()) return;
  if (ec) return Lose("cannot be reached: " + ec.message());
  StartTls();
}

void WebSocketConnection::StartTls() {
  phase_ = Phase::kTls;
  error_code ec;
  // Before TLS: with Nagle's delay a handshake takes 44 ms instead of 2.
  socket().set_option(tcp::no_delay(true), ec);
  if (ec) return Lose("cannot be given TCP_NODELAY: " + ec.message());
  // Best effort: only shortens the delay before control overtakes bulk.
  setsockopt(socket().native_handle(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &kUnsentBytes,
             sizeof(kUnsentBytes));
  if (dialed_) {
    ws_.next_layer().async_handshake(asio::ssl::stream_base::client,
                                     Then(&WebSocketConnection::OnTls));
    return;
  }
  ws_.next_layer().async_handshake(asio::ssl::stream_base::server, asio::buffer(first_bytes_),
                                   [self = shared_from_this()](error_code result, std::size_t = 0) {
                                     self->first_bytes_ = {};
                                     self->OnTls(result);
                                   });
}

void WebSocketConnection::OnTls(error_code ec) {
  if (closing()) return;
  if (!tls_refusal_.empty()) return Refuse(tls_refusal_);
  if (IsTlsError(ec)) return Refuse(Explain(ec));
  if (ec) return Lose("left during the TLS handshake: " + Explain(ec));
  const base::StatusOr<PeerId> id = AuthenticatedPeer(ws_.next_layer().native_handle());
  if (!id.ok()) return Refuse(base::MessageOf(id.status()));
  if (dialed_ && *id != *peer_) {
    return Refuse(Refusal::kIdentity,
                  "is " + id->Short() + ", not the " + peer_->Short() + " that we dialed");
  }
  peer_ = *id;
  const base::StatusOr<Hello> hello = owner_->OnAuthenticated(*this);
  if (!hello.ok()) {
    const bool too_many = hello.status().code() == absl::StatusCode::kUnavailable;
    return Refuse(too_many ? Refusal::kQuota : Refusal::kIdentity, base::MessageOf(hello.status()));
  }
  our_hello_ = *hello;
  Upgrade();
}

void WebSocketConnection::Upgrade() {
  phase_ = Phase::kUpgrade;
  ws_.binary(true);
  ws_.auto_fragment(false);
  ws_.read_message_max(0);                           // ReadNext enforces the limit
  ws_.write_buffer_bytes(crypto::kChunkBytes + 64);  // a client masks a chunk in one buffer
  websocket::stream_base::timeout timeout{};
  timeout.handshake_timeout = ToChrono(settings_.timeouts.hello);  // deadline_ expires earlier
  timeout.idle_timeout = ToChrono(settings_.timeouts.idle);
  timeout.keep_alive_pings = true;
  ws_.set_option(timeout);
  if (dialed_) {
    ws_.async_handshake(remote_, std::string(kTarget), Then(&WebSocketConnection::OnUpgraded));
  } else {
    ws_.async_accept(Then(&WebSocketConnection::OnUpgraded));
  }
}

void WebSocketConnection::OnUpgraded(error_code ec) {
  if (closing()) return;
  if (IsTlsError(ec)) return Refuse(ExplainOnLink(ec));
  if (IsWebSocketError(ec)) return Refuse(ExplainUpgrade(ec));
  if (ec) return Lose("left during the WebSocket upgrade: " + Explain(ec));
  phase_ = Phase::kHello;
  StartDeadline(settings_.timeouts.hello - settings_.timeouts.handshake,
                &WebSocketConnection::OnDeadline);
  queue_.PushRecord(RecordType::kHello, EncodeHello(our_hello_));
  Pump();
  ReadNext();
}

// --- HELLO and GO --------------------------------------------------------------------------------

void WebSocketConnection::HandleHello(base::ByteView body) {
  const base::StatusOr<Hello> theirs = DecodeHello(body, our_hello_.version);
  if (!theirs.ok()) return Refuse(base::MessageOf(theirs.status()));
  const base::Status compatible = CheckCompatible(our_hello_, *theirs);
  if (!compatible.ok()) return Refuse(Refusal::kIdentity, base::MessageOf(compatible));
  phase_ = Phase::kReady;
  their_hello_ = *theirs;
  owner_->OnHello(*this, their_hello_);
}

void WebSocketConnection::SendGo(std::uint64_t link_id) {
  if (closing()) return;
  OSTRAKA_CHECK(phase_ == Phase::kReady);
  base::Bytes body;
  base::AppendLittleEndian(body, link_id, 8);
  queue_.PushRecord(RecordType::kGo, std::move(body));
  Pump();
}

void WebSocketConnection::BecomeLink() {
  if (closing()) return;
  OSTRAKA_CHECK(phase_ == Phase::kReady);
  phase_ = Phase::kLink;
  deadline_.Cancel();
  max_record_bytes_ = kMaxRecordBytes;
  GrantMore();
}

// --- the deadline --------------------------------------------------------------------------------

void WebSocketConnection::OnDeadline() {
  if (closing()) return;
  const std::string within_handshake = " within " + FormatSeconds(settings_.timeouts.handshake);
  const std::string within_hello = " within " + FormatSeconds(settings_.timeouts.hello);
  switch (phase_) {
    case Phase::kTcp:
      return Lose("did not answer" + within_handshake);
    case Phase::kTls:
      return Refuse("did not finish the TLS handshake" + within_handshake);
    case Phase::kUpgrade:
      return Refuse("did not finish the WebSocket upgrade" + within_handshake);
    case Phase::kHello:
      return Refuse("said no HELLO" + within_hello);
    default:
      return Refuse(Refusal::kHandshake, "did not make this connection the link" + within_hello);
  }
}

}  // namespace ostraka::net
