// Keeps a member findable, and finds the others: the DHT's node of one run, on its io_context.
//
//   bootstraps ─► Resolver ─► DhtDriver ◄─► other nodes of the DHT
//   link down  ─► Seeker   ─► GetPeer   ─► newest announcement ─► AddressPolicy ─► found(peer, ...)
//   seen by others, listening socket, the router's port ─► OwnAddresses ─► Publish
//   what was learned ─► save(text), and back in ReachOptions::learned
//
// Links that stand teach it addresses, too, so what it keeps is useful without the DHT: in mode
// kOff it opens no socket and sends nothing.
//
// Promises:
//   E1  `found` names members only, with addresses that AddressPolicy lets through, from an
//       announcement that the member signed and that is not older than the newest one known.
//   E2  Nothing that fails here fails its caller: it says one line through `notice`, and members
//       are dialed at the addresses that are known.
//   E3  No callback comes within a call, nor after Stop.
//   E4  `save` gets the whole text each time, at most once in kSaveAgain.
//
// May not know: links, files, what a run is.
// Memory: DhtDriver's; an entry a member with at most eight addresses.
// What an attacker can do here: as a member, what address_policy.h says. As a node of the DHT, hide
// announcements or hand out old ones that have not expired: a member that moved is then found up to
// half an hour late. As anybody, send datagrams, up to the limits of dht/query_gate.h.
//
// Thread safety: none; the thread that runs the io_context.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "crypto/sign.h"
#include "node/base/ids.h"
#include "node/net/mesh/notices.h"
#include "node/net/mesh/transport.h"
#include "node/net/reach/address_policy.h"
#include "node/net/reach/reach_options.h"
#include "node/net/reach/reach_status.h"
#include "node/net/reach/router_port.h"
#include "node/net/reach/seeker.h"
#include "node/net/udp/dht_driver.h"
#include "node/net/udp/resolver.h"
#include "node/os/timer.h"

namespace ostraka::net {

struct ReachEvents {
  // Where `peer` may be reached, in place of what was found before.
  std::function<void(const base::PeerId& peer, const std::vector<std::string>& addresses)> found;
  std::function<void(const std::string& text)> save;
  std::function<void(NoticeLevel level, const std::string& line)> notice;
};

class Reach {
 public:
  static constexpr base::Duration kLookEvery = base::Seconds(1);
  static constexpr base::Duration kSaveAgain = base::Seconds(5);
  static constexpr base::Duration kNameDeadline = base::Seconds(5);

  // `members` with their addresses in the manifest, this node perhaps among them. REQUIRES: all
  // events are set; key is not null.
  Reach(boost::asio::io_context& io, std::shared_ptr<const crypto::SigningKey> key,
        const std::vector<TransportMember>& members, ReachOptions options, ReachEvents events);

  // `listening`: "host:port" of the socket on which links come in; empty: this node only dials.
  void Start(const std::string& listening);
  // The link to a member went up or down; `addresses` are the book's, the reached one first.
  void OnLink(const base::PeerId& peer, bool up, const std::vector<PeerAddress>& addresses);
  // It has become one, without an address in the manifest. No-op if it is one already.
  void Add(const base::PeerId& peer);
  // It is no member any more.
  void Forget(const base::PeerId& peer);
  // The end. What was learned since the last `save`; nullopt: nothing.
  std::optional<std::string> Stop();

  ReachStatus status() const;
  const Learned& learned() const { return options_.learned; }
  // E4; also after each look.
  void CheckInvariants() const;

 private:
  void OpenDht(const Resolved& bootstraps);
  void Look();
  void SeekMembers();
  void AnnounceSelf();
  void SaveIfDue();
  void OnAnswered(const dht::Answered& answered);
  void OnFound(const dht::Announcement& announcement);
  void OnObserved(const dht::Observation& what);
  void Say(NoticeLevel level, const std::string& line) { events_.notice(level, "DHT: " + line); }
  // The DHT is of no use from now on; `why` is a line for people.
  void GiveUp(const std::string& why);
  std::vector<std::string> Bootstraps() const;

  boost::asio::io_context& io_;
  const std::shared_ptr<const crypto::SigningKey> key_;
  ReachOptions options_;
  const ReachEvents events_;
  std::map<base::PeerId, std::string> addresses_;  // members' in the manifest, without this node
  const AddressPolicy policy_;
  Seeker seeker_;
  Resolver resolver_;
  os::Timer look_timer_;
  std::unique_ptr<DhtDriver> driver_;  // null: off, not yet open, or given up
  RouterPort router_;
  std::string listening_;
  std::vector<dht::Endpoint> announced_;
  std::uint32_t announced_to_ = 0;               // nodes in the table then
  std::map<std::uint64_t, base::PeerId> asked_;  // lookups under way
  std::uint64_t next_ask_ = 1;
  std::string problem_;
  bool unsaved_ = false;
  std::optional<base::Time> saved_at_;
  bool stopped_ = false;
};

}  // namespace ostraka::net
