#include "node/protocol/seal/seal_ballots.h"

#include <utility>

#include "node/base/check.h"

namespace ostraka::protocol {
bool Ballots::Add(const PeerId& sender, const Digest& value, base::SharedBytes frame, bool needed) {
  const bool first = firsts_.emplace(sender, value).second;
  if (!first && !needed) return false;
  return by_value_[value].emplace(sender, std::move(frame)).second;
}

const Signers& Ballots::For(const Digest& value) const {
  const auto found = by_value_.find(value);
  return found == by_value_.end() ? kNobody : found->second;
}

Digest Ballots::Leading() const {
  std::map<Digest, std::size_t> counts;
  for (const auto& [sender, value] : firsts_) ++counts[value];
  Digest leading;
  std::size_t most = 0;
  for (const auto& [value, count] : counts) {
    if (count > most) {
      leading = value;
      most = count;
    }
  }
  return leading;
}

void Ballots::Drop(const std::function<bool(const Digest&)>& needed, bool keeps_firsts) {
  for (auto& [value, signers] : by_value_) {
    if (needed(value)) continue;
    std::erase_if(signers, [&, &of = value](const auto& signer) {
      return !keeps_firsts || firsts_.at(signer.first) != of;
    });
  }
  std::erase_if(by_value_, [](const auto& entry) { return entry.second.empty(); });
  if (keeps_firsts) return;
  firsts_.clear();
  for (const auto& [value, signers] : by_value_) {
    for (const auto& [sender, frame] : signers) firsts_.emplace(sender, value);
  }
}

void Ballots::CheckInvariants() const {
  for (const auto& [value, signers] : by_value_) {
    OSTRAKA_CHECK(!signers.empty());
    for (const auto& [sender, frame] : signers) OSTRAKA_CHECK(firsts_.contains(sender));
  }
  for (const auto& [sender, value] : firsts_) OSTRAKA_CHECK(For(value).contains(sender));
}

Locks::Added Locks::Add(const PeerId& sender, std::uint32_t iteration, const Digest& value,
                        base::SharedBytes frame) {
  if (!groups_[{iteration, value}].emplace(sender, std::move(frame)).second) return {};
  std::size_t own = 0;
  auto weakest = groups_.end();
  for (auto it = groups_.begin(); it != groups_.end(); ++it) {
    if (!it->second.contains(sender)) continue;
    ++own;
    if (it->first == Group{iteration, value}) continue;
    if (weakest == groups_.end() || it->second.size() < weakest->second.size()) weakest = it;
  }
  if (own <= kLocksOfOne) return {true, std::nullopt};
  weakest->second.erase(sender);
  if (!weakest->second.empty()) return {true, std::nullopt};
  const Group emptied = weakest->first;
  groups_.erase(weakest);
  return {true, emptied};
}

void Locks::CheckInvariants() const {
  std::map<PeerId, std::size_t> counts;
  for (const auto& [group, signers] : groups_) {
    OSTRAKA_CHECK(!signers.empty());
    for (const auto& [sender, frame] : signers) OSTRAKA_CHECK(++counts[sender] <= kLocksOfOne);
  }
}

const Signers& Locks::For(std::uint32_t iteration, const Digest& value) const {
  const auto found = groups_.find({iteration, value});
  return found == groups_.end() ? kNobody : found->second;
}

void SealLock::HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, rank, value); }

void Ballots::HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, firsts_, by_value_); }

void Locks::HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, groups_); }

}  // namespace ostraka::protocol
