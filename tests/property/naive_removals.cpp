#include "tests/property/naive_removals.h"

#include "node/wire/bitmap.h"

namespace ostraka::protocol::naive {
namespace {

// The k-th largest, k from 1; 0 if there are fewer.
std::uint64_t Largest(std::vector<std::uint64_t> values, std::size_t k) {
  std::sort(values.begin(), values.end());
  return values.size() < k ? 0 : values[values.size() - k];
}

std::uint64_t Milliseconds(base::Duration duration) {
  return static_cast<std::uint64_t>(duration.ns) / 1'000'000;
}

// --- voids ---

// docs/protocol/checks.md, "A void column has a payer": the rows in which the owner is counted.
bool IsCounted(const Step& step, std::size_t column, ColumnFate fate) {
  const PeerId& owner = step.roles.owners[column];
  const auto senders = SendersOf(step, column);
  if (fate == ColumnFate::kNoAggregate) return step.aggregates[column].has_value();
  if (fate == ColumnFate::kBadSenders && senders) {
    for (const PeerId& sender : *senders) {
      const bool works = Has(step.roles.workers, sender);
      if (!works || !step.commit_digests.contains(sender) || IsBanned(step, sender)) return false;
    }
    return true;
  }
  if (fate == ColumnFate::kTooFewSenders) return !Has(*senders, owner);
  if (fate == ColumnFate::kMissingNumbers) return SaysMissing(step, owner, column);
  return false;
}

// --- slowness ---

// docs/protocol/waits.md, "The wait for parts": P of this step.
std::uint64_t WaitUs(const Step& step) {
  const auto most = static_cast<std::uint64_t>(step.manifest->part_timeout.ns) / 1000;
  const std::uint64_t told = step.last->part_us;
  return !step.manifest->adaptive || told == 0 || told > most ? most : told;
}

// docs/protocol/waits.md, "What is charged": D and the allowance of two.
std::uint64_t DeadlineMs(const Step& step) {
  return 2 * Milliseconds(step.manifest->part_timeout) + 2 * step.last->delta_us / 1'000;
}

// "Of each the (F + 1)-th largest figure counts." `offset`: 0 for own messages, n for AGGs.
std::map<PeerId, std::uint64_t> FiguresOf(const Step& step, std::size_t offset) {
  std::map<PeerId, std::uint64_t> figures;
  const std::vector<PeerId>& members = step.last->members;
  for (std::size_t i = 0; i < members.size(); ++i) {
    std::vector<std::uint64_t> stated;
    for (const auto& [witness, proof] : step.proofs) {
      if (witness == members[i] || proof.late_ms.size() != 2 * members.size()) continue;
      stated.push_back(std::min(proof.late_ms[offset + i], 2 * DeadlineMs(step)));
    }
    figures[members[i]] = Largest(stated, step.fault_bound + 1);
  }
  return figures;
}

bool AreInDispute(const Step& step, const PeerId& worker, const PeerId& owner) {
  for (const wire::Dispute& dispute : step.last->disputes) {
    if (dispute.worker == worker && dispute.aggregator == owner) return true;
  }
  return false;
}

// "Parts": an owner that waited for a worker's part is excused.
void Excuse(const Step& step, const std::map<PeerId, std::uint64_t>& own,
            std::map<PeerId, std::uint64_t>& aggregates, Slowness& slowness) {
  for (std::size_t j = 0; j < step.columns(); ++j) {
    const PeerId& owner = step.roles.owners[j];
    if (!step.aggregates[j] || !step.aggregates[j]->slowest || aggregates[owner] == 0) continue;
    const PeerId worker = *step.aggregates[j]->slowest;
    if (worker == owner || !Has(step.roles.workers, worker)) continue;
    std::uint64_t excused = own.at(worker);
    if (aggregates[owner] > excused && !AreInDispute(step, worker, owner)) {
      slowness.new_pairs.emplace(worker, owner);
      const std::uint64_t once = WaitUs(step) / 1'000 + 2 * step.last->delta_us / 1'000;
      excused = std::max(excused, once);
    }
    aggregates[owner] -= std::min(aggregates[owner], excused);
  }
}

// --- disputes ---

// "S_j leaves out a worker whose sealed COMMIT promises the part, and no other parameters than the
// owner's."
bool IsLeftOut(const Step& step, const PeerId& worker, std::size_t column) {
  const auto senders = SendersOf(step, column);
  const auto commit = step.commits.find(worker);
  if (!senders || Has(*senders, worker) || commit == step.commits.end()) return false;
  if (!commit->second.gradient_root || step.other_parameters.contains(worker)) return false;
  const auto own = step.commits.find(step.roles.owners[column]);
  return own == step.commits.end() || own->second.parameters_root == commit->second.parameters_root;
}

std::size_t Holders(const Step& step, std::size_t bit) {
  std::size_t holders = 0;
  for (const auto& [member, proof] : step.proofs) holders += wire::HasBit(proof.held, bit) ? 1 : 0;
  return holders;
}

// The table "in dispute, and".
void JudgePair(Step& step, std::size_t index, const PeerId& worker, const PeerId& owner,
               std::size_t column) {
  const std::string part = "part " + std::to_string(column);
  if (IsLeftOut(step, worker, column)) {
    if (Holders(step, index) > step.fault_bound) {
      Drop(step, kPairs, owner,
           "it left out " + part + " of " + worker.Short() + ", which others held in time");
    } else {
      Drop(step, kPairs, worker,
           "it withheld " + part + " from " + owner.Short() + " and from the others, in dispute");
    }
  } else if (SaysMissing(step, worker, column)) {
    if (Holders(step, step.last->disputes.size() + index) > step.fault_bound) {
      Drop(step, kPairs, worker,
           "it claims to miss the aggregate of " + part + " by " + owner.Short() +
               ", which others passed to it");
    } else {
      Drop(step, kPairs, owner,
           "it withheld its aggregate of " + part + " from " + worker.Short() +
               " and from the others, in dispute");
    }
  }
}

void JudgeLivePairs(Step& step) {
  for (std::size_t d = 0; d < step.last->disputes.size(); ++d) {
    const wire::Dispute& dispute = step.last->disputes[d];
    if (!Has(step.roles.workers, dispute.worker)) continue;
    if (!StaysBefore(step, kPairs, dispute.worker)) continue;
    if (!StaysBefore(step, kPairs, dispute.aggregator)) continue;
    for (std::size_t j = 0; j < step.columns(); ++j) {
      if (step.roles.owners[j] != dispute.aggregator) continue;
      JudgePair(step, d, dispute.worker, dispute.aggregator, j);
    }
  }
}

// "in dispute for 100 steps"; "1000 steps" for a part that only came late.
std::vector<wire::Dispute> DisputesAfter(const Step& step, const Slowness& slowness) {
  std::map<std::pair<PeerId, PeerId>, std::uint64_t> since;
  for (const wire::Dispute& old : step.last->disputes) {
    if (step.number < old.since + 100) since[{old.worker, old.aggregator}] = old.since;
  }
  for (const auto& pair : slowness.new_pairs) {
    if (!since.contains(pair) && !step.excused) since[pair] = step.number + 900;
  }
  for (std::size_t j = 0; j < step.columns() && !step.excused; ++j) {
    for (const PeerId& worker : step.roles.workers) {
      const std::pair pair(worker, step.roles.owners[j]);
      const bool failed = IsLeftOut(step, worker, j) || SaysMissing(step, worker, j);
      if (worker == pair.second || !failed || since.contains(pair)) continue;
      since[pair] = step.number;
    }
  }
  std::vector<wire::Dispute> disputes;
  for (const auto& [pair, step_of] : since) disputes.push_back({pair.first, pair.second, step_of});
  return disputes;
}

// "It came in less than 1000 steps ago."
bool IsNew(const Step& step, const PeerId& peer) {
  for (const wire::Standing& standing : step.last->standings) {
    if (standing.peer != peer || standing.came_step == 0) continue;
    return step.number - standing.came_step < 1000;
  }
  return false;
}

// "A member in dispute with more members than the run bore faults (and more than one)." One of a
// new member with an older one counts for the new one alone.
void JudgeTooManyPairs(Step& step, const std::vector<wire::Dispute>& disputes) {
  const std::size_t borne = std::max(1U, step.last->peak_t_s);
  for (const PeerId& member : step.last->members) {
    std::set<PeerId> others;
    for (const wire::Dispute& dispute : disputes) {
      if (dispute.worker != member && dispute.aggregator != member) continue;
      const PeerId& other = dispute.worker == member ? dispute.aggregator : dispute.worker;
      if (!StaysBefore(step, kTooManyPairs, member)) continue;
      if (!StaysBefore(step, kTooManyPairs, other)) continue;
      if (IsNew(step, other) && !IsNew(step, member)) continue;
      others.insert(other);
    }
    if (others.size() <= borne) continue;
    Drop(
        step, kTooManyPairs, member,
        "in dispute with " + std::to_string(others.size()) + " members, more than can be at fault");
  }
}

}  // namespace

std::vector<wire::Voids> JudgeVoids(Step& step, const std::vector<ColumnFate>& fates) {
  std::map<PeerId, wire::Voids> counts;
  for (const wire::Voids& old : step.last->voids) {
    if (step.number < old.last_step + 1000) counts[old.peer] = old;
  }
  for (std::size_t j = 0; j < fates.size(); ++j) {
    if (step.excused && fates[j] != ColumnFate::kBadSenders) continue;
    if (!IsCounted(step, j, fates[j])) continue;
    const PeerId& owner = step.roles.owners[j];
    counts[owner] = {owner, counts[owner].count + 1, step.number};
    if (counts[owner].count < 3) continue;
    Drop(step, kOwnMessages, owner,
         "voided " + std::to_string(counts[owner].count) + " columns by its own word");
  }
  std::vector<wire::Voids> all;
  for (const auto& [peer, voids] : counts) all.push_back(voids);
  return all;
}

// docs/protocol/removals.md, Disputes: "More than F workers missing ghat[j] in one step: its owner
// is dropped."
void JudgeWithheldResults(Step& step) {
  if (step.excused) return;
  for (std::size_t j = 0; j < step.columns(); ++j) {
    std::size_t missing = 0;
    for (const PeerId& worker : step.roles.workers) missing += SaysMissing(step, worker, j) ? 1 : 0;
    if (missing <= step.fault_bound) continue;
    Drop(step, kOwnMessages, step.roles.owners[j],
         "it withheld its aggregate of part " + std::to_string(j) + ": " + std::to_string(missing) +
             " members miss it");
  }
}

// docs/protocol/removals.md, "False and missing ECHOs".
void JudgeEchoes(Step& step) {
  struct Kind {
    base::Bytes wire::Proof::*bits;
    const char* fault;
    const char* by;
  };
  const Kind kinds[] = {{&wire::Proof::silent, "withheld its echo", "waited for it"},
                        {&wire::Proof::hasty, "echoed without what it had to wait for", "saw it"},
                        {&wire::Proof::unshown, "echoed what it did not show", "asked for it"}};
  for (const Kind& kind : kinds) {
    for (std::size_t i = 0; i < step.last->members.size(); ++i) {
      std::size_t naming = 0;
      for (const auto& [member, proof] : step.proofs) {
        naming += wire::HasBit(proof.*kind.bits, i) ? 1 : 0;
      }
      if (naming <= step.fault_bound) continue;
      Drop(step, kOwnMessages, step.last->members[i],
           std::string(kind.fault) + ": " + std::to_string(naming) + " members " + kind.by);
    }
  }
}

// docs/protocol/waits.md, "What is charged".
Slowness JudgeSlowness(Step& step) {
  const std::vector<PeerId>& members = step.last->members;
  const std::uint64_t allowance = 2 * DeadlineMs(step);
  Slowness slowness;
  const std::map<PeerId, std::uint64_t> own = FiguresOf(step, 0);
  std::map<PeerId, std::uint64_t> aggregates = FiguresOf(step, members.size());
  Excuse(step, own, aggregates, slowness);
  std::map<PeerId, std::uint64_t> sums;
  std::vector<std::uint64_t> all;
  for (const PeerId& member : members) {
    sums[member] = std::min(own.at(member) + aggregates[member], allowance);
    all.push_back(sums[member]);
  }
  const std::uint64_t common = Largest(all, step.fault_bound + 1);
  const std::uint64_t forgiven =
      std::max<std::uint64_t>(1, Milliseconds(step.manifest->patience) / 20);
  for (const PeerId& member : members) {
    std::uint64_t before = 0;
    for (const wire::Lateness& old : step.last->lateness) {
      if (old.peer == member) before = old.ms;
    }
    const std::uint64_t kept = before > forgiven ? before - forgiven : 0;
    const std::uint64_t charged = sums[member] > common ? sums[member] - common : 0;
    slowness.late_ms[member] = kept + charged;
    if (kept + charged <= allowance) continue;
    Drop(step, kOwnMessages, member,
         "let the others wait: " + std::to_string(kept + charged - allowance) +
             " ms beyond what it was allowed");
  }
  return slowness;
}

// "A returning member begins with half of it used."
std::vector<wire::Lateness> LatenessAfter(const Step& step, const Slowness& slowness,
                                          const std::vector<PeerId>& members,
                                          const std::vector<PeerId>& joined) {
  const std::uint64_t allowance = 2 * DeadlineMs(step);
  std::vector<wire::Lateness> after;
  for (const PeerId& member : members) {
    const std::uint64_t ms =
        Has(joined, member) ? allowance / 2 : std::min(slowness.late_ms.at(member), allowance);
    if (ms > 0) after.push_back({member, ms});
  }
  return after;
}

// "Something did not come in time": a pair that fails each other, a member that is absent before
// the coin.
std::uint64_t JudgeWait(Step& step) {
  const Manifest& manifest = *step.manifest;
  if (!manifest.adaptive) return 0;
  bool late = false;
  for (std::size_t j = 0; j < step.columns(); ++j) {
    for (const PeerId& worker : step.roles.workers) {
      if (worker == step.roles.owners[j]) continue;
      late = late || IsLeftOut(step, worker, j) || SaysMissing(step, worker, j);
    }
  }
  for (const PeerId& member : step.last->members) {
    Gravity gravest = Gravity::kDrop;
    bool lost = false;
    for (const Loss& loss : step.losses) {
      if (loss.pass != kSeals || loss.peer != member) continue;
      lost = true;
      gravest = std::max(gravest, loss.gravity);
    }
    const bool absent = lost && gravest == Gravity::kDrop;
    if (absent && !step.other_parameters.contains(member)) step.were_late.insert(member);
  }
  late = late || !step.were_late.empty();
  const auto most = static_cast<std::uint64_t>(manifest.part_timeout.ns) / 1000;
  const auto least = static_cast<std::uint64_t>(manifest.part_floor.ns) / 1000;
  const std::uint64_t wait = WaitUs(step);
  if (!late) return std::max(least, wait - wait / 50);
  step.excused = wait <= most / 2;
  return step.excused ? wait + wait : most;
}

std::vector<wire::Dispute> JudgeDisputes(Step& step, const Slowness& slowness) {
  if (!step.excused) JudgeLivePairs(step);
  const std::vector<wire::Dispute> disputes = DisputesAfter(step, slowness);
  JudgeTooManyPairs(step, disputes);
  return disputes;
}

void ForgiveUntimely(Step& step) {
  std::size_t drops = 0;
  const auto forgivable = [](const Loss& loss) {
    return loss.gravity == Gravity::kDrop || loss.gravity == Gravity::kDropAtReveal;
  };
  for (const PeerId& peer : Losers(step)) drops += forgivable(*WorstOf(step, peer)) ? 1 : 0;
  if (drops <= step.fault_bound) return;
  std::erase_if(step.losses, forgivable);
}

std::vector<wire::Removal> RemovalsOf(const Step& step) {
  std::vector<wire::Removal> removals;
  for (const bool bans : {true, false}) {
    for (const PeerId& peer : Losers(step)) {
      const Loss* worst = WorstOf(step, peer);
      if ((worst->gravity == Gravity::kBan) != bans) continue;
      removals.push_back({peer, worst->kind, step.number, {.old_text = worst->reason}});
    }
  }
  return removals;
}

// docs/protocol/removals.md, "Coming back after a removal".
std::vector<wire::Standing> StandingsAfter(const Step& step, const wire::Block& block,
                                           const std::vector<PeerId>& came) {
  std::map<PeerId, wire::Standing> standings;
  for (const wire::Standing& old : step.last->standings) standings[old.peer] = old;
  for (const PeerId& peer : Losers(step)) {
    wire::Standing& standing = standings[peer];
    standing.peer = peer;
    const Gravity gravity = WorstOf(step, peer)->gravity;
    if (gravity == Gravity::kBan) {
      standing.banned = true;
      continue;
    }
    const bool is_long_ago =
        standing.last_drop_step == 0 || step.number - standing.last_drop_step >= 1000;
    const bool was_late = step.excused && step.were_late.contains(peer);
    if (was_late && gravity == Gravity::kDrop && is_long_ago) {
      standing.last_drop_step = step.number;
      continue;
    }
    const bool is_first = standing.drops == 0;
    if (gravity == Gravity::kSuspension) {
      const auto first = step.erred_in.find(peer);
      if (standing.erred_in == 0 && first != step.erred_in.end()) {
        standing.erred_in = first->second + 1;
      }
      standing.erred = true;
    }
    const bool is_mild = gravity == Gravity::kDrop && is_first;
    if (!is_mild) standing.barred_until = step.number + 1000;
    ++standing.drops;
    standing.last_drop_step = step.number;
  }
  // docs/protocol/admission.md, "Leaving": a leave within 1000 steps of a return.
  for (const PeerId& peer : block.left) {
    wire::Standing& standing = standings[peer];
    standing.peer = peer;
    standing.left_step = step.number;
    if (standing.returned_step > 0 && step.number - standing.returned_step < 1000) {
      standing.drops += 1;
      standing.last_drop_step = step.number;
      standing.barred_until = step.number + 1000;
    }
  }
  // docs/protocol/admission.md, "Newcomers": the first admission of a key that nobody knew is no
  // return.
  for (const PeerId& peer : block.joined) {
    const bool known = standings.contains(peer);
    wire::Standing& standing = standings[peer];
    standing.peer = peer;
    if (known) standing.returned_step = step.number;
    if (Has(came, peer)) standing.came_step = step.number;
  }
  std::vector<wire::Standing> all;
  for (const auto& [peer, standing] : standings) all.push_back(standing);
  return all;
}

}  // namespace ostraka::protocol::naive
