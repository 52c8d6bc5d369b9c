// As many colluders as the thresholds bear, with any messages, never get an honest member removed
// (docs/protocol.md 1), and are never a majority among the senders of an applied column.
//
// Honest members tell the truth and do their duties, as node/protocol/rules/cases.h and disputes.h
// require. Colluders withhold, lie, accuse, name, vote, confirm and fall silent at random. The
// truth (false numbers by column, false gradients) is recorded beside the sealed messages.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "crypto/set_root.h"
#include "node/base/rng.h"
#include "node/protocol/rules/judgement.h"
#include "node/wire/bitmap.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::protocol_framing_test {
namespace {

using scene::DigestOf;
using scene::PeerNumber;
using wire::CaseId;
using wire::CaseKind;
using wire::Verdict;

// How often colluders do each thing, in percent. Some worlds are quiet and some are not.
struct Malice {
  std::uint64_t withhold, lie, accuse, name, vote, fall_silent;
  // Several lie about one column, and one gives up its membership for the others.
  std::uint64_t conspire;
  std::uint64_t dawdle;  // messages arrive late, and colluders claim that others' do
};

void Demand(bool holds, const std::string& what) {
  if (!holds) RC_FAIL(what);
}

class World {
 public:
  World(std::uint64_t seed, std::uint32_t n, Mode mode, Malice malice)
      : rng_(seed), malice_(malice), manifest_(scene::ManifestOf(n, mode)) {
    view_ = scene::ViewBefore(manifest_, 10);
    const std::uint32_t faults = GenesisThresholds(manifest_).t_s;
    while (byzantine_.size() < faults) {
      byzantine_.insert(PeerNumber(static_cast<std::uint32_t>(rng_.Below(n))));
    }
  }

  void PlayStep();

  std::size_t removals = 0;
  std::size_t returns = 0;
  std::size_t cases = 0;
  std::size_t covers = 0;
  std::size_t disputes = 0;
  std::size_t second_failures = 0;  // pairs in dispute of which one member was dropped

 private:
  using Claim = std::tuple<std::uint64_t, std::uint32_t, PeerId>;  // step, column, worker

  bool Bad(const PeerId& peer) const { return byzantine_.contains(peer); }
  bool Luck(std::uint64_t percent) { return rng_.Chance(percent, 100); }
  PeerId Anybody() {
    return manifest_.members[static_cast<std::size_t>(rng_.Below(manifest_.members.size()))].id;
  }

  void Commit();
  void HandOverParts();
  bool PartArrives(const PeerId& worker, const PeerId& owner);
  void Aggregate();
  void Dawdle();
  void HandOverResults();
  void Prove();
  void JudgeColumns();
  void SpeakHonestly(const PeerId& member, wire::Proof& proof);
  void SpeakAtWill(const PeerId& member, wire::Proof& proof);
  std::optional<wire::Naming> TrueNaming(const PeerId& owner) const;
  Verdict TruthOf(const CaseId& about) const;
  bool Knows(const PeerId& voter, const Case& open);
  void CheckBlock(const Block& block) const;
  void CheckOrderDoesNotMatter(const Block& block) const;

