#include "node/protocol/seal/inside/rounds.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "node/base/check.h"
#include "node/protocol/seal/inside/window.h"

namespace ostraka::protocol {

using wire::MessageType;

bool SealRounds::NoteReached(const PeerId& sender, std::uint32_t iteration) {
  std::uint32_t& reached = reached_[sender];
  if (iteration <= reached) return false;
  reached = iteration;
  return true;
}

std::uint32_t SealRounds::ReachedBy(const PeerId& member) const {
  const auto found = reached_.find(member);
  return found == reached_.end() ? 0 : found->second;
}

std::uint32_t SealRounds::ReachedByMoreThan(std::size_t count, const PeerId& self) const {
  std::vector<std::uint32_t> others;
  for (const auto& [member, iteration] : reached_) {
    if (member != self) others.push_back(iteration);
  }
  if (others.size() <= count) return 0;
  std::sort(others.begin(), others.end(), std::greater<>());
  return others[count];
}

std::size_t SealRounds::CountThatReached(std::uint32_t iteration, const PeerId& self) const {
  std::size_t count = 0;
  for (const auto& [member, reached] : reached_) {
    if (member != self && reached >= iteration) ++count;
  }
  return count;
}

bool SealRounds::AddStatus(std::uint32_t iteration, const PeerId& sender, StatusSeen status) {
  return rounds_[iteration].statuses.Add(sender, std::move(status));
}

bool SealRounds::AddProposal(std::uint32_t iteration, ProposeSeen proposal) {
  std::vector<ProposeSeen>& proposals = rounds_[iteration].proposals;
  if (proposals.size() == 2) return false;
  if (!proposals.empty() && proposals.front().digest == proposal.digest) return false;
  proposals.push_back(std::move(proposal));
  return true;
}

const SealRounds::Round& SealRounds::At(std::uint32_t iteration) const {
  static const Round kNothing;
  const auto found = rounds_.find(iteration);
  return found == rounds_.end() ? kNothing : found->second;
}

const Statuses& SealRounds::StatusesOf(std::uint32_t iteration) const {
  return At(iteration).statuses;
}

const std::vector<ProposeSeen>& SealRounds::ProposalsOf(std::uint32_t iteration) const {
  return At(iteration).proposals;
}

std::vector<SealLock> SealRounds::ClaimsOf(std::uint32_t iteration) const {
  std::vector<SealLock> claims;
  const auto claim = [&](std::uint32_t rank, const Digest& value) {
    if (rank > 0 && rank <= iteration) claims.push_back({rank, value});
  };
  for (const auto& [sender, statuses] : StatusesOf(iteration).all()) {
    for (const StatusSeen& seen : statuses) claim(seen.body.rank, seen.body.value);
  }
  for (const ProposeSeen& seen : ProposalsOf(iteration)) claim(seen.body.rank, seen.body.value);
  return claims;
}

std::set<Digest> SealRounds::ProposedValues() const {
  std::set<Digest> values;
  for (const auto& [iteration, round] : rounds_) {
    for (const ProposeSeen& seen : round.proposals) values.insert(seen.body.value);
  }
  return values;
}

void SealRounds::Refuse(std::uint32_t iteration, std::string why) {
  rounds_[iteration].refusal = std::move(why);
}

std::string SealRounds::RefusalOf(std::uint32_t iteration) const { return At(iteration).refusal; }

void SealRounds::Forget(std::uint32_t current) {
  std::erase_if(rounds_, [&](const auto& entry) { return entry.first + 1 < current; });
}

std::vector<SealFrame> SealRounds::Frames(MessageType type) const {
  std::vector<SealFrame> frames;
  for (const auto& [iteration, round] : rounds_) {
    if (type == MessageType::kPropose) {
      for (const ProposeSeen& seen : round.proposals) frames.push_back({seen.leader, seen.frame});
      continue;
    }
    for (const auto& [sender, statuses] : round.statuses.all()) {
      for (const StatusSeen& seen : statuses) frames.push_back({sender, seen.frame});
    }
  }
  return frames;
}

void SealRounds::CheckInvariants(std::uint32_t current) const {
  for (const auto& [iteration, round] : rounds_) {
    OSTRAKA_CHECK(InWindow(iteration, current));
    round.statuses.CheckInvariants();
    const std::vector<ProposeSeen>& proposals = round.proposals;
    OSTRAKA_CHECK(proposals.size() <= 2);
    if (proposals.size() < 2) continue;
    OSTRAKA_CHECK(proposals.front().digest != proposals.back().digest);
    OSTRAKA_CHECK(proposals.front().leader == proposals.back().leader);
  }
}

void ProposeSeen::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, leader, body, digest, frame);
}

void SealRounds::HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, reached_, rounds_); }

}  // namespace ostraka::protocol
