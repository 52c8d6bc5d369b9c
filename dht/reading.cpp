#include "dht/reading.h"

#include <tuple>

#include "crypto/hash_into.h"
#include "node/base/check.h"

namespace ostraka::dht {

void Reading::Newest::HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, digest); }

void Reading::HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, newest_); }

void Reading::Add(std::uint64_t wall_s, const std::vector<base::Bytes>& records,
                  crypto::Verifier& verifier) {
  for (const base::Bytes& bytes : records) AddOne(wall_s, bytes, verifier);
}

void Reading::AddOne(std::uint64_t wall_s, base::ByteView bytes, crypto::Verifier& verifier) {
  const auto opened = OpenAnnouncement(bytes);
  if (!opened.ok()) return;
  const Announcement& content = opened->content;
  if (content.network != network_ || !BelongsUnder(content, key_)) return;
  if (one_owner_ && key_ != PeerKey(network_, content.peer)) return;
  if (content.expires + kSkewSeconds <= wall_s) return;
  const auto known = newest_.find(content.peer);
  if (known != newest_.end()) {
    const Newest& newest = known->second;
    // Equal content, even under another signature, needs no second verification.
    if (newest.digest == opened->digest) return;
    // Of two with one seq the smaller digest, as stores keep it.
    if (std::tie(content.seq, newest.digest) < std::tie(newest.content.seq, opened->digest)) return;
  } else if (newest_.size() == kMaxOwners) {
    return;
  }
  if (!verifier.Verify(content.peer, opened->digest, opened->signature)) return;
  newest_[content.peer] = {content, opened->digest};
}

std::vector<Announcement> Reading::Result() const {
  std::vector<Announcement> records;
  for (const auto& [owner, newest] : newest_) records.push_back(newest.content);
  return records;
}

void Reading::CheckInvariants() const {
  OSTRAKA_CHECK(newest_.size() <= kMaxOwners);
  OSTRAKA_CHECK(!one_owner_ || newest_.size() <= 1);
}

}  // namespace ostraka::dht
