#include "node/protocol/step/step.h"

#include <algorithm>
#include <string>
#include <utility>

#include "node/base/check.h"
#include "node/base/planted.h"
#include "node/protocol/ground/deadlines.h"
#include "node/protocol/mail/message_types.h"
#include "node/protocol/rules/recomputing.h"
#include "node/wire/codec.h"
#include "proofs/evidence/evidence.h"

namespace ostraka::protocol {

using wire::MessageType;
using wire::Phase;

namespace {

StepFacts FactsOf(const Core& core) {
  const Block& head = core.chain.head();
  StepFacts facts(StepReading(head, *core.manifest, core.chain.state().parameters->size()));
  facts.parent_a = wire::BlockDigest(head);
  facts.my_column = facts.roles().PartOwnedBy(core.self);
  return facts;
}

// The phase of the seal that is open in that stage; nullopt if none is.
std::optional<Phase> PhaseOf(Stage stage) {
  switch (stage) {
    case Stage::kCollect:
      return Phase::kA;
    case Stage::kReveal:
      return Phase::kB;
    case Stage::kProve:
      return Phase::kC;
    case Stage::kUnstarted:
    case Stage::kRestore:
    case Stage::kGenesis:
    case Stage::kSettle:
    case Stage::kUpdate:
    case Stage::kFollow:
    case Stage::kLinger:
    case Stage::kFrozen:
    case Stage::kHalted:
      break;
  }
  return std::nullopt;
}

}  // namespace

Step::Step(Core& core, MemberState& member, StageNow& stage, crypto::Verifier& verifier,
           std::optional<Time> before_ended)
    : core_(core),
      member_(member),
      stage_(stage),
      verifier_(verifier),
      facts_(FactsOf(core)),
      before_ended_(before_ended),
      pull_(core.turn),
      pairs_(core, member.server, facts_),
      gradient_(core, member.followers, facts_, pairs_),
      column_(core, member.charges, member.reports, facts_),
      results_(core, facts_),
      sealing_(core, member.charges, member.reports, member.fork_watch, member.past_seals, pull_,
               facts_),
      due_(core, member.reports, pull_, facts_, sealing_, column_, pairs_, results_),
      asks_(core, member.reports, member.duties, pull_, facts_),
      proving_(core, member.charges, member.reports, member.duties, member.duty_jobs,
               member.followers, facts_, gradient_, results_, pairs_),
      settling_(core, member.server, member.charges, member.reports, member.duties,
                member.duty_jobs, member.followers, member.pace, facts_, column_, results_,
                clock_) {
  clock_.times.step = number();
  clock_.mark = core.turn.now();
}

void Step::Begin(const std::set<PeerId>& refused) {
  const Block& head = core_.chain.head();
  OpenSeal(Phase::kA, 0, SealDeadlineAfter(head, *core_.manifest));
  due_.BeginA();
  asks_.ForRefusedParts(refused, pairs_);
  // Honest members may begin more than a Delta apart, but decided the last seal within it.
  SetBulkTimer(before_ended_.value_or(core_.turn.now()));
  core_.turn.Do(Observe{
      StepStarted{number(), BatchPlanOf(head), core_.chain.state(), facts_.roles(), head.tau}});
  gradient_.Begin();
  proving_.Begin();
}

// A member that is owed something in a dispute waits longer than those that may pass it on, since
// that takes its time. Attack: else a peer that sends at the last moment would have the member that
// waits for it blamed.
void Step::SetBulkTimer(Time from) {
  pairs_.ForwardUntil(from + PartWaitAfter(core_.chain.head(), *core_.manifest));
  const Time until = pairs_.forward_until() + core_.chain.delta() * 2;
  core_.turn.Do(SetTimer{kBulkTimer, std::max(until, core_.turn.now())});
}

void Step::OpenSeal(Phase phase, std::uint32_t draw, base::Duration deadline) {
  sealing_.Open(phase, draw, deadline, before_ended_);
  if (asks_.ForExhibits()) pull_.Arm({core_.chain.delta().ns / 2});
}

Outcome Step::TryAdvance() {
  switch (stage_.stage()) {
    case Stage::kCollect:
      return TrySealA();
    case Stage::kReveal:
      return TrySealB();
    case Stage::kProve:
      return TrySealC();
    case Stage::kSettle:
      return TrySettle();
    case Stage::kUpdate:  // ends with its job
    case Stage::kUnstarted:
    case Stage::kRestore:
    case Stage::kGenesis:
    case Stage::kFollow:
    case Stage::kLinger:
    case Stage::kFrozen:
    case Stage::kHalted:
      break;
  }
  return Outcome::Wait();
}

// A decided seal is taken in three moves, in this order. TakeSealed reports what was measured
// during it, while its entries still have their places, and gives its messages; StepReading reads
// these; CloseSeal stores the decision, under the parent and with the muted members of the time in
// which the seal ran, and only then mutes the members that it shows absent.
SealedMessages Step::TakeSealed() {
  sealing_.TakeWatches();
  return sealing_.entries().MessagesOf(*sealing_.seal().decision());
}

Digest Step::CloseSeal() {
  const Digest decision = sealing_.Close();
  MuteAbsent();
  return decision;
}

// --- seal A -------------------------------------------------------------------------------------

Outcome Step::TrySealA() {
  pairs_.JudgeParts();
  pairs_.ForwardParts();
  column_.Try();
  due_.Update();
  const bool complete = sealing_.entries().Complete();
  if (complete && base::Planted(base::Bug::kCoinBeforeSealA)) SayReveal();
  if (complete && !sealing_.seal().wait_ended()) {
    clock_.Lap(clock_.times.aggregate_ns, core_.turn.now());
  }
  return sealing_.Drive(complete) ? TakeSealA() : Outcome::Wait();
}

Outcome Step::TakeSealA() {
  facts_.reading.ReadSealA(core_.chain.head(), TakeSealed());
  KeepUnreadable();
  member_.charges.ProveBlock(core_.chain.head(), SealedCommits());
  facts_.parent_b = CloseSeal();
  if (muted()) return Outcome::Leave("what this node sent in phase A came too late");
  stage_.Enter(Stage::kReveal);
  OpenSealB();
  return Outcome::GoOn();
}

// While the network is timely only faulty members are absent. After a partition honest members may
// be absent, other ones in each seal; so no more are muted than leave a quorum unmuted beside t_a
// faulty members, or the step could never end.
void Step::MuteAbsent() {
  const wire::Thresholds& bounds = core_.chain.head().thresholds;
  if (facts_.reading.absent.size() + bounds.t_a <= bounds.t_s) {
    facts_.muted = facts_.reading.absent;
  }
}

// --- seal B -------------------------------------------------------------------------------------

// The deadline is three Delta: a REVEAL that one honest member has 3/2 Delta after it began has
// reached all by then, so a member that sends it later than that to some is late
// (node/protocol/watch/late_watch.h).
void Step::OpenSealB() {
  OpenSeal(Phase::kB, facts_.reading.draw, core_.chain.delta() * 3);
  due_.BeginB();
  if (facts_.reading.MustReveal(core_.self)) SayReveal();
}

void Step::SayReveal() {
  const std::uint32_t draw = facts_.reading.draw;
  const wire::Reveal reveal{core_.secrets->Opening(number(), facts_.reading.coin_count, draw)};
  core_.voice.Prepare(
      core_.voice.MakeDraft(core_.voice.SlotOf(number(), Phase::kB, MessageType::kReveal, draw),
                            facts_.parent_b, wire::Encode(reveal), core_.chain.head().members));
}

Outcome Step::TrySealB() {
  due_.Update();
  if (!sealing_.Drive(sealing_.entries().Complete())) return Outcome::Wait();
  const Block& head = core_.chain.head();
  const bool all_good = facts_.reading.ReadSealB(head, *core_.manifest, TakeSealed());
  ProveFalseReveals();
  facts_.parent_b = CloseSeal();
  if (muted()) return Outcome::Leave("this node's REVEAL came too late");
  if (all_good) {
    facts_.parent_c = facts_.parent_b;  // seal C builds on the decision of the good draw
    BeginProve();
    return Outcome::GoOn();
  }
  if (facts_.reading.RevealersLeft(head) == 0) {
    return Outcome::Halt(Halted::Why::kStalled,
                         "step " + std::to_string(number()) +
                             ": every coin was spoilt: no member's REVEAL came in time");
  }
  // Each spoilt draw leaves a member out, so the coins last as long as the members.
  OSTRAKA_CHECK(facts_.reading.draw < facts_.reading.coin_count);
  OpenSealB();
  return Outcome::GoOn();
}

// --- seal C -------------------------------------------------------------------------------------

void Step::BeginProve() {
  stage_.Enter(Stage::kProve);
  OpenSeal(Phase::kC, 0, ProofDeadlineAfter(core_.chain.head(), *core_.manifest));
  due_.BeginC();
  proving_.BeginWait();
  clock_.Lap(clock_.times.agree_ns, core_.turn.now());
  SetBulkTimer(core_.turn.now());
  pull_.Restart();
  pull_.Arm({core_.chain.delta().ns / 2});
}

Outcome Step::TrySealC() {
  results_.TakeHeld();
  pairs_.ForwardResults(results_.all());
  if (proving_.Try()) clock_.Lap(clock_.times.aggregate_ns, core_.turn.now());
  due_.Update();
  return sealing_.Drive(sealing_.entries().Complete()) ? TakeSealC() : Outcome::Wait();
}

Outcome Step::TakeSealC() {
  const Block& head = core_.chain.head();
  ended_ = core_.turn.now();
  facts_.reading.ReadSealC(head, TakeSealed());
  KeepUnreadable();
  const Digest decision = CloseSeal();
  pull_.Restart();  // for results, from here on
  if (muted()) return Outcome::Leave("this node's PROOF came too late");
  member_.charges.ProveImpossibleNumbers(facts_.reading.sealed, head, facts_.reading.proofs);
  facts_.reading.ReadEvidence(*core_.manifest, verifier_);
  settling_.Begin(decision);
  clock_.Lap(clock_.times.agree_ns, core_.turn.now());
  stage_.Enter(Stage::kSettle);
  pull_.Arm(MomentOf(*core_.manifest));  // for results that the block needs
  return Outcome::GoOn();
}

// --- the block ----------------------------------------------------------------------------------

Outcome Step::TrySettle() {
  results_.TakeHeld();
  Outcome outcome = settling_.Try({proving_.state_root(), gradient_.parameters_root()});
  if (settling_.updating()) stage_.Enter(Stage::kUpdate);
  return outcome;
}

// --- what comes ---------------------------------------------------------------------------------

void Step::OnAccepted(const wire::SignedEnvelope& message) {
  const wire::Envelope& envelope = message.envelope;
  if (envelope.slot.phase == Phase::kA) column_.Note(envelope.sender);
  sealing_.OnAccepted(message);
}

void Step::OnBulkTimer() {
  const auto phase = PhaseOf(stage_.stage());
  if (!phase) return;
  switch (*phase) {
    case Phase::kA:
      return column_.Close();
    case Phase::kC:
      return results_.Expire();
    case Phase::kB:  // no bulk data
    case Phase::kGenesis:
      break;
  }
}

void Step::OnPullTimer() {
  if (const auto at = pull_.Fire()) member_.reports.OnTimer(*at, core_.turn.now());
  if (!stage_.in_step()) return;
  bool missing = false;
  if (sealing_.open()) {
    missing |= asks_.ForEntries(sealing_);
    missing |= asks_.ForEchoes(sealing_);
    asks_.ForLate(sealing_);
  }
  // PROOF and block need results, from the coin until the block is made.
  const bool need_results = facts_.coin_known() && !settling_.updating();
  if (need_results) missing |= asks_.ForResults(results_);
  missing |= asks_.ForExhibits();
  pull_.CountAttempt();
  if (missing) pull_.Arm({core_.chain.delta().ns / 2});
}

bool Step::Owns(JobId id) const {
  return gradient_.Owns(id) || column_.Owns(id) || proving_.Owns(id) || settling_.Owns(id);
}

Outcome Step::OnJob(JobId id, const JobDesk::Job& job, const JobResult& result) {
  OSTRAKA_CHECK(Owns(id));
  if (column_.Owns(id)) {
    column_.OnJob(result);
    return Outcome::Wait();
  }
  if (const auto* failed = std::get_if<JobFailed>(&result)) {
    return Outcome::FailedJob(job.about, failed->reason);
  }
  if (settling_.Owns(id)) {
    clock_.Lap(clock_.times.aggregate_ns, core_.turn.now());
    return settling_.OnJob(result);
  }
  if (proving_.Owns(id)) {
    proving_.OnJob(id, result);
  } else if (gradient_.OnJob(result)) {
    clock_.Lap(clock_.times.compute_ns, core_.turn.now());
  } else if (gradient_.parameters_root()) {
    column_.Expect(*gradient_.parameters_root());
  }
  return Outcome::Wait();
}

// --- evidence from sealed messages --------------------------------------------------------------

void Step::KeepUnreadable() {
  for (const auto& message : std::exchange(facts_.reading.unreadable, {})) {
    member_.charges.Keep(evidence::MakeUnreadable(*message->frame));
  }
}

void Step::ProveFalseReveals() {
  const Inbox::Place commits = facts_.PlaceOf(Phase::kA, MessageType::kCommit);
  for (const auto& reveal : std::exchange(facts_.reading.false_reveals, {})) {
    const PeerId& member = reveal->envelope.sender;
    const auto* commit =
        core_.inbox.Find(commits, member, facts_.reading.sealed.commit_digests.at(member));
    if (commit == nullptr) continue;
    member_.charges.Keep(evidence::MakeFalseReveal(*commit->frame, *reveal->frame));
  }
}

// Of the members that seal A has shown to build on the last block.
std::vector<base::SharedBytes> Step::SealedCommits() const {
  std::vector<base::SharedBytes> frames;
  for (const auto& [member, digest] : facts_.reading.sealed.commit_digests) {
    const auto* message =
        core_.inbox.Find(facts_.PlaceOf(Phase::kA, MessageType::kCommit), member, digest);
    if (message != nullptr) frames.push_back(message->frame);
  }
  return frames;
}

void Step::CheckInvariants() const {
  OSTRAKA_CHECK(facts_.roles().owners.size() == facts_.roles().parts.size());
  OSTRAKA_CHECK(IsSealing(stage_.stage()) == sealing_.open() || !stage_.in_step());
  if (sealing_.open() && stage_.in_step()) {
    OSTRAKA_CHECK(sealing_.slot().phase == PhaseOf(stage_.stage()));  // T2
  }
  // A step that this member has left may still have its update running.
  if (settling_.updating() && stage_.in_step()) {
    OSTRAKA_CHECK(stage_.is(Stage::kUpdate));  // T2
  }
  pairs_.CheckInvariants();
  gradient_.CheckInvariants();
  column_.CheckInvariants();
  results_.CheckInvariants();
  sealing_.CheckInvariants();
  proving_.CheckInvariants();
  settling_.CheckInvariants();
}

void Step::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, facts_, before_ended_, ended_, pull_, pairs_, gradient_, column_, results_,
               sealing_, proving_, settling_);
}

}  // namespace ostraka::protocol
