#include "node/runtime/connection.h"

#include <openssl/ssl.h>
#include <sys/socket.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <chrono>
#include <string_view>
#include <utility>

#include "node/base/check.h"
#include "node/runtime/blob_receiver.h"
#include "node/runtime/channel_errors.h"
#include "node/runtime/endpoint.h"
#include "node/runtime/little_endian.h"
#include "node/runtime/record.h"
#include "node/runtime/timer.h"

namespace ostraka::runtime {
namespace {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace websocket = boost::beast::websocket;
using boost::system::error_code;
using tcp = net::ip::tcp;
// The concrete executor spares a virtual call and an allocation per operation.
using Socket = net::basic_stream_socket<tcp, net::io_context::executor_type>;
using Resolver = net::ip::basic_resolver<tcp, net::io_context::executor_type>;
using Stream = websocket::stream<beast::ssl_stream<Socket>>;

// The WebSocket standard leaves 123 bytes for the reason in a close frame.
constexpr std::size_t kMaxCloseReason = 123;
constexpr std::string_view kTarget = "/ostraka";
constexpr std::uint8_t kTlsHandshakeByte = 0x16;
// More than this unsent in the kernel would delay control that wants to overtake a blob.
constexpr int kUnsentBytes = 128 * 1024;

// Asio's wrapper frees what it is given, and so gets a reference of its own.
net::ssl::context WrapContext(const TlsContext& tls) {
  SSL_CTX_up_ref(tls.get());
  return net::ssl::context(tls.get());
}

std::chrono::nanoseconds ToChrono(Duration duration) {
  return std::chrono::nanoseconds(duration.ns);
}

class WebSocketConnection final : public Connection,
                                  public std::enable_shared_from_this<WebSocketConnection> {
 public:
  WebSocketConnection(net::io_context& io, const ConnectionSettings& settings,
                      ConnectionOwner& owner, std::optional<PeerId> expected, std::string remote)
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
        receiver_(settings.max_blob_bytes, settings.allow_unhashed) {
    ReportRefusal(ws_.next_layer().native_handle(), &tls_refusal_);
  }

  void TakeOver(int fd);

  void Start() override;
  void SendGo(std::uint64_t link_id) override;
  void BecomeLink() override;
  void Send(SharedBytes frame, std::shared_ptr<OutgoingBlob> blob) override;
  void Close(Closing::Why why, CloseCode code, const std::string& reason) override;
  void CloseWhenFlushed(const std::string& reason) override;
  void Abort(const std::string& reason) override;
  void Abandon() override;

  bool closing() const override { return phase_ >= Phase::kClosing; }
  const Closing& why() const override { return why_; }
  const Hello& their_hello() const override { return their_hello_; }
  const std::optional<PeerId>& peer() const override { return peer_; }
  bool authenticated() const override { return authenticated_; }
  bool dialed() const override { return dialed_; }
  const std::string& remote() const override { return remote_; }

 private:
  enum class Phase : std::uint8_t {
    kTcp,  // dialing, or waiting for a first byte
    kTls,
    kUpgrade,
    kHello,  // records may flow; the first must be HELLO
    kReady,  // HELLOs are compatible; GO decides
    kLink,
    kClosing,
    kGone,
  };

  Socket& socket() { return beast::get_lowest_layer(ws_); }
  // Binds a handler to this connection, which it keeps alive.
  template <typename Method>
  auto Then(Method method) {
    return [self = shared_from_this(), method](auto... results) {
      ((*self).*method)(std::move(results)...);
    };
  }

  // The way up.
  void Sniff();
  void OnReadable(error_code ec);
  void Resolve();
  void OnResolved(error_code ec, tcp::resolver::results_type where);
  void OnConnected(error_code ec);
  void StartTls();
  void OnTls(error_code ec);
  void Upgrade();
  void OnUpgraded(error_code ec);

  // Records.
  void ReadNext();
  void OnRead(error_code ec, std::size_t size);
  void HandleRecord(base::ByteView record);
  void HandleHello(base::ByteView body);
  void HandleLinkRecord(RecordType type, base::ByteView body);
  void Pump();
  void OnWritten(error_code ec, std::size_t size);

  // The way down.
  void OnDeadline();
  void Refuse(const std::string& reason);
  void Lose(const std::string& reason);
  void OnReadError(error_code ec);
  void StartClosing(Closing::Why why, const std::string& reason);
  void Finish();

  net::io_context& io_;
  const ConnectionSettings& settings_;
  ConnectionOwner* owner_;  // null once abandoned
  const bool dialed_;
  const std::string remote_;
  std::optional<PeerId> peer_;
  bool authenticated_ = false;
  std::string tls_refusal_;  // written by the certificate check; outlives ws_

  net::ssl::context ssl_context_;
  Stream ws_;
  Resolver resolver_;
  Timer deadline_;
  Phase phase_ = Phase::kTcp;
  bool leaving_ = false;  // close once the queue is empty
  std::string leaving_reason_;

  Closing why_;  // once closing

  Hello our_hello_;
  Hello their_hello_;
  beast::flat_buffer inbox_;
  std::size_t max_record_bytes_ = kMaxFirstRecordBytes;
  SendQueue queue_;
  SendQueue::Record writing_;
  bool is_writing_ = false;
  BlobReceiver receiver_;
};

// --- the way up ---------------------------------------------------------------------------------

void WebSocketConnection::TakeOver(int fd) {
  int family = AF_INET;
  socklen_t size = sizeof(family);
  getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &size);
  error_code ec;
  socket().assign(family == AF_INET6 ? tcp::v6() : tcp::v4(), fd, ec);
  // Fails only for a descriptor that is open in Asio already, or none.
  OSTRAKA_CHECK(!ec);
}

void WebSocketConnection::Start() {
  deadline_.Start(settings_.timeouts.handshake, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->OnDeadline();
  });
  if (dialed_) {
    Resolve();
  } else {
    Sniff();
  }
}

