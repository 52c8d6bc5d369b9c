#include "node/protocol/sync/attestations.h"

#include <algorithm>

#include "node/base/check.h"
#include "node/protocol/ground/roles.h"

namespace ostraka::protocol {

using base::Digest;
using base::PeerId;

namespace {

bool Has(const std::vector<Digest>& parents, const Digest& parent) {
  return std::find(parents.begin(), parents.end(), parent) != parents.end();
}

}  // namespace

bool Attestations::Add(const PeerId& member, std::uint64_t step, const Digest& parent) {
  auto& steps = parents_[member];
  std::vector<Digest>& parents = steps[step];
  if (Has(parents, parent)) return false;
  if (parents.size() == kParentsAStep) parents.pop_back();
  parents.push_back(parent);
  if (steps.size() > kStepsAMember) steps.erase(steps.begin());
  OSTRAKA_CHECK(steps.size() <= kStepsAMember);
  return true;
}

bool Attestations::Contains(const PeerId& member, std::uint64_t step, const Digest& parent) const {
  const auto steps = parents_.find(member);
  if (steps == parents_.end()) return false;
  const auto parents = steps->second.find(step);
  return parents != steps->second.end() && Has(parents->second, parent);
}

std::vector<PeerId> Attestations::WhoNames(const Digest& parent,
                                           const std::vector<PeerId>& of) const {
  std::vector<PeerId> who;
  for (const auto& [member, steps] : parents_) {
    if (!IsMember(of, member)) continue;
    const bool names = std::any_of(steps.begin(), steps.end(),
                                   [&](const auto& step) { return Has(step.second, parent); });
    if (names) who.push_back(member);
  }
  return who;
}

std::map<Digest, std::vector<PeerId>> Attestations::ParentsOf(std::uint64_t step,
                                                              const std::vector<PeerId>& of) const {
  std::map<Digest, std::vector<PeerId>> named_by;
  for (const auto& [member, steps] : parents_) {
    const auto parents = steps.find(step);
    if (parents == steps.end() || !IsMember(of, member)) continue;
    for (const Digest& parent : parents->second) named_by[parent].push_back(member);
  }
  return named_by;
}

void Attestations::CheckInvariants() const {
  for (const auto& [member, steps] : parents_) {
    OSTRAKA_CHECK(steps.size() <= kStepsAMember);
    for (const auto& [step, parents] : steps) OSTRAKA_CHECK(parents.size() <= kParentsAStep);
  }
}

void Attestations::HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, parents_); }

}  // namespace ostraka::protocol
