#include "dht/table/routing_table.h"

#include <algorithm>
#include <set>

#include "crypto/hash_into.h"
#include "node/base/check.h"

namespace ostraka::dht {
namespace {

// A node whose last answer is older than this may be met at another address (T5).
constexpr base::Duration kFresh = base::Seconds(600);

}  // namespace

void RoutingTable::Entry::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, node, heard, tried, misses);
}

void RoutingTable::Bucket::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, live, spares);
}

void RoutingTable::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, buckets_, prefixes_, size_);
}

RoutingTable::Entry* RoutingTable::Find(std::vector<Entry>& entries, const Digest& id) {
  const auto at = std::find_if(entries.begin(), entries.end(),
                               [&id](const Entry& entry) { return entry.node.id == id; });
  return at == entries.end() ? nullptr : &*at;
}

bool RoutingTable::HasPrefixRoom(const Bucket* bucket, const Endpoint& endpoint) const {
  if (!prefixes_.HasRoom(endpoint)) return false;
  if (bucket == nullptr) return true;
  PrefixRule here(kInBucket);
  for (const Entry& entry : bucket->live) here.Add(entry.node.contact.endpoint);
  for (const Entry& entry : bucket->spares) here.Add(entry.node.contact.endpoint);
  return here.HasRoom(endpoint);
}

bool RoutingTable::HasPlaceFor(const KnownNode& node) const {
  const unsigned index = CommonPrefix(self_, node.id);
  if (index == 256) return false;
  if (index >= buckets_.size()) return HasPrefixRoom(nullptr, node.contact.endpoint);
  const Bucket& bucket = buckets_[index];
  const auto is_it = [&node](const Entry& entry) { return entry.node.id == node.id; };
  if (std::any_of(bucket.live.begin(), bucket.live.end(), is_it)) return false;
  return bucket.live.size() < kBucketSize && HasPrefixRoom(&bucket, node.contact.endpoint);
}

void RoutingTable::Move(Bucket& bucket, Entry& entry, const Endpoint& endpoint, base::Time now) {
  const bool answers = entry.misses == 0 && now - entry.heard < kFresh;
  if (answers) return;
  const Endpoint before = entry.node.contact.endpoint;
  prefixes_.Remove(before);
  if (!HasPrefixRoom(&bucket, endpoint)) return prefixes_.Add(before);
  prefixes_.Add(endpoint);
  entry.node.contact.endpoint = endpoint;
  entry.heard = now;
  entry.misses = 0;
}

void RoutingTable::OnAnswer(base::Time now, const KnownNode& node) {
  const unsigned index = CommonPrefix(self_, node.id);
  if (index == 256) return;
  if (index >= buckets_.size()) buckets_.resize(index + 1);
  Bucket& bucket = buckets_[index];
  Entry* known = Find(bucket.live, node.id);
  if (known == nullptr) known = Find(bucket.spares, node.id);
  if (known != nullptr) {
    if (known->node.contact.endpoint != node.contact.endpoint) {
      return Move(bucket, *known, node.contact.endpoint, now);
    }
    known->heard = now;
    known->misses = 0;
    return;
  }
  const bool is_live = bucket.live.size() < kBucketSize;
  if (!is_live && bucket.spares.size() == kSpares) PushOutSpare(bucket);
  if (!HasPrefixRoom(&bucket, node.contact.endpoint)) return;
  prefixes_.Add(node.contact.endpoint);
  (is_live ? bucket.live : bucket.spares).push_back({node, now, {}, 0});
  if (is_live) ++size_;
}

void RoutingTable::PushOutSpare(Bucket& bucket) {
  const auto oldest =
      std::min_element(bucket.spares.begin(), bucket.spares.end(),
                       [](const Entry& a, const Entry& b) { return a.heard < b.heard; });
  prefixes_.Remove(oldest->node.contact.endpoint);
  bucket.spares.erase(oldest);
}

void RoutingTable::OnSilence(base::Time now, const KnownNode& node) {
  const unsigned index = CommonPrefix(self_, node.id);
  if (index >= buckets_.size()) return;
  Bucket& bucket = buckets_[index];
  Entry* known = Find(bucket.live, node.id);
  if (known == nullptr || known->node.contact.endpoint != node.contact.endpoint) return;
  ++known->misses;
  known->tried = now;
  const bool replaced = known->misses >= kMissesReplaced && !bucket.spares.empty();
  if (replaced || known->misses >= kMissesGone) RemoveLive(bucket, *known);
}

