// The implementation of connection.h: conducts the parts of one connection, each of which does one
// job and returns what should happen.
//
//   handshake.h      TCP, TLS, upgrade          lifecycle.h        phases, reasons, the end
//   greeting.h       HELLO and GO               record_stream.h    the bytes, both ways
//   record_writer.h  what goes out              record_reader.h    what comes in
//   pacer_turn.h     turns of the shared pace   progress_watch.h   peers that are too slow
//
// connection.cpp: construction, the way to the link, and every way in which a connection ends.
// connection_records.cpp: the pump, which reads and writes one record at a time.
//
// Lifetime: callbacks of the parts hold weak references, and what is posted holds strong ones. The
// owner holds the connection until OnGone. The stream outlives it until its last operation ends.
//
// Promises:
//   X1  Phases only grow (lifecycle.h). From kClosing on, the owner receives only OnClosing and
//       then OnGone, once each, both posted, so that no event fires inside a call.
//   X2  No record is read while closing, and nothing waits to be written.
//   X3  peer() is proven from OnAuthenticated on, and is the expected id of a dialed connection.
//   X4  A deadline runs until the connection is a link, and again while it closes.
//
// May not know: other connections, members, the protocol inside the frames.
//
// Memory: what transport.h states for a link, or for a connection that is none.
//
// What an attacker can do here: each part says it for itself. Together: hold one connection for
// timeouts.hello and one second more without being a member.
//
// Thread safety: none; the thread that runs the io_context.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "node/net/link/connection.h"
#include "node/net/link/handshake.h"
#include "node/net/link/lifecycle.h"
#include "node/net/link/pacer_turn.h"
#include "node/net/link/record_stream.h"
#include "node/net/records/greeting.h"
#include "node/net/records/progress_watch.h"
#include "node/net/records/record_reader.h"
#include "node/net/records/record_writer.h"
#include "node/os/timer.h"

namespace ostraka::net {

class WebSocketConnection final : public Connection,
                                  public std::enable_shared_from_this<WebSocketConnection> {
 public:
  // `expected`: the id to dial; nullopt for an incoming connection.
  WebSocketConnection(boost::asio::io_context& io, const ConnectionSettings& settings,
                      ConnectionOwner& owner, std::optional<PeerId> expected, std::string remote);

  // An incoming TCP socket, which the connection owns from here.
  struct Adopted {
    int fd = -1;
    base::Bytes first_bytes;  // read from it before
    Duration waited;          // the part of the handshake time already used
  };
  // Completes the construction. REQUIRES: called once; `adopted` has a socket unless it dials.
  void Prepare(Adopted adopted);

  void Start() override;
  void SendGo(std::uint64_t link_id) override;
  void BecomeLink() override;
  void Send(SharedBytes frame, std::shared_ptr<OutgoingBlob> blob) override;
  void SendCarried(const PeerId& peer, SharedBytes frame) override;
  void SendDialBack(const DialBackRecord& record) override;
  void SendData(const DataRecord& record) override;
  bool Lend(std::uint64_t chunk, SharedBytes bytes) override;
  void Look() override;
  void Close(const Closing& closing, CloseCode code) override;
  void CloseWhenFlushed(const std::string& reason) override;
  void Abort(const Closing& closing) override;
  void Abandon() override;

  bool closing() const override { return life_.closing(); }
  const Closing& why() const override { return life_.why(); }
  bool delivered() const override { return life_.delivered(); }
  const Hello& their_hello() const override { return greeting_->theirs(); }
  const std::optional<PeerId>& peer() const override { return peer_; }
  const std::string& remote() const override { return remote_; }
  bool dialed() const override { return dialed_; }
  const SendQueue& queue() const override { return writer_.queue(); }

 private:
  using error_code = boost::system::error_code;

  // --- until it is a link (connection.cpp) ---
  base::StatusOr<Hello> OnAuthenticated(const PeerId& id);
  void OnUpgraded(const Hello& ours);
  void OnGreeting(const Greeting::Event& event);
  void OnDeadline();

  // --- records (connection_records.cpp) ---
  void ReadNext();
  void OnRead(error_code ec, std::size_t added);
  void OnReadError(error_code ec);
  void HandleRecord(base::ByteView record);
  void HandleLinkRecord(RecordType type, base::ByteView body);
  void GrantMore();
  bool MaySendBulk(bool lent);
  void Pump();
  void OnWritten(error_code ec);

  // --- closing (connection.cpp) ---
  void Refuse(const std::string& reason);
  void Refuse(Refusal refusal, const std::string& reason);
  void StartClosing(const Closing& closing);
  void Finish();
  // Replaces the previous deadline; does not keep the connection alive.
  void StartDeadline(Duration after, void (WebSocketConnection::*then)());
  void CheckInvariants() const;

  const ConnectionSettings& settings_;
  ConnectionOwner* owner_;  // null once abandoned
  const std::string remote_;
  const bool dialed_;
  std::optional<PeerId> peer_;

  const std::shared_ptr<RecordStream> stream_;
  std::shared_ptr<Handshake> handshake_;  // until records flow
  Duration handshake_time_;               // from Start
  std::optional<Greeting> greeting_;      // from then on
  Lifecycle life_;
  os::Timer deadline_;

  RecordWriter writer_;
  RecordReader reader_;
  ProgressWatch watch_;
  PacerTurn sending_turn_;
  PacerTurn lending_turn_;  // its own: a blob would wait in the lane of a lent chunk
  PacerTurn granting_turn_;
  PacerTurn reading_turn_;
};

}  // namespace ostraka::net
