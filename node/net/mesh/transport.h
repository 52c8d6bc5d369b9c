// The network of a node: one authenticated, encrypted link to every other member of a run.
//
// A link is a WebSocket (binary messages) over mutual TLS 1.3. Each side presents a self-signed
// Ed25519 certificate made from its identity key, so the peer's id is proven before any of its data
// is trusted. Then both sides send HELLO (protocol version, run id, capabilities). Both sides dial.
// Of several connections to one peer exactly one becomes the link, and both ends agree on it
// (docs/decisions/0003-channel.md).
//
// Promises (node/protocol/ground/machine.h states what a machine expects of its driver; the classes
// named here check them):
//   T1   link(peer, true) precedes the first message of a link and link(peer, false) follows the
//        last. The two alternate for each peer, starting with true, whatever Add and Remove do
//        (mesh.h).
//   T2   Send to a peer whose link is down is dropped. While a link is up, messages without a blob
//        arrive in the order of sending and overtake any queued blob; messages with a blob arrive
//        in order among themselves. A link that goes down may lose a tail of what was queued, never
//        a message in the middle (send_queue.h).
//   T3   A message with a blob arrives once and whole, after every chunk was checked against its
//        leaf hash and the leaves against the root: Blob::root is verified. A mismatch closes the
//        connection (blob_receiver.h).
//   T4   An unreachable member is dialed for ever, with exponential back-off. Each round of dials
//        tries every address of the member once, and an address that does not answer does not keep
//        the next from being dialed for longer than TransportBackoff::head_start while fewer than
//        Dialing::kMostAttempts are tried at once (address_book.h, dialing.h).
//   T5   Members come and go while it runs (Add, Remove), and so do their addresses. Only the
//        connection of a member becomes a link (member_table.h, link_choice.h).
//   T6   Control never waits for bulk: it goes before the next chunk, and the receiver's credit
//        bounds bulk in transit, LinkLimits::credit_bytes (record_writer.h, receive_credit.h).
//   T7   A member that owes progress and makes less than LinkLimits::min_bytes_per_second is
//        disconnected (progress_watch.h).
//   T8   Every refused connection is counted by kind and reported in one line with the reason, at
//        most one line per second, with a count, where strangers cause many (tally.h).
//   T9   No peer can make memory grow beyond the limits below, nor faster than it sends.
//   T10  No event fires inside a call of this class: all come from the io_context.
//   T11  What is passed on for other peers waits apart, after all other messages, by turns with
//   blobs.
//        Beyond LinkLimits::carried_queue_bytes it is dropped and counted, that of the peer with
//        most first, and no link closes for it (carried_lane.h).
//   T12  With TransportOptions::strangers, a peer that was never added gets a link too: it is a
//        member without addresses until its connections are gone, until Add makes it one for good,
//        or until another stranger takes its place (guests.h).
//   T13  Guests (all that Expect does not name as members) cost members at most one turn in eight
//   of
//        the rate, and what waits for all of them is at most what may wait for one member (pacer.h,
//        guest_lines.h).
//        What they send is read no faster than an eighth of the rate together, or 4 MiB a second
//        where there is none.
//
// May not know: what is in a frame, what a member is to the run.
//
// Memory per member, whatever it does:
//   received  one blob under assembly: max_blob_bytes, a sixteenth more while it grows, and 1/2048
//             for leaves; one record, 256 KiB
//   sent      control_queue_bytes, carried_queue_bytes, and bulk_queue_bytes in blobs, which the
//             queues of all members and the machine share; one record, and 128 KiB of TLS and
//             WebSocket
// Per member, besides: its addresses, 8 KiB (address_book.h). There are at most max_members and
// `strangers`.
// Per connection that is not a link: 128 KiB, for at most twice half_open plus
// half_open_per_address for each member address. Per connection in the lobby: 5 KiB, for at most
// `waiting`.
//
// What an attacker can do here: as a stranger, fill the queues of strangers (admission.h, lobby.h).
// As a member, use up its own share: its queues, its credit, its dials. As a member that announces
// false addresses, make nodes dial them (address_book.h).
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
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "crypto/merkle.h"
#include "crypto/sign.h"
#include "node/base/bytes.h"
#include "node/base/ids.h"
#include "node/base/status.h"
#include "node/base/time.h"
#include "node/net/link/link_options.h"
#include "node/net/mesh/address_book.h"
#include "node/net/mesh/admission.h"
#include "node/net/mesh/notices.h"
#include "node/net/records/data_records.h"
#include "node/net/records/dial_back.h"
#include "node/net/records/refusal.h"
#include "node/net/records/traffic.h"
#include "node/wire/limits.h"

