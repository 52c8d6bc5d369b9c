#include "dht/store/record_store.h"

#include <algorithm>

#include "crypto/domains.h"
#include "crypto/hash_into.h"
#include "node/base/check.h"

namespace ostraka::dht {
namespace {

template <typename Count>
void Decrease(std::map<Count, std::size_t>& counts, const Count& of) {
  const auto at = counts.find(of);
  OSTRAKA_CHECK(at != counts.end() && at->second > 0);
  if (--at->second == 0) counts.erase(at);
}

template <typename Count>
std::size_t CountOf(const std::map<Count, std::size_t>& counts, const Count& of) {
  const auto at = counts.find(of);
  return at == counts.end() ? 0 : at->second;
}

Prefix SourceOf(const Endpoint& endpoint) {
  if (ScopeOf(endpoint) == Scope::kLoopback) return RecordStore::kNoPrefix;
  return NarrowPrefix(endpoint);
}

}  // namespace

void RecordStore::Record::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, bytes, seq, expires, sample, digest, source.bits);
}

// The counts and indices follow from the records.
void RecordStore::HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, keys_); }

std::uint64_t RecordStore::SampleOf(const Digest& key, const PeerId& owner) const {
  const Digest digest = crypto::Hasher(crypto::kDomainDhtSample)
                            .Update(secret_)
                            .Update(key)
                            .Update(owner.view())
                            .Finish();
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8; ++i) value = value << 8 | digest.bytes[i];
  return value;
}

Verdict RecordStore::Put(std::uint64_t wall_s, const Digest& key, const SignedAnnouncement& record,
                         base::ByteView bytes, const Endpoint& source) {
  const Announcement& content = record.content;
  if (!BelongsUnder(content, key)) return Verdict::kBadRecord;
  if (content.expires + kSkewSeconds <= wall_s || content.expires > wall_s + kMaxTtlSeconds) {
    return Verdict::kBadTime;
  }
  Record fresh = {{bytes.begin(), bytes.end()}, content.seq,   content.expires,
                  SampleOf(key, content.peer),  record.digest, SourceOf(source)};
  const auto owners = keys_.find(key);
  if (owners != keys_.end()) {
    const auto known = owners->second.find(content.peer);
    if (known != owners->second.end()) {
      const Record& old = known->second;
      if (old.digest == fresh.digest) return Verdict::kDone;
      if (fresh.seq < old.seq) return Verdict::kOlder;
      if (fresh.seq == old.seq && old.digest < fresh.digest) return Verdict::kOlder;
      // A record stays with the prefix that first paid for it, or an owner that moves would have to
      // find room in another prefix that is full.
      fresh.source = old.source;
      Remove(key, content.peer);
      Insert(key, content.peer, std::move(fresh));
      return Verdict::kDone;
    }
  }
  const Verdict verdict = MakeRoom(key, content.peer, fresh);
  if (verdict == Verdict::kDone) Insert(key, content.peer, std::move(fresh));
  return verdict;
}

Verdict RecordStore::MakeRoom(const Digest& key, const PeerId& owner, const Record& record) {
  if (CountOf(of_owner_, owner) >= kMaxKeys) return Verdict::kFull;
  if (record.source != kNoPrefix && CountOf(of_prefix_, record.source) >= kMaxOfPrefix) {
    return Verdict::kFull;
  }
  if (const Verdict verdict = MakeRoomUnder(key, record); verdict != Verdict::kDone) return verdict;
  if (size() < most_) return Verdict::kDone;
  const auto [sample, last_key, last_owner] = *by_sample_.rbegin();
  if (record.sample >= sample) return Verdict::kFull;
  Remove(last_key, last_owner);
  return Verdict::kDone;
}

