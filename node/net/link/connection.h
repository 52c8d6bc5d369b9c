// One connection, from the first byte to the last: TCP, TLS, WebSocket, HELLO, records.
//
//   accept: first bytes (lobby.h) ─┐
//   dial: resolve, connect ────────┴─ TLS ── upgrade ── HELLO ── [GO] ── link ── closing ── gone
//
// A connection knows nothing of other connections: its owner says what HELLO to say, judges the
// other side's, and makes it the link (SendGo) or closes it.
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
#include "node/net/link/hello.h"
#include "node/net/link/link_options.h"
#include "node/net/link/pacer.h"
#include "node/net/link/refusal.h"
#include "node/net/link/send_queue.h"
#include "node/net/link/tls_identity.h"
#include "node/net/link/traffic.h"

namespace ostraka::net {

class Connection;

// Codes of the WebSocket close frame, in the range that is ours (RFC 6455, 7.4.2).
enum class CloseCode : std::uint16_t {
  kDuplicate = 4000,  // another connection is the link
  kRefused = 4001,    // what the other side is or did
  kLeaving = 4002,    // we need nothing more: we shut down, or the other side was removed
  kSlow = 4003,       // the other side takes too little
};

// Why a connection can no longer be used.
struct Closing {
  enum class Why : std::uint8_t {
    kRefused,    // by us, for what the other side is, did or failed to do
    kLost,       // the network or the other side ended it, without a word or with its own reason
    kLeft,       // the other side needs nothing more from us (CloseCode::kLeaving)
    kDuplicate,  // one of the two sides has another connection as the link
    kLocal,      // by us, for reasons of our own
  };
  Why why = Why::kLocal;
  std::string reason;                  // one line, as said of the other side; printable
  Refusal refusal = Refusal::kRecord;  // of kRefused
};

// What a connection tells its owner, always from the io_context.
class ConnectionOwner {
 public:
  virtual ~ConnectionOwner() = default;
  // TLS has proven who the other side is. Returns the HELLO to say, or a reason to close.
  virtual base::StatusOr<Hello> OnAuthenticated(Connection& connection) = 0;
  // The other side's HELLO is compatible with ours.
  virtual void OnHello(Connection& connection, const Hello& theirs) = 0;
  virtual void OnGo(Connection& connection, std::uint64_t link_id) = 0;
  virtual void OnMessage(Connection& connection, SharedBytes frame, SharedBlob blob) = 0;
  virtual void OnBytes(Connection& connection, const Traffic& added) = 0;
  // It can no longer be used; no OnHello, OnGo or OnMessage follows. Once.
  virtual void OnClosing(Connection& connection, const Closing& closing) = 0;
  // The socket is closed. Once, last.
  virtual void OnGone(Connection& connection) = 0;
};

struct ConnectionSettings {
  TlsContext tls;
  // The rates of all connections; outlive them.
  Pacer* sending = nullptr;
  Pacer* receiving = nullptr;
  std::uint64_t max_blob_bytes = 0;
  bool allow_unhashed = false;
  LinkTimeouts timeouts;
  LinkLimits limits;  // with bulk_queue_bytes and credit_bytes as they are to be used
};

class Connection {
 public:
  virtual ~Connection() = default;

  // Takes over the socket of one who has said what TLS begins with. REQUIRES (both): `owner` and
  // `settings` outlive the connection or Abandon is called; Start follows.
  static std::shared_ptr<Connection> Accepted(boost::asio::io_context& io,
                                              const ConnectionSettings& settings,
                                              ConnectionOwner& owner, Caller caller);
  static std::shared_ptr<Connection> Dialed(boost::asio::io_context& io,
                                            const ConnectionSettings& settings,
                                            ConnectionOwner& owner, const PeerId& expected,
                                            std::string remote);

  virtual void Start() = 0;
  // Makes this the link: says so to the other side. REQUIRES: OnHello was called.
  virtual void SendGo(std::uint64_t link_id) = 0;
  // It is the link now, so no handshake is awaited any more.
  virtual void BecomeLink() = 0;
  // A queue over its limit closes the connection. Dropped if it is closing.
  virtual void Send(SharedBytes frame, std::shared_ptr<OutgoingBlob> blob) = 0;

  // Sees whether a link makes the progress that it owes (LinkLimits::look).
  virtual void Look() = 0;

  // Tells the other side, gives it a moment to answer, and is gone. OnClosing is deferred. No-op if
  // it is closing already.
  virtual void Close(const Closing& closing, CloseCode code) = 0;
  // Close(kLocal, kLeaving), after what is queued has been written.
  virtual void CloseWhenFlushed(const std::string& reason) = 0;
  // Closes the socket at once; OnClosing and OnGone are deferred.
  virtual void Abort(const Closing& closing) = 0;
  // Abort, and the owner hears nothing more.
  virtual void Abandon() = 0;

  virtual bool closing() const = 0;
  // REQUIRES: closing().
  virtual const Closing& why() const = 0;
  // From OnGone on, of a connection that we closed: true if the other side has read all that was
  // sent before CloseWhenFlushed, or has left itself.
  virtual bool delivered() const = 0;
  // REQUIRES: OnHello was called.
  virtual const Hello& their_hello() const = 0;
  // Who it is: proven by TLS, or whom we dial. Nullopt while neither is known.
  virtual const std::optional<PeerId>& peer() const = 0;
  virtual const std::string& remote() const = 0;  // "host:port"
  virtual const SendQueue& queue() const = 0;
};

}  // namespace ostraka::net
