// Has members dial this node back, to see whether it can be reached from outside, and dials for
// members that ask (docs/network.md). It is advice for people: nothing that a run decides, and
// nothing that is dialed for a link, depends on it.
//
//   link up ─► Sounding ─► DIALBACK ─► member      member ─► DIALBACK ─► DialDesk ─► KeyProbe
//   status  ◄─ Sounding ◄─ DIALED   ◄─ member      member ◄─ DIALED   ◄──────────────────┘
//
// Promises:
//   D1  A dial goes only where DialDesk lets it, ends within kPatience, and proves or disproves the
//       key of who asked; nothing else is said there.
//   D2  Nothing that fails here fails its caller.
//   D3  No callback comes within Start or OnLink, nor after Stop.
//   D4  Off, it asks nobody, dials nobody, and answers that it declines.
//
// May not know: the mesh's connections, what a run is.
// Memory: DialDesk's, Sounding's, and a stream for each of at most DialDesk::kMostAtOnce dials.
// What an attacker can do here: what dial_desk.h and sounding.h say.
//
// Thread safety: none; the thread that runs the io_context.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "crypto/sign.h"
#include "node/base/ids.h"
#include "node/net/link/key_probe.h"
#include "node/net/mesh/transport.h"
#include "node/net/reach/dial_back_status.h"
#include "node/net/reach/dial_desk.h"
#include "node/net/reach/sounding.h"
#include "node/os/timer.h"

namespace ostraka::net {

struct DialBackEvents {
  // REQUIRES: all are set.
  std::function<void(const base::PeerId& to, const DialBackRecord& record)> send;
  std::function<std::optional<LinkPath>(const base::PeerId& peer)> path;  // nullopt: down
  // The port at which others reach this node, as far as it knows; 0: it does not listen.
  std::function<std::uint16_t()> port;
};

class DialBack {
 public:
  static constexpr base::Duration kLookEvery = base::Seconds(1);
  // Of a dial: less than an asker waits for its answer.
  static constexpr base::Duration kPatience = base::Seconds(5);

  // `members` with their addresses in the manifest.
  DialBack(boost::asio::io_context& io, std::shared_ptr<const crypto::SigningKey> key,
           const base::Digest& run_id, const std::vector<TransportMember>& members, bool on,
           DialBackEvents events);

  void Start() { Look(); }
  void OnLink(const base::PeerId& peer);
  void OnRecord(const base::PeerId& from, const DialBackRecord& record);
  // It is no member any more.
  void Forget(const base::PeerId& peer);
  void Stop();

  DialBackStatus status() const;
  // Each dial is one that the desk counts.
  void CheckInvariants() const;

 private:
  void Look();
  void OnAsk(const base::PeerId& from, std::uint16_t port);
  void OnDialed(const base::PeerId& peer, const dht::Endpoint& where, DialOutcome outcome);
  void Answer(const base::PeerId& to, const dht::Endpoint& where, DialOutcome outcome);

  boost::asio::io_context& io_;
  const std::shared_ptr<const crypto::SigningKey> key_;
  const base::Digest run_id_;
  const bool on_;
  const DialBackEvents events_;
  DialDesk desk_;
  Sounding sounding_;
  TlsContext tls_;  // null until the first dial
  std::map<base::PeerId, std::unique_ptr<KeyProbe>> dials_;
  os::Timer look_timer_;
  bool stopped_ = false;
};

}  // namespace ostraka::net
