#include "node/protocol/judgement.h"

#include <algorithm>

#include "node/protocol/numbers.h"

namespace ostraka::protocol {
namespace {

using wire::Removal;
using wire::RemovalKind;
using wire::Verdict;

bool IsParty(const Case& open, const PeerId& peer) {
  return open.accuser == peer || open.target == peer;
}

// Adds the sealed votes of this step: the first non-abstention of a member who is no party counts.
// Ballots of members removed since are struck: the eligible are counted without them, too.
void CountVotes(const SealedStep& sealed, const Block& view, std::vector<Case>& cases) {
  for (Case& open : cases) {
    std::erase_if(open.ballots, [&](const Case::Ballot& ballot) {
      return !IsMember(view.members, ballot.voter);
    });
  }
  for (const auto& [voter, proof] : sealed.proofs) {
    for (const wire::Vote& vote : proof.votes) {
      if (vote.verdict == Verdict::kAbstain || !IsMember(view.members, voter)) continue;
      for (Case& open : cases) {
        const bool about = open.accuser == vote.accuser && open.target == vote.target &&
                           open.accused_step == vote.step;
        // clang 14 cannot capture a structured binding by name alone.
        const auto voted = [&who = voter](const Case::Ballot& ballot) {
          return ballot.voter == who;
        };
        if (!about || IsParty(open, voter)) continue;
        if (std::any_of(open.ballots.begin(), open.ballots.end(), voted)) continue;
        open.ballots.push_back({voter, vote.verdict});
      }
    }
  }
}

std::size_t Count(const Case& open, Verdict verdict) {
  return static_cast<std::size_t>(
      std::count_if(open.ballots.begin(), open.ballots.end(),
                    [&](const Case::Ballot& ballot) { return ballot.verdict == verdict; }));
}

class Docket {
 public:
  Docket(const SealedStep& sealed, const Block& view) : sealed_(sealed), view_(view) {
    cases_ = view.cases;
    CountVotes(sealed, view, cases_);
  }

  void BanForFaults(const SealedFaults& faults) {
    for (const auto& [peer, reason] : faults) Remove(peer, RemovalKind::kEvidence, reason);
  }

  // More than half of the eligible decide (protocol.md 5); members other than the two are eligible.
  void DecideCases() {
    const std::size_t eligible = view_.members.size() - 2;
    for (const Case& open : cases_) {
      const std::size_t guilty = Count(open, Verdict::kGuilty);
      const std::size_t innocent = Count(open, Verdict::kInnocent);
      const std::string of = " of " + std::to_string(eligible) + " votes";
      if (guilty * 2 > eligible) {
        Remove(open.target, RemovalKind::kVerdict,
               "its gradient of step " + std::to_string(open.accused_step) +
                   " does not follow from its batch: accused by " + open.accuser.Short() +
                   ", guilty by " + std::to_string(guilty) + of);
      } else if (innocent * 2 > eligible) {
        Remove(open.accuser, RemovalKind::kVerdict,
               "accused " + open.target.Short() + " falsely of step " +
                   std::to_string(open.accused_step) + ": innocent by " + std::to_string(innocent) +
                   of);
      } else if (sealed_.step >= open.opened_step + kCaseBlocks && !IsRemoved(open.target)) {
        Remove(open.accuser, RemovalKind::kDrop,
               "its accusation of " + open.target.Short() + " found no majority in " +
                   std::to_string(kCaseBlocks) + " blocks");
      }
    }
  }

  // A case ends with the removal of either party.
  void CloseCases() {
    std::erase_if(cases_, [&](const Case& open) {
      return IsRemoved(open.accuser) || IsRemoved(open.target);
    });
  }

  // Only a validator may accuse, only its target, only in the step it was drawn for.
  void OpenCases() {
    for (const Assignment& assignment : sealed_.roles.validators) {
      const auto proof = sealed_.proofs.find(assignment.validator);
      if (proof == sealed_.proofs.end() || !proof->second.accusation) continue;
      const wire::Accusation& accusation = *proof->second.accusation;
      const bool as_drawn =
          accusation.target == assignment.target && accusation.step == assignment.step;
      if (!as_drawn || !MayBeParty(assignment.validator) || !MayBeParty(assignment.target))
        continue;
      cases_.push_back({.accuser = assignment.validator,
                        .target = assignment.target,
                        .accused_step = assignment.step,
                        .opened_step = sealed_.step,
                        .ballots = {}});
    }
  }

  std::vector<Case> TakeCases() { return std::move(cases_); }

