// The places of strangers: peers that the run has not named, and that may ask to be let in. The
// mesh's driver says which of them the run knows by now.
//
//   proven key ─► Enter ─► a place ─► Leave: its connections are gone, it is a member (Mesh::Add),
//                                     or it gave way to another stranger
//
// Promises:
//   G1  At most `places` strangers have a place, and at most kPerNetwork of one network.
//   G2  Only a stranger that has its place for kStay and that nobody expects gives way, the oldest
//       first.
//
// May not know: connections, members, what a stranger says.
//
// Memory: `places` entries.
//
// What an attacker can do here: with places / kPerNetwork networks it holds all places, as far as
// it comes before others do: it loses each kStay after it took it, to whoever knocks first.
//
// Thread safety: none; one owner. Reads no clock.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "node/base/ids.h"
#include "node/base/status.h"
#include "node/base/time.h"

namespace ostraka::net {

class Guests {
 public:
  static constexpr std::size_t kPerNetwork = 4;
  // Some steps of a run: a stranger with a good credential is expected after the next one.
  static constexpr base::Duration kStay = base::Seconds(15);

  explicit Guests(std::size_t places) : places_(places) {}

  // Gives `peer`, which comes from `network`, a place. That of another one may be taken for it,
  // which is returned. `network`: an AddressPrefix; empty for loopback, of which nothing is
  // counted. FailedPrecondition: strangers get no
  // places here. Unavailable: there is none now. The
  // message is phrased about `peer`. REQUIRES: !Contains(peer).
  base::StatusOr<std::optional<base::PeerId>> Enter(base::Time now, const base::PeerId& peer,
                                                    const std::string& network);
  // False: it had none.
  bool Leave(const base::PeerId& peer);
  bool Contains(const base::PeerId& peer) const { return guests_.contains(peer); }
  // These need not give way, from now until the next call.
  void Expect(std::set<base::PeerId> expected) { expected_ = std::move(expected); }
  bool Expects(const base::PeerId& peer) const { return expected_.contains(peer); }

  std::size_t size() const { return guests_.size(); }
  // G1.
  void CheckInvariants() const;

 private:
  struct Guest {
    std::string network;
    base::Time since;
  };
  std::size_t FromNetwork(const std::string& network) const;
  std::optional<base::PeerId> WhoGivesWay(base::Time now) const;

  const std::size_t places_;
  std::map<base::PeerId, Guest> guests_;
  std::set<base::PeerId> expected_;
};

}  // namespace ostraka::net