namespace boost::asio {
class io_context;
}

namespace ostraka::net {

// A member of the run and its listening address: "host:port" or "[v6]:port". Empty: the member
// dials us.
struct TransportMember {
  PeerId id;
  std::string address;
};

// Waits between two dials of one member.
struct TransportBackoff {
  Duration first = base::Milliseconds(200);  // doubles with each failure
  Duration longest = base::Seconds(30);
  double jitter = 0.3;                  // each wait is randomly up to this share longer or shorter
  Duration stable = base::Seconds(10);  // a link that lived this long resets the wait to `first`
  Duration stagger = base::Milliseconds(100);  // the side with the larger id delays its first dial
                                               // by this
  // Of one address of a member before the next is dialed, too (RFC 8305 recommends 250 ms).
  Duration head_start = base::Milliseconds(250);
};

struct TransportOptions {
  std::shared_ptr<const crypto::SigningKey> key;  // REQUIRES: not null
  Digest run_id;
  std::uint32_t protocol_version = 1;
  // "host:port", "*:port" for every address (port 0: any free port); empty with listen_fd -1: dial
  // only.
  std::string listen;
  int listen_fd = -1;  // a listening socket to use instead; owned even if Make fails
  // Add is called for each of them before Make returns. May contain this node; that item is
  // ignored.
  std::vector<TransportMember> members;
  // Strangers that may be linked at once; 0: members alone. Of one network Guests::kPerNetwork.
  std::size_t strangers = 0;
  // Forgotten members count, removed ones and strangers do not.
  std::size_t max_members = 2 * wire::kMaxPeers;
  std::uint64_t max_blob_bytes = 0;  // larger blobs are refused before allocation
  bool allow_unhashed = false;       // unprotected runs: blobs without a root are sent and accepted
                                     // unchecked
  // Members may ask this node for chunks of the run's data: its HELLO says so.
  bool lends_data = false;
  // Cap for all links together, in each direction; 0: none. Control is counted but never delayed.
  // REQUIRES: at least LeastBytesPerSecond (else Make refuses, and a later Add warns).
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
  // Over a link that is up; may be null.
  std::function<void(const PeerId& from, const DialBackRecord& record)> dial_back;
  // Likewise.
  std::function<void(const PeerId& from, const DataRecord& record)> data;
  // One line for people, printable ASCII, without a newline; may be null.
  std::function<void(NoticeLevel level, const std::string& line)> notice;
};

struct TransportCounters {
  Traffic total;                      // of all members, also forgotten and removed ones
  std::map<PeerId, Traffic> by_peer;  // of the present members, and of forgotten ones
  std::uint64_t dialed = 0;           // attempts
  std::uint64_t accepted = 0;         // TCP connections
  std::uint64_t links = 0;            // link(up) events
  std::uint64_t refused = 0;          // connections closed because of the other side's actions
  std::array<std::uint64_t, kRefusals> refused_by{};  // `refused` by Refusal
  // Current values:
  // Members without a link that proved to be of another run, protocol or mode, and how, in words
  // that follow a name: "has a manifest that differs from ours: ...".
  std::map<PeerId, std::string> of_another;
  std::size_t links_up = 0;
  std::size_t half_open = 0;               // accepted, not yet a link
  std::size_t connections_open = 0;        // links, half-open, dialed and closing connections
  std::uint64_t queued_control_bytes = 0;  // on all links
  std::uint64_t queued_bulk_bytes = 0;  // on all links; a blob queued for two members counts twice
};

// Where a link leads.
struct LinkPath {
  std::string remote;   // "host:port": as dialed, or the number from which it came in
  bool dialed = false;  // by this node
};

// The lowest rate cap under which honest members do not count as slow: twice min_bytes_per_second
// for each.
std::uint64_t LeastBytesPerSecond(const LinkLimits& limits, std::size_t members);

// All calls but those from a notice may come from within an event.
class Transport {
 public:
  // Binds the listening port. InvalidArgument: a malformed address, or more members than
  // max_members; Unavailable: the port is taken or the address is not local; Internal: OpenSSL
  // failed. REQUIRES: `io` outlives the transport.
  static base::StatusOr<std::unique_ptr<Transport>> Make(boost::asio::io_context& io,
                                                         TransportOptions options,
                                                         TransportEvents events);
  // Closes everything that is open at once. REQUIRES: not called from an event.
  ~Transport();
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  // Starts accepting and dialing. REQUIRES: called once, before Shutdown.
  void Start();