  // Bans by key, then drops by key.
  std::vector<Removal> TakeRemovals() {
    std::stable_sort(removals_.begin(), removals_.end(), [](const Removal& a, const Removal& b) {
      const bool a_drops = a.kind == RemovalKind::kDrop;
      const bool b_drops = b.kind == RemovalKind::kDrop;
      return a_drops != b_drops ? b_drops : a.peer < b.peer;
    });
    return std::move(removals_);
  }

  bool IsRemoved(const PeerId& peer) const {
    return std::any_of(removals_.begin(), removals_.end(),
                       [&](const Removal& removal) { return removal.peer == peer; });
  }

 private:
  void Remove(const PeerId& peer, RemovalKind kind, std::string reason) {
    if (!IsMember(view_.members, peer) || IsRemoved(peer)) return;
    removals_.push_back({peer, kind, sealed_.step, std::move(reason)});
  }

  bool MayBeParty(const PeerId& peer) const {
    const auto named = [&](const Case& open) { return IsParty(open, peer); };
    return IsMember(view_.members, peer) && !IsRemoved(peer) &&
           std::none_of(cases_.begin(), cases_.end(), named);
  }

  const SealedStep& sealed_;
  const Block& view_;
  std::vector<Case> cases_;
  std::vector<Removal> removals_;
};

// The value of at least max(t_s, t_a) + 1 members, so of an honest one.
std::optional<Digest> SealedStateRoot(const SealedStep& sealed, const Thresholds& thresholds) {
  std::map<Digest, std::uint32_t> votes;
  for (const auto& [peer, proof] : sealed.proofs) {
    if (proof.state_root) ++votes[*proof.state_root];
  }
  for (const auto& [root, count] : votes) {
    if (count >= std::max(thresholds.t_s, thresholds.t_a) + 1) return root;
  }
  return std::nullopt;
}

}  // namespace

void FindImpossibleNumbers(const SealedStep& sealed, SealedFaults& faults) {
  for (const auto& [peer, proof] : sealed.proofs) {
    if (proof.columns.size() != sealed.roles.parts.size()) continue;
    for (std::size_t j = 0; j < proof.columns.size(); ++j) {
      const wire::ColumnNumbers& numbers = proof.columns[j];
      if (numbers.missing) continue;
      if (InHonestRange(numbers, sealed.roles.parts[j].size(), sealed.tau)) continue;
      faults.emplace(peer, "its PROOF states impossible numbers for part " + std::to_string(j));
    }
  }
}

double NextTau(const SealedStep& sealed, const Block& view, const Manifest& manifest,
               const std::vector<ColumnFate>& fates) {
  if (manifest.tau > 0) return manifest.tau;
  std::vector<double> norms;
  for (std::size_t j = 0; j < fates.size(); ++j) {
    if (fates[j] != ColumnFate::kApplied) continue;
    const auto senders = SendersOf(sealed.aggregates[j]->included, view.members);
    for (const PeerId& sender : *senders) {
      norms.push_back(sealed.proofs.at(sender).columns[j].norm);
    }
  }
  if (norms.empty()) return sealed.tau;
  const auto middle = norms.begin() + static_cast<std::ptrdiff_t>((norms.size() - 1) / 2);
  std::nth_element(norms.begin(), middle, norms.end());
  // Equal rows have norm 0, where CenteredClip needs a positive radius; and huge ones stop where
  // doubles still resolve the sum check.
  return std::clamp(manifest.tau_multiple * *middle, manifest.eps, LargestTau(manifest));
}

Block JudgeStep(const SealedStep& sealed, const Block& view, const Manifest& manifest,
                const Judged& judged) {
  Docket docket(sealed, view);
  docket.BanForFaults(judged.faults);
  docket.DecideCases();
  docket.CloseCases();
  docket.OpenCases();

  Block block;
  block.step = sealed.step;
  block.decision = judged.decision;
  block.previous = view.decision;
  block.randomness = judged.randomness;
  for (const PeerId& member : view.members) {
    if (!docket.IsRemoved(member)) block.members.push_back(member);
  }
  const auto genesis_members = static_cast<std::uint32_t>(manifest.members.size());
  block.thresholds = ThresholdsFor(manifest.mode, static_cast<std::uint32_t>(block.members.size()),
                                   GenesisAsynchronousFaults(manifest.mode, genesis_members));
  block.tau = NextTau(sealed, view, manifest, judged.fates);
  block.columns = judged.fates;
  block.removals = docket.TakeRemovals();
  block.cases = docket.TakeCases();
  block.state_root = SealedStateRoot(sealed, view.thresholds);
  return block;
}

}  // namespace ostraka::protocol
