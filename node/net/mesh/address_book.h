// Where each peer may be reached: for each an ordered, bounded list of addresses, with the source
// of each and what failed at it. The mesh dials from the book, and nothing else decides where to
// dial.
//
// It stands in this room because the mesh is its only reader, and because a dial is what tells the
// book that an address is good. Layers above (a manifest, a membership block, a DHT) write to it
// through Transport.
//
// Order: the address at which the peer was reached last, then by source as the enum lists them,
// then IPv6 before the others, then by arrival. A round tries each address once, in this order. An
// address that comes during a round waits for the next one. Attack: otherwise a peer that announces
// without end makes a round that never ends, and dials without a back-off.
//
// Promises:
//   D1  There are at most `max_peers` pages, one for each peer.
//   D2  A page has at most kMaxPerSource addresses of one source, each at most kMaxAddressBytes
//       long and well formed, and no address twice. An address that two sources name counts for
//       the source that stands first in the enum.
//   D3  A page is in the order above, and at most one of its addresses is the one that was reached.
//   D4  Vouches is true for exactly the numeric addresses of source kManifest.
//   D5  One source never takes the place of another's addresses.
//   D6  A round has an end: an address is tried at most once in it, and none that came during it.
//
// May not know: connections, back-off, time, which peers are members.
//
// Memory: max_peers pages of at most 4 * kMaxPerSource addresses, each with a reason of
// kMaxReasonBytes: about 8 KiB a peer. Every bound is checked before anything is stored.
//
// What an attacker can do here: a peer announces the addresses of somebody else. Each node then
// opens at most kMaxPerSource TCP connections there in each round of dials, says a ClientHello that
// no peer chose, and finds another key. A peer connects from an address and listens elsewhere: the
// guess of NoteIncoming then fails once in each round. Neither vouches for an address (D4), so
// neither opens the door of node/net/mesh/admission.h to a flood.
//
// Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "node/base/ids.h"
#include "node/base/status.h"

namespace ostraka::net {

// In the order of trust, which is the order of dialing.
enum class AddressSource : std::uint8_t {
  kManifest,    // the run vouches for it: its manifest, or whoever speaks for the run later
  kIncoming,    // a link came in from this host; the port is that of the first manifest address
  kRemembered,  // a link stood there in an earlier life of this node
  kAnnounced,   // the peer announced it later
};
inline constexpr std::size_t kAddressSources = 4;
const char* AddressSourceName(AddressSource source);  // manifest, incoming, remembered, announced

struct PeerAddress {
  std::string text;  // "host:port" or "[v6]:port"
  AddressSource source = AddressSource::kManifest;
  std::uint32_t failures = 0;  // dials in a row that failed
  std::string last_failure;    // why the last one failed; empty after success
  bool operator==(const PeerAddress&) const = default;
};

class AddressBook {
 public:
  static constexpr std::size_t kMaxPerSource = 4;
  static constexpr std::size_t kMaxAddressBytes = 262;  // a DNS name in brackets, and a port
  static constexpr std::size_t kMaxReasonBytes = 256;

  explicit AddressBook(std::size_t max_peers) : max_peers_(max_peers) {}

  // InvalidArgument: too many addresses, or one that is too long, malformed or has port 0.
  static base::Status Check(const std::vector<std::string>& addresses);

  // Opens an empty page. FailedPrecondition: there is one. Unavailable: the book is full.
  base::Status Open(const base::PeerId& peer);
  // Drops the page. False if there is none.
  bool Close(const base::PeerId& peer);
  std::size_t size() const { return pages_.size(); }

  // Replaces the addresses of `source`. An address that stays keeps what is known of it. True if an
  // address came that was not there. Check's errors change nothing; NotFound: the peer has no page.
  // REQUIRES: source != kIncoming.
  base::StatusOr<bool> Set(const base::PeerId& peer, AddressSource source,
                           const std::vector<std::string>& addresses);
  // A link with `peer` came in from `remote`, "host:port". Notes the host with the port of the
  // peer's first manifest address, in place of an earlier such note, if the manifest names only
  // other numeric hosts, in other AddressGroups. (A host name is its owner's to move.) No-op
  // without a page.
  void NoteIncoming(const base::PeerId& peer, const std::string& remote);

  // Empty without a page.
  std::vector<PeerAddress> Of(const base::PeerId& peer) const;
  // True if the run vouches for an address of this AddressGroup (node/os/endpoint.h).
  bool Vouches(const std::string& group) const { return vouched_.contains(group); }

  // --- dialing; no-ops without a page ---
  void BeginRound(const base::PeerId& peer);
  // The next address of the round; nullopt once all were tried.
  std::optional<std::string> Next(const base::PeerId& peer);
  // A dial of `address` has failed. True if it failed for another reason than the last time.
  bool OnFailed(const base::PeerId& peer, const std::string& address, const std::string& reason);
  // The peer is linked: no failure counts any more. `dialed`: where it was reached, empty if it
  // dialed us.
  void OnLinked(const base::PeerId& peer, const std::string& dialed);

  // D1 to D4, in time linear in the book.
  void CheckInvariants() const;

 private:
  struct Entry {
    PeerAddress address;
    bool reached = false;  // the last link that we dialed was here
    bool tried = true;     // in this round, or came during it
  };
  using Page = std::vector<Entry>;

  Page* PageOf(const base::PeerId& peer);
  void Vouch(const Page& page);
  void Unvouch(const Page& page);
  static bool ComesBefore(const Entry& a, const Entry& b);
  static Entry* Find(Page& page, const std::string& text);
  static void Sort(Page& page);
  static void CheckPage(const Page& page);

  const std::size_t max_peers_;
  std::map<base::PeerId, Page> pages_;
  std::map<std::string, std::size_t> vouched_;  // manifest addresses by AddressGroup
};

}  // namespace ostraka::net