void WebSocketConnection::Sniff() {
  socket().async_wait(Socket::wait_read, Then(&WebSocketConnection::OnReadable));
}

// Looks at the first bytes before TLS does: it is cheap, and says what is wrong in plain words.
void WebSocketConnection::OnReadable(error_code ec) {
  if (closing()) return;
  if (ec) return Lose(Explain(ec));
  std::array<char, 8> first{};
  const ssize_t size =
      recv(socket().native_handle(), first.data(), first.size(), MSG_PEEK | MSG_DONTWAIT);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return Sniff();
  if (size <= 0) return Lose("left without a word");
  if (static_cast<std::uint8_t>(first[0]) == kTlsHandshakeByte) return StartTls();
  Refuse(ExplainFirstBytes({first.data(), static_cast<std::size_t>(size)}));
}

void WebSocketConnection::Resolve() {
  const base::StatusOr<HostPort> where = ParseHostPort(remote_);
  if (!where.ok()) return Lose(base::MessageOf(where.status()));
  error_code ec;
  const auto address = net::ip::make_address(where->host, ec);
  if (!ec) {
    // Spares the resolver's thread.
    socket().async_connect({address, where->port}, Then(&WebSocketConnection::OnConnected));
    return;
  }
  resolver_.async_resolve(where->host, std::to_string(where->port),
                          Then(&WebSocketConnection::OnResolved));
}

