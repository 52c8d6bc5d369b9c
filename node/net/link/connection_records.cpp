// The record pump: one record read and one written at a time
// (node/net/link/websocket_connection.h).
#include <boost/beast/core/error.hpp>
#include <boost/beast/websocket/error.hpp>
#include <utility>

#include "node/base/check.h"
#include "node/net/link/channel_errors.h"
#include "node/net/link/websocket_connection.h"

namespace ostraka::net {

namespace beast = boost::beast;
namespace websocket = boost::beast::websocket;

// --- reading -------------------------------------------------------------------------------------

// One byte more than is allowed, to see that a record is too long.
void WebSocketConnection::ReadNext() {
  const auto wake = [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self != nullptr && !self->closing()) self->ReadNext();
  };
  if (lane_ == PacerLane::kGuests && !reading_turn_.Take(wake, PacerLane::kGuests)) return;
  stream_->Read(reader_.max_record_bytes() + 1);
}

void WebSocketConnection::OnRead(error_code ec, std::size_t added) {
  if (closing()) return;  // data after closing is ignored
  if (ec) return OnReadError(ec);
  settings_.receiving->Charge(added);
  if (lane_ == PacerLane::kGuests) settings_.from_guests->Charge(added);
  if (stream_->is_text()) return Refuse("sent a text message");
  const base::ByteView record = stream_->inbox();
  const base::Status fits = reader_.CountBytes(added, record.size());
  if (!fits.ok()) return Refuse(base::MessageOf(fits));
  if (!stream_->is_record_complete()) return ReadNext();
  if (record.empty()) return Refuse("sent an empty record");
  HandleRecord(record);
  stream_->Consume();
  if (!closing()) ReadNext();
}

void WebSocketConnection::HandleRecord(base::ByteView record) {
  const auto type = static_cast<RecordType>(record[0]);
  const base::ByteView body = record.subspan(1);
  owner_->OnBytes(*this, TrafficOfReceived(type, record.size()));
  if (!life_.is_link()) return OnGreeting(greeting_->Take(type, body));
  HandleLinkRecord(type, body);
}

void WebSocketConnection::HandleLinkRecord(RecordType type, base::ByteView body) {
  base::StatusOr<RecordReader::Taken> taken = reader_.Take(type, body);
  if (!taken.ok()) return Refuse(base::MessageOf(taken.status()));
  if (taken->credit) {
    const base::Status granted = writer_.TakeCredit(*taken->credit);
    if (!granted.ok()) return Refuse(base::MessageOf(granted));
    Pump();
  }
  if (taken->message) {
    owner_->OnMessage(*this, std::move(taken->message->frame), std::move(taken->message->blob));
  }
  if (taken->dial_back) owner_->OnDialBack(*this, *taken->dial_back);
  if (taken->data) owner_->OnData(*this, *taken->data);
  if (IsBulk(type)) GrantMore();
}

void WebSocketConnection::OnReadError(error_code ec) {
  if (ec == websocket::error::closed) {
    const std::uint16_t code = stream_->close_code();
    if (code == static_cast<std::uint16_t>(CloseCode::kDuplicate)) {
      return Abort({Closing::Why::kDuplicate, "has another connection with us"});
    }
    const bool has_left = code == static_cast<std::uint16_t>(CloseCode::kLeaving);
    return Abort({has_left ? Closing::Why::kLeft : Closing::Why::kLost,
                  "closed the connection, its reason: " + Printable(stream_->close_reason())});
  }
  if (ec == beast::error::timeout) {
    return Abort({Closing::Why::kLost, "was silent for " + FormatSeconds(settings_.timeouts.idle)});
  }
  if (IsWebSocketError(ec) || IsTlsError(ec)) {
    const bool was_accepted = greeting_->stage() >= Greeting::Stage::kAccepted;
    return Abort({Closing::Why::kRefused, ExplainOnLink(ec),
                  was_accepted ? Refusal::kRecord : Refusal::kHandshake});
  }
  Abort({Closing::Why::kLost, Explain(ec)});
}

