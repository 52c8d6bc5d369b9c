#include "node/net/reach/sounding.h"

#include <algorithm>

#include "node/base/check.h"
#include "node/net/udp/resolver.h"
#include "node/os/endpoint.h"

namespace ostraka::net {
namespace {

std::string HostOf(const LinkPath& path) {
  const auto where = os::ParseHostPort(path.remote);
  return where.ok() ? where->host : path.remote;
}

// Names count by themselves: what they stand for is the resolver's to know.
std::string PrefixOf(const LinkPath& path) {
  const std::string host = HostOf(path);
  const std::string prefix = os::AddressPrefix(host);
  return prefix.empty() ? host : prefix;
}

DialedBack FoundBy(const base::PeerId& peer, const LinkPath& path, DialOutcome outcome) {
  DialedBack found;
  found.peer = peer;
  found.from = PrefixOf(path);
  const auto where = NumericEndpoint(path.remote);
  found.is_public =
      !where || (dht::ScopeOf(*where) == dht::Scope::kPublic && !dht::IsShared(*where));
  found.outcome = outcome;
  return found;
}

}  // namespace

void Sounding::OnLink(base::Time now, const base::PeerId& peer,
                      const std::optional<LinkPath>& path) {
  if (CameIn(peer)) results_.at(peer).at = now;  // S3: from here on its age counts
  Member& member = members_[peer];
  member.path = path;
  member.asked.reset();
  if (CameIn(peer)) results_[peer] = {FoundBy(peer, *path, DialOutcome::kReached), now};
}

void Sounding::Forget(const base::PeerId& peer) {
  members_.erase(peer);
  results_.erase(peer);
}

bool Sounding::CameIn(const base::PeerId& peer) const {
  const auto at = members_.find(peer);
  return at != members_.end() && at->second.path && !at->second.path->dialed;
}

bool Sounding::IsKept(const base::PeerId& peer, const Result& result, base::Time now) const {
  return CameIn(peer) || now < result.at + kKept;
}

void Sounding::Sweep(base::Time now) {
  std::erase_if(results_,
                [&](const auto& entry) { return !IsKept(entry.first, entry.second, now); });
  for (auto& [peer, member] : members_) {
    if (member.asked && now >= *member.asked + kPatience) member.asked.reset();
  }
  std::erase_if(members_,
                [&](const auto& entry) { return !entry.second.path && now >= entry.second.due; });
}

std::map<std::string, std::size_t> Sounding::Covered(base::Time now) const {
  std::map<std::string, std::size_t> covered;
  for (const auto& [peer, result] : results_) {
    if (result.found.outcome == DialOutcome::kDeclined) continue;
    if (CameIn(peer) || now < result.at + kAgain) ++covered[result.found.from];
  }
  for (const auto& [peer, member] : members_) {
    if (member.asked) ++covered[PrefixOf(*member.path)];
  }
  return covered;
}

std::vector<base::PeerId> Sounding::Due(base::Time now, std::uint16_t port) {
  Sweep(now);
  std::map<std::string, std::size_t> covered = Covered(now);
  std::size_t have = 0;
  for (const auto& [prefix, count] : covered) have += count;
  std::vector<base::PeerId> chosen;
  for (const bool elsewhere : {true, false}) {
    for (auto& [peer, member] : members_) {
      if (have >= kWanted || port == 0) break;
      if (!member.path || !member.path->dialed || now < member.due) continue;
      const std::string prefix = PrefixOf(*member.path);
      if (elsewhere && covered.contains(prefix)) continue;
      member.asked = now;
      member.due = now + kAgain;
      member.port = port;
      ++covered[prefix];
      ++have;
      chosen.push_back(peer);
    }
  }
  CheckInvariants();
  return chosen;
}

bool Sounding::OnAnswer(base::Time now, const base::PeerId& peer, const DialBackAnswer& answer) {
  const auto at = members_.find(peer);
  if (at == members_.end() || !at->second.asked || at->second.port != answer.port) return false;
  const bool is_late = now >= *at->second.asked + kPatience;
  at->second.asked.reset();
  if (is_late) return false;
  Result result{FoundBy(peer, *at->second.path, answer.outcome), now};
  result.found.where = {answer.host, answer.port};
  results_[peer] = std::move(result);
  return true;
}

std::vector<DialedBack> Sounding::Results(base::Time now) const {
  std::vector<DialedBack> found;
  for (const auto& [peer, result] : results_) {
    if (!IsKept(peer, result, now)) continue;
    found.push_back(result.found);
    found.back().age = now - result.at;
  }
  return found;
}

void Sounding::CheckInvariants() const {
  std::size_t open = 0;
  for (const auto& [peer, member] : members_) {
    OSTRAKA_CHECK(!member.asked || (member.path && member.path->dialed && member.port != 0));
    OSTRAKA_CHECK(!CameIn(peer) || results_.contains(peer));
    open += member.asked ? 1 : 0;
  }
  OSTRAKA_CHECK(open <= kWanted);
}

}  // namespace ostraka::net
