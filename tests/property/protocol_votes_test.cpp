// The bookkeeping of cases against a second program that is written from protocol.md 5 and 6 and
// shares nothing with the first: over random histories of votes, faults and removals.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "node/protocol/judgement.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol {
namespace {

using scene::PeerNumber;
using wire::RemovalKind;
using wire::Verdict;

struct CaseRecord {
  std::uint64_t opened = 0;
  std::map<PeerId, Verdict> firsts;  // each voter's first word other than "abstain"
};
using CaseName = std::tuple<PeerId, PeerId, std::uint64_t>;  // accuser, target, accused step

struct Model {
  std::set<PeerId> members;
  std::map<CaseName, CaseRecord> cases;
};

// What one block removes, as the page says it: bans by key, then drops by key.
std::vector<std::pair<PeerId, bool>> Play(Model& model, std::uint64_t step,
                                          const std::map<PeerId, wire::Proof>& proofs,
                                          const std::set<PeerId>& faulty) {
  for (auto& [name, record] : model.cases) {  // who has left is not eligible any more
    std::erase_if(record.firsts, [&](const auto& f) { return !model.members.contains(f.first); });
  }
  for (const auto& [voter, proof] : proofs) {
    if (!model.members.contains(voter)) continue;
    for (const wire::Vote& vote : proof.votes) {
      const auto found = model.cases.find({vote.accuser, vote.target, vote.step});
      if (found == model.cases.end() || vote.verdict == Verdict::kAbstain) continue;
      if (voter == vote.accuser || voter == vote.target) continue;
      found->second.firsts.emplace(voter, vote.verdict);
    }
  }
  std::set<PeerId> bans;
  std::set<PeerId> expired;
  for (const PeerId& peer : faulty) {
    if (model.members.contains(peer)) bans.insert(peer);
  }
  for (const auto& [name, record] : model.cases) {
    double guilty = 0;
    double innocent = 0;
    for (const auto& [voter, verdict] : record.firsts) {
      (verdict == Verdict::kGuilty ? guilty : innocent) += 1;
    }
    const double half = (static_cast<double>(model.members.size()) - 2) / 2;
    if (guilty > half) {
      bans.insert(std::get<1>(name));
    } else if (innocent > half) {
      bans.insert(std::get<0>(name));
    } else if (step - record.opened >= 8 && !bans.contains(std::get<1>(name))) {
      expired.insert(std::get<0>(name));
    }
  }
  std::vector<std::pair<PeerId, bool>> removed;  // (peer, dropped)
  for (const PeerId& peer : bans) removed.emplace_back(peer, false);
  for (const PeerId& peer : expired) {
    if (!bans.contains(peer)) removed.emplace_back(peer, true);
  }
  for (const auto& [peer, dropped] : removed) model.members.erase(peer);
  std::erase_if(model.cases, [&](const auto& entry) {
    return !model.members.contains(std::get<0>(entry.first)) ||
           !model.members.contains(std::get<1>(entry.first));
  });
  return removed;
}

// A vote on one of the open cases, now and then on none.
wire::Vote AnyVote(const std::vector<Case>& cases) {
  const Case& about = cases[*rc::gen::inRange<std::size_t>(0, cases.size())];
  const bool of_another_step = *rc::gen::inRange(0, 8) == 0;
  const auto verdict = static_cast<Verdict>(*rc::gen::inRange(0, 3));
  return {about.accuser, about.target, about.accused_step + (of_another_step ? 1 : 0), verdict};
}

RC_GTEST_PROP(CaseProperty, AgreesWithTheModelOverHistories, ()) {
  const auto n = *rc::gen::inRange<std::uint32_t>(4, 12);
  const Manifest manifest = scene::ManifestOf(n);
  Block view = scene::ViewBefore(manifest, 10);
  Model model;
  model.members.insert(view.members.begin(), view.members.end());
  const auto pairs = *rc::gen::inRange<std::uint32_t>(1, n / 2 + 1);
  for (std::uint32_t i = 0; i < pairs; ++i) {
    const std::uint64_t opened = 9 - *rc::gen::inRange<std::uint64_t>(0, 6);
    view.cases.push_back({PeerNumber(2 * i + i % 2), PeerNumber(2 * i + 1 - i % 2), 3, opened, {}});
    model.cases[{view.cases.back().accuser, view.cases.back().target, 3}].opened = opened;
  }
  for (std::uint64_t step = 10; step < 20 && !view.cases.empty(); ++step) {
    SealedStep sealed;
    sealed.step = step;
    for (std::uint32_t i = 0; i < n + 1; ++i) {  // one is no member; the removed vote on
      wire::Proof& proof = sealed.proofs[PeerNumber(i)];
      const int votes = *rc::gen::inRange(0, 3);
      for (int v = 0; v < votes; ++v) proof.votes.push_back(AnyVote(view.cases));
    }
    Judged judged;
    if (*rc::gen::inRange(0, 6) == 0) {
      judged.faults[PeerNumber(*rc::gen::inRange<std::uint32_t>(0, n))] = "fault";
    }
    std::set<PeerId> faulty;
    for (const auto& [peer, reason] : judged.faults) faulty.insert(peer);

    const auto expected = Play(model, step, sealed.proofs, faulty);
    const Block block = JudgeStep(sealed, view, manifest, judged);
    std::vector<std::pair<PeerId, bool>> removed;
    for (const wire::Removal& removal : block.removals) {
      removed.emplace_back(removal.peer, removal.kind == RemovalKind::kDrop);
    }
    RC_ASSERT(removed == expected);
    RC_ASSERT(std::equal(block.members.begin(), block.members.end(), model.members.begin(),
                         model.members.end()));
    RC_ASSERT(block.cases.size() == model.cases.size());
    for (const Case& open : block.cases) {
      const auto& record = model.cases.at({open.accuser, open.target, open.accused_step});
      std::map<PeerId, Verdict> ballots;
      for (const auto& ballot : open.ballots) {
        RC_ASSERT(ballots.emplace(ballot.voter, ballot.verdict).second);
      }
      RC_ASSERT(ballots == record.firsts);
    }
    const auto members = static_cast<std::uint32_t>(block.members.size());
    RC_ASSERT(block.thresholds == ThresholdsFor(Mode::kMajority, members, 1));
    view = block;
  }
}

}  // namespace
}  // namespace ostraka::protocol
