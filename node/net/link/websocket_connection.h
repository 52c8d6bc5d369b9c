// The implementation of connection.h: one class in three files.
//   connection.cpp            construction, and every way in which a connection ends
//   connection_handshake.cpp  TCP, TLS, upgrade, HELLO, GO: until it is a link
//   connection_records.cpp    the pump: one record read, one record written at a time
//
// Lifetime: every Asio operation holds a reference (Then); timers hold none. So the object lives
// until its socket is closed and its last operation has completed.
//
// INVARIANT: phase_ only grows. From kClosing on, the owner receives only OnClosing and then
// OnGone, both posted, so that no event fires inside a call.
//
// Thread safety: none; the thread that runs the io_context.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "node/net/link/blob_receiver.h"
#include "node/net/link/connection.h"
#include "node/net/link/rate_floor.h"
#include "node/net/link/receive_credit.h"
#include "node/net/link/record.h"
#include "node/net/link/send_queue.h"
#include "node/os/timer.h"

namespace ostraka::net {

class WebSocketConnection final : public Connection,
                                  public std::enable_shared_from_this<WebSocketConnection> {
 public:
  // `expected`: the id to dial; nullopt for an incoming connection, which TakeOver completes.
  WebSocketConnection(boost::asio::io_context& io, const ConnectionSettings& settings,
                      ConnectionOwner& owner, std::optional<PeerId> expected, std::string remote);

  // REQUIRES: `fd` is a connected TCP socket from which `first_bytes` were read. Takes ownership of
  // `fd`. `waited`: the part of the handshake time already used.
  void TakeOver(int fd, base::Bytes first_bytes, Duration waited);

  void Start() override;
  void SendGo(std::uint64_t link_id) override;
  void BecomeLink() override;
  void Send(SharedBytes frame, std::shared_ptr<OutgoingBlob> blob) override;
  void Look() override;
  void Close(const Closing& closing, CloseCode code) override;
  void CloseWhenFlushed(const std::string& reason) override;
  void Abort(const Closing& closing) override;
  void Abandon() override;

  bool closing() const override { return phase_ >= Phase::kClosing; }
  const Closing& why() const override { return why_; }
  bool delivered() const override { return delivered_; }
  const Hello& their_hello() const override { return their_hello_; }
  const std::optional<PeerId>& peer() const override { return peer_; }
  const std::string& remote() const override { return remote_; }
  const SendQueue& queue() const override { return queue_; }

 private:
  using error_code = boost::system::error_code;
  using tcp = boost::asio::ip::tcp;
  // The concrete executor saves a virtual call and an allocation per operation.
  using Executor = boost::asio::io_context::executor_type;
  using Socket = boost::asio::basic_stream_socket<tcp, Executor>;
  using Resolver = boost::asio::ip::basic_resolver<tcp, Executor>;
  using Stream = boost::beast::websocket::stream<boost::beast::ssl_stream<Socket>>;

  enum class Phase : std::uint8_t {
    kTcp,  // dialing
    kTls,
    kUpgrade,
    kHello,  // records may flow; the first must be HELLO
    kReady,  // HELLOs are compatible; waiting for GO
    kLink,
    kClosing,
    kGone,
  };

  Socket& socket() { return boost::beast::get_lowest_layer(ws_); }
  // Binds a handler to this connection and keeps the connection alive.
  template <typename Method>
  auto Then(Method method) {
    return [self = shared_from_this(), method](auto... results) {
      ((*self).*method)(std::move(results)...);
    };
  }

  // Replaces the previous deadline; does not keep the connection alive.
  void StartDeadline(Duration after, void (WebSocketConnection::*then)());

  // --- handshake (connection_handshake.cpp) ---
  void Resolve();
  void OnResolved(error_code ec, tcp::resolver::results_type where);
  void OnConnected(error_code ec);
  void StartTls();
  void OnTls(error_code ec);
  void Upgrade();
  void OnUpgraded(error_code ec);
  void HandleHello(base::ByteView body);
  void OnDeadline();

  // --- records (connection_records.cpp) ---
  void ReadNext();
  void OnRead(error_code ec, std::size_t size);
  void OnReadError(error_code ec);
  void HandleRecord(base::ByteView record);
  void HandleLinkRecord(RecordType type, base::ByteView body);
  void Pump();
  bool MaySendBulk();
  void GrantMore();
  void Grant();
  void OnWritten(error_code ec, std::size_t size);

  // --- closing (connection.cpp) ---
  void Refuse(const std::string& reason);
  void Refuse(Refusal refusal, const std::string& reason);
  void Lose(const std::string& reason);
  void OnCloseAnswered(bool all_written);
  void StartClosing(const Closing& closing);
  void Finish();

  boost::asio::io_context& io_;
  const ConnectionSettings& settings_;
  ConnectionOwner* owner_;  // null once abandoned
  const bool dialed_;
  const std::string remote_;
  std::optional<PeerId> peer_;
  base::Bytes first_bytes_;  // of an accepted connection, until TLS has read them
  Duration waited_;
  std::string tls_refusal_;  // written by the certificate check; outlives ws_

  boost::asio::ssl::context ssl_context_;
  Stream ws_;
  Resolver resolver_;
  os::Timer deadline_;
  Phase phase_ = Phase::kTcp;
  bool leaving_ = false;  // close once the queue is empty
  std::string leaving_reason_;
  Closing why_;  // valid once closing
  bool delivered_ = false;

  Hello our_hello_;
  Hello their_hello_;
  boost::beast::flat_buffer inbox_;
  std::size_t max_record_bytes_ = kMaxFirstRecordBytes;
  SendQueue queue_;
  SendQueue::Record writing_;
  bool is_writing_ = false;
  BlobReceiver receiver_;
  ReceiveCredit credit_;

  bool my_turn_ = false;          // the sending pacer granted one bulk record
  bool asked_turn_ = false;       // a turn was requested from the sending pacer
  bool granting_ = false;         // a turn was requested from the receiving pacer
  std::uint64_t bytes_sent_ = 0;  // in records of all types
  std::uint64_t bytes_received_ = 0;
  RateFloor taking_;
  RateFloor giving_;
};

}  // namespace ostraka::net
