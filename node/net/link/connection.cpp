#include "node/net/link/connection.h"

#include <openssl/ssl.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <string_view>
#include <utility>

#include "node/base/check.h"
#include "node/net/link/websocket_connection.h"
#include "node/os/endpoint.h"

namespace ostraka::net {
namespace {

namespace asio = boost::asio;
namespace websocket = boost::beast::websocket;
using boost::system::error_code;

// Time for a connection that never was a link to answer a close: long enough to read the reason.
constexpr Duration kStrangerClose = base::Seconds(1);
// The WebSocket standard leaves 123 bytes for the reason in a close frame.
constexpr std::size_t kMaxCloseReason = 123;

// Asio's wrapper frees the context, so it gets its own reference.
asio::ssl::context WrapContext(const TlsContext& tls) {
  SSL_CTX_up_ref(tls.get());
  return asio::ssl::context(tls.get());
}

std::uint64_t BytesPerLook(const LinkLimits& limits) {
  return static_cast<std::uint64_t>(static_cast<double>(limits.min_bytes_per_second) *
                                    limits.look.seconds());
}

}  // namespace

// --- construction --------------------------------------------------------------------------------

std::shared_ptr<Connection> Connection::Accepted(asio::io_context& io,
                                                 const ConnectionSettings& settings,
                                                 ConnectionOwner& owner, Caller caller) {
  auto connection = std::make_shared<WebSocketConnection>(io, settings, owner, std::nullopt,
                                                          std::move(caller.socket.remote));
  connection->TakeOver(caller.socket.fd, std::move(caller.first_bytes), caller.waited);
  return connection;
}

std::shared_ptr<Connection> Connection::Dialed(asio::io_context& io,
                                               const ConnectionSettings& settings,
                                               ConnectionOwner& owner, const PeerId& expected,
                                               std::string remote) {
  return std::make_shared<WebSocketConnection>(io, settings, owner, expected, std::move(remote));
}

WebSocketConnection::WebSocketConnection(asio::io_context& io, const ConnectionSettings& settings,
                                         ConnectionOwner& owner, std::optional<PeerId> expected,
                                         std::string remote)
    : io_(io),
      settings_(settings),
      owner_(&owner),
      dialed_(expected.has_value()),
      remote_(std::move(remote)),
      peer_(expected),
      ssl_context_(WrapContext(settings.tls)),
      ws_(Socket(io.get_executor()), ssl_context_),
      resolver_(io.get_executor()),
      deadline_(io),
      queue_(settings.limits.control_queue_bytes, settings.limits.bulk_queue_bytes),
      receiver_(settings.max_blob_bytes, settings.allow_unhashed),
      credit_(settings.limits.credit_bytes),
      taking_(BytesPerLook(settings.limits), settings.limits.slow_looks),
      giving_(BytesPerLook(settings.limits), settings.limits.slow_looks) {
  ReportRefusal(ws_.next_layer().native_handle(), &tls_refusal_);
}

void WebSocketConnection::TakeOver(int fd, base::Bytes first_bytes, Duration waited) {
  first_bytes_ = std::move(first_bytes);
  waited_ = waited;
  error_code ec;
  socket().assign(os::IsIpv6(fd) ? tcp::v6() : tcp::v4(), fd, ec);
  // Fails only for an invalid descriptor, or one that is already open in Asio.
  OSTRAKA_CHECK(!ec);
}

void WebSocketConnection::StartDeadline(Duration after, void (WebSocketConnection::*then)()) {
  deadline_.Start(after, [weak = weak_from_this(), then] {
    if (const auto self = weak.lock()) ((*self).*then)();
  });
}

// --- closing -------------------------------------------------------------------------------------

void WebSocketConnection::Refuse(const std::string& reason) {
  Refuse(phase_ < Phase::kReady ? Refusal::kHandshake : Refusal::kRecord, reason);
}

void WebSocketConnection::Refuse(Refusal refusal, const std::string& reason) {
  Close({Closing::Why::kRefused, reason, refusal},
        refusal == Refusal::kSlow ? CloseCode::kSlow : CloseCode::kRefused);
}

void WebSocketConnection::Lose(const std::string& reason) {
  StartClosing({Closing::Why::kLost, reason});
  Finish();
}

void WebSocketConnection::Close(const Closing& closing, CloseCode code) {
  if (this->closing()) return;
  const bool upgraded = phase_ >= Phase::kHello;
  const bool was_link = phase_ == Phase::kLink;
  const bool all_written = leaving_ && queue_.empty() && !is_writing_;
  StartClosing(closing);
  if (!upgraded) return Finish();
  StartDeadline(
      was_link ? settings_.timeouts.close : std::min(settings_.timeouts.close, kStrangerClose),
      &WebSocketConnection::Finish);
  websocket::close_reason frame(static_cast<websocket::close_code>(code));
  const std::string_view fits = std::string_view(closing.reason).substr(0, kMaxCloseReason);
  frame.reason.assign(fits.data(), fits.size());
  ws_.async_close(frame, [self = shared_from_this(), all_written](error_code /*reason() says*/) {
    self->OnCloseAnswered(all_written);
  });
}

// Frames arrive in order, so the peer's answer proves that it has read everything sent before our
// close. A code other than the standard answer is the peer's own close, which crossed ours.
void WebSocketConnection::OnCloseAnswered(bool all_written) {
  if (phase_ == Phase::kGone) return;
  const std::uint16_t code = ws_.reason().code;
  const bool is_answer = code == websocket::close_code::normal;
  const bool has_left = code == static_cast<std::uint16_t>(CloseCode::kLeaving);
  delivered_ = (is_answer && all_written) || has_left;
  Finish();
}

void WebSocketConnection::CloseWhenFlushed(const std::string& reason) {
  if (phase_ != Phase::kLink) return Close({Closing::Why::kLocal, reason}, CloseCode::kLeaving);
  leaving_ = true;
  leaving_reason_ = reason;
  Pump();
}

void WebSocketConnection::Abort(const Closing& closing) {
  if (phase_ == Phase::kGone) return;
  StartClosing(closing);
  Finish();
}

void WebSocketConnection::Abandon() {
  owner_ = nullptr;
  Abort({});
}

void WebSocketConnection::StartClosing(const Closing& closing) {
  if (this->closing()) return;
  phase_ = Phase::kClosing;
  deadline_.Cancel();
  why_ = closing;
  asio::post(io_, [self = shared_from_this()] {
    if (self->owner_ != nullptr) self->owner_->OnClosing(*self, self->why_);
  });
}

void WebSocketConnection::Finish() {
  if (phase_ == Phase::kGone) return;
  phase_ = Phase::kGone;
  deadline_.Cancel();
  resolver_.cancel();
  error_code ignored;  // closing a socket leaves it closed even where it reports an error
  socket().close(ignored);
  asio::post(io_, [self = shared_from_this()] {
    if (self->owner_ != nullptr) self->owner_->OnGone(*self);
  });
}

}  // namespace ostraka::net
