#include "tests/property/naive_rules.h"

#include "tests/property/naive_admissions.h"
#include "tests/property/naive_cases.h"
#include "tests/property/naive_columns.h"
#include "tests/property/naive_removals.h"

namespace ostraka::protocol::naive {
namespace {

// docs/protocol.md 1.
std::uint32_t AsynchronousAtGenesis(const Manifest& manifest) {
  const auto n = static_cast<std::uint32_t>(manifest.members.size());
  if (manifest.mode == Mode::kMajority) return 1;
  return manifest.mode == Mode::kBalanced ? n / 5 : (n - 1) / 3;
}

Thresholds ThresholdsOf(const Manifest& manifest, std::size_t members) {
  const auto n = static_cast<std::uint32_t>(members);
  const std::uint32_t t_a = AsynchronousAtGenesis(manifest);
  std::uint32_t share = n / 2;
  if (manifest.mode == Mode::kBalanced) share = 2 * n / 5;
  if (manifest.mode == Mode::kThird) share = n / 3;
  const std::uint32_t by_quorum = n > t_a ? (n - 1 - t_a) / 2 : 0;
  const std::uint32_t t_s = std::min(share, by_quorum);
  return {n, t_s, std::min(t_a, t_s)};
}

// docs/protocol/admission.md, "Leaving": n' of a block.
std::size_t InView(const Block& block) {
  std::size_t in_view = 0;
  for (const PeerId& member : block.members) {
    bool in_pair = false;
    for (const auto& [accuser, target] : QuarantinedPairs(block)) {
      in_pair = in_pair || accuser == member || target == member;
    }
    const bool goes = Has(block.leaving, member) && !in_pair;
    in_view += goes || Has(block.joined, member) ? 0 : 1;
  }
  return in_view;
}

// docs/protocol/admission.md, "Leaving": who is listed. The others bear a fault, if the genesis
// does, and four of them can be dialed; three, if it bears none.
std::vector<PeerId> LeaversOf(const Step& step) {
  const Block& last = *step.last;
  std::vector<PeerId> leavers = last.leaving;
  const bool bears = ThresholdsOf(*step.manifest, step.manifest->members.size()).t_s > 0;
  for (const PeerId& member : last.members) {
    const auto commit = step.commits.find(member);
    if (commit == step.commits.end() || !commit->second.leaving) continue;
    if (Has(leavers, member)) continue;
    std::size_t dialed = 0;
    for (const PeerId& other : last.members) {
      bool only_dials = false;
      for (const wire::Reach& reach : last.reach) {
        only_dials = only_dials || (reach.peer == other && reach.only_dials);
      }
      dialed += only_dials || other == member || Has(leavers, other) ? 0 : 1;
    }
    const std::size_t rest = last.members.size() - leavers.size() - 1;
    if (bears && (dialed < 4 || ThresholdsOf(*step.manifest, rest).t_s == 0)) continue;
    if (!bears && dialed < 3) continue;
    leavers.push_back(member);
  }
  std::sort(leavers.begin(), leavers.end());
  return leavers;
}

// docs/protocol/admission.md, "Leaving": what a member did may still concern somebody.
bool IsConcerned(const Block& block, const PeerId& member) {
  bool concerned = Has(block.owing, member);
  for (const wire::Case& open : block.cases) {
    const bool accuses = open.id.kind != wire::CaseKind::kCover && open.id.accuser == member;
    concerned = concerned || accuses || open.id.target == member;
    for (const wire::Covering& one : open.covering) concerned = concerned || one.owner == member;
  }
  for (const Assignment& drawn : block.drawn) {
    concerned = concerned || drawn.target == member;
    for (const wire::Covering& one : drawn.covering) concerned = concerned || one.owner == member;
  }
  return concerned;
}

// docs/protocol/admission.md, "Leaving": who goes.
void LetGo(const Step& step, const std::vector<PeerId>& leavers, Block& block) {
  const Block& last = *step.last;
  std::size_t stay = 0;
  for (const PeerId& member : last.members) {
    stay += StaysBefore(step, kAfterAll, member) ? 1 : 0;
  }
  const std::int64_t room =
      static_cast<std::int64_t>(last.members.size()) - 2 * std::int64_t{step.fault_bound} - 1;
  const std::size_t most = room < 1 ? 1 : static_cast<std::size_t>(room);
  for (const PeerId& member : leavers) {
    if (!StaysBefore(step, kAfterAll, member)) continue;
    const bool goes = last.closing == 0 && Has(last.leaving, member) && block.left.size() < most &&
                      stay > 3 && !IsConcerned(block, member);
    if (goes) --stay;
    (goes ? block.left : block.leaving).push_back(member);
  }
}

// docs/protocol/removals.md, "Too many disputes": the peak of t_s of the last
// 1000 blocks. After that time it falls by one.
void RememberPeak(const Block& last, Block& block) {
  const std::uint32_t now = block.thresholds.t_s;
  const bool forgets = block.step - last.peak_step >= 1000;
  if (now >= last.peak_t_s) {
    block.peak_t_s = now;
  } else if (forgets) {
    block.peak_t_s = last.peak_t_s - 1;
  } else {
    block.peak_t_s = last.peak_t_s;
    block.peak_step = last.peak_step;
    return;
  }
  block.peak_step = block.step;
}

// docs/protocol/removals.md and docs/protocol/admission.md: who is a member after the block.
void SettleMembers(const Step& step, const std::vector<PeerId>& leavers, Block& block) {
  block.removals = RemovalsOf(step);
  block.last_removal_step = step.last->last_removal_step;
  if (!block.removals.empty()) block.last_removal_step = step.number;
  const std::vector<PeerId> came = Admit(step, block);
  LetGo(step, leavers, block);
  block.standings = StandingsAfter(step, block, came);
  block.members = block.joined;
  for (const PeerId& member : step.last->members) {
    const bool stays = StaysBefore(step, kAfterAll, member) && !Has(block.left, member);
    if (stays) block.members.push_back(member);
  }
  std::sort(block.members.begin(), block.members.end());
  block.thresholds = ThresholdsOf(*step.manifest, block.members.size());
  if (!block.leaving.empty() || !block.joined.empty()) {
    block.t_s_in_role = ThresholdsOf(*step.manifest, InView(block)).t_s;
  }
  RememberPeak(*step.last, block);
}

// docs/protocol/checks.md: what later blocks ask about this step's columns.
void RecordColumns(const Step& step, Block& block) {
  for (std::size_t j = 0; j < step.columns(); ++j) {
    const ColumnFate fate = block.columns[j];
    const PeerId& owner = step.roles.owners[j];
    const bool usable = fate != ColumnFate::kNoAggregate && fate != ColumnFate::kBadSenders;
    block.aggregated.push_back({owner, {}});
    if (usable) block.aggregated.back().senders = *SendersOf(step, j);
    const bool applied = fate == ColumnFate::kApplied;
    block.result_roots.push_back(applied ? step.aggregates[j]->result_root : Digest{});
  }
  for (const PeerId& worker : step.roles.workers) {
    if (step.other_parameters.contains(worker)) continue;
    if (step.proofs.contains(worker)) block.proven.push_back(worker);
  }
  for (const PeerId& member : step.last->members) {
    if (!StaysBefore(step, kAfterAll, member)) continue;
    for (std::size_t j = 0; j < step.columns(); ++j) {
      const ColumnFate fate = block.columns[j];
      const bool failed = fate == ColumnFate::kSumCheck || fate == ColumnFate::kSizeCheck;
      if (failed && step.roles.owners[j] == member) block.owing.push_back(member);
    }
  }
}

// docs/protocol/step.md, VERDICT: "the sealed root is the value that at least F + 1 members state";
// of several the smallest.
std::optional<Digest> StateRootOf(const Step& step) {
  std::optional<Digest> sealed;
  for (const auto& [stater, proof] : step.proofs) {
    if (!proof.state_root) continue;
    std::size_t stated = 0;
    for (const auto& [member, other] : step.proofs) {
      stated += other.state_root == proof.state_root ? 1 : 0;
    }
    if (stated < step.fault_bound + 1) continue;
    if (!sealed || *proof.state_root < *sealed) sealed = proof.state_root;
  }
  return sealed;
}

// docs/protocol/step.md: "A run ends after its steps, at least `steps_after_ban` steps after the
// last removal, and not while a case is open. A closing step ends it".
std::uint16_t ClosingOf(const Step& step, const Block& block) {
  if (step.last->closing != 0) return static_cast<std::uint16_t>(1 + step.last->closing);
  const TrainingPlan& plan = step.manifest->training;
  bool goes_on = !block.cases.empty() || step.number < plan.steps - 1;
  if (block.last_removal_step) {
    goes_on = goes_on || step.number < *block.last_removal_step + plan.steps_after_ban;
  }
  return goes_on ? 0 : 1;
}

// docs/protocol/waits.md: Delta of the next step.
std::uint64_t NextDelta(const Step& step) {
  const auto least = static_cast<std::uint64_t>(step.manifest->delta.ns / 1000);
  const auto most = static_cast<std::uint64_t>(step.manifest->delta_ceiling.ns / 1000);
  std::vector<std::uint64_t> lags;
  for (const auto& [member, proof] : step.proofs) lags.push_back(proof.lag_us);
  if (lags.size() < step.fault_bound + 1) return step.last->delta_us;
  std::sort(lags.begin(), lags.end());
  const std::uint64_t lag = lags[lags.size() - 1 - step.fault_bound];
  if (lag > most / 4) return most;
  return std::max(4 * lag, least);
}

// docs/protocol/network.md, "Who can be dialed": a well-formed COMMIT changes its sender's flag, at
// once to only-dials, and back once in 100 steps. A key that is not listed can be dialed. Where the
// manifest lists nobody that only dials and nobody may come in, nothing changes.
void DeclareReach(const Step& step, Block& block) {
  bool counts = step.manifest->join.policy != JoinPolicy::kClosed;
  std::set<PeerId> keys;
  for (const Member& member : step.manifest->members) counts = counts || member.only_dials;
  if (!counts) return;
  for (const wire::Reach& before : step.last->reach) keys.insert(before.peer);
  for (const auto& [member, commit] : step.commits) keys.insert(member);
  for (const PeerId& key : keys) {
    wire::Reach reach{key};
    for (const wire::Reach& before : step.last->reach) {
      if (before.peer == key) reach = before;
    }
    const auto commit = step.commits.find(key);
    if (commit != step.commits.end() && commit->second.only_dials) {
      reach.only_dials = true;
    } else if (commit != step.commits.end() && reach.only_dials &&
               step.number >= reach.changes_from) {
      reach = {key, false, step.number + 100};
    }
    if (reach.only_dials || reach.changes_from >= step.number + 2) block.reach.push_back(reach);
  }
}

// docs/protocol/checks.md, "Alarm".
std::uint64_t AlarmOf(const Step& step, const Block& block) {
  if (step.manifest->alarm_validators == 0) return 0;
  for (const Case& open : block.cases) {
    bool known = open.id.kind != wire::CaseKind::kGradient;
    for (const Case& before : step.last->cases) known = known || before.id == open.id;
    if (!known) return step.number + 2 + step.manifest->alarm_steps;
  }
  return step.last->alarm_until;
}

// docs/protocol/step.md, "Counts of batches".
void CountBatches(const Step& step, Block& block) {
  const auto least = step.manifest->training.batches;
  for (const PeerId& member : block.members) {
    std::uint32_t count = least;
    for (const wire::BatchCount& before : step.last->batch_counts) {
      if (before.peer == member) count = before.count;
    }
    const auto commit = step.commits.find(member);
    if (commit != step.commits.end() && commit->second.next_batches > 0) {
      count = commit->second.next_batches;
    }
    if (Has(block.joined, member)) count = least;
    if (count != least) block.batch_counts.push_back({member, count});
  }
}

}  // namespace

std::optional<Block> BlockAfter(const Block& last, const Manifest& manifest,
                                std::uint64_t dimension, const Sealed& sealed,
                                crypto::Verifier& verifier) {
  std::optional<Step> read = ReadStep(last, manifest, dimension, sealed, verifier);
  if (!read) return std::nullopt;
  Step& step = *read;
  BanForImpossibleContent(step);
  const std::vector<Case> counted = CountVotes(step);
  JudgeCases(step, counted);
  JudgeOwers(step);
  const std::vector<ColumnFate> fates = FatesOf(step, sealed.results);
  const std::uint64_t part_us = JudgeWait(step);
  const std::vector<wire::Voids> voids = JudgeVoids(step, fates);
  JudgeWithheldResults(step);
  JudgeEchoes(step);
  const Slowness slowness = JudgeSlowness(step);
  const std::vector<wire::Dispute> disputes = JudgeDisputes(step, slowness);
  ForgiveUntimely(step);

  Block block;
  block.step = step.number;
  block.decision = sealed.decision;
  block.previous = wire::BlockDigest(last);
  block.randomness = step.randomness;
  block.columns = fates;
  RecordColumns(step, block);
  // "The members that will hold a role, as far as that is known before the coin".
  const std::vector<PeerId> leavers = LeaversOf(step);
  Block drawn_from = last;
  drawn_from.leaving = leavers;
  drawn_from.joined.clear();
  drawn_from.t_s_in_role = ThresholdsOf(manifest, InView(drawn_from)).t_s;
  block.drawn = DrawValidators(step.randomness, drawn_from, last.proven, step.number + 1,
                               manifest.validators, manifest.alarm_validators);
  for (Assignment& drawn : block.drawn) drawn.covering = CoveringOf(step, drawn.target);
  if (step.last->closing == 0) block.cases = OpenAfter(step, counted);
  SettleMembers(step, leavers, block);
  for (const wire::Dispute& dispute : disputes) {
    const bool both = Has(block.members, dispute.worker) && Has(block.members, dispute.aggregator);
    if (both) block.disputes.push_back(dispute);
  }
  block.lateness = LatenessAfter(step, slowness, block.members, block.joined);
  for (const wire::Voids& one : voids) {
    bool away = false;  // by its own word
    for (const wire::Standing& standing : block.standings) {
      away = away || (standing.peer == one.peer && standing.left_step > standing.returned_step);
    }
    if (Has(block.members, one.peer) || away) block.voids.push_back(one);
  }
  block.tau = NextTau(step, fates);
  block.delta_us = NextDelta(step);
  block.part_us = part_us;
  block.state_root = StateRootOf(step);
  block.closing = ClosingOf(step, block);
  DeclareReach(step, block);
  CountBatches(step, block);
  block.alarm_until = AlarmOf(step, block);
  return block;
}

}  // namespace ostraka::protocol::naive
