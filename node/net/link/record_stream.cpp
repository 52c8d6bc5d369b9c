#include "node/net/link/record_stream.h"

#include <openssl/ssl.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <string_view>
#include <utility>

#include "crypto/merkle.h"
#include "node/base/check.h"

namespace ostraka::net {
namespace {

namespace asio = boost::asio;
namespace websocket = boost::beast::websocket;

constexpr std::string_view kTarget = "/ostraka";
// More unsent bytes than this in the kernel would delay control messages that should overtake a
// blob.
constexpr int kUnsentBytes = 128 * 1024;
// The WebSocket standard leaves 123 bytes for the reason in a close frame.
constexpr std::size_t kMaxCloseReason = 123;

std::chrono::nanoseconds ToChrono(Duration duration) {
  return std::chrono::nanoseconds(duration.ns);
}

// Asio's wrapper frees the context, so it gets its own reference.
asio::ssl::context WrapContext(const TlsContext& tls) {
  SSL_CTX_up_ref(tls.get());
  return asio::ssl::context(tls.get());
}

}  // namespace

RecordStream::RecordStream(asio::io_context& io, const TlsContext& tls)
    : io_(io),
      ssl_context_(WrapContext(tls)),
      ws_(Socket(io.get_executor()), ssl_context_),
      resolver_(io.get_executor()) {
  ReportRefusal(ws_.next_layer().native_handle(), &tls_refusal_);
}

void RecordStream::Post(std::function<void()> later) { asio::post(io_, std::move(later)); }

// --- TCP -----------------------------------------------------------------------------------------

void RecordStream::Adopt(int fd) {
  error_code ec;
  socket().assign(os::IsIpv6(fd) ? tcp::v6() : tcp::v4(), fd, ec);
  // Fails only for an invalid descriptor, or one that is already open in Asio.
  OSTRAKA_CHECK(!ec);
}

void RecordStream::Connect(const os::HostPort& where, std::function<void(error_code, bool)> done) {
  error_code ec;
  const auto address = asio::ip::make_address(where.host, ec);
  if (!ec) {
    // A numeric address needs no resolver thread.
    socket().async_connect({address, where.port},
                           [self = shared_from_this(), done = std::move(done)](error_code result) {
                             done(result, false);
                           });
    return;
  }
  resolver_.async_resolve(where.host, std::to_string(where.port),
                          [self = shared_from_this(), done = std::move(done)](
                              error_code failed, const tcp::resolver::results_type& found) {
                            // CloseSocket cannot stop a name server's answer that is already
                            // queued.
                            if (!failed && !self->is_open_) failed = asio::error::operation_aborted;
                            if (failed) return done(failed, true);
                            asio::async_connect(
                                self->socket(), found,
                                [self, done](error_code result, const tcp::endpoint& /*which*/) {
                                  done(result, false);
                                });
                          });
}

RecordStream::error_code RecordStream::TuneSocket() {
  error_code ec;
  // Before TLS: with Nagle's delay a handshake takes 44 ms instead of 2.
  socket().set_option(tcp::no_delay(true), ec);
  // Best effort: only shortens the delay before control overtakes bulk.
  setsockopt(socket().native_handle(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &kUnsentBytes,
             sizeof(kUnsentBytes));
  return ec;
}

// --- TLS -----------------------------------------------------------------------------------------

void RecordStream::StartTlsAsClient(Done done) {
  ws_.next_layer().async_handshake(
      asio::ssl::stream_base::client,
      [self = shared_from_this(), done = std::move(done)](error_code ec) { done(ec); });
}

void RecordStream::StartTlsAsServer(base::Bytes first_bytes, Done done) {
  first_bytes_ = std::move(first_bytes);
  ws_.next_layer().async_handshake(
      asio::ssl::stream_base::server, asio::buffer(first_bytes_),
      [self = shared_from_this(), done = std::move(done)](error_code ec, std::size_t = 0) {
        self->first_bytes_ = {};
        done(ec);
      });
}

base::StatusOr<base::PeerId> RecordStream::Authenticated() {
  return AuthenticatedPeer(ws_.next_layer().native_handle());
}

// --- upgrade -------------------------------------------------------------------------------------

void RecordStream::PrepareUpgrade(const LinkTimeouts& timeouts) {
  ws_.binary(true);
  ws_.auto_fragment(false);
  ws_.read_message_max(0);                           // the caller of Read enforces the limit
  ws_.write_buffer_bytes(crypto::kChunkBytes + 64);  // a client masks a chunk in one buffer
  websocket::stream_base::timeout timeout{};
  timeout.handshake_timeout = ToChrono(timeouts.hello);  // the caller's deadline expires earlier
  timeout.idle_timeout = ToChrono(timeouts.idle);
  timeout.keep_alive_pings = true;
  ws_.set_option(timeout);
}

void RecordStream::UpgradeAsClient(const LinkTimeouts& timeouts, const std::string& host,
                                   Done done) {
  PrepareUpgrade(timeouts);
  ws_.async_handshake(
      host, std::string(kTarget),
      [self = shared_from_this(), done = std::move(done)](error_code ec) { done(ec); });
}

void RecordStream::UpgradeAsServer(const LinkTimeouts& timeouts, Done done) {
  PrepareUpgrade(timeouts);
  ws_.async_accept(
      [self = shared_from_this(), done = std::move(done)](error_code ec) { done(ec); });
}

// --- records -------------------------------------------------------------------------------------

// Reads piecewise: with Beast's own message limit, the error of its hasty close would hide the
// reason.
void RecordStream::Read(std::size_t max_bytes) {
  OSTRAKA_CHECK(!is_reading_ && inbox_.size() < max_bytes);  // S1
  is_reading_ = true;
  ws_.async_read_some(inbox_, max_bytes - inbox_.size(),
                      [self = shared_from_this()](error_code ec, std::size_t added) {
                        self->is_reading_ = false;
                        self->events_.read(ec, added);
                      });
}

base::ByteView RecordStream::inbox() const {
  return {static_cast<const std::uint8_t*>(inbox_.data().data()), inbox_.size()};
}

void RecordStream::Write(SendQueue::Record record) {
  OSTRAKA_CHECK(!is_writing_);  // S1
  is_writing_ = true;
  writing_ = std::move(record);
  const std::array<asio::const_buffer, 2> buffers = {
      asio::buffer(writing_.head().data(), writing_.head().size()),
      asio::buffer(writing_.body.data(), writing_.body.size())};
  ws_.async_write(buffers, [self = shared_from_this()](error_code ec, std::size_t /*size*/) {
    self->is_writing_ = false;
    self->writing_ = {};
    self->events_.written(ec);
  });
}

// --- the end -------------------------------------------------------------------------------------

void RecordStream::SendClose(CloseCode code, const std::string& reason, Done answered) {
  websocket::close_reason frame(static_cast<websocket::close_code>(code));
  const std::string_view fits = std::string_view(reason).substr(0, kMaxCloseReason);
  frame.reason.assign(fits.data(), fits.size());
  ws_.async_close(frame, [self = shared_from_this(),
                          answered = std::move(answered)](error_code ec) { answered(ec); });
}

std::string RecordStream::close_reason() const {
  const websocket::close_reason& theirs = ws_.reason();
  return {theirs.reason.data(), theirs.reason.size()};
}

void RecordStream::CloseSocket() {
  is_open_ = false;
  resolver_.cancel();
  error_code ignored;  // closing a socket leaves it closed even where it reports an error
  socket().close(ignored);
}

}  // namespace ostraka::net