  // REQUIRES: 0 < frame->size() <= wire::kMaxFrameBytes; a blob of at most max_blob_bytes, with a
  // root unless allow_unhashed.
  void Send(const PeerId& to, SharedBytes frame, SharedBlob blob = nullptr);
  // The same for a message that is passed on for another peer: it may be dropped (T11).
  void SendCarried(const PeerId& to, const PeerId& carried_for, SharedBytes frame);

  // Goes with control. Dropped while the link is down. REQUIRES: a few for each link in any hour,
  // because no limit of the queue counts them.
  void SendDialBack(const PeerId& to, const DialBackRecord& record);

  // Likewise. REQUIRES: no piece; of questions, that the peer lends data.
  void SendData(const PeerId& to, const DataRecord& record);
  // Connection::Lend; false also while the link is down.
  bool Lend(const PeerId& to, std::uint64_t chunk, SharedBytes bytes);
  // By its HELLO; false while its link is down.
  bool LendsData(const PeerId& peer) const;

  // `peer` becomes a member: it is admitted, and dialed at `addresses` (none: it dials us). The
  // link of a stranger stays.
  // InvalidArgument: this node itself, or AddressBook::Check's reasons. FailedPrecondition: it is a
  // member already, or was forgotten, or Part or Shutdown was called. Unavailable: there are
  // max_members. The message is phrased about `peer`. Errors change nothing. REQUIRES: `source` is
  // not kIncoming.
  base::Status Add(const PeerId& peer, const std::vector<std::string>& addresses,
                   AddressSource source = AddressSource::kManifest);
  // Replaces the addresses of a member that came from `source`. If the member is down, a new one is
  // tried within TransportBackoff::first, or that long after the round of dials in progress; an
  // open link stays. NotFound: no member. InvalidArgument: AddressBook::Check's reasons. REQUIRES:
  // `source` is not kIncoming, which the transport notes by itself.
  base::Status SetAddresses(const PeerId& peer, const std::vector<std::string>& addresses,
                            AddressSource source);
  // In the order in which they are tried.
  std::vector<PeerAddress> AddressesOf(const PeerId& peer) const;

  // `peer` is no member any more: its link closes as one that needs nothing more (link(peer, false)
  // follows from the io_context), what is queued for it is dropped, it is no longer dialed, and it
  // is refused as any stranger. Add admits it again. False: it was no member.
  bool Remove(const PeerId& peer);
  // Those that the run is about to let in, or in again: strangers among them keep their places
  // until the next call, and one that was not among them at the last call is dialed soon, however
  // long its addresses led nowhere. `members`: of the run as of now; all others are guests (T13).
  // Nullopt: as before; at first strangers alone are guests.
  void Expect(std::set<PeerId> coming, std::optional<std::set<PeerId>> members = std::nullopt);
  // `peer` was banned from the run: like Remove, but the peer keeps a place among the members, and
  // is told for ever that it was removed. Remove frees the place.
  void Forget(const PeerId& peer);

  // Ends a run that went well and gives every member what it may still need. A link closes once the
  // other end has read everything that is queued on it. A link that is down, or goes down before
  // that, is first made anew: link(peer, true) fires, and what is sent from within that event is
  // delivered too. Members are not awaited if they have left through Part or Shutdown, have
  // forgotten us, were forgotten, or can neither be dialed nor dial this node. Calls `done` once,
  // from the io_context, when no member is awaited and everything is closed, or after `deadline`.
  // REQUIRES: exactly one of Part and Shutdown is called, once.
  void Part(Duration deadline, std::function<void()> done);

  // Stops accepting and dialing, sends what is queued, closes every link, and calls `done` once,
  // from the io_context, when all are closed or after `deadline`. REQUIRES: exactly one of Part and
  // Shutdown is called, once.
  void Shutdown(Duration deadline, std::function<void()> done);

  bool IsUp(const PeerId& peer) const;
  // Nullopt: its link is down.
  std::optional<LinkPath> PathOf(const PeerId& peer) const;
  TransportCounters counters() const;
  // 0 if it is not listening.
  std::uint16_t port() const;
  // "host:port" of the listening socket, which may be the unspecified address; empty if there is
  // none.
  const std::string& listening() const;

 private:
  class Impl;
  explicit Transport(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ostraka::net
