#include "dht/table/prefix_rule.h"

#include <algorithm>

#include "node/base/check.h"
#include "node/base/planted.h"

namespace ostraka::dht {

bool PrefixRule::HasRoom(const Endpoint& endpoint) const {
  if (base::Planted(base::Bug::kDhtNoPrefixRule)) return true;
  if (ScopeOf(endpoint) == Scope::kLoopback) return true;
  const Prefix narrow = NarrowPrefix(endpoint);
  const Prefix wide = WidePrefix(endpoint);
  if (UsedOf(narrow) >= limits_.narrow) return false;
  return wide == narrow || UsedOf(wide) < limits_.wide;
}

void PrefixRule::Add(const Endpoint& endpoint) {
  const Prefix narrow = NarrowPrefix(endpoint);
  const Prefix wide = WidePrefix(endpoint);
  ++Of(narrow).used;
  if (wide != narrow) ++Of(wide).used;
}

void PrefixRule::Remove(const Endpoint& endpoint) {
  const Prefix narrow = NarrowPrefix(endpoint);
  const Prefix wide = WidePrefix(endpoint);
  Take(narrow);
  if (wide != narrow) Take(wide);
}

std::uint32_t PrefixRule::UsedOf(const Prefix& prefix) const {
  const auto at = Find(prefix);
  return at == counts_.end() || at->prefix != prefix ? 0 : at->used;
}

std::vector<PrefixRule::Count>::const_iterator PrefixRule::Find(const Prefix& prefix) const {
  return std::lower_bound(counts_.begin(), counts_.end(), prefix,
                          [](const Count& c, const Prefix& p) { return c.prefix < p; });
}

PrefixRule::Count& PrefixRule::Of(const Prefix& prefix) {
  const auto at = counts_.begin() + (Find(prefix) - counts_.cbegin());
  if (at != counts_.end() && at->prefix == prefix) return *at;
  return *counts_.insert(at, {prefix, 0});
}

void PrefixRule::Take(const Prefix& prefix) {
  const auto at = counts_.begin() + (Find(prefix) - counts_.cbegin());
  OSTRAKA_CHECK(at != counts_.end() && at->prefix == prefix && at->used > 0);
  if (--at->used == 0) counts_.erase(at);
}

}  // namespace ostraka::dht
