// The stack under one connection: WebSocket over TLS over TCP. Moves the bytes of records, and
// leaves every decision to the caller.
//
// Lifetime: every Asio operation holds a reference, so the object lives until its last operation
// has completed. After CloseSocket no event means anything; the callbacks must tolerate that the
// caller is gone.
//
// Promises:
//   S1  Operations come in the order Adopt or Connect, StartTls, Upgrade, then records. Records are
//       read and written one at a time each.
//   S2  No callback fires within a call.
//   S3  What is read of a record waits in inbox() until Consume.
//
// May not know: peers, phases, the meaning of a record.
//
// Memory: one record in (the caller bounds each read), one record out, and the buffers of TLS and
// WebSocket (128 KiB).
//
// What an attacker can do here: send bytes that are no TLS, no WebSocket or too many: the callbacks
// get the error, or the caller stops reading.
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
#include <functional>
#include <memory>
#include <string>

#include "node/base/bytes.h"
#include "node/base/ids.h"
#include "node/base/status.h"
#include "node/net/link/link_options.h"
#include "node/net/link/tls_identity.h"
#include "node/net/records/closing.h"
#include "node/net/records/send_queue.h"
#include "node/os/endpoint.h"

namespace ostraka::net {

class RecordStream : public std::enable_shared_from_this<RecordStream> {
 public:
  using error_code = boost::system::error_code;
  using Done = std::function<void(error_code)>;
  struct Events {
    std::function<void(error_code, std::size_t added)> read;
    Done written;
  };

  RecordStream(boost::asio::io_context& io, const TlsContext& tls);

  // Calls `later` from the io_context.
  void Post(std::function<void()> later);

  // Must precede the first record.
  void Listen(Events events) { events_ = std::move(events); }

  // --- until records flow ---
  // Takes ownership of a connected TCP socket.
  void Adopt(int fd);
  // `name_unknown`: the error is the name server's.
  void Connect(const os::HostPort& where, std::function<void(error_code, bool name_unknown)> done);
  // Sets the options of TCP that the channel needs.
  error_code TuneSocket();
  void StartTlsAsClient(Done done);
  // `first_bytes` were read from the socket before.
  void StartTlsAsServer(base::Bytes first_bytes, Done done);
  // Why the certificate check refused the other side; empty if it did not.
  const std::string& tls_refusal() const { return tls_refusal_; }
  // The id that TLS has proven. REQUIRES: TLS is complete.
  base::StatusOr<base::PeerId> Authenticated();
  // `host`: what the request names.
  void UpgradeAsClient(const LinkTimeouts& timeouts, const std::string& host, Done done);
  void UpgradeAsServer(const LinkTimeouts& timeouts, Done done);

  // --- records ---
  // Reads more of the record in inbox(), at most up to `max_bytes` of it in all. REQUIRES:
  // inbox().size() < max_bytes; no read is in progress.
  void Read(std::size_t max_bytes);
  base::ByteView inbox() const;
  bool is_text() const { return !ws_.got_binary(); }
  bool is_record_complete() const { return ws_.is_message_done(); }
  void Consume() { inbox_.consume(inbox_.size()); }
  // REQUIRES: no write is in progress.
  void Write(SendQueue::Record record);

  // --- the end ---
  void SendClose(CloseCode code, const std::string& reason, Done answered);
  std::uint16_t close_code() const { return ws_.reason().code; }
  std::string close_reason() const;
  // Closes everything; every operation in progress fails.
  void CloseSocket();

 private:
  using tcp = boost::asio::ip::tcp;
  // The concrete executor saves a virtual call and an allocation per operation.
  using Executor = boost::asio::io_context::executor_type;
  using Socket = boost::asio::basic_stream_socket<tcp, Executor>;
  using Resolver = boost::asio::ip::basic_resolver<tcp, Executor>;
  using Stream = boost::beast::websocket::stream<boost::beast::ssl_stream<Socket>>;

  Socket& socket() { return boost::beast::get_lowest_layer(ws_); }
  void PrepareUpgrade(const LinkTimeouts& timeouts);

  boost::asio::io_context& io_;
  Events events_;
  std::string tls_refusal_;  // written by the certificate check; outlives ws_
  base::Bytes first_bytes_;  // until TLS has read them
  boost::asio::ssl::context ssl_context_;
  Stream ws_;
  Resolver resolver_;
  boost::beast::flat_buffer inbox_;
  SendQueue::Record writing_;
  bool is_open_ = true;  // until CloseSocket
  bool is_reading_ = false;
  bool is_writing_ = false;
};

}  // namespace ostraka::net
