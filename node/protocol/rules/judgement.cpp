#include "node/protocol/rules/judgement.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "node/base/planted.h"
#include "node/protocol/ground/numbers.h"
#include "node/protocol/ground/reach.h"
#include "node/protocol/ground/schedule.h"
#include "node/protocol/rules/coming.h"
#include "node/protocol/rules/lateness.h"
#include "node/protocol/rules/leaving.h"
#include "node/protocol/rules/part_wait.h"
#include "node/protocol/rules/voids.h"
#include "node/wire/bitmap.h"

namespace ostraka::protocol {
namespace {

using wire::CaseKind;
using wire::Cause;

// Keys that evidence may still ban: all of the run, but for those banned already.
std::vector<PeerId> MayBeBanned(const Block& head) {
  std::vector<PeerId> peers;
  for (const PeerId& key : KeysOf(head)) {
    const Standing* standing = StandingOf(head.standings, key);
    if (standing == nullptr || !standing->banned) peers.push_back(key);
  }
  return peers;
}

void RemoveForFaults(const SealedFaults& faults, Docket& docket) {
  for (const auto& [peer, fault] : faults) {
    if (fault.kind == FaultKind::kBan) {
      docket.Ban(peer, wire::RemovalKind::kEvidence, fault.reason);
    } else {
      docket.Drop(peer, fault.reason, fault.kind);
    }
  }
  docket.EndPass();
}

// Members that more members name in `names` of their PROOFs than can lie. Ends no pass.
void DropNamed(const SealedStep& sealed, const Block& head, base::Bytes wire::Proof::*names,
               Cause cause, Docket& docket) {
  for (std::size_t i = 0; i < head.members.size(); ++i) {
    const auto named = [&](const auto& entry) {
      return IsMember(head.members, entry.first) && wire::HasBit(entry.second.*names, i);
    };
    const auto count = std::count_if(sealed.proofs.begin(), sealed.proofs.end(), named);
    if (static_cast<std::size_t>(count) <= FaultBound(head.thresholds)) continue;
    docket.Drop(head.members[i], {.cause = cause, .count = static_cast<std::uint64_t>(count)});
  }
}

// Drops members for ECHOs that no honest member sends (node/protocol/watch/echo_watch.h).
void DropForEchoes(const SealedStep& sealed, const Block& head, Docket& docket) {
  DropNamed(sealed, head, &wire::Proof::silent, Cause::kWithheldEcho, docket);
  DropNamed(sealed, head, &wire::Proof::hasty, Cause::kHastyEcho, docket);
  DropNamed(sealed, head, &wire::Proof::unshown, Cause::kUnshownEcho, docket);
}

// While the network is timely only faulty members are dropped. More than can be faulty show that it
// was not; and a partition must not cost the run its members, perhaps all of them.
void ForgiveUntimely(const Block& head, Docket& docket) {
  const auto losers = docket.Losers();
  const auto drops = std::count_if(losers.begin(), losers.end(), [&](const auto& loser) {
    return loser.second < FaultKind::kSuspend;
  });
  if (static_cast<std::size_t>(drops) > FaultBound(head.thresholds)) docket.ForgiveDrops();
}

// A case goes on while nothing ended it and its parties stay. The party of a kCover case is its
// target. Those of a gradient case need not stay: all that is asked of them is sealed. [The third
// accuser of a block, for whose false accusation there was no room yet, was silent before anybody
// could vote: it was dropped, and not suspended.]
bool GoesOn(const Case& open, const Block& head, std::uint64_t step, bool exact,
            const Docket& docket) {
  const PeerId& target = open.id.target;
  const bool gradient = open.id.kind == CaseKind::kGradient;
  if (RuleOn(open, head, step, exact) != Ruling::kPending) return false;
  if (gradient ? !docket.Answers(target) : !docket.Stays(target)) return false;
  return open.id.kind != CaseKind::kNumbers || docket.Stays(open.id.accuser);
}

std::vector<Case> CasesAfter(const SealedStep& sealed, const Block& head,
                             const std::vector<Case>& counted, bool exact, const Docket& docket) {
  std::vector<Case> cases;
  std::vector<Case> convicted;
  for (const Case& open : counted) {
    if (GoesOn(open, head, sealed.step, exact, docket)) cases.push_back(open);
    const bool guilty = RuleOn(open, head, sealed.step, exact) == Ruling::kGuilty;
    if (open.id.kind == CaseKind::kGradient && guilty) convicted.push_back(open);
  }
  for (Case& opened : OpenCases(sealed, head, cases, convicted, docket)) {
    cases.push_back(std::move(opened));
  }
  return cases;
}

// The value of more members than can be at fault, so of an honest one.
std::optional<Digest> SealedStateRoot(const SealedStep& sealed, const Thresholds& thresholds) {
  std::map<Digest, std::uint32_t> votes;
  for (const auto& [peer, proof] : sealed.proofs) {
    if (proof.state_root) ++votes[*proof.state_root];
  }
  for (const auto& [root, count] : votes) {
    if (count > FaultBound(thresholds)) return root;
  }
  return std::nullopt;
}

std::map<PeerId, bool> DeclaredReach(const SealedStep& sealed) {
  std::map<PeerId, bool> only_dials;
  for (const auto& [member, commit] : sealed.commits) only_dials[member] = commit.only_dials;
  return only_dials;
}

// Of who says nothing, what held for this step; of who comes, the least.
std::vector<wire::BatchCount> BatchCountsAfter(const SealedStep& sealed, const Block& head,
                                               const TrainingPlan& plan, const Block& block) {
  std::vector<wire::BatchCount> counts;
  if (!BatchesVary(plan)) return counts;
  for (const PeerId& member : block.members) {
    const auto commit = sealed.commits.find(member);
    std::uint32_t count = commit != sealed.commits.end()
                              ? commit->second.next_batches
                              : BatchesOf(member, head.batch_counts, plan);
    if (IsMember(block.joined, member)) count = plan.batches;
    if (count > plan.batches) counts.push_back({member, count});
  }
  return counts;
}

// --- what the step did, for members that were away and for later judgements ----------------------

// The senders that a claim about the column can be about: those whose sealed COMMIT it names.
bool SendersCount(ColumnFate fate) {
  return fate != ColumnFate::kNoAggregate && fate != ColumnFate::kBadSenders;
}

void RecordColumns(const SealedStep& sealed, const Block& head, const Docket& docket,
                   Block& block) {
  for (std::size_t j = 0; j < block.columns.size(); ++j) {
    Block::Column& column = block.aggregated.emplace_back();
    column.owner = sealed.roles.owners[j];
    if (SendersCount(block.columns[j])) column.senders = *IncludedIn(sealed, head, j);
    const bool applied = block.columns[j] == ColumnFate::kApplied;
    block.result_roots.push_back(applied ? sealed.aggregates[j]->result_root : Digest{});
    if (OwesAName(block.columns[j]) && docket.Stays(column.owner)) {
      block.owing.push_back(column.owner);
    }
  }
  std::sort(block.owing.begin(), block.owing.end());
  for (const PeerId& worker : sealed.roles.workers) {
    // Nobody can recompute a gradient at parameters that the run never had.
    if (sealed.astray.contains(worker)) continue;
    if (sealed.proofs.contains(worker)) block.proven.push_back(worker);
  }
}

void DrawNext(const SealedStep& sealed, const Block& head, const Manifest& manifest,
              const std::vector<PeerId>& leavers, Block& block) {
  block.drawn =
      DrawValidators(block.randomness, HeadOfTheDraw(head, leavers, manifest), head.proven,
                     sealed.step + 1, manifest.validators, manifest.alarm_validators);
  const auto namings = NamingsInOrder(sealed, head);
  for (Assignment& drawn : block.drawn) drawn.covering = CoveringOf(drawn.target, head, namings);
}

// A gradient case that opens rings the alarm from the step after the next on.
std::uint64_t AlarmAfter(const Block& head, const Manifest& manifest, const Block& block) {
  if (manifest.alarm_validators == 0) return 0;
  const auto is_new = [&head](const Case& open) {
    return open.id.kind == CaseKind::kGradient &&
           std::none_of(head.cases.begin(), head.cases.end(),
                        [&open](const Case& known) { return known.id == open.id; });
  };
  const bool rings = std::any_of(block.cases.begin(), block.cases.end(), is_new);
  return rings ? block.step + 2 + manifest.alarm_steps : head.alarm_until;
}

// A member that left by its own word may come back at once, so what it voided is kept.
bool AreVoidsKept(const Voids& voids, const Block& block) {
  if (IsMember(block.members, voids.peer)) return true;
  const Standing* standing = StandingOf(block.standings, voids.peer);
  return standing != nullptr && standing->left_step > standing->returned_step;
}

struct Going {
  const std::vector<PeerId>& leavers;
  const std::set<PeerId>& excused;  // by the wait for parts
};

// The members after the block, and the consequences of removals. REQUIRES: GoingWith's.
void SettleMembers(const SealedStep& sealed, const Block& head, const Manifest& manifest,
                   const Going& going, const Docket& docket, Block& block) {
  const std::vector<PeerId>& leavers = going.leavers;
  const auto losers = docket.Losers();
  block.removals = docket.Removals(sealed.step);
  block.last_removal_step =
      block.removals.empty() ? head.last_removal_step : std::optional(sealed.step);
  Admissions admissions = AdmissionsAfter(sealed, head, manifest, losers);
  block.candidates = std::move(admissions.candidates);
  block.joined = std::move(admissions.joined);
  block.invites = std::move(admissions.invites);
  block.moderators = std::move(admissions.moderators);
  block.left = GoingWith(block, head, leavers, docket);
  for (const PeerId& leaver : leavers) {
    if (docket.Stays(leaver) && !IsMember(block.left, leaver)) block.leaving.push_back(leaver);
  }
  block.standings = StandingsAfter(head, {losers, going.excused}, block.left,
                                   {block.joined, admissions.came}, sealed.step);
  NoteFirstFaults(block.removals, block.standings);
  block.members = block.joined;
  for (const PeerId& member : head.members) {
    if (docket.Stays(member) && !IsMember(block.left, member)) block.members.push_back(member);
  }
  std::sort(block.members.begin(), block.members.end());
  block.thresholds = ThresholdsIn(manifest, block.members.size());
  if (!block.leaving.empty() || !block.joined.empty()) {
    block.t_s_in_role = ThresholdsIn(manifest, MembersInView(block)).t_s;
  }
  KeepPeak(head, block);
}

}  // namespace

void FindImpossibleMessages(const SealedStep& sealed, const Block& head, SealedFaults& faults) {
  for (std::size_t j = 0; j < sealed.aggregates.size(); ++j) {
    if (!sealed.aggregates[j]) continue;
    const auto included = IncludedIn(sealed, head, j);
    const auto works = [&](const PeerId& sender) { return sealed.roles.IsWorker(sender); };
    if (included && std::all_of(included->begin(), included->end(), works)) continue;
    NoteFault(faults, sealed.roles.owners[j], FaultKind::kBan, {.cause = Cause::kForeignSender});
  }
  for (const auto& [peer, proof] : sealed.proofs) {
    if (proof.columns.size() != sealed.roles.parts.size()) continue;
    for (std::size_t j = 0; j < proof.columns.size(); ++j) {
      const wire::ColumnNumbers& numbers = proof.columns[j];
      if (InHonestRange(numbers, sealed.roles.parts[j].size(), sealed.tau)) continue;
      NoteFault(faults, peer, FaultKind::kBan,
                {.cause = Cause::kImpossibleNumbers, .part = static_cast<std::uint32_t>(j)});
    }
  }
}

std::uint64_t NextDelta(const SealedStep& sealed, const Block& head, const Manifest& manifest) {
  const auto microseconds = [](base::Duration d) {
    return static_cast<std::uint64_t>(d.ns / 1000);
  };
  const std::uint64_t ceiling = microseconds(manifest.delta_ceiling);
  std::vector<std::uint64_t> lags;
  for (const auto& [member, proof] : sealed.proofs) {
    if (IsMember(head.members, member)) lags.push_back(std::min(proof.lag_us, ceiling));
  }
  const std::size_t liars = FaultBound(head.thresholds);
  if (lags.size() <= liars) return head.delta_us;
  const auto lag = lags.begin() + static_cast<std::ptrdiff_t>(liars);
  std::nth_element(lags.begin(), lag, lags.end(), std::greater<>());
  return std::clamp(4 * *lag, microseconds(manifest.delta), ceiling);
}

Block JudgeStep(const SealedStep& sealed, const Block& head, const Manifest& manifest,
                const Judged& judged) {
  Docket docket(head.members, MayBeBanned(head));
  SealedFaults faults = judged.faults;
  FindImpossibleMessages(sealed, head, faults);
  RemoveForFaults(faults, docket);
  const std::vector<Case> counted = CountBallots(sealed, head);
  RuleOnCases(counted, head, sealed.step, manifest, docket);
  DropSilentOwers(sealed, head, docket);
  const auto failed = FailedPairs(sealed, head);
  const PartWait wait = RuleOnPartWait(sealed, head, manifest, {faults, !failed.empty()});
  const bool blames = !wait.excuses || base::Planted(base::Bug::kShortWaitsBlame);
  const auto voiders = VoidedByOwnMessage(sealed, head, {judged.fates, blames}, docket);
  std::vector<Voids> voids = VoidsAfter(head, voiders, sealed.step);
  DropVoiders(voids, sealed.step, docket);
  if (blames) DropWithholders(sealed, head, docket);
  DropForEchoes(sealed, head, docket);
  const LatenessRuling slowness = RuleOnLateness(sealed, head, manifest);
  const auto lateness = LatenessAfter(slowness, head, manifest);
  DropLate(lateness, head, manifest, docket);
  docket.EndPass();
  if (blames) RuleOnLivePairs(sealed, head, docket);
  const std::vector<Dispute> disputes =
      blames ? DisputesAfter(head, sealed.step, failed, slowness.new_pairs)
             : DisputesAfter(head, sealed.step, {}, {});
  DropDisputed(disputes, head, sealed.step, docket);
  ForgiveUntimely(head, docket);

  Block block;
  block.step = sealed.step;
  block.decision = judged.decision;
  block.previous = wire::BlockDigest(head);
  block.randomness = judged.randomness;
  block.columns = judged.fates;
  RecordColumns(sealed, head, docket, block);
  const std::vector<PeerId> leavers = LeaversIn(sealed, head, manifest);
  DrawNext(sealed, head, manifest, leavers, block);
  // A closing step opens none: nobody would vote on it.
  if (head.closing == 0) {
    block.cases = CasesAfter(sealed, head, counted, manifest.compute_profile == kExact, docket);
  }
  block.alarm_until = AlarmAfter(head, manifest, block);
  SettleMembers(sealed, head, manifest, {leavers, wait.excused}, docket, block);
  block.disputes = KeptDisputes(disputes, block.members);
  block.lateness = KeptLateness(lateness, head, manifest, block.members, block.joined);
  std::erase_if(voids, [&](const Voids& one) { return !AreVoidsKept(one, block); });
  block.voids = std::move(voids);
  block.tau = NextTau(sealed, head, manifest, judged.fates);
  block.delta_us = NextDelta(sealed, head, manifest);
  block.part_us = wait.next_us;
  block.state_root = SealedStateRoot(sealed, head.thresholds);
  if (CountsReach(manifest)) block.reach = ReachAfter(head, sealed.step, DeclaredReach(sealed));
  block.batch_counts = BatchCountsAfter(sealed, head, manifest.training, block);
  block.closing = ClosingAfter(head, manifest.training, block);
  return block;
}

}  // namespace ostraka::protocol
