#include "node/net/link/connection.h"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <utility>
#include <variant>

#include "node/base/check.h"
#include "node/net/link/channel_errors.h"
#include "node/net/link/websocket_connection.h"

namespace ostraka::net {
namespace {

// Time for a connection that never was a link to answer a close: long enough to read the reason.
constexpr Duration kStrangerClose = base::Seconds(1);

ProgressWatch WatchOf(const LinkLimits& limits) {
  const double per_look = static_cast<double>(limits.min_bytes_per_second) * limits.look.seconds();
  return {static_cast<std::uint64_t>(per_look), limits.slow_looks, limits.min_bytes_per_second};
}

}  // namespace

// --- construction --------------------------------------------------------------------------------

std::shared_ptr<Connection> Connection::Accepted(boost::asio::io_context& io,
                                                 const ConnectionSettings& settings,
                                                 ConnectionOwner& owner, Caller caller) {
  auto connection = std::make_shared<WebSocketConnection>(io, settings, owner, std::nullopt,
                                                          std::move(caller.socket.remote));
  connection->Prepare({caller.socket.fd, std::move(caller.first_bytes), caller.waited});
  return connection;
}

std::shared_ptr<Connection> Connection::Dialed(boost::asio::io_context& io,
                                               const ConnectionSettings& settings,
                                               ConnectionOwner& owner, const PeerId& expected,
                                               std::string remote) {
  auto connection =
      std::make_shared<WebSocketConnection>(io, settings, owner, expected, std::move(remote));
  connection->Prepare({});
  return connection;
}

WebSocketConnection::WebSocketConnection(boost::asio::io_context& io,
                                         const ConnectionSettings& settings, ConnectionOwner& owner,
                                         std::optional<PeerId> expected, std::string remote)
    : settings_(settings),
      owner_(&owner),
      remote_(std::move(remote)),
      dialed_(expected.has_value()),
      peer_(expected),
      stream_(std::make_shared<RecordStream>(io, settings.tls)),
      deadline_(io),
      writer_(settings.limits.control_queue_bytes, settings.limits.bulk_queue_bytes,
              settings.limits.carried_queue_bytes, [this](bool lent) { return MaySendBulk(lent); }),
      reader_(settings.max_blob_bytes, settings.allow_unhashed, settings.limits.credit_bytes),
      watch_(WatchOf(settings.limits)),
      sending_turn_(*settings.sending),
      lending_turn_(*settings.sending),
      granting_turn_(*settings.receiving),
      reading_turn_(*settings.from_guests) {}

void WebSocketConnection::Prepare(Adopted adopted) {
  OSTRAKA_CHECK(handshake_ == nullptr && peer_.has_value() == (adopted.fd < 0));
  if (adopted.fd >= 0) stream_->Adopt(adopted.fd);
  handshake_time_ = settings_.timeouts.handshake - adopted.waited;
  const auto weak = weak_from_this();
  stream_->Listen({.read =
                       [weak](error_code ec, std::size_t added) {
                         if (const auto self = weak.lock()) self->OnRead(ec, added);
                       },
                   .written =
                       [weak](error_code ec) {
                         if (const auto self = weak.lock()) self->OnWritten(ec);
                       }});
  handshake_ = std::make_shared<Handshake>(
      stream_, settings_.timeouts, peer_, remote_, std::move(adopted.first_bytes),
      Handshake::Events{.authenticated = [weak](const PeerId& id) -> base::StatusOr<Hello> {
                          const auto self = weak.lock();
                          if (self == nullptr) return base::Unavailable("comes too late");
                          return self->OnAuthenticated(id);
                        },
                        .upgraded =
                            [weak](const Hello& ours) {
                              if (const auto self = weak.lock()) self->OnUpgraded(ours);
                            },
                        .failed =
                            [weak](const Closing& why) {
                              if (const auto self = weak.lock()) self->Abort(why);
                            }});
}

// --- until it is a link --------------------------------------------------------------------------

void WebSocketConnection::Start() {
  OSTRAKA_CHECK(handshake_ != nullptr);
  StartDeadline(handshake_time_, &WebSocketConnection::OnDeadline);
  handshake_->Start();
}

base::StatusOr<Hello> WebSocketConnection::OnAuthenticated(const PeerId& id) {
  OSTRAKA_CHECK(!peer_ || *peer_ == id);  // X3
  peer_ = id;
  return owner_->OnAuthenticated(*this);
}

void WebSocketConnection::OnUpgraded(const Hello& ours) {
  life_.BeginGreeting();
  handshake_.reset();
  greeting_.emplace(ours);
  StartDeadline(settings_.timeouts.hello - settings_.timeouts.handshake,
                &WebSocketConnection::OnDeadline);
  writer_.QueueRecord(RecordType::kHello, EncodeHello(ours));
  Pump();
  ReadNext();
}

void WebSocketConnection::OnGreeting(const Greeting::Event& event) {
  if (const auto* refused = std::get_if<Greeting::Refused>(&event)) {
    return Refuse(refused->refusal, refused->reason);
  }
  if (const auto* go = std::get_if<Greeting::GoCame>(&event)) {
    return owner_->OnGo(*this, go->link_id);
  }
  owner_->OnHello(*this, greeting_->theirs());
}

void WebSocketConnection::SendGo(std::uint64_t link_id) {
  if (closing()) return;
  OSTRAKA_CHECK(greeting_ && greeting_->stage() == Greeting::Stage::kAccepted);
  writer_.QueueRecord(RecordType::kGo, EncodeGo(link_id));
  Pump();
}

void WebSocketConnection::BecomeLink() {
  if (closing()) return;
  greeting_->End();
  life_.BecomeLink();
  deadline_.Cancel();
  reader_.OpenLink();
  CheckInvariants();
  GrantMore();
}

void WebSocketConnection::OnDeadline() {
  if (closing()) return;
  const std::string within = " within " + FormatSeconds(settings_.timeouts.hello);
  if (handshake_ != nullptr) return Abort(handshake_->Late());
  if (greeting_->stage() == Greeting::Stage::kBegun) return Refuse("said no HELLO" + within);
  Refuse(Refusal::kHandshake, "did not make this connection the link" + within);
}

// --- closing -------------------------------------------------------------------------------------

void WebSocketConnection::Refuse(const std::string& reason) {
  const bool was_accepted = greeting_ && greeting_->stage() >= Greeting::Stage::kAccepted;
  Refuse(was_accepted ? Refusal::kRecord : Refusal::kHandshake, reason);
}

void WebSocketConnection::Refuse(Refusal refusal, const std::string& reason) {
  Close({Closing::Why::kRefused, reason, refusal},
        refusal == Refusal::kSlow ? CloseCode::kSlow : CloseCode::kRefused);
}

void WebSocketConnection::Close(const Closing& closing, CloseCode code) {
  if (this->closing()) return;
  const bool upgraded = life_.phase() >= Lifecycle::Phase::kGreeting;
  const bool was_link = life_.is_link();
  StartClosing(closing);
  if (!upgraded) return Finish();
  StartDeadline(
      was_link ? settings_.timeouts.close : std::min(settings_.timeouts.close, kStrangerClose),
      &WebSocketConnection::Finish);
  const auto answered = [weak = weak_from_this()](error_code /*close_code() says*/) {
    const auto self = weak.lock();
    if (self == nullptr || self->life_.phase() == Lifecycle::Phase::kGone) return;
    self->life_.OnCloseAnswered(self->stream_->close_code());
    self->Finish();
  };
  stream_->SendClose(code, closing.reason, answered);
}

void WebSocketConnection::CloseWhenFlushed(const std::string& reason) {
  if (!life_.is_link()) return Close({Closing::Why::kLocal, reason}, CloseCode::kLeaving);
  life_.Leave(reason);
  writer_.DropLent();  // nobody needs it now
  Pump();
}

void WebSocketConnection::Abort(const Closing& closing) {
  if (life_.phase() == Lifecycle::Phase::kGone) return;
  StartClosing(closing);
  Finish();
}

void WebSocketConnection::Abandon() {
  owner_ = nullptr;
  Abort({});
}

void WebSocketConnection::StartClosing(const Closing& closing) {
  if (!life_.Close(closing, writer_.idle())) return;
  if (handshake_ != nullptr) std::exchange(handshake_, nullptr)->Cancel();
  deadline_.Cancel();
  writer_.Drop();
  CheckInvariants();
  stream_->Post([self = shared_from_this()] {
    if (self->owner_ != nullptr) self->owner_->OnClosing(*self, self->why());
  });
}

void WebSocketConnection::Finish() {
  if (!life_.End()) return;
  deadline_.Cancel();
  stream_->CloseSocket();
  stream_->Post([self = shared_from_this()] {
    if (self->owner_ != nullptr) self->owner_->OnGone(*self);
  });
}

void WebSocketConnection::StartDeadline(Duration after, void (WebSocketConnection::*then)()) {
  deadline_.Start(after, [weak = weak_from_this(), then] {
    if (const auto self = weak.lock()) ((*self).*then)();
  });
}

void WebSocketConnection::CheckInvariants() const {
  OSTRAKA_CHECK(!closing() || (writer_.queue().empty() && handshake_ == nullptr));  // X2
  OSTRAKA_CHECK(!greeting_ || peer_.has_value());                                   // X3
  OSTRAKA_CHECK(!life_.is_link() || greeting_->stage() == Greeting::Stage::kOver);
}

}  // namespace ostraka::net
