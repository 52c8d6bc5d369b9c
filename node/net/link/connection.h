// One connection, from the first byte to the last: TCP, TLS, WebSocket, HELLO, records.
//
//   accept: first bytes (lobby.h) ─┐
//   dial: resolve, connect ────────┴─ TLS ── upgrade ── HELLO ── [GO] ── link ── closing ── gone
//
// A connection knows nothing of other connections. Its owner chooses the HELLO to send, judges the
// other side's, and makes the connection the link (SendGo) or closes it. The memory and the attacks
// stand in websocket_connection.h, with the parts that keep its other promises.
//
// Promises:
//   C1  A connection counts as a member's until SetGuest says otherwise.
//
// Thread safety: none; the thread that runs the io_context.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "crypto/merkle.h"
#include "node/base/bytes.h"
#include "node/base/ids.h"
#include "node/base/status.h"
#include "node/base/time.h"
#include "node/net/link/caller.h"
#include "node/net/link/link_options.h"
#include "node/net/link/pacer.h"
#include "node/net/link/tls_identity.h"
#include "node/net/records/closing.h"
#include "node/net/records/data_records.h"
#include "node/net/records/dial_back.h"
#include "node/net/records/hello.h"
#include "node/net/records/refusal.h"
#include "node/net/records/send_queue.h"
#include "node/net/records/traffic.h"

namespace ostraka::net {

class Connection;

// Events of a connection, always from the io_context.
class ConnectionOwner {
 public:
  virtual ~ConnectionOwner() = default;
  // TLS has proven the other side's identity. Returns the HELLO to send, or a reason to close.
  virtual base::StatusOr<Hello> OnAuthenticated(Connection& connection) = 0;
  // The other side's HELLO is compatible with ours.
  virtual void OnHello(Connection& connection, const Hello& theirs) = 0;
  virtual void OnGo(Connection& connection, std::uint64_t link_id) = 0;
  virtual void OnMessage(Connection& connection, SharedBytes frame, SharedBlob blob) = 0;
  virtual void OnDialBack(Connection& connection, const DialBackRecord& record) = 0;
  virtual void OnData(Connection& connection, const DataRecord& record) = 0;
  virtual void OnBytes(Connection& connection, const Traffic& added) = 0;
  // The connection is no longer usable; no OnHello, OnGo, OnMessage, OnDialBack or
  // OnData follows. Called once.
  virtual void OnClosing(Connection& connection, const Closing& closing) = 0;
  // The socket is closed. Called once, as the last event.
  virtual void OnGone(Connection& connection) = 0;
};

struct ConnectionSettings {
  TlsContext tls;
  // Rate limits shared by all connections; must outlive them.
  Pacer* sending = nullptr;
  Pacer* receiving = nullptr;
  // What guests may send to us: it bounds how fast their records are read at all.
  Pacer* from_guests = nullptr;
  std::uint64_t max_blob_bytes = 0;
  bool allow_unhashed = false;
  LinkTimeouts timeouts;
  LinkLimits limits;  // with the effective values of bulk_queue_bytes and credit_bytes
};

class Connection {
 public:
  virtual ~Connection() = default;

  // Accepted takes over the socket of a caller whose first bytes begin a TLS handshake. REQUIRES
  // (both): `owner` and `settings` outlive the connection or Abandon is called; Start follows.
  static std::shared_ptr<Connection> Accepted(boost::asio::io_context& io,
                                              const ConnectionSettings& settings,
                                              ConnectionOwner& owner, Caller caller);
  static std::shared_ptr<Connection> Dialed(boost::asio::io_context& io,
                                            const ConnectionSettings& settings,
                                            ConnectionOwner& owner, const PeerId& expected,
                                            std::string remote);

  virtual void Start() = 0;
  // Makes this connection the link and tells the other side. REQUIRES: OnHello was called.
  virtual void SendGo(std::uint64_t link_id) = 0;
  // Marks the connection as the link; the handshake deadline ends.
  virtual void BecomeLink() = 0;
  // Exceeding the queue's limit closes the connection. Ignored while closing.
  virtual void Send(SharedBytes frame, std::shared_ptr<OutgoingBlob> blob) = 0;
  // A message that is passed on for `peer`: what exceeds LinkLimits::carried_queue_bytes is dropped
  // and counted, and closes nothing. Ignored while closing.
  virtual void SendCarried(const PeerId& peer, SharedBytes frame) = 0;
  // Goes with control, whatever the queue's limit is: the caller sends few. Ignored while closing.
  // REQUIRES: BecomeLink was called.
  virtual void SendDialBack(const DialBackRecord& record) = 0;
  // Likewise. REQUIRES: no piece.
  virtual void SendData(const DataRecord& record) = 0;
  // Sends a chunk of data in pieces, behind all bulk of all members. False: a blob waits,
  // another chunk is on its way to the other side, or the connection closes. REQUIRES: BecomeLink
  // was called.
  virtual bool Lend(std::uint64_t chunk, SharedBytes bytes) = 0;

  // The other side is no member (at first it is one): its bulk waits for that of members, and what
  // it sends is read as fast as all guests together may send.
  void SetGuest(bool guest) { lane_ = guest ? PacerLane::kGuests : PacerLane::kMembers; }

  // Checks that the link makes the progress that it owes (called at intervals of LinkLimits::look).
  virtual void Look() = 0;

  // Tells the other side, allows it a moment to answer, then closes. OnClosing is deferred. No-op
  // if already closing.
  virtual void Close(const Closing& closing, CloseCode code) = 0;
  // Close(kLocal, kLeaving) after everything queued has been written.
  virtual void CloseWhenFlushed(const std::string& reason) = 0;
  // Closes the socket at once; OnClosing and OnGone are deferred.
  virtual void Abort(const Closing& closing) = 0;
  // Abort, without further events for the owner.
  virtual void Abandon() = 0;

  virtual bool closing() const = 0;
  // REQUIRES: closing().
  virtual const Closing& why() const = 0;
  // Valid from OnGone on, for a connection that this side closed: true if the other side has read
  // everything that was sent before CloseWhenFlushed, or has left by itself.
  virtual bool delivered() const = 0;
  // REQUIRES: OnHello was called.
  virtual const Hello& their_hello() const = 0;
  // The other side's id: proven by TLS, or the expected id of a dialed peer. Nullopt while neither
  // is known.
  virtual const std::optional<PeerId>& peer() const = 0;
  virtual const std::string& remote() const = 0;  // "host:port"
  virtual bool dialed() const = 0;                // by this side
  virtual const SendQueue& queue() const = 0;

 protected:
  PacerLane lane_ = PacerLane::kMembers;
};

}  // namespace ostraka::net
