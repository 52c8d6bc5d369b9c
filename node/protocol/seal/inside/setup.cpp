#include "node/protocol/seal/inside/setup.h"

#include <algorithm>
#include <utility>

#include "node/base/check.h"
#include "node/base/planted.h"
#include "node/protocol/seal/seal_clock.h"

namespace ostraka::protocol {

using wire::MessageType;

SealSetup::SealSetup(SealOptions options) : options_(std::move(options)) {
  const wire::Thresholds& thresholds = options_.thresholds;
  OSTRAKA_CHECK(std::is_sorted(options_.members.begin(), options_.members.end()));
  OSTRAKA_CHECK(std::adjacent_find(options_.members.begin(), options_.members.end()) ==
                options_.members.end());
  OSTRAKA_CHECK(options_.members.size() == thresholds.n);
  OSTRAKA_CHECK(thresholds.t_a <= thresholds.t_s);
  OSTRAKA_CHECK(std::uint64_t{thresholds.t_a} + 2 * std::uint64_t{thresholds.t_s} < thresholds.n);
  OSTRAKA_CHECK(options_.entries % options_.members.size() == 0);
  for (const PeerId& member : options_.members) {
    if (options_.muted_members.contains(member)) continue;
    unmuted_.push_back(member);
    if (member != options_.self) others_.push_back(member);
  }
  OSTRAKA_CHECK(!unmuted_.empty());
  muted_ = !IsUnmuted(options_.self);
  leaders_ = LeadersOf(options_.leader_seed, options_.slot, unmuted_);
  quorum_ = thresholds.quorum() - (base::Planted(base::Bug::kQuorumLessOne) ? 1 : 0);
  force_count_ = quorum_ - thresholds.t_a;
  fault_bound_ = std::max(thresholds.t_s, thresholds.t_a);
}

bool SealSetup::IsUnmuted(const PeerId& peer) const {
  return std::binary_search(unmuted_.begin(), unmuted_.end(), peer);
}

std::size_t SealSetup::IndexOf(const PeerId& member) const {
  const auto at = std::lower_bound(options_.members.begin(), options_.members.end(), member);
  OSTRAKA_CHECK(at != options_.members.end() && *at == member);
  return static_cast<std::size_t>(at - options_.members.begin());
}

const PeerId& SealSetup::LeaderOf(std::uint32_t iteration) const {
  OSTRAKA_CHECK(iteration > 0);
  if (base::Planted(base::Bug::kLeaderStays)) return leaders_.front();
  return leaders_[(iteration - 1) % leaders_.size()];
}

MessageType SealSetup::TypeOfEntry(std::size_t index) const {
  switch (options_.slot.phase) {
    case wire::Phase::kGenesis:
      return MessageType::kBoot;
    case wire::Phase::kA:
      return index < options_.members.size() ? MessageType::kCommit : MessageType::kAggregate;
    case wire::Phase::kB:
      return MessageType::kReveal;
    case wire::Phase::kC:
      return MessageType::kProof;
  }
  return MessageType::kBoot;
}

}  // namespace ostraka::protocol
