#include "dht/publisher.h"

#include <algorithm>
#include <utility>

#include "crypto/hash_into.h"
#include "node/base/check.h"

namespace ostraka::dht {

void Publisher::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, content_.has_value(), last_seq_, next_, ask_, written_, writing_,
               effort_.queries, effort_.answers, effort_.surveyed, sum_.stored, sum_.refused);
}

std::optional<Answered> Publisher::Set(base::Time now, std::uint64_t ask, const Publish& publish) {
  std::optional<Answered> replaced;
  if (ask_) replaced = Answered{*ask_, {}, Published{}};
  content_ = publish;
  ask_ = ask;
  next_ = now;
  return replaced;
}

std::optional<base::Time> Publisher::next() const {
  if (!content_ || writing_ > 0) return std::nullopt;
  return next_;
}

std::vector<Publisher::Write> Publisher::Begin(base::Time now, std::uint64_t wall_s,
                                               const Digest& network,
                                               const crypto::SigningKey& key) {
  OSTRAKA_CHECK(IsDue(now));
  next_ = now + kAgain;
  written_ = std::exchange(ask_, std::nullopt);
  effort_ = {};
  sum_ = {};
  Announcement content = content_->content;
  content.network = network;
  content.peer = key.id();
  content.seq = last_seq_ = std::max(last_seq_ + 1, wall_s);
  content.expires = wall_s + kTtlSeconds;
  const base::Bytes record = SignAnnouncement(content, key);
  std::vector<Write> writes = {{PeerKey(network, key.id()), record}};
  if (content_->under_run && content.run) {
    writes.push_back({RunKey(network, content.run->run_id), record});
  }
  writing_ = static_cast<std::uint32_t>(writes.size());
  return writes;
}

std::optional<Answered> Publisher::OnWritten(const Effort& effort, std::uint32_t stored,
                                             std::uint32_t refused) {
  OSTRAKA_CHECK(writing_ > 0);
  --writing_;
  effort_.queries += effort.queries;
  effort_.answers += effort.answers;
  effort_.surveyed = effort_.surveyed || effort.surveyed;
  sum_.stored += stored;
  sum_.refused += refused;
  if (writing_ > 0 || !written_) return std::nullopt;
  return Answered{*std::exchange(written_, std::nullopt), effort_, sum_};
}

void Publisher::CheckInvariants() const {
  OSTRAKA_CHECK(writing_ <= 2);
  OSTRAKA_CHECK(content_ || (!ask_ && writing_ == 0));
  OSTRAKA_CHECK(!written_ || writing_ > 0);
}

}  // namespace ostraka::dht