Verdict RecordStore::MakeRoomUnder(const Digest& key, const Record& record) {
  const auto at = keys_.find(key);
  if (at == keys_.end()) return Verdict::kDone;
  const Owners& owners = at->second;
  const auto of_prefix = std::count_if(owners.begin(), owners.end(), [&record](const auto& entry) {
    return record.source != kNoPrefix && entry.second.source == record.source;
  });
  if (static_cast<std::size_t>(of_prefix) >= kMaxOwnersOfPrefix) return Verdict::kFull;
  if (owners.size() < kMaxOwners) return Verdict::kDone;
  const auto last = std::max_element(
      owners.begin(), owners.end(),
      [](const auto& a, const auto& b) { return a.second.sample < b.second.sample; });
  if (record.sample >= last->second.sample) return Verdict::kFull;
  Remove(key, PeerId(last->first));
  return Verdict::kDone;
}

void RecordStore::Insert(const Digest& key, const PeerId& owner, Record record) {
  by_expiry_.emplace(record.expires, key, owner);
  by_sample_.emplace(record.sample, key, owner);
  ++of_owner_[owner];
  ++of_prefix_[record.source];
  keys_[key].emplace(owner, std::move(record));
}

void RecordStore::Remove(const Digest& key, const PeerId& owner) {
  const auto owners = keys_.find(key);
  OSTRAKA_CHECK(owners != keys_.end());
  const auto at = owners->second.find(owner);
  OSTRAKA_CHECK(at != owners->second.end());
  by_expiry_.erase({at->second.expires, key, owner});
  by_sample_.erase({at->second.sample, key, owner});
  Decrease(of_owner_, owner);
  Decrease(of_prefix_, at->second.source);
  owners->second.erase(at);
  if (owners->second.empty()) keys_.erase(owners);
}

std::vector<base::Bytes> RecordStore::Get(std::uint64_t wall_s, const Digest& key,
                                          std::uint32_t start, std::size_t most,
                                          std::size_t share) const {
  std::vector<base::Bytes> found;
  const auto owners = keys_.find(key);
  if (owners == keys_.end()) return found;
  const std::size_t count = owners->second.size();
  auto at = std::next(owners->second.begin(), static_cast<std::ptrdiff_t>(start % count));
  std::size_t used = 0;
  for (std::size_t i = 0; i < count && found.size() < most; ++i) {
    const Record& record = at->second;
    if (++at == owners->second.end()) at = owners->second.begin();
    if (record.expires + kSkewSeconds <= wall_s) continue;
    if (!found.empty() && used + record.bytes.size() > share) break;
    used += record.bytes.size();
    found.push_back(record.bytes);
  }
  return found;
}

void RecordStore::DropExpired(std::uint64_t wall_s) {
  while (!by_expiry_.empty()) {
    const auto [expires, key, owner] = *by_expiry_.begin();
    if (expires + kSkewSeconds > wall_s) break;
    Remove(key, owner);
  }
}

std::size_t RecordStore::OwnersOf(const Digest& key) const {
  const auto owners = keys_.find(key);
  return owners == keys_.end() ? 0 : owners->second.size();
}

std::size_t RecordStore::FromPrefix(const Prefix& prefix) const {
  return CountOf(of_prefix_, prefix);
}

void RecordStore::CheckInvariants() const {
  std::map<PeerId, std::size_t> of_owner;
  std::map<Prefix, std::size_t> of_prefix;
  std::size_t records = 0;
  for (const auto& [key, owners] : keys_) {
    OSTRAKA_CHECK(!owners.empty() && owners.size() <= kMaxOwners);
    std::map<Prefix, std::size_t> here;
    for (const auto& [owner, record] : owners) {
      OSTRAKA_CHECK(record.bytes.size() > 0 && by_expiry_.contains({record.expires, key, owner}));
      OSTRAKA_CHECK(by_sample_.contains({record.sample, key, owner}));
      OSTRAKA_CHECK(++of_owner[owner] <= kMaxKeys);
      const bool counted = record.source != kNoPrefix;
      OSTRAKA_CHECK(++of_prefix[record.source] <= kMaxOfPrefix || !counted);
      OSTRAKA_CHECK(++here[record.source] <= kMaxOwnersOfPrefix || !counted);
      ++records;
    }
  }
  OSTRAKA_CHECK(records == by_expiry_.size() && records == by_sample_.size() && records <= most_);
  OSTRAKA_CHECK(of_owner == of_owner_ && of_prefix == of_prefix_);
}

}  // namespace ostraka::dht