  base::Rng rng_;
  Malice malice_;
  Manifest manifest_;
  Block view_;
  std::set<PeerId> byzantine_;
  std::set<Claim> lies_;                              // numbers that do not follow from the part
  std::set<std::pair<std::uint64_t, PeerId>> wrong_;  // gradients that do not follow from the batch
  std::set<std::pair<PeerId, PeerId>> away_;          // this step: parts that did not arrive
  std::set<std::pair<PeerId, PeerId>> unseen_;        // this step: (worker, owner) results
  std::set<std::size_t> held_parts_, held_results_;   // this step: by all honest members
  std::map<std::size_t, std::set<PeerId>> part_witnesses_;  // this step: by some of them
  std::map<std::size_t, std::set<PeerId>> result_witnesses_;
  // In this step, by how many ms honest members see own messages and AGGs late.
  std::map<PeerId, std::uint64_t> late_;
  std::map<PeerId, std::uint64_t> late_aggregate_;
  SealedStep sealed_;
  Judged judged_;
};

// A colluder that falls silent does so at one of the four points of a step where its message is
// due.
void World::Commit() {
  for (const PeerId& member : view_.members) {
    const bool silent = Bad(member) && Luck(malice_.fall_silent);
    std::uint64_t place = silent ? rng_.Below(5) : 5;
    if (Bad(member) && Luck(malice_.conspire / 8)) place = 1;
    if (place == 0) {  // COMMIT
      NoteFault(judged_.faults, member, FaultKind::kDrop, {.cause = wire::Cause::kAbsent});
      sealed_.faulty_in_a.insert(member);
      continue;
    }
    sealed_.commit_digests[member] = DigestOf(4000 + member.bytes[7]);
    wire::Commit& commit = sealed_.commits[member];
    if (sealed_.roles.IsWorker(member)) commit.gradient_root = DigestOf(1);
    if (place == 1 && sealed_.roles.PartOwnedBy(member)) {  // AGG
      NoteFault(judged_.faults, member, FaultKind::kDrop, {.cause = wire::Cause::kAbsent});
      sealed_.faulty_in_a.insert(member);
      continue;
    }
    if (place == 2) {  // REVEAL
      NoteFault(judged_.faults, member, FaultKind::kDropAtReveal, {.cause = wire::Cause::kAbsent});
      continue;
    }
    if (place == 3) {  // PROOF
      NoteFault(judged_.faults, member, FaultKind::kDrop, {.cause = wire::Cause::kAbsent});
      continue;
    }
    if (place == 4 && Luck(20)) {
      NoteFault(judged_.faults, member, FaultKind::kBan, {.cause = wire::Cause::kTwoMessages});
      continue;
    }
    sealed_.proofs[member];
  }
}

// Parts and results of pairs in dispute go to all, and honest members forward them. So they arrive
// wherever any honest member holds them, and those of an honest sender are held by all honest
// members.
void World::HandOverParts() {
  const auto pairs = LivePairsOf(view_, sealed_.roles);
  for (const LivePair& pair : pairs) {
    if (!Bad(pair.worker)) {
      held_parts_.insert(pair.index);
    } else {
      std::set<PeerId>& witnesses = part_witnesses_[pair.index];
      for (const PeerId& member : view_.members) {
        if (!Bad(member) && !Luck(malice_.withhold)) witnesses.insert(member);
      }
      if (witnesses.empty()) away_.emplace(pair.worker, pair.aggregator);
    }
  }
  for (const PeerId& worker : sealed_.roles.workers) {
    for (const PeerId& owner : sealed_.roles.owners) {
      const bool live = std::any_of(pairs.begin(), pairs.end(), [&](const LivePair& pair) {
        return pair.worker == worker && pair.aggregator == owner;
      });
      if (Bad(worker) && !live && Luck(malice_.withhold)) away_.emplace(worker, owner);
    }
  }
}

bool World::PartArrives(const PeerId& worker, const PeerId& owner) {
  return sealed_.commits.contains(worker) && !away_.contains({worker, owner});
}

void World::Aggregate() {
  sealed_.aggregates.resize(sealed_.roles.parts.size());
  for (std::uint32_t j = 0; j < sealed_.roles.owners.size(); ++j) {
    const PeerId& owner = sealed_.roles.owners[j];
    if (sealed_.faulty_in_a.contains(owner)) continue;
    std::vector<PeerId> senders;
    std::vector<Digest> commits;
    // A colluder that leaves out honest senders includes all colluders and few others.
    const bool picks = Bad(owner) && Luck(malice_.withhold);
    std::uint64_t others = picks ? rng_.Below(view_.members.size()) : view_.members.size();
    for (const PeerId& worker : sealed_.roles.workers) {
      const bool here = worker == owner || PartArrives(worker, owner);
      if (!sealed_.commits.contains(worker) || !here) continue;
      if (!Bad(worker) && others == 0) continue;
      others -= Bad(worker) ? 0 : 1;
      senders.push_back(worker);
      commits.push_back(sealed_.commit_digests.at(worker));
    }
    wire::Aggregate& aggregate = sealed_.aggregates[j].emplace();
    aggregate.part_index = j;
    aggregate.included = wire::BitmapOf(senders, view_.members);
    aggregate.commits_root = crypto::SetRoot(commits);
    if (!Bad(owner) || !Luck(malice_.withhold / 4)) aggregate.result_root = DigestOf(7 + j);
  }
}

// Colluders delay their own messages, or a part, which makes its owner late. In a dispute all
// members see when the part comes. A colluding owner blames any worker.
void World::Dawdle() {
  const auto pairs = LivePairsOf(view_, sealed_.roles);
  for (const PeerId& member : view_.members) {
    if (Bad(member) && Luck(malice_.dawdle)) late_[member] = rng_.Below(90'000);
  }
  for (std::size_t j = 0; j < sealed_.aggregates.size(); ++j) {
    if (!sealed_.aggregates[j]) continue;
    const PeerId& owner = sealed_.roles.owners[j];
    wire::Aggregate& aggregate = *sealed_.aggregates[j];
    if (Bad(owner)) {
      if (Luck(malice_.dawdle)) aggregate.slowest = Anybody();
      continue;
    }
    for (const PeerId& worker : sealed_.roles.workers) {
      if (!Bad(worker) || !Luck(malice_.dawdle)) continue;
      const std::uint64_t ms = rng_.Below(20'000);  // the owner's part timer ends the wait
      if (ms <= late_aggregate_[owner]) continue;
      aggregate.slowest = worker;
      late_aggregate_[owner] = ms;
      const bool live = std::any_of(pairs.begin(), pairs.end(), [&](const LivePair& pair) {
        return pair.worker == worker && pair.aggregator == owner;
      });
      if (live) late_[worker] = std::max(late_[worker], ms);
    }
  }
}

void World::HandOverResults() {
  const auto pairs = LivePairsOf(view_, sealed_.roles);
  std::set<std::pair<PeerId, PeerId>> live;
  for (const LivePair& pair : pairs) {
    live.emplace(pair.worker, pair.aggregator);
    if (!Bad(pair.aggregator)) {
      held_results_.insert(pair.index);
      continue;
    }
    std::set<PeerId>& witnesses = result_witnesses_[pair.index];
    for (const PeerId& member : view_.members) {
      if (!Bad(member) && !Luck(malice_.withhold)) witnesses.insert(member);
    }
    if (witnesses.empty()) unseen_.emplace(pair.worker, pair.aggregator);
  }
  for (const PeerId& owner : sealed_.roles.owners) {
    for (const PeerId& worker : sealed_.roles.workers) {
      if (!Bad(owner) || worker == owner || live.contains({worker, owner})) continue;
      if (Luck(malice_.withhold)) unseen_.emplace(worker, owner);
    }
  }
}

// All numbers are zero, which is possible; lies_ records whether they follow from the parts.
void World::Prove() {
  const bool together = !sealed_.roles.owners.empty() && Luck(malice_.conspire);
  const std::uint64_t victim = together ? rng_.Below(sealed_.roles.owners.size()) : 0;
  for (auto& [member, proof] : sealed_.proofs) {
    if (sealed_.roles.IsWorker(member)) {
      for (std::uint32_t j = 0; j < sealed_.roles.owners.size(); ++j) {
        wire::ColumnNumbers numbers;
        const bool unseen = unseen_.contains({member, sealed_.roles.owners[j]});
        numbers.missing =
            sealed_.GivesResult(j) && (unseen || (Bad(member) && Luck(malice_.withhold)));
        const bool lies = Luck(malice_.lie) || (together && j == victim);
        if (!numbers.missing && Bad(member) && lies) {
          lies_.emplace(sealed_.step, j, member);
        }
        if (Bad(member) && Luck(malice_.fall_silent)) numbers.norm = -1;
        proof.columns.push_back(numbers);
      }
      if (Bad(member) && (together || Luck(malice_.lie))) wrong_.emplace(sealed_.step, member);
    }
    Bad(member) ? SpeakAtWill(member, proof) : SpeakHonestly(member, proof);
  }
}

// The sum check fails only if somebody lied: a sender, or the owner with its aggregate.
void World::JudgeColumns() {
  judged_.fates = JudgeWithoutAggregates(sealed_, view_);
  for (std::uint32_t j = 0; j < judged_.fates.size(); ++j) {
    if (judged_.fates[j] != ColumnFate::kApplied) continue;
    const auto senders = *IncludedIn(sealed_, view_, j);
    const auto friends = std::count_if(senders.begin(), senders.end(),
                                       [&](const PeerId& sender) { return Bad(sender); });
    Demand(2 * static_cast<std::size_t>(friends) < senders.size(), "colluders decide a column");
    const bool lied = std::any_of(senders.begin(), senders.end(), [&](const PeerId& sender) {
      return lies_.contains({sealed_.step, j, sender});
    });
    if ((lied || Bad(sealed_.roles.owners[j])) && Luck(50)) {
      judged_.fates[j] = ColumnFate::kSumCheck;
    }
  }
}

// A worker that lied about the owner's column in the last step and is still a member, if there is
// one.
std::optional<wire::Naming> World::TrueNaming(const PeerId& owner) const {
  std::optional<wire::Naming> naming;
  for (std::uint32_t j = 0; j < view_.aggregated.size(); ++j) {
    const Block::Column& column = view_.aggregated[j];
    if (column.owner != owner) continue;
    for (const PeerId& sender : column.senders) {
      if (!lies_.contains({view_.step, j, sender})) continue;
      if (!naming || IsMember(view_.members, sender)) naming = {sender, view_.step, j};
    }
  }
  return naming;
}

// The finding of a member that holds the data of the case.
Verdict World::TruthOf(const CaseId& about) const {
  bool guilty = false;
  if (about.kind == CaseKind::kGradient) {
    guilty = wrong_.contains({about.step, about.target});
  } else {
    const PeerId& liar = about.kind == CaseKind::kNumbers ? about.target : about.accuser;
    guilty = lies_.contains({about.step, about.column, liar});
  }
  return guilty ? Verdict::kGuilty : Verdict::kInnocent;
}

// Any member can recompute a gradient; a part must be shown by the owner that aggregated it.
bool World::Knows(const PeerId&, const Case& open) {
  switch (open.id.kind) {
    case CaseKind::kGradient:
      return !Luck(20) || sealed_.step >= open.opened_step + 4;
    case CaseKind::kNumbers:
      return Bad(open.id.accuser) ? Luck(50) : (Luck(50) || sealed_.step > open.opened_step + 1);
    case CaseKind::kCover:
      return Bad(open.id.target) ? Luck(50) : (Luck(50) || sealed_.step > open.opened_step + 1);
  }
  return false;
}

void World::SpeakHonestly(const PeerId& member, wire::Proof& proof) {
  if (const auto mine = sealed_.roles.AssignmentOf(member)) {
    if (wrong_.contains({mine->step, mine->target})) {
      proof.accusation = wire::Accusation{mine->target, mine->step};
    }
  }
  proof.naming = TrueNaming(member);
  for (const Case& open : view_.cases) {
    if (!IsParty(open, member) && Knows(member, open)) {
      proof.votes.push_back({open.id, TruthOf(open.id)});
    }
  }
  std::set<std::size_t> parts = held_parts_;
  std::set<std::size_t> results = held_results_;
  for (const auto& [index, who] : part_witnesses_) {
    if (who.contains(member)) parts.insert(index);
  }
  for (const auto& [index, who] : result_witnesses_) {
    if (who.contains(member)) results.insert(index);
  }
  proof.held = HeldBitmap(view_, parts, results);
  std::vector<PeerId> silent;
  for (const PeerId& other : view_.members) {
    if (Bad(other) && Luck(malice_.fall_silent)) silent.push_back(other);
  }
  proof.silent = wire::BitmapOf(silent, view_.members);
  for (const Member& gone : manifest_.members) {
    if (MayReturn(view_, gone.id, sealed_.step)) proof.joins.push_back(gone.id);
  }
  proof.lag_us = 100'000;
  for (const PeerId& other : view_.members) proof.late_ms.push_back(late_[other]);
  for (const PeerId& other : view_.members) proof.late_ms.push_back(late_aggregate_[other]);
}

void World::SpeakAtWill(const PeerId& member, wire::Proof& proof) {
  const auto mine = sealed_.roles.AssignmentOf(member);
  if (Luck(malice_.accuse)) {
    proof.accusation =
        mine ? wire::Accusation{mine->target, mine->step} : wire::Accusation{Anybody(), view_.step};
  }
  if (Luck(malice_.name)) {
    std::uint32_t column = static_cast<std::uint32_t>(rng_.Below(16));
    for (std::uint32_t j = 0; j < view_.aggregated.size(); ++j) {
      if (view_.aggregated[j].owner == member && Luck(90)) column = j;
    }
    proof.naming = wire::Naming{Anybody(), view_.step - rng_.Below(10) / 9, column};
  } else if (Luck(50)) {
    proof.naming = TrueNaming(member);  // a betrayed colluder
  }
  for (const Case& open : view_.cases) {
    if (!Luck(malice_.vote)) continue;
    proof.votes.push_back({open.id, Luck(50) ? Verdict::kGuilty : Verdict::kInnocent});
  }
  for (base::Bytes* bits : {&proof.held, &proof.silent, &proof.hasty, &proof.unshown}) {
    bits->resize(static_cast<std::size_t>(rng_.Below(6)));
    for (std::uint8_t& byte : *bits)
      byte = Luck(50) ? 0xff : static_cast<std::uint8_t>(rng_.Next());
  }
  for (const Member& anybody : manifest_.members) {
    if (Luck(50)) proof.joins.push_back(anybody.id);
  }
  proof.lag_us = rng_.Next();
  if (Luck(malice_.dawdle)) {
    proof.late_ms.clear();
    for (std::size_t i = 0; i < 2 * view_.members.size(); ++i) {
      proof.late_ms.push_back(Luck(50) ? rng_.Next() : rng_.Below(50'000));
    }
  }
}

void World::CheckBlock(const Block& block) const {
  for (const wire::Removal& removal : block.removals) {
    Demand(Bad(removal.peer), "an honest member loses: " + wire::TextOf(removal.reason));
  }
  const auto faults =
      static_cast<std::uint32_t>(std::count_if(block.members.begin(), block.members.end(),
                                               [&](const PeerId& member) { return Bad(member); }));
  Demand(block.members.size() - faults == manifest_.members.size() - byzantine_.size(),
         "an honest member is missing");
  Demand(faults <= block.thresholds.t_s, "the bound must outlast removals and returns");
  Demand(block.thresholds.t_a + 2 * block.thresholds.t_s < block.thresholds.n, "thresholds");
  for (const wire::Dispute& dispute : block.disputes) {
    Demand(Bad(dispute.worker) || Bad(dispute.aggregator), "an honest pair in dispute");
  }
  for (const wire::Lateness& late : block.lateness) {
    Demand(Bad(late.peer), "an honest member pays for the slowness of others");
  }
  for (const auto& [accuser, target] : QuarantinedPairs(block)) {
    Demand(Bad(accuser) || Bad(target), "b must count a fault in every pair");
  }
  Demand(block.delta_us == 1'000'000, "colluders set Delta");
  const auto decoded = wire::DecodeBlock(wire::EncodeBlock(block));
  Demand(decoded.ok(), "the block cannot be read");
}

// Equal messages in another order: votes within a PROOF, and validators as drawn.
void World::CheckOrderDoesNotMatter(const Block& block) const {
  SealedStep sealed = sealed_;
  for (auto& [member, proof] : sealed.proofs) {
    std::reverse(proof.votes.begin(), proof.votes.end());
  }
  std::reverse(sealed.roles.validators.begin(), sealed.roles.validators.end());
  Block other = JudgeStep(sealed, view_, manifest_, judged_);
  const auto ids = [](const Block& b) {
    std::set<CaseId> all;
    for (const Case& open : b.cases) all.insert(open.id);
    return all;
  };
  Demand(ids(other) == ids(block), "the order of words decides which cases are open");
  other.cases = block.cases;
  Demand(wire::EncodeBlock(other) == wire::EncodeBlock(block), "the order of words decides");
}

void World::PlayStep() {
  sealed_ = {};
  judged_ = {};
  away_.clear();
  unseen_.clear();
  held_parts_.clear();
  held_results_.clear();
  part_witnesses_.clear();
  result_witnesses_.clear();
  late_.clear();
  late_aggregate_.clear();
  sealed_.step = view_.step + 1;
  sealed_.tau = 1;
  sealed_.roles = AssignRoles(view_, 1000);
  judged_.randomness = DigestOf(rng_.Next() >> 1);
  Commit();
  HandOverParts();
  Aggregate();
  Dawdle();
  HandOverResults();
  Prove();
  JudgeColumns();
  const Block block = JudgeStep(sealed_, view_, manifest_, judged_);
  CheckBlock(block);
  CheckOrderDoesNotMatter(block);
  removals += block.removals.size();
  returns += block.joined.size();
  cases += block.cases.size();
  covers += static_cast<std::size_t>(
      std::count_if(block.cases.begin(), block.cases.end(),
                    [](const Case& open) { return open.id.kind == CaseKind::kCover; }));
  disputes += block.disputes.size();
  for (const wire::Removal& removal : block.removals) {
    const bool again = wire::TextOf(removal.reason).find("in dispute") != std::string::npos ||
                       wire::TextOf(removal.reason).find("which others") != std::string::npos;
    second_failures += again ? 1 : 0;
  }
  view_ = block;
}

// Mostly zero, since colluders that do everything at once are removed before a plan unfolds.
std::uint64_t Percent() {
  return *rc::gen::weightedElement<std::uint64_t>({{6, 0}, {2, 2}, {1, 10}, {1, 30}, {1, 80}});
}

RC_GTEST_PROP(FramingProperty, ColludersNeverGetAnHonestMemberRemoved, ()) {
  const auto n = *rc::gen::inRange<std::uint32_t>(4, 17);
  const Mode mode = *rc::gen::element(Mode::kMajority, Mode::kBalanced, Mode::kThird);
  const Malice malice = {Percent(),
                         Percent(),
                         Percent(),
                         Percent(),
                         Percent(),
                         *rc::gen::element<std::uint64_t>(0, 0, 1, 5),
                         *rc::gen::element<std::uint64_t>(0, 20, 60),
                         Percent()};
  World world(*rc::gen::arbitrary<std::uint64_t>(), n, mode, malice);
  for (int i = 0; i < 60; ++i) world.PlayStep();
  RC_CLASSIFY(world.removals > 0, "somebody was removed");
  RC_CLASSIFY(world.returns > 0, "somebody came back");
  RC_CLASSIFY(world.covers > 0, "members answered for a convicted one's part");
  RC_CLASSIFY(world.cases > 0, "cases were open");
  RC_CLASSIFY(world.disputes > 0, "pairs were in dispute");
  RC_CLASSIFY(world.second_failures > 0, "a disputed pair lost one");
}

}  // namespace
}  // namespace ostraka::protocol::protocol_framing_test