void RoutingTable::RemoveLive(Bucket& bucket, Entry& entry) {
  prefixes_.Remove(entry.node.contact.endpoint);
  if (bucket.spares.empty()) {
    bucket.live.erase(bucket.live.begin() + (&entry - bucket.live.data()));
    --size_;
    return;
  }
  const auto freshest =
      std::max_element(bucket.spares.begin(), bucket.spares.end(),
                       [](const Entry& a, const Entry& b) { return a.heard < b.heard; });
  entry = *freshest;
  bucket.spares.erase(freshest);
}

std::vector<KnownNode> RoutingTable::Nearest(const Digest& target, std::size_t count, Scope scope,
                                             bool even_doubtful) const {
  std::vector<KnownNode> nearest;
  PrefixRule rule(kOneAPrefix);
  std::vector<const Entry*> group;
  const auto take = [&](bool doubtful) {
    std::sort(group.begin(), group.end(), [&target](const Entry* a, const Entry* b) {
      return IsNearer(target, a->node.id, b->node.id);
    });
    for (const Entry* entry : group) {
      if (nearest.size() == count) break;
      if (doubtful != (entry->misses >= kMissesReplaced)) continue;
      const Endpoint& endpoint = entry->node.contact.endpoint;
      const Scope own = ScopeOf(endpoint);
      if (own != Scope::kPublic && own != scope) continue;
      if (rule.Admit(endpoint)) nearest.push_back(entry->node);
    }
    group.clear();
  };
  const auto add = [&](std::size_t index) {
    for (const Entry& entry : buckets_[index].live) group.push_back(&entry);
  };
  // Buckets in the order of their distance from the target: the one whose nodes share most bits
  // with it, then all deeper ones, which differ from it where we do, then the others one by one.
  const std::size_t own = CommonPrefix(self_, target);
  for (const bool doubtful : {false, true}) {
    if (doubtful && !even_doubtful) break;
    if (own < buckets_.size()) add(own);
    take(doubtful);
    if (nearest.size() == count) break;
    for (std::size_t index = own + 1; index < buckets_.size(); ++index) add(index);
    take(doubtful);
    for (std::size_t index = std::min(own, buckets_.size()); index-- > 0;) {
      if (nearest.size() == count) break;
      add(index);
      take(doubtful);
    }
  }
  return nearest;
}

std::vector<KnownNode> RoutingTable::SilentSince(base::Time since, std::size_t most) const {
  std::vector<std::pair<base::Time, const KnownNode*>> silent;
  for (const Bucket& bucket : buckets_) {
    for (const Entry& entry : bucket.live) {
      const base::Time last = std::max(entry.heard, entry.tried);
      if (last < since) silent.push_back({last, &entry.node});
    }
  }
  std::stable_sort(silent.begin(), silent.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  if (silent.size() > most) silent.resize(most);
  std::vector<KnownNode> nodes;
  for (const auto& [last, node] : silent) nodes.push_back(*node);
  return nodes;
}

const KnownNode* RoutingTable::OfAnotherPrefix(const Endpoint& other, std::uint64_t number) const {
  if (size_ == 0) return nullptr;
  std::vector<const KnownNode*> all;
  for (const Bucket& bucket : buckets_) {
    for (const Entry& entry : bucket.live) {
      if (entry.misses == 0 && NarrowPrefix(entry.node.contact.endpoint) != NarrowPrefix(other)) {
        all.push_back(&entry.node);
      }
    }
  }
  return all.empty() ? nullptr : all[number % all.size()];
}

std::vector<KnownNode> RoutingTable::All() const {
  std::vector<KnownNode> nodes;
  for (const Bucket& bucket : buckets_) {
    for (const Entry& entry : bucket.live) nodes.push_back(entry.node);
  }
  return nodes;
}

void RoutingTable::CheckInvariants() const {
  PrefixRule counted(kInTable);
  std::set<Digest> ids;
  std::size_t live = 0;
  for (std::size_t index = 0; index < buckets_.size(); ++index) {
    const Bucket& bucket = buckets_[index];
    OSTRAKA_CHECK(bucket.live.size() <= kBucketSize && bucket.spares.size() <= kSpares);
    OSTRAKA_CHECK(bucket.spares.empty() || bucket.live.size() == kBucketSize);
    PrefixRule here(kInBucket);
    for (const auto* entries : {&bucket.live, &bucket.spares}) {
      for (const Entry& entry : *entries) {
        OSTRAKA_CHECK(CommonPrefix(self_, entry.node.id) == index);
        OSTRAKA_CHECK(ids.insert(entry.node.id).second);
        OSTRAKA_CHECK(here.Admit(entry.node.contact.endpoint));
        OSTRAKA_CHECK(counted.Admit(entry.node.contact.endpoint));
      }
    }
    live += bucket.live.size();
  }
  OSTRAKA_CHECK(live == size_);
}

}  // namespace ostraka::dht
