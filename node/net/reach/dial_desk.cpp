#include "node/net/reach/dial_desk.h"

#include "node/base/check.h"
#include "node/net/udp/resolver.h"

namespace ostraka::net {

DialDesk::Judgement DialDesk::Judge(base::Time now, const base::PeerId& peer, const LinkPath& path,
                                    std::uint16_t port) {
  TokenBucket& own = askers_.try_emplace(peer, PerHour(kAnHour)).first->second;
  if (busy_.contains(peer) || !own.Ready(now)) return {};
  own.Take(1);
  Judgement judgement;
  judgement.verdict = Verdict::kDecline;
  auto where = NumericEndpoint(path.remote);
  if (path.dialed || !where) return judgement;
  where->port = port;
  if (policy_.Dialable({*where}).empty()) return judgement;
  if (busy_.size() >= kMostAtOnce || !all_.Ready(now)) return judgement;
  all_.Take(1);
  busy_.insert(peer);
  judgement.verdict = Verdict::kDial;
  judgement.where = *where;
  CheckInvariants();
  return judgement;
}

void DialDesk::End(const base::PeerId& peer) {
  const bool was_busy = busy_.erase(peer) == 1;
  OSTRAKA_CHECK(was_busy);
}

void DialDesk::CheckInvariants() const { OSTRAKA_CHECK(busy_.size() <= kMostAtOnce); }

}  // namespace ostraka::net
