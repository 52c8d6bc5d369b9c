#include "node/protocol/seal/seal_proposal.h"

#include <algorithm>

#include "crypto/set_root.h"
#include "node/base/check.h"

namespace ostraka::protocol {
namespace {

using State = SealEntry::State;

}  // namespace

bool Statuses::Add(const PeerId& sender, StatusSeen status) {
  std::vector<StatusSeen>& seen = by_sender_[sender];
  if (seen.size() == 2) return false;
  if (!seen.empty() && seen.front().digest == status.digest) return false;
  seen.push_back(std::move(status));
  return true;
}

const StatusSeen* Statuses::FirstOf(const PeerId& sender) const {
  const auto found = by_sender_.find(sender);
  return found == by_sender_.end() ? nullptr : &found->second.front();
}

bool Statuses::TwoFaced(const PeerId& sender) const {
  const auto found = by_sender_.find(sender);
  return found != by_sender_.end() && found->second.size() > 1;
}

void Statuses::CheckInvariants() const {
  for (const auto& [sender, seen] : by_sender_) {
    OSTRAKA_CHECK(seen.size() == 1 || seen.size() == 2);
    OSTRAKA_CHECK(seen.size() == 1 || seen.front().digest != seen.back().digest);
  }
}

std::optional<std::vector<PeerId>> ChooseStatuses(const Statuses& statuses, std::size_t quorum) {
  std::vector<PeerId> chosen;
  for (const auto& [sender, seen] : statuses.all()) {
    if (seen.size() == 1 && seen.front().body.rank == 0) chosen.push_back(sender);
    if (chosen.size() == quorum) return chosen;
  }
  return std::nullopt;
}

std::optional<Digest> ForcedValue(const Statuses& statuses, const std::vector<PeerId>& chosen,
                                  std::size_t force_count) {
  std::map<Digest, std::size_t> supporters;
  for (const PeerId& member : chosen) {
    const Digest& value = statuses.FirstOf(member)->body.value;
    if (value.is_zero()) continue;  // the member echoed nothing
    if (++supporters[value] >= force_count) return value;
  }
  return std::nullopt;
}

Digest StatusesRoot(const Statuses& statuses, const std::vector<PeerId>& chosen) {
  std::vector<Digest> digests;
  digests.reserve(chosen.size());
  for (const PeerId& member : chosen) digests.push_back(statuses.FirstOf(member)->digest);
  return crypto::SetRoot(digests);
}

std::vector<PeerId> StatusesToAskFor(const Statuses& statuses, const std::vector<PeerId>& chosen,
                                     const Digest& root) {
  std::vector<PeerId> missing;
  bool any_two_faced = false;
  for (const PeerId& member : chosen) {
    if (statuses.FirstOf(member) == nullptr) missing.push_back(member);
    any_two_faced = any_two_faced || statuses.TwoFaced(member);
  }
  if (!missing.empty() || any_two_faced || StatusesRoot(statuses, chosen) == root) return missing;
  return chosen;
}

StatusRule JudgeStatuses(const Statuses& statuses, const std::vector<PeerId>& chosen,
                         const wire::Propose& propose, std::size_t quorum, std::size_t force_count,
                         std::string& why) {
  if (chosen.size() != quorum) {
    why = "it names " + std::to_string(chosen.size()) + " statuses, not " + std::to_string(quorum);
    return StatusRule::kRefused;
  }
  std::size_t two_faced = 0;
  std::map<Digest, std::size_t> supporters;
  for (const PeerId& member : chosen) {
    const StatusSeen* status = statuses.FirstOf(member);
    if (status == nullptr) {
      why = "it names a status of " + member.Short() + " that did not come here";
      return StatusRule::kRefused;
    }
    if (statuses.TwoFaced(member)) {
      ++two_faced;
    } else if (status->body.rank != 0) {
      why = "it names " + member.Short() + ", who has a lock";
      return StatusRule::kRefused;
    } else if (!status->body.value.is_zero()) {
      ++supporters[status->body.value];
    }
  }
  if (two_faced == 0 && StatusesRoot(statuses, chosen) != propose.statuses_root) {
    why = "it names other statuses than came here";
    return StatusRule::kRefused;
  }
  for (const auto& [value, count] : supporters) {
    if (count >= force_count && value != propose.value) {
      why = "its statuses force another value";
      return StatusRule::kRefused;
    }
  }
  const auto own = supporters.find(propose.value);
  const std::size_t support = (own == supporters.end() ? 0 : own->second) + two_faced;
  return support >= force_count ? StatusRule::kForced : StatusRule::kMerge;
}

std::string MergeFault(const SealVector& own, const SealVector& merged,
                       const SealMessages& messages) {
  if (own.size() != merged.size()) return "it has another number of entries";
  for (std::size_t i = 0; i < merged.size(); ++i) {
    const bool twice = merged[i].state == State::kEquivocated;
    if (own[i].state == State::kEquivocated && !twice) {
      return "it passes over an equivocation that I echoed";
    }
    if (own[i].state == State::kPresent && !twice && merged[i] != own[i]) {
      return "it leaves out a message that I echoed";
    }
    if (merged[i].state == State::kPresent && !messages.Holds(i, merged[i].digest)) {
      return "it includes a message that did not come here";
    }
    if (twice && messages.EntryNow(i).state != State::kEquivocated) {
      return "it claims an equivocation that did not show here";
    }
  }
  return "";
}

void StatusSeen::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, body, digest, frame);
}

void Statuses::HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, by_sender_); }

}  // namespace ostraka::protocol