void WebSocketConnection::OnResolved(error_code ec, tcp::resolver::results_type where) {
  if (closing()) return;
  if (ec) return Lose("has an address that no name server knows: " + ec.message());
  net::async_connect(
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
  // Best effort: it only improves how soon control overtakes.
  setsockopt(socket().native_handle(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &kUnsentBytes,
             sizeof(kUnsentBytes));
  ws_.next_layer().async_handshake(
      dialed_ ? net::ssl::stream_base::client : net::ssl::stream_base::server,
      Then(&WebSocketConnection::OnTls));
}

void WebSocketConnection::OnTls(error_code ec) {
  if (closing()) return;
  if (!tls_refusal_.empty()) return Refuse(tls_refusal_);
  if (IsTlsError(ec)) return Refuse(Explain(ec));
  if (ec) return Lose("left during the TLS handshake: " + Explain(ec));
  const base::StatusOr<PeerId> id = AuthenticatedPeer(ws_.next_layer().native_handle());
  if (!id.ok()) return Refuse(base::MessageOf(id.status()));
  if (dialed_ && *id != *peer_) {
    return Refuse("is " + id->Short() + ", not the " + peer_->Short() + " that we dialed");
  }
  peer_ = *id;
  authenticated_ = true;
  const base::StatusOr<Hello> hello = owner_->OnAuthenticated(*this);
  if (!hello.ok()) return Refuse(base::MessageOf(hello.status()));
  our_hello_ = *hello;
  Upgrade();
}

void WebSocketConnection::Upgrade() {
  phase_ = Phase::kUpgrade;
  ws_.binary(true);
  ws_.auto_fragment(false);
  ws_.read_message_max(0);                           // the limit is ReadNext's
  ws_.write_buffer_bytes(crypto::kChunkBytes + 64);  // where a client's chunk is masked in one go
  websocket::stream_base::timeout timeout{};
  timeout.handshake_timeout = ToChrono(settings_.timeouts.hello);  // deadline_ comes first
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
  if (IsTlsError(ec)) return Refuse(Explain(ec));
  if (IsWebSocketError(ec)) return Refuse("does not speak WebSocket: " + ec.message());
  if (ec) return Lose("left during the WebSocket upgrade: " + Explain(ec));
  phase_ = Phase::kHello;
  deadline_.Start(settings_.timeouts.hello - settings_.timeouts.handshake,
                  [weak = weak_from_this()] {
                    if (const auto self = weak.lock()) self->OnDeadline();
                  });
  queue_.PushRecord(RecordType::kHello, EncodeHello(our_hello_));
  Pump();
  ReadNext();
}

// --- records ------------------------------------------------------------------------------------

// Reads piecewise, because Beast's own limit on messages hides its reason behind whatever error its
// hasty close then meets.
void WebSocketConnection::ReadNext() {
  ws_.async_read_some(inbox_, max_record_bytes_ + 1 - inbox_.size(),
                      Then(&WebSocketConnection::OnRead));
}

void WebSocketConnection::OnRead(error_code ec, std::size_t /*size*/) {
  if (closing()) return;  // what still arrives is for nobody
  if (ec) return OnReadError(ec);
  if (!ws_.got_binary()) return Refuse("sent a text message");
  const std::size_t size = inbox_.size();
  if (size > max_record_bytes_) {
    return Refuse("sent a record of more than " + std::to_string(max_record_bytes_) + " bytes");
  }
  if (!ws_.is_message_done()) return ReadNext();
  const base::ByteView record(static_cast<const std::uint8_t*>(inbox_.data().data()), size);
  const bool is_chunk = size > 0 && record[0] == static_cast<std::uint8_t>(RecordType::kChunk);
  Traffic added;
  added.control_received = is_chunk ? 1 : size;
  added.payload_received = is_chunk ? size - 1 : 0;
  owner_->OnBytes(*this, added);
  HandleRecord(record);
  inbox_.consume(size);
  if (!closing()) ReadNext();
}

void WebSocketConnection::HandleRecord(base::ByteView record) {
  if (record.empty()) return Refuse("sent an empty record");
  const auto type = static_cast<RecordType>(record[0]);
  const base::ByteView body = record.subspan(1);
  switch (phase_) {
    case Phase::kHello:
      if (type != RecordType::kHello) return Refuse("said something else before HELLO");
      return HandleHello(body);
    case Phase::kReady:
      if (type != RecordType::kGo || body.size() != 8) {
        return Refuse("said something else before GO");
      }
      return owner_->OnGo(*this, ReadLittleEndian(body));
    default:
      return HandleLinkRecord(type, body);
  }
}

void WebSocketConnection::HandleHello(base::ByteView body) {
  const base::StatusOr<Hello> theirs = DecodeHello(body, our_hello_.version);
  if (!theirs.ok()) return Refuse(base::MessageOf(theirs.status()));
  const base::Status compatible = CheckCompatible(our_hello_, *theirs);
  if (!compatible.ok()) return Refuse(base::MessageOf(compatible));
  phase_ = Phase::kReady;
  their_hello_ = *theirs;
  owner_->OnHello(*this, their_hello_);
}

void WebSocketConnection::HandleLinkRecord(RecordType type, base::ByteView body) {
  base::Status status = base::OkStatus();
  switch (type) {
    case RecordType::kControl:
      if (body.empty() || body.size() > wire::kMaxFrameBytes) {
        return Refuse("sent a message of " + std::to_string(body.size()) + " bytes");
      }
      return owner_->OnMessage(*this, std::make_shared<const base::Bytes>(body.begin(), body.end()),
                               nullptr);
    case RecordType::kAnnounce:
      status = receiver_.Announce(body);
      break;
    case RecordType::kLeaves:
      status = receiver_.Leaves(body);
      break;
    case RecordType::kChunk:
      status = receiver_.Chunk(body);
      break;
    default:
      status = base::InvalidArgument("sent a record of unknown type " +
                                     std::to_string(static_cast<unsigned>(type)));
  }
  if (!status.ok()) return Refuse(base::MessageOf(status));
  if (std::optional<BlobReceiver::Message> message = receiver_.Take()) {
    owner_->OnMessage(*this, std::move(message->frame), std::move(message->blob));
  }
}

void WebSocketConnection::SendGo(std::uint64_t link_id) {
  if (closing()) return;
  OSTRAKA_CHECK(phase_ == Phase::kReady);
  base::Bytes body;
  AppendLittleEndian(body, link_id, 8);
  queue_.PushRecord(RecordType::kGo, std::move(body));
  Pump();
}

void WebSocketConnection::BecomeLink() {
  if (closing()) return;
  OSTRAKA_CHECK(phase_ == Phase::kReady);
  phase_ = Phase::kLink;
  deadline_.Cancel();
  max_record_bytes_ = kMaxRecordBytes;
}

void WebSocketConnection::Send(SharedBytes frame, std::shared_ptr<OutgoingBlob> blob) {
  if (closing() || leaving_) return;
  OSTRAKA_CHECK(phase_ == Phase::kLink);
  const base::Status queued = blob == nullptr ? queue_.PushControl(std::move(frame))
                                              : queue_.PushBulk(std::move(frame), std::move(blob));
  if (!queued.ok()) return Close(Closing::Why::kRefused, CloseCode::kSlow, base::MessageOf(queued));
  Pump();
}

// One write at a time; what to write is decided when the one before has been taken.
void WebSocketConnection::Pump() {
  if (is_writing_ || closing()) return;
  if (queue_.empty()) {
    if (leaving_) Close(Closing::Why::kLocal, CloseCode::kLeaving, leaving_reason_);
    return;
  }
  is_writing_ = true;
  writing_ = queue_.Next();
  const std::array<net::const_buffer, 2> buffers = {
      net::buffer(writing_.head().data(), writing_.head().size()),
      net::buffer(writing_.body.data(), writing_.body.size())};
  ws_.async_write(buffers, Then(&WebSocketConnection::OnWritten));
}

void WebSocketConnection::OnWritten(error_code ec, std::size_t /*size*/) {
  is_writing_ = false;
  if (closing()) return;
  if (ec) return Lose(Explain(ec));
  Traffic added;
  added.control_sent = writing_.head().size() + (writing_.is_payload ? 0 : writing_.body.size());
  added.payload_sent = writing_.is_payload ? writing_.body.size() : 0;
  writing_ = {};
  owner_->OnBytes(*this, added);
  Pump();
}

// --- the way down -------------------------------------------------------------------------------

void WebSocketConnection::OnDeadline() {
  if (closing()) return;
  const std::string within_handshake = " within " + FormatSeconds(settings_.timeouts.handshake);
  const std::string within_hello = " within " + FormatSeconds(settings_.timeouts.hello);
  switch (phase_) {
    case Phase::kTcp:
      if (dialed_) return Lose("did not answer" + within_handshake);
      return Refuse("said nothing" + within_handshake);
    case Phase::kTls:
      return Refuse("did not finish the TLS handshake" + within_handshake);
    case Phase::kUpgrade:
      return Refuse("did not finish the WebSocket upgrade" + within_handshake);
    case Phase::kHello:
      return Refuse("said no HELLO" + within_hello);
    default:
      return Refuse("did not make this connection the link" + within_hello);
  }
}

void WebSocketConnection::Refuse(const std::string& reason) {
  Close(Closing::Why::kRefused, CloseCode::kRefused, reason);
}

void WebSocketConnection::Lose(const std::string& reason) {
  StartClosing(Closing::Why::kLost, reason);
  Finish();
}

void WebSocketConnection::OnReadError(error_code ec) {
  if (ec == websocket::error::closed) {
    const websocket::close_reason& theirs = ws_.reason();
    if (theirs.code == static_cast<std::uint16_t>(CloseCode::kDuplicate)) {
      StartClosing(Closing::Why::kDuplicate, "has another connection with us");
      return Finish();
    }
    return Lose("closed the connection, its reason: " +
                Printable({theirs.reason.data(), theirs.reason.size()}));
  }
  if (ec == beast::error::timeout) {
    return Lose("was silent for " + FormatSeconds(settings_.timeouts.idle));
  }
  if (IsWebSocketError(ec) || IsTlsError(ec)) {
    StartClosing(Closing::Why::kRefused, Explain(ec));
    return Finish();
  }
  Lose(Explain(ec));
}

void WebSocketConnection::Close(Closing::Why why, CloseCode code, const std::string& reason) {
  if (closing()) return;
  const bool upgraded = phase_ >= Phase::kHello;
  StartClosing(why, reason);
  if (!upgraded) return Finish();
  deadline_.Start(settings_.timeouts.close, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->Finish();
  });
  websocket::close_reason frame(static_cast<websocket::close_code>(code));
  const std::string_view fits = std::string_view(reason).substr(0, kMaxCloseReason);
  frame.reason.assign(fits.data(), fits.size());
  ws_.async_close(frame, [self = shared_from_this()](error_code) { self->Finish(); });
}

void WebSocketConnection::CloseWhenFlushed(const std::string& reason) {
  if (phase_ != Phase::kLink) return Close(Closing::Why::kLocal, CloseCode::kLeaving, reason);
  leaving_ = true;
  leaving_reason_ = reason;
  Pump();
}

void WebSocketConnection::Abort(const std::string& reason) {
  if (phase_ == Phase::kGone) return;
  StartClosing(Closing::Why::kLocal, reason);
  Finish();
}

void WebSocketConnection::Abandon() {
  owner_ = nullptr;
  Abort("");
}

void WebSocketConnection::StartClosing(Closing::Why why, const std::string& reason) {
  if (closing()) return;
  phase_ = Phase::kClosing;
  deadline_.Cancel();
  why_ = {why, reason};
  net::post(io_, [self = shared_from_this()] {
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
  net::post(io_, [self = shared_from_this()] {
    if (self->owner_ != nullptr) self->owner_->OnGone(*self);
  });
}

}  // namespace

std::shared_ptr<Connection> Connection::Accepted(net::io_context& io,
                                                 const ConnectionSettings& settings,
                                                 ConnectionOwner& owner, int fd,
                                                 std::string remote) {
  auto connection =
      std::make_shared<WebSocketConnection>(io, settings, owner, std::nullopt, std::move(remote));
  connection->TakeOver(fd);
  return connection;
}

std::shared_ptr<Connection> Connection::Dialed(net::io_context& io,
                                               const ConnectionSettings& settings,
                                               ConnectionOwner& owner, const PeerId& expected,
                                               std::string remote) {
  return std::make_shared<WebSocketConnection>(io, settings, owner, expected, std::move(remote));
}

}  // namespace ostraka::runtime
