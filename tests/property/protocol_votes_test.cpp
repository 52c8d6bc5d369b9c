// The rules for cases, drops and returns against a second program, which is written from
// docs/protocol/ and shares only the thresholds with the first: over random histories of votes,
// faults, removals and confirmations.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "node/protocol/rules/judgement.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::protocol_votes_test {
namespace {

using scene::PeerNumber;
using wire::CaseId;
using wire::CaseKind;
using wire::Verdict;

struct CaseRecord {
  std::uint64_t opened = 0;
  double bound = 0;                  // the fault bound when it opened
  std::map<PeerId, Verdict> firsts;  // each voter's first vote other than "abstain"
};

struct Past {
  bool banned = false;
  int drops = 0;
  std::uint64_t barred_until = 0;
};

struct Model {
  std::uint32_t genesis = 0;
  std::uint64_t probation = 0;
  std::set<PeerId> members;
  std::set<PeerId> joined;  // by the last block
  std::map<CaseId, CaseRecord> cases;
  std::map<PeerId, Past> past;
  std::map<PeerId, std::uint64_t> streaks;  // blocks in a row that confirmed a return

  double Faults() const {
    const auto t = ThresholdsFor(Mode::kMajority, static_cast<std::uint32_t>(members.size()), 1);
    return std::max(t.t_s, t.t_a);
  }
};

bool Votes(const CaseId& id, const PeerId& voter) {
  return voter != id.target && (voter != id.accuser || id.kind == CaseKind::kCover);
}

void TakeVotes(Model& model, const std::map<PeerId, wire::Proof>& proofs) {
  for (auto& [id, record] : model.cases) {  // members that left are no longer eligible
    std::erase_if(record.firsts, [&](const auto& f) { return !model.members.contains(f.first); });
    // Members admitted since hold no data of that step, so they have no vote.
    for (const PeerId& peer : model.joined) {
      if (Votes(id, peer)) record.firsts.emplace(peer, Verdict::kAbstain);
    }
  }
  for (const auto& [voter, proof] : proofs) {
    if (!model.members.contains(voter)) continue;
    for (const wire::Vote& vote : proof.votes) {
      const auto found = model.cases.find(vote.about);
      if (found == model.cases.end() || vote.verdict == Verdict::kAbstain) continue;
      if (Votes(vote.about, voter)) found->second.firsts.emplace(voter, vote.verdict);
    }
  }
}

enum class End { kOpen, kGuilty, kInnocent, kUndecided };

// Members that are no party and knew the step.
double Voters(const Model& model, const CaseId& id, const CaseRecord& record) {
  double voters = 0;
  for (const PeerId& member : model.members) {
    const auto first = record.firsts.find(member);
    const bool excused = first != record.firsts.end() && first->second == Verdict::kAbstain;
    if (Votes(id, member) && !excused) voters += 1;
  }
  return voters;
}

double BoundOf(const Model& model, const CaseRecord& record) {
  return std::min(record.bound, model.Faults());
}

// Of two parties that are members one is faulty.
double FaultyVoters(const Model& model, const CaseId& id, const CaseRecord& record) {
  const bool two = id.kind != CaseKind::kCover && model.members.contains(id.target) &&
                   model.members.contains(id.accuser);
  return std::max(0.0, BoundOf(model, record) - (two ? 1 : 0));
}

double Needed(const Model& model, const CaseId& id, const CaseRecord& record) {
  const double voters = Voters(model, id, record);
  const double bound = BoundOf(model, record);
  if (id.kind == CaseKind::kGradient) {  // more than half, and not faulty members alone
    return std::max(voters / 2 + 0.5, FaultyVoters(model, id, record) + 1);
  }
  if (id.kind == CaseKind::kCover) return bound + 1;
  // In the smallest memberships not even all honest members are more than the fault bound.
  return std::max(1.0, voters < 2 * bound ? bound : bound + 1);
}

// Whether an honest voter disagrees with the accuser; of other cases, whether the honest voters
// could have decided them.
bool CostsAPlace(const Model& model, const CaseId& id, const CaseRecord& record) {
  if (id.kind == CaseKind::kGradient) {
    double innocent = 0;
    for (const auto& [voter, verdict] : record.firsts) {
      innocent += verdict == Verdict::kInnocent ? 1 : 0;
    }
    return innocent > FaultyVoters(model, id, record);
  }
  const double honest = Voters(model, id, record) - FaultyVoters(model, id, record);
  return honest > 0 && honest >= Needed(model, id, record);
}

End EndOf(const Model& model, const CaseId& id, const CaseRecord& record, std::uint64_t step) {
  double guilty = 0;
  double innocent = 0;
  for (const auto& [voter, verdict] : record.firsts) {
    if (verdict == Verdict::kGuilty) guilty += 1;
    if (verdict == Verdict::kInnocent) innocent += 1;
  }
  const double needed = Needed(model, id, record);
  if (guilty >= needed) return End::kGuilty;
  if (innocent >= needed) return End::kInnocent;
  return step - record.opened >= (id.kind == CaseKind::kGradient ? 8 : 3) ? End::kUndecided
                                                                          : End::kOpen;
}

// The removals of one block: bans by key, then drops by key.
std::vector<std::pair<PeerId, bool>> Remove(Model& model, std::uint64_t step,
                                            const SealedFaults& faults) {
  std::set<PeerId> bans;
  std::set<PeerId> drops;
  for (const auto& [peer, fault] : faults) {
    const bool ban = fault.kind == FaultKind::kBan;
    if (ban && !model.past[peer].banned) bans.insert(peer);
    if (!ban && model.members.contains(peer)) drops.insert(peer);
  }
  std::map<CaseId, End> ends;
  for (const auto& [id, record] : model.cases) ends[id] = EndOf(model, id, record, step);
  for (const auto& [id, end] : ends) {
    if (end == End::kGuilty) bans.insert(id.target);
    const bool loses = end == End::kInnocent && id.kind != CaseKind::kCover;
    if (loses && !model.past[id.accuser].banned) bans.insert(id.accuser);
  }
  std::set<PeerId> gone = bans;
  gone.insert(drops.begin(), drops.end());
  for (const auto& [id, end] : ends) {
    if (end != End::kUndecided || gone.contains(id.target)) continue;
    if (!model.members.contains(id.target)) continue;
    if (!CostsAPlace(model, id, model.cases.at(id))) continue;
    const PeerId& loser = id.kind == CaseKind::kCover ? id.target : id.accuser;
    if (model.members.contains(loser)) drops.insert(loser);
  }
  for (const PeerId& peer : bans) drops.erase(peer);
  // More drops than the fault bound mean that the network was not timely.
  if (static_cast<double>(drops.size()) > model.Faults()) drops.clear();
  std::vector<std::pair<PeerId, bool>> removed;  // (peer, dropped)
  for (const PeerId& peer : bans) {
    removed.emplace_back(peer, false);
    model.past[peer].banned = true;
  }
  for (const PeerId& peer : drops) {
    removed.emplace_back(peer, true);
    Past& past = model.past[peer];
    const auto fault = faults.find(peer);
    const bool after_coin = fault != faults.end() && fault->second.kind == FaultKind::kDropAtReveal;
    if (after_coin || past.drops > 0) past.barred_until = step + 1000;
    ++past.drops;
  }
  for (const auto& [peer, dropped] : removed) model.members.erase(peer);
  std::erase_if(model.cases, [&](const auto& entry) {
    const CaseId& id = entry.first;
    const bool answers = id.kind == CaseKind::kGradient ? !model.past[id.target].banned
                                                        : model.members.contains(id.target);
    if (ends.at(id) != End::kOpen || !answers) return true;
    return id.kind == CaseKind::kNumbers && !model.members.contains(id.accuser);
  });
  return removed;
}

std::set<PeerId> Admit(Model& model, const Model& before, std::uint64_t step,
                       const std::map<PeerId, wire::Proof>& proofs) {
  std::set<PeerId> joined;
  for (std::uint32_t i = 0; i < model.genesis + 1; ++i) {
    const PeerId peer = PeerNumber(i);
    double voices = 0;
    for (const PeerId& member : before.members) {
      const auto& joins = proofs.at(member).joins;
      if (std::find(joins.begin(), joins.end(), peer) != joins.end()) voices += 1;
    }
    const Past& past = model.past[peer];
    const bool in_order = i < model.genesis && !before.members.contains(peer) && !past.banned &&
                          step >= past.barred_until;
    if (voices < before.Faults() + 1 || !in_order) {
      model.streaks.erase(peer);
    } else if (++model.streaks[peer] == model.probation) {
      model.streaks.erase(peer);
      model.members.insert(peer);
      joined.insert(peer);
    }
  }
  model.joined = joined;
  return joined;
}

// --- random histories ---------------------------------------------------------------------------

// A vote on one of the open cases, sometimes on none.
wire::Vote AnyVote(const std::vector<Case>& cases) {
  wire::Vote vote;
  vote.about = cases[*rc::gen::inRange<std::size_t>(0, cases.size())].id;
  if (*rc::gen::inRange(0, 8) == 0) ++vote.about.step;
  vote.verdict = static_cast<Verdict>(*rc::gen::inRange(0, 3));
  return vote;
}

SealedFaults AnyFaults(std::uint32_t n) {
  SealedFaults faults;
  for (int i = *rc::gen::inRange(0, 8); i < 2; ++i) {
    NoteFault(faults, PeerNumber(*rc::gen::inRange<std::uint32_t>(0, n)),
              *rc::gen::weightedElement<FaultKind>(
                  {{4, FaultKind::kDrop}, {1, FaultKind::kDropAtReveal}, {1, FaultKind::kBan}}),
              {.cause = wire::Cause::kAbsent});
  }
  return faults;
}

SealedStep AnyStep(std::uint32_t n, const Block& view) {
  SealedStep sealed;
  sealed.step = view.step + 1;
  const int eager = *rc::gen::element(0, 70, 95);  // percent that confirm a return
  // One voter is no member; removed members still send votes.
  for (std::uint32_t i = 0; i < n + 1; ++i) {
    wire::Proof& proof = sealed.proofs[PeerNumber(i)];
    const int votes = view.cases.empty() ? 0 : *rc::gen::inRange(0, 3);
    for (int v = 0; v < votes; ++v) proof.votes.push_back(AnyVote(view.cases));
    for (std::uint32_t j = 0; j < n + 1; ++j) {
      const bool stranger = !IsMember(view.members, PeerNumber(j));
      if (stranger && *rc::gen::inRange(0, 100) < eager) proof.joins.push_back(PeerNumber(j));
    }
  }
  return sealed;
}

// Gradient cases have disjoint parties; other cases may name any member.
std::vector<Case> AnyCases(std::uint32_t n) {
  std::vector<Case> cases;
  const auto add = [&](CaseKind kind, std::uint32_t accuser, std::uint32_t target) {
    Case open = scene::GradientCase(accuser, target, 3, 9 - *rc::gen::inRange<std::uint64_t>(0, 4));
    open.id.kind = kind;
    open.fault_bound = *rc::gen::inRange<std::uint32_t>(0, 6);
    cases.push_back(open);
  };
  const auto pairs = *rc::gen::inRange<std::uint32_t>(0, n / 2 + 1);
  for (std::uint32_t i = 0; i < pairs; ++i) {
    add(CaseKind::kGradient, 2 * i + i % 2, 2 * i + 1 - i % 2);
  }
  std::set<std::pair<std::uint32_t, std::uint32_t>> taken;
  for (int i = *rc::gen::inRange(0, 5); i > 0; --i) {
    const auto accuser = *rc::gen::inRange<std::uint32_t>(0, n);
    const auto target = (accuser + *rc::gen::inRange<std::uint32_t>(1, n)) % n;
    if (!taken.emplace(accuser, target).second) continue;
    add(*rc::gen::element(CaseKind::kNumbers, CaseKind::kCover), accuser, target);
  }
  return cases;
}

void AssertSameCases(const Block& block, const Model& model) {
  RC_ASSERT(block.cases.size() == model.cases.size());
  for (const Case& open : block.cases) {
    std::map<PeerId, Verdict> ballots;
    for (const auto& ballot : open.ballots) {
      RC_ASSERT(ballots.emplace(ballot.voter, ballot.verdict).second);
    }
    RC_ASSERT(ballots == model.cases.at(open.id).firsts);
  }
}

void AssertSameMembers(const Block& block, const Model& model, const std::set<PeerId>& joined) {
  RC_ASSERT(std::set<PeerId>(block.members.begin(), block.members.end()) == model.members);
  RC_ASSERT(std::is_sorted(block.members.begin(), block.members.end()));
  RC_ASSERT(std::set<PeerId>(block.joined.begin(), block.joined.end()) == joined);
  RC_ASSERT(block.candidates.size() == model.streaks.size());
  for (const wire::Candidate& candidate : block.candidates) {
    RC_ASSERT(candidate.confirmed == block.step);
    RC_ASSERT(block.step - candidate.since + 1 == model.streaks.at(candidate.peer));
  }
  for (const wire::Standing& standing : block.standings) {
    const Past& past = model.past.at(standing.peer);
    RC_ASSERT(standing.banned == past.banned);
    RC_ASSERT(static_cast<int>(standing.drops) == past.drops);
    RC_ASSERT(standing.barred_until == past.barred_until);
  }
  const auto n = static_cast<std::uint32_t>(block.members.size());
  RC_ASSERT(block.thresholds == ThresholdsFor(Mode::kMajority, n, 1));
  RC_ASSERT(n == 0 || block.thresholds.t_a + 2 * block.thresholds.t_s < n);
}

RC_GTEST_PROP(CaseProperty, AgreesWithTheModelOverHistories, ()) {
  const auto n = *rc::gen::inRange<std::uint32_t>(4, 12);
  Manifest manifest = scene::ManifestOf(n);
  manifest.probation = 3;
  Block view = scene::ViewBefore(manifest, 10);
  view.cases = AnyCases(n);
  Model model;
  model.genesis = n;
  model.probation = manifest.probation;
  model.members.insert(view.members.begin(), view.members.end());
  for (const Case& open : view.cases) {
    model.cases[open.id].opened = open.opened_step;
    model.cases[open.id].bound = open.fault_bound;
  }
  std::size_t returns = 0;
  for (int i = 0; i < 14; ++i) {
    const SealedStep sealed = AnyStep(n, view);
    const SealedFaults faults = AnyFaults(n);
    const Model before = model;
    TakeVotes(model, sealed.proofs);
    const auto expected = Remove(model, sealed.step, faults);
    const auto joined = Admit(model, before, sealed.step, sealed.proofs);
    returns += joined.size();

    const Block block = JudgeStep(sealed, view, manifest, {{}, {}, {}, faults});
    std::vector<std::pair<PeerId, bool>> removed;
    for (const wire::Removal& removal : block.removals) {
      removed.emplace_back(removal.peer, removal.kind == wire::RemovalKind::kDrop);
    }
    RC_ASSERT(removed == expected);
    AssertSameMembers(block, model, joined);
    AssertSameCases(block, model);
    view = block;
    if (view.members.size() < 3) break;
  }
  RC_CLASSIFY(returns > 0, "somebody came back");
}

}  // namespace
}  // namespace ostraka::protocol::protocol_votes_test