// --- credit and pace -----------------------------------------------------------------------------

// Grants more credit once half of the window is used.
void WebSocketConnection::GrantMore() {
  if (closing() || !reader_.wants_grant()) return;
  const bool may_go = granting_turn_.Take(
      [weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->GrantMore();
      },
      lane_);
  if (!may_go) return;
  writer_.QueueRecord(RecordType::kCredit, reader_.Grant());
  Pump();
}

bool WebSocketConnection::MaySendBulk(bool lent) {
  PacerTurn& turn = lent ? lending_turn_ : sending_turn_;
  return turn.Take(
      [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (self == nullptr) return;
        self->Pump();
        self->lending_turn_.GiveBack();  // a blob came first, and it would be used out of turn
      },
      lent ? PacerLane::kLent : lane_);
}

// Checks the other side's progress. It owes nothing while it waits for our pacer or for our credit.
void WebSocketConnection::Look() {
  if (!life_.is_link()) return;
  const std::optional<std::string> slow =
      watch_.Look({.owes_taking = writer_.waits_for_peer(),
                   .sent = writer_.bytes_sent(),
                   .owes_giving = !stream_->inbox().empty() || reader_.owes_blob(),
                   .received = reader_.bytes_received()});
  if (slow) Refuse(Refusal::kSlow, *slow);
}

// --- writing -------------------------------------------------------------------------------------

void WebSocketConnection::Send(SharedBytes frame, std::shared_ptr<OutgoingBlob> blob) {
  if (closing() || life_.leaving()) return;
  OSTRAKA_CHECK(life_.is_link());
  const base::Status queued = writer_.QueueMessage(std::move(frame), std::move(blob));
  if (!queued.ok()) return Refuse(Refusal::kSlow, base::MessageOf(queued));
  Pump();
}

void WebSocketConnection::SendCarried(const PeerId& peer, SharedBytes frame) {
  if (closing() || life_.leaving()) return;
  OSTRAKA_CHECK(life_.is_link());
  const Traffic dropped = writer_.QueueCarried(peer, std::move(frame));
  if (dropped.carried_dropped > 0) owner_->OnBytes(*this, dropped);
  Pump();
}

void WebSocketConnection::SendDialBack(const DialBackRecord& record) {
  if (closing() || life_.leaving()) return;
  OSTRAKA_CHECK(life_.is_link());
  writer_.QueueRecord(TypeOf(record), EncodeDialBack(record));
  Pump();
}

void WebSocketConnection::SendData(const DataRecord& record) {
  if (closing() || life_.leaving()) return;
  OSTRAKA_CHECK(life_.is_link() && !std::holds_alternative<DataPiece>(record));
  writer_.QueueRecord(TypeOf(record), EncodeData(record));
  Pump();
}

bool WebSocketConnection::Lend(std::uint64_t chunk, SharedBytes bytes) {
  if (closing() || life_.leaving()) return false;
  OSTRAKA_CHECK(life_.is_link());
  if (!writer_.QueueLent(chunk, std::move(bytes))) return false;
  Pump();
  return true;
}

// One write at a time; the next record is chosen after the previous write completes.
void WebSocketConnection::Pump() {
  if (closing()) return;
  if (life_.leaving() && writer_.idle()) {
    return Close({Closing::Why::kLocal, *life_.leaving()}, CloseCode::kLeaving);
  }
  base::StatusOr<std::optional<SendQueue::Record>> next = writer_.Next();
  if (!next.ok()) {
    return Abort({Closing::Why::kLost,
                  "cannot be sent what it asked for: " + base::MessageOf(next.status())});
  }
  if (!*next) return;
  SendQueue::Record& record = **next;
  settings_.sending->Charge(record.head().size() + record.body.size());
  stream_->Write(std::move(record));
}

void WebSocketConnection::OnWritten(error_code ec) {
  if (closing()) return;
  if (ec) return Abort({Closing::Why::kLost, Explain(ec)});
  owner_->OnBytes(*this, writer_.OnWritten());
  Pump();
}

}  // namespace ostraka::net
