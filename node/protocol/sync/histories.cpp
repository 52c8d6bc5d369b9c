#include "node/protocol/sync/histories.h"

#include <algorithm>
#include <map>

#include "node/base/check.h"
#include "node/base/planted.h"
#include "node/protocol/ground/manifest.h"

namespace ostraka::protocol {

using base::Digest;
using base::PeerId;

namespace {

constexpr std::size_t kNamedInLine = 4;

std::size_t Vouchers(const wire::Block& view) {
  if (base::Planted(base::Bug::kOneAttests)) return 1;
  return FaultBound(view.thresholds) + 1;
}

std::size_t Deniers(const wire::Block& landmark) {
  if (base::Planted(base::Bug::kOneDenies)) return 1;
  return FaultBound(landmark.thresholds) + 1;
}

std::string NamesOf(const std::vector<PeerId>& members) {
  std::string names;
  for (std::size_t i = 0; i < std::min(members.size(), kNamedInLine); ++i) {
    names += (i > 0 ? ", " : "") + members[i].Short();
  }
  if (members.size() > kNamedInLine) {
    names += " and " + std::to_string(members.size() - kNamedInLine) + " more";
  }
  return names;
}

std::string TextOf(const TwoHistories::Branch& branch) {
  std::string text = base::ToHex(branch.block.view()).substr(0, 8);
  if (branch.is_known) text += " (which this node had taken for the run's)";
  return text + (branch.shown_by.empty() ? "" : " by " + NamesOf(branch.shown_by));
}

}  // namespace

std::string TwoHistories::Line() const {
  return "two histories of this run are signed, which differ from block " + std::to_string(height) +
         " on at the latest: " + TextOf(one) + "; " + TextOf(other) +
         ". One of them was forged, or copies of the members' data folders run twice. This node "
         "follows neither: ask who gave you the link which one is the run's, and join that one by "
         "a fresh link, with a new data folder";
}

// --- heads --------------------------------------------------------------------------------------

bool Histories::IsAttested(const wire::Block& view, const Digest& block) const {
  return WhoNames(view, block).size() >= Vouchers(view);
}

std::vector<PeerId> Histories::WhoNames(const wire::Block& view, const Digest& block) const {
  return attestations_.WhoNames(block, view.members);
}

// --- comparing ----------------------------------------------------------------------------------

bool Histories::CompareParents(const wire::Block& view, std::uint64_t step, const Digest& parent,
                               const wire::Block* known) {
  const auto named_by = attestations_.ParentsOf(step, view.members);
  const auto these = named_by.find(parent);
  if (these == named_by.end() || these->second.size() < Vouchers(view)) return false;
  if (known != nullptr) {
    const Digest digest = wire::BlockDigest(*known);
    if (digest == parent) return true;
    Find({step, {digest, true, WhoNames(view, digest)}, {parent, false, these->second}});
  }
  for (const auto& [rival, members] : named_by) {
    if (rival == parent || members.size() < Vouchers(view)) continue;
    Find({step, {rival, false, members}, {parent, false, these->second}});
  }
  return true;
}

void Histories::FindLink(const wire::Block& view, std::uint64_t height, const Digest& known,
                         const Digest& named, const Digest& shown_by) {
  Find({height, {known, true, WhoNames(view, known)}, {named, false, WhoNames(view, shown_by)}});
}

void Histories::Find(TwoHistories found) {
  if (!found_) found_ = std::move(found);
}

// --- landmarks ----------------------------------------------------------------------------------

void Histories::KeepLandmark(const std::shared_ptr<const wire::Block>& view, std::uint64_t height,
                             const Digest& digest) {
  const bool is_kept = std::any_of(landmarks_.begin(), landmarks_.end(),
                                   [&](const Landmark& kept) { return kept.digest() == digest; });
  if (is_kept) return;
  if (landmarks_.size() == kLandmarks) {
    const auto oldest =
        std::find_if(landmarks_.begin(), landmarks_.end(),
                     [&](const Landmark& kept) { return kept.height() != HeightOf(*view); });
    if (oldest == landmarks_.end()) return;  // each is of another history than the view
    landmarks_.erase(oldest);
  }
  landmarks_.emplace_back(view, height, digest, patience_);
  CheckInvariants();
}

void Histories::KeepLandmark(const std::shared_ptr<const wire::Block>& view,
                             const std::shared_ptr<const wire::Block>& block) {
  if (block != nullptr) KeepLandmark(view, HeightOf(*block), wire::BlockDigest(*block));
}

bool Histories::HasLandmarkAt(std::uint64_t height) const {
  return std::any_of(landmarks_.begin(), landmarks_.end(),
                     [height](const Landmark& landmark) { return landmark.height() == height; });
}

std::vector<std::pair<PeerId, std::uint64_t>> Histories::Questions(base::Time now,
                                                                   const CanHear& can_hear) {
  std::vector<std::pair<PeerId, std::uint64_t>> questions;
  for (Landmark& landmark : landmarks_) {
    for (const PeerId& member : landmark.WhomToAsk(now, can_hear)) {
      questions.emplace_back(member, landmark.height());
    }
  }
  return questions;
}

std::optional<base::Time> Histories::wake() const {
  std::optional<base::Time> first;
  for (const Landmark& landmark : landmarks_) {
    if (landmark.wake()) first = std::min(first.value_or(*landmark.wake()), *landmark.wake());
  }
  return first;
}

bool Histories::Waits(base::Time now) const {
  return std::any_of(landmarks_.begin(), landmarks_.end(),
                     [now](const Landmark& landmark) { return landmark.Waits(now); });
}

bool Histories::OnLandmark(const PeerId& from, const Digest& digest) {
  for (Landmark& landmark : landmarks_) {
    if (landmark.digest() != digest) continue;
    landmark.OnAnswer(from, digest);
    return true;
  }
  return false;
}

void Histories::OnBlock(const PeerId& from, std::uint64_t height, const Digest& digest) {
  for (Landmark& landmark : landmarks_) {
    if (landmark.height() != height) continue;
    landmark.OnAnswer(from, digest);
    if (landmark.CountOfOthers() < Deniers(landmark.judged_by())) continue;
    std::map<Digest, std::vector<PeerId>> shown_by;
    for (const auto& [member, block] : landmark.answers()) shown_by[block].push_back(member);
    const std::vector<PeerId> same = shown_by[landmark.digest()];
    shown_by.erase(landmark.digest());
    const auto most = std::max_element(
        shown_by.begin(), shown_by.end(),
        [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    Find({height, {landmark.digest(), true, same}, {most->first, false, most->second}});
  }
}

void Histories::CheckInvariants() const { OSTRAKA_CHECK(landmarks_.size() <= kLandmarks); }

void TwoHistories::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, height, one, other);
}

void Histories::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, attestations_, landmarks_, found_);
}

}  // namespace ostraka::protocol
