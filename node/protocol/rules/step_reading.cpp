#include "node/protocol/rules/step_reading.h"

#include <algorithm>
#include <string>
#include <utility>

#include "crypto/commitment.h"
#include "node/base/check.h"
#include "node/base/planted.h"
#include "node/protocol/ground/schedule.h"
#include "node/wire/codec.h"
#include "proofs/evidence/evidence.h"

namespace ostraka::protocol {

using wire::Cause;
using wire::MessageType;
using wire::Phase;

StepReading::StepReading(const Block& head, const Manifest& manifest, std::uint64_t dimension) {
  sealed.step = HeightOf(head);
  sealed.tau = base::Planted(base::Bug::kFirstTauGoesOn) ? manifest.tau_initial : head.tau;
  sealed.roles = AssignRoles(head, dimension);
  sealed.aggregates.resize(sealed.roles.parts.size());
  coin_count = static_cast<std::uint32_t>(SealersOf(head).size());
  exact = manifest.compute_profile == kExact;
  training = manifest.training;
}

bool StepReading::IsComplete(const PeerId& member, const wire::Commit& commit) const {
  return commit.coin_count == coin_count &&
         commit.gradient_root.has_value() == sealed.roles.IsWorker(member) &&
         commit.parameters_root.has_value() == exact && MaySay(commit.next_batches, training);
}

void StepReading::NoteEntry(Phase phase, const PeerId& member, SealedMessage::State state,
                            wire::MessageType entry) {
  if (state == SealedMessage::State::kEquivocated) {
    NoteFault(faults, member, FaultKind::kBan, {.cause = Cause::kTwoMessages, .entry = entry});
  } else if (state == SealedMessage::State::kAbsent) {
    absent.insert(member);
    FaultKind fault = phase == Phase::kB ? FaultKind::kDropAtReveal : FaultKind::kDrop;
    if (base::Planted(base::Bug::kAbsenceBans)) fault = FaultKind::kBan;
    NoteFault(faults, member, fault, {.cause = Cause::kAbsent, .entry = entry});
  }
}

// --- seal A -------------------------------------------------------------------------------------

void StepReading::ReadCommit(const PeerId& member, const wire::SharedMessage& message) {
  sealed.commit_digests[member] = message->digest;
  const auto* body = message->As<wire::Commit>();
  if (body != nullptr && IsComplete(member, *body)) {
    sealed.commits.emplace(member, *body);
    commits.emplace(member, message);
    return;
  }
  // Sealed and signed, so all see the same bytes, and no honest member signs such.
  NoteFault(faults, member, FaultKind::kBan,
            {.cause = Cause::kMalformed, .entry = MessageType::kCommit});
  unreadable.push_back(message);
}

void StepReading::ReadAggregate(const PeerId& member, std::uint32_t column,
                                const wire::SharedMessage& message) {
  const auto* body = message->As<wire::Aggregate>();
  if (body != nullptr && body->part_index == column) {
    sealed.aggregates[column] = *body;
    return;
  }
  NoteFault(faults, member, FaultKind::kBan,
            {.cause = Cause::kMalformed, .entry = MessageType::kAggregate});
  unreadable.push_back(message);
}

// A member with other parameters than the run's lied or lost its state; this seal cannot tell
// which. So it loses its place and not its key, and what it computed from them counts nowhere.
void StepReading::FindAstray(const Block& head) {
  std::map<Digest, std::uint32_t> named;
  for (const auto& [member, commit] : sealed.commits) {
    if (commit.parameters_root) ++named[*commit.parameters_root];
  }
  // The most named [more than F may name another one, if an honest member with a damaged state is
  // copied by all liars], and of two that are named equally often neither.
  const auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto most = std::max_element(named.begin(), named.end(), less);
  if (most == named.end() || most->second <= FaultBound(head.thresholds)) return;
  const auto as_often = std::count_if(named.begin(), named.end(),
                                      [&](const auto& one) { return one.second == most->second; });
  if (as_often > 1) return;
  sealed.parameters_root = most->first;
  const std::vector<PeerId> in_role = InRole(head);
  for (const auto& [member, commit] : sealed.commits) {
    if (commit.parameters_root == sealed.parameters_root) continue;
    sealed.astray.insert(member);
    if (IsMember(in_role, member)) sealed.faulty_in_a.insert(member);
    NoteFault(faults, member, FaultKind::kDrop, {.cause = Cause::kOtherParameters});
  }
}

void StepReading::ReadSealA(const Block& head, const SealedMessages& sealed_a) {
  const std::size_t n = SealersOf(head).size();
  OSTRAKA_CHECK(sealed_a.size() == 2 * n);
  const std::vector<PeerId> in_role = InRole(head);
  for (std::size_t i = 0; i < n; ++i) {
    const PeerId& member = SealersOf(head)[i];
    const auto owned = sealed.roles.PartOwnedBy(member);
    const SealedMessage& commit = sealed_a[i];
    const SealedMessage& aggregate = sealed_a[n + i];
    const bool committed = commit.state == SealedMessage::State::kPresent;
    const bool aggregated = !owned || aggregate.state == SealedMessage::State::kPresent;
    NoteEntry(Phase::kA, member, commit.state, MessageType::kCommit);
    if (commit.state == SealedMessage::State::kEquivocated) two_commits.insert(member);
    if (owned) NoteEntry(Phase::kA, member, aggregate.state, MessageType::kAggregate);
    // Members in quarantined pairs are counted with their pair already.
    if ((!committed || !aggregated) && IsMember(in_role, member)) sealed.faulty_in_a.insert(member);
    if (committed) ReadCommit(member, commit.message);
    if (owned && aggregated) ReadAggregate(member, *owned, aggregate.message);
  }
  if (exact) FindAstray(head);
}

// --- seal B -------------------------------------------------------------------------------------

bool StepReading::MustReveal(const PeerId& peer) const {
  const auto commit = sealed.commits.find(peer);
  return commit != sealed.commits.end() && commit->second.coin_count == coin_count &&
         !false_revealers.contains(peer) && !absent.contains(peer);
}

std::size_t StepReading::RevealersLeft(const Block& head) const {
  return static_cast<std::size_t>(
      std::count_if(SealersOf(head).begin(), SealersOf(head).end(),
                    [&](const PeerId& member) { return MustReveal(member); }));
}

bool StepReading::RevealIsGood(const PeerId& peer, const wire::SignedEnvelope& message) {
  const auto* reveal = message.As<wire::Reveal>();
  if (reveal == nullptr) return false;
  const wire::Commit& commit = sealed.commits.at(peer);
  if (!crypto::VerifyOpening(peer, sealed.step, draw, commit.coin_count, commit.coins_root,
                             reveal->opening)) {
    return false;
  }
  coins[peer] = reveal->opening.coin.value;
  return true;
}

bool StepReading::ReadSealB(const Block& head, const Manifest& manifest,
                            const SealedMessages& sealed_b) {
  OSTRAKA_CHECK(sealed_b.size() == SealersOf(head).size());
  coins.clear();
  bool all_good = true;
  for (std::size_t i = 0; i < sealed_b.size(); ++i) {
    const PeerId& member = SealersOf(head)[i];
    if (!MustReveal(member)) continue;
    if (sealed_b[i].state == SealedMessage::State::kPresent) {
      if (RevealIsGood(member, *sealed_b[i].message)) continue;
      NoteFault(faults, member, FaultKind::kBan, {.cause = Cause::kFalseReveal});
      false_reveals.push_back(sealed_b[i].message);
    }
    all_good = false;
    false_revealers.insert(member);
    NoteEntry(Phase::kB, member, sealed_b[i].state, MessageType::kReveal);
  }
  // Everybody knows the mix of no coins in advance.
  if (!all_good || coins.empty()) {
    ++draw;
    return false;
  }
  randomness = RandomnessOf(manifest.run_id, sealed.step, coins);
  return true;
}

// --- seal C -------------------------------------------------------------------------------------

void StepReading::ReadSealC(const Block& head, const SealedMessages& sealed_c) {
  OSTRAKA_CHECK(sealed_c.size() == SealersOf(head).size());
  for (std::size_t i = 0; i < sealed_c.size(); ++i) {
    const PeerId& member = SealersOf(head)[i];
    if (absent.contains(member) || two_commits.contains(member)) continue;  // S2
    if (sealed_c[i].state != SealedMessage::State::kPresent) {
      NoteEntry(Phase::kC, member, sealed_c[i].state, MessageType::kProof);
      continue;
    }
    const wire::SharedMessage& message = sealed_c[i].message;
    const auto* body = message->As<wire::Proof>();
    const std::size_t columns = sealed.roles.IsWorker(member) ? sealed.roles.parts.size() : 0;
    if (body != nullptr && body->columns.size() == columns) {
      sealed.proofs.emplace(member, *body);
      proofs.emplace(member, message);
    } else {
      // Else a worker could void every column for ever: without numbers it is nobody's target.
      NoteFault(faults, member, FaultKind::kBan,
                {.cause = Cause::kMalformed, .entry = MessageType::kProof});
      unreadable.push_back(message);
    }
  }
}

void StepReading::ReadEvidence(const Manifest& manifest, crypto::Verifier& verifier) {
  for (const auto& [member, proof] : sealed.proofs) {
    for (const base::Bytes& file : proof.evidence) {
      const evidence::Finding finding = evidence::Verify(file, verifier);
      if (finding.outcome != evidence::Outcome::kProven) continue;
      if (finding.slot.run_id != manifest.run_id) continue;
      NoteFault(faults, finding.accused, FaultKind::kBan,
                {.cause = Cause::kEvidence, .count = static_cast<std::uint64_t>(finding.kind)});
    }
  }
}

// --- the block ----------------------------------------------------------------------------------

Block StepReading::Judge(const Block& head, const Manifest& manifest, const Digest& decision_c,
                         const std::vector<ResultSize>& results,
                         std::vector<ColumnFate>& fates) const {
  JudgeAggregates(sealed, head, manifest, results, fates);
  Judged judged;
  judged.decision = decision_c;
  judged.randomness = randomness;
  judged.fates = fates;
  judged.faults = faults;
  return JudgeStep(sealed, head, manifest, judged);
}

std::optional<Block> BlockOf(const Block& head, const Manifest& manifest, std::uint64_t dimension,
                             const SealedInput& input, crypto::Verifier& verifier) {
  StepReading reading(head, manifest, dimension);
  reading.ReadSealA(head, input.a);
  bool drawn = false;
  for (const SealedMessages& sealed_b : input.b) {
    OSTRAKA_CHECK(!drawn);
    drawn = reading.ReadSealB(head, manifest, sealed_b);
  }
  if (!drawn) return std::nullopt;
  reading.ReadSealC(head, input.c);
  reading.ReadEvidence(manifest, verifier);
  std::vector<ColumnFate> fates = JudgeWithoutAggregates(reading.sealed, head);
  return reading.Judge(head, manifest, input.decision_c, input.results, fates);
}

void StepReading::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, sealed, coin_count, absent, two_commits, draw, coins, false_revealers,
               randomness, commits, proofs, faults, unreadable, false_reveals);
}

}  // namespace ostraka::protocol
