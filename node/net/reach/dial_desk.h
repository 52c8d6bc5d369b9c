// Which of the dials that members ask for this node makes (node/net/records/dial_back.h).
//
// Promises:
//   B1  Only the host from which the asker's own link came is dialed, if AddressPolicy lets it be.
//       A link that we dialed ourselves tells nothing that a dial would.
//   B2  A member has one dial at once, and kAnHour an hour after a burst of kAnHour; what it asks
//       beyond that is not even answered, and no answers wait for a member that does not read.
//   B3  All members together have kMostAtOnce dials at once and kAnHourInAll an hour.
//
// May not know: sockets, clocks, what became of a dial.
// Memory: an entry for each member that has asked, until Forget.
// What an attacker can do here: a member has this node open kAnHour TCP connections an hour to a
// port of its choice on the host that it sits on, or on the NAT that it shares with others, each
// with a ClientHello that it did not write. From there it can do that by itself.
//
// Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "dht/wire/endpoint.h"
#include "node/base/ids.h"
#include "node/base/time.h"
#include "node/net/mesh/transport.h"
#include "node/net/reach/address_policy.h"
#include "node/net/records/token_bucket.h"

namespace ostraka::net {

class DialDesk {
 public:
  static constexpr double kAnHour = 4;
  static constexpr double kAnHourInAll = 64;
  static constexpr std::size_t kMostAtOnce = 4;

  explicit DialDesk(AddressPolicy policy)
      : policy_(std::move(policy)), all_(PerHour(kAnHourInAll)) {}

  enum class Verdict : std::uint8_t {
    kDial,     // `where`; End follows
    kDecline,  // say so
    kIgnore,
  };
  struct Judgement {
    Verdict verdict = Verdict::kIgnore;
    dht::Endpoint where;
  };
  // `peer` asks over a link that leads to `path` for a dial of `port`.
  Judgement Judge(base::Time now, const base::PeerId& peer, const LinkPath& path,
                  std::uint16_t port);
  // The dial for `peer` has ended. REQUIRES: Judge said kDial.
  void End(const base::PeerId& peer);
  // It is no member any more.
  void Forget(const base::PeerId& peer) { askers_.erase(peer); }

  std::size_t dialing() const { return busy_.size(); }
  // B3's bound.
  void CheckInvariants() const;

 private:
  // A bucket lends one beyond what it holds.
  static TokenBucket PerHour(double rate) { return {rate / 3600, rate - 1}; }

  const AddressPolicy policy_;
  TokenBucket all_;
  std::map<base::PeerId, TokenBucket> askers_;
  std::set<base::PeerId> busy_;
};

}  // namespace ostraka::net
