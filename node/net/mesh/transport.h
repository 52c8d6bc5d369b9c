// The network of a node: one authenticated, encrypted link to every other member of a run.
//
// A link is a WebSocket (binary messages) over mutual TLS 1.3. Each side shows a self-signed
// Ed25519 certificate made from its identity key, so the id of the peer at the other end is proven
// before a byte of ours is believed; then both say HELLO (protocol version, run id, capabilities).
// Both sides dial; of several connections to one peer exactly one becomes the link, the same one at
// both ends (docs/decisions/0003-channel.md).
//
// What it promises (node/protocol/ground/machine.h states what a machine expects of its driver)
// - link(peer, true) comes before the first message of a link and link(peer, false) after the last.
//   The two alternate for each peer, starting with true.
// - Send while a link is down is dropped. While it is up: messages without a blob arrive in
//   the order they were sent, and go before any blob that waits; messages with a blob arrive in
//   order among themselves. A link that goes down may lose what was queued, never a message in the
//   middle.
// - A message with a blob arrives once, whole, after every chunk was checked against its leaf hash
//   and the leaves against the root: Blob::root is the verified root. A lie closes the connection.
// - A member that cannot be reached is dialed for ever, with exponential back-off.
// - Control never waits for bulk: it goes before the next chunk, and no more bulk is on its way
//   than the credit that the receiver gave (LinkLimits::credit_bytes).
// - Who owes us progress and makes less than LinkLimits::min_bytes_per_second is disconnected.
// - Every connection that is refused is said, in one line with the reason (where strangers cause
//   many, one a second with their number), and counted by kind.
// - Nothing that a peer sends makes memory grow beyond the limits below, nor faster than it sends.
// - No event fires inside a call of this class: all come from the io_context.
//
// Memory for one member, whatever it does:
//   received  one blob while it is put together: max_blob_bytes, a sixteenth more while it grows,
//             and 1/2048 for leaves; one record, 256 KiB
//   sent      control_queue_bytes, and bulk_queue_bytes in blobs, which the queues of all members
//             and the machine share; one record, and 128 KiB of TLS and WebSocket
// For each connection that is no link 128 KiB: twice half_open, and half_open_per_address for each
// address of a member; for each that has not said what it wants 5 KiB: waiting.
//
// Thread safety: none. The io_context runs on one thread, and all calls come from that thread (or
// from before it runs). Does not throw.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "crypto/merkle.h"
#include "crypto/sign.h"
#include "node/base/bytes.h"
#include "node/base/ids.h"
#include "node/base/status.h"
#include "node/base/time.h"
#include "node/net/link/link_options.h"
#include "node/net/link/refusal.h"
#include "node/net/link/traffic.h"
#include "node/net/mesh/admission.h"
#include "node/net/mesh/notices.h"

namespace boost::asio {
class io_context;
}

namespace ostraka::net {

// A member of the run and where it listens: "host:port", "[v6]:port"; empty: it dials us.
struct TransportMember {
  PeerId id;
  std::string address;
};

// Between two dials of one member.
struct TransportBackoff {
  Duration first = base::Milliseconds(200);  // doubles with each failure
  Duration longest = base::Seconds(30);
  double jitter = 0.3;                  // each wait is this share longer or shorter, at random
  Duration stable = base::Seconds(10);  // a link that lived so long starts again from `first`
  Duration stagger = base::Milliseconds(100);  // the larger id waits so long before its first dial
};

struct TransportOptions {
  std::shared_ptr<const crypto::SigningKey> key;  // REQUIRES: not null
  Digest run_id;
  std::uint32_t protocol_version = 1;
  std::string listen;  // "host:port" (port 0: any free one); empty with listen_fd -1: dial only
  int listen_fd = -1;  // a listening socket to take over instead, even if Make fails
  std::vector<TransportMember> members;  // may name ourselves; that entry is ignored
  std::uint64_t max_blob_bytes = 0;      // larger blobs are refused before anything is allocated
  bool allow_unhashed = false;  // unprotected runs: blobs without a root, sent and taken unchecked
  // All links together, and each way; 0: no cap. Control is counted but never held back. REQUIRES
  // (else Make refuses): twice min_bytes_per_second for each member.
  std::uint64_t max_bytes_per_second = 0;
  LinkTimeouts timeouts;
  TransportBackoff backoff;
  LinkLimits link;
  AdmissionLimits admission;
};

struct TransportEvents {
  // `blob` is null for a message that was sent without one.
  std::function<void(const PeerId& from, SharedBytes frame, SharedBlob blob)> message;
  std::function<void(const PeerId& peer, bool up)> link;
  // One line for people, printable ASCII, without a newline; may be null.
  std::function<void(NoticeLevel level, const std::string& line)> notice;
};

struct TransportCounters {
  Traffic total;  // of all members, forgotten ones too
  std::map<PeerId, Traffic> by_peer;
  std::uint64_t dialed = 0;    // attempts
  std::uint64_t accepted = 0;  // TCP connections
  std::uint64_t links = 0;     // link(up) events
  std::uint64_t refused = 0;   // connections that we closed because of what the other side did
  std::array<std::uint64_t, kRefusals> refused_by{};  // of these, by Refusal
  // Now:
  std::size_t links_up = 0;
  std::size_t half_open = 0;         // accepted ones
  std::size_t connections_open = 0;  // links, half-open ones, dialed ones, and those that close
  std::uint64_t queued_control_bytes = 0;  // on all links
  std::uint64_t queued_bulk_bytes = 0;     // likewise; a blob on its way to two counts twice
};

class Transport {
 public:
  // Binds, so that a port that is taken shows here. InvalidArgument: an address that is none;
  // Unavailable: the port is taken or the address is not ours; Internal: OpenSSL failed.
  // REQUIRES: `io` outlives the transport.
  static base::StatusOr<std::unique_ptr<Transport>> Make(boost::asio::io_context& io,
                                                         TransportOptions options,
                                                         TransportEvents events);
  // Closes whatever is open at once. REQUIRES: not called from an event.
  ~Transport();
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  // Starts to accept and to dial. REQUIRES: called once, before Shutdown.
  void Start();

  // REQUIRES: 0 < frame->size() <= wire::kMaxFrameBytes; a blob of at most max_blob_bytes, with a
  // root unless allow_unhashed.
  void Send(const PeerId& to, SharedBytes frame, SharedBlob blob = nullptr);

  // `peer` was removed from the run: closes its link, dials it no more and refuses it for ever.
  void Forget(const PeerId& peer);

  // The end of a run that went well: gives every member what it may still need. A link is closed
  // as soon as all that is queued on it has been read at the other end. If it is down now, or goes
  // down before that, it is made anew first: link(peer, true) fires, and what is sent from within
  // that event is delivered too. Not awaited: members that have left in this way or by Shutdown,
  // that have forgotten us or that we have. Calls `done` once from the io_context when no member
  // is awaited any more and all is closed, or `deadline` has passed.
  // REQUIRES: this or Shutdown is called once.
  void Part(Duration deadline, std::function<void()> done);

  // Accepts and dials no more, sends what is queued, closes every link, and calls `done` once from
  // the io_context when all are closed or `deadline` has passed. REQUIRES: likewise.
  void Shutdown(Duration deadline, std::function<void()> done);

  bool IsUp(const PeerId& peer) const;
  TransportCounters counters() const;
  // 0 if it does not listen.
  std::uint16_t port() const;

 private:
  class Impl;
  explicit Transport(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ostraka::net
