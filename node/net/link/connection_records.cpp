// The record pump: one record read and one written at a time
// (node/net/link/websocket_connection.h).
#include <array>
#include <utility>

#include "node/base/check.h"
#include "node/base/little_endian.h"
#include "node/net/link/channel_errors.h"
#include "node/net/link/websocket_connection.h"

namespace ostraka::net {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = boost::beast::websocket;

}  // namespace

// Reads piecewise: with Beast's own message limit, the error of its hasty close would hide the
// reason.
void WebSocketConnection::ReadNext() {
  ws_.async_read_some(inbox_, max_record_bytes_ + 1 - inbox_.size(),
                      Then(&WebSocketConnection::OnRead));
}

void WebSocketConnection::OnRead(error_code ec, std::size_t added_size) {
  if (closing()) return;  // data after closing is ignored
  if (ec) return OnReadError(ec);
  bytes_received_ += added_size;
  settings_.receiving->Charge(added_size);
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
      return owner_->OnGo(*this, base::ReadLittleEndian(body));
    default:
      return HandleLinkRecord(type, body);
  }
}

void WebSocketConnection::HandleLinkRecord(RecordType type, base::ByteView body) {
  base::Status status = base::OkStatus();
  if (IsBulk(type)) {
    status = credit_.Take(1 + body.size());
    if (!status.ok()) return Refuse(base::MessageOf(status));
  }
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
    case RecordType::kCredit:
      if (body.size() != 8) return Refuse("sent a credit of a wrong length");
      status = queue_.Grant(base::ReadLittleEndian(body));
      if (status.ok()) Pump();
      break;
    default:
      status = base::InvalidArgument("sent a record of unknown type " +
                                     std::to_string(static_cast<unsigned>(type)));
  }
  if (!status.ok()) return Refuse(base::MessageOf(status));
  if (std::optional<BlobReceiver::Message> message = receiver_.Take()) {
    owner_->OnMessage(*this, std::move(message->frame), std::move(message->blob));
  }
  if (IsBulk(type)) GrantMore();
}

// --- credit and pace -----------------------------------------------------------------------------

// Grants more credit once half of the window is used.
void WebSocketConnection::GrantMore() {
  if (closing() || granting_ || !credit_.wants_grant()) return;
  const bool may_go = settings_.receiving->MayGo([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self == nullptr) return;
    self->granting_ = false;
    if (!self->closing()) self->Grant();
  });
  if (may_go) return Grant();
  granting_ = true;
}

void WebSocketConnection::Grant() {
  base::Bytes body;
  base::AppendLittleEndian(body, credit_.Grant(), 8);
  queue_.PushRecord(RecordType::kCredit, std::move(body));
  Pump();
}

bool WebSocketConnection::MaySendBulk() {
  if (!queue_.has_credit() || asked_turn_) return false;
  if (std::exchange(my_turn_, false)) return true;
  const bool may_go = settings_.sending->MayGo([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self == nullptr) return;
    self->asked_turn_ = false;
    self->my_turn_ = true;
    self->Pump();
  });
  asked_turn_ = !may_go;
  return may_go;
}

// Checks the other side's progress. It owes nothing while it waits for our pacer or for our credit.
void WebSocketConnection::Look() {
  if (phase_ != Phase::kLink) return;
  const std::string rate =
      std::to_string(settings_.limits.min_bytes_per_second) + " bytes a second";
  const bool lacks_credit = !queue_.empty() && !queue_.has_control() && !queue_.has_credit();
  if (taking_.TooSlow(is_writing_ || lacks_credit, bytes_sent_)) {
    return Refuse(Refusal::kSlow, "takes what we send too slowly: less than " + rate);
  }
  const bool has_credit = credit_.left() >= kMaxRecordBytes;
  if (giving_.TooSlow(inbox_.size() > 0 || (receiver_.active() && has_credit), bytes_received_)) {
    Refuse(Refusal::kSlow, "sends what it has begun too slowly: less than " + rate);
  }
}

// --- writing -------------------------------------------------------------------------------------

void WebSocketConnection::Send(SharedBytes frame, std::shared_ptr<OutgoingBlob> blob) {
  if (closing() || leaving_) return;
  OSTRAKA_CHECK(phase_ == Phase::kLink);
  const base::Status queued = blob == nullptr ? queue_.PushControl(std::move(frame))
                                              : queue_.PushBulk(std::move(frame), std::move(blob));
  if (!queued.ok()) return Refuse(Refusal::kSlow, base::MessageOf(queued));
  Pump();
}

// One write at a time; the next record is chosen after the previous write completes.
void WebSocketConnection::Pump() {
  if (is_writing_ || closing()) return;
  if (queue_.empty()) {
    if (leaving_) Close({Closing::Why::kLocal, leaving_reason_}, CloseCode::kLeaving);
    return;
  }
  if (!queue_.has_control() && !MaySendBulk()) return;
  is_writing_ = true;
  writing_ = queue_.Next();
  settings_.sending->Charge(writing_.head().size() + writing_.body.size());
  const std::array<asio::const_buffer, 2> buffers = {
      asio::buffer(writing_.head().data(), writing_.head().size()),
      asio::buffer(writing_.body.data(), writing_.body.size())};
  ws_.async_write(buffers, Then(&WebSocketConnection::OnWritten));
}

void WebSocketConnection::OnWritten(error_code ec, std::size_t /*size*/) {
  is_writing_ = false;
  if (closing()) return;
  if (ec) return Lose(Explain(ec));
  bytes_sent_ += writing_.head().size() + writing_.body.size();
  Traffic added;
  added.control_sent = writing_.head().size() + (writing_.is_payload ? 0 : writing_.body.size());
  added.payload_sent = writing_.is_payload ? writing_.body.size() : 0;
  writing_ = {};
  owner_->OnBytes(*this, added);
  Pump();
}

void WebSocketConnection::OnReadError(error_code ec) {
  if (ec == websocket::error::closed) {
    const websocket::close_reason& theirs = ws_.reason();
    if (theirs.code == static_cast<std::uint16_t>(CloseCode::kDuplicate)) {
      StartClosing({Closing::Why::kDuplicate, "has another connection with us"});
      return Finish();
    }
    const bool has_left = theirs.code == static_cast<std::uint16_t>(CloseCode::kLeaving);
    StartClosing({has_left ? Closing::Why::kLeft : Closing::Why::kLost,
                  "closed the connection, its reason: " +
                      Printable({theirs.reason.data(), theirs.reason.size()})});
    return Finish();
  }
  if (ec == beast::error::timeout) {
    return Lose("was silent for " + FormatSeconds(settings_.timeouts.idle));
  }
  if (IsWebSocketError(ec) || IsTlsError(ec)) {
    StartClosing({Closing::Why::kRefused, ExplainOnLink(ec),
                  phase_ < Phase::kReady ? Refusal::kHandshake : Refusal::kRecord});
    return Finish();
  }
  Lose(Explain(ec));
}

}  // namespace ostraka::net
