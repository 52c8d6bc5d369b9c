#include "node/protocol/member/peer_machine.h"

#include <utility>
#include <vector>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/base/check.h"
#include "node/base/planted.h"
#include "node/protocol/mail/message_types.h"
#include "node/protocol/mail/timers.h"
#include "node/protocol/member/waiting.h"
#include "node/wire/codec.h"
#include "proofs/evidence/evidence.h"

namespace ostraka::protocol {

using wire::MessageType;
using wire::Phase;

PeerMachine::PeerMachine(PeerOptions options)
    : verifier_(options.verifier),
      parts_(options),
      forks_({parts_.self, &parts_.turn, &parts_.voice, &parts_.journal, &parts_.chain,
              &parts_.followers, &parts_.charges, &parts_.check, &parts_.server,
              &parts_.fork_watch}),
      follower_({parts_.self, parts_.manifest, parts_.layout, &parts_.turn, parts_.secrets.get(),
                 &parts_.voice, &parts_.journal, &parts_.jobs, &parts_.chain, &parts_.inbox,
                 &parts_.check, &parts_.post, std::move(options.credential)}),
      beginning_({parts_.self, parts_.manifest, &parts_.turn, parts_.secrets.get(), &parts_.voice,
                  &parts_.journal, &parts_.jobs, &parts_.chain, &parts_.genesis, &follower_,
                  &parts_.charges, std::move(options.anchor)}),
      ending_({parts_.self, &parts_.turn, &parts_.voice, &parts_.chain, &parts_.inbox,
               &parts_.followers, &parts_.charges}),
      intake_({&parts_, &forks_, &follower_, &beginning_, &ending_}, std::move(options.opener)) {}

void PeerMachine::Step(Time now, const Input& input, Outbox& out) {
  const std::size_t before = out.actions().size();
  parts_.turn.Begin(now, out);
  parts_.post.SetHead(parts_.chain.shared_head());
  if (!parts_.stage.is(Stage::kHalted)) {
    std::visit([this](const auto& event) { On(event); }, input);
    Advance();
  } else if (const auto* link = std::get_if<LinkChanged>(&input); link != nullptr && resends_) {
    On(*link);
  } else if (const auto* stored = std::get_if<Stored>(&input); stored != nullptr && resends_) {
    On(*stored);  // last messages
  }
  parts_.turn.End();
  parts_.post.SetHead(parts_.chain.shared_head());
  if (parts_.routes) parts_.post.Route(out, before);
}

void PeerMachine::Advance() {
  do {
    TakeOwn();
  } while (TryAdvance() || parts_.voice.HasOwn());
}

bool PeerMachine::TryAdvance() {
  if (parts_.stage.is(Stage::kGenesis)) return Do(beginning_.TryGenesis());
  if (parts_.stage.in_step()) return Do(step_->TryAdvance());
  // A step that begins here waits for the next input.
  if (parts_.stage.is(Stage::kFollow)) Do(follower_.Advance());
  return false;
}

// --- inputs -------------------------------------------------------------------------------------

void PeerMachine::On(const Started& input) {
  OSTRAKA_CHECK(parts_.stage.is(Stage::kUnstarted));
  parts_.secrets->Begin(input.private_seed);
  On(input.wishes);
  std::vector<wire::SignedEnvelope> own;
  base::Status status = base::OkStatus();
  if (input.restored != nullptr) {
    if (input.restored->fork) return Halt(Halted::Why::kForked, *input.restored->fork);
    auto restored = beginning_.Restore(*input.restored);
    if (restored.ok()) {
      own = *std::move(restored);
    } else {
      status = restored.status();
    }
  }
  if (status.ok() && beginning_.replays()) {
    parts_.stage.Enter(Stage::kRestore);
    Do(beginning_.ReplayNext());
    return;
  }
  if (status.ok()) {
    parts_.stage.Enter(Stage::kGenesis);
    if (!IsMember(parts_.chain.head().members, parts_.self)) {
      Do(beginning_.ComeIn());
      return;
    }
    beginning_.BeginGenesis(input.store_nonce);
    for (const wire::SignedEnvelope& message : own) {
      TakeIn(wire::Share(message), nullptr);
      if (message.envelope.slot.type != MessageType::kEcho) continue;
      const auto* echo = message.As<wire::Echo>();
      if (echo != nullptr) parts_.genesis.OnOwnEcho(*echo);
      if (echo == nullptr) status = base::InvalidArgument(message.WhyUnreadable());
    }
  }
  if (!status.ok()) {
    Halt(Halted::Why::kFailed, "what this node stored cannot be used: " + base::MessageOf(status) +
                                   "; move its data folder away and start again to rejoin");
  }
}

void PeerMachine::On(const LinkChanged& input) {
  parts_.post.OnLink(input.peer, input.up);
  if (!input.up) {
    parts_.genesis.OnLinkDown(input.peer);
    parts_.followers.OnLinkDown(input.peer);
  }
  ending_.OnLink(input.peer, input.up);
  if (parts_.stage.is(Stage::kLinger)) Do(ending_.Rearm(input.peer));
  if (input.up) intake_.Greet(input.peer);
}

void PeerMachine::On(const TimerFired& input) {
  if (input.id == kFollowTimer) {  // while following, Advance asks again
    if (parts_.stage.is(Stage::kLinger)) Do(ending_.OnTimer());
    if (parts_.stage.is(Stage::kFrozen)) Halt(Halted::Why::kForked, forks_.End());
    return;
  }
  if (step_ == nullptr) return;
  if (input.id == kEchoTimer) step_->sealing().OnEchoTimer();
  if (input.id == kSealTimer) step_->sealing().OnSealTimer();
  if (input.id == kBulkTimer) step_->OnBulkTimer();
  if (input.id == kPullTimer) step_->OnPullTimer();
  if (input.id == kProofTimer) step_->OnProofTimer();
}

// The seals of a step may end it while its jobs still run, most of all after a restart: what they
// give says nothing of the step in progress [signed in it, the gradient or numbers of another step
// would convict an honest member]. Duties outlast their step (duty_jobs.h).
void PeerMachine::On(const JobDone& input) {
  const auto job = parts_.jobs.Take(input.id);
  if (!job) return;
  if (parts_.duty_jobs.Owns(input.id)) return OnDutyJob(input, *job);
  if (job->asked_in != parts_.voice.step()) return;
  if (step_ != nullptr && step_->Owns(input.id)) {
    if (parts_.stage.in_step()) Do(step_->OnJob(input.id, *job, *input.result));
    return;
  }
  if (const auto* failed = std::get_if<JobFailed>(input.result.get())) {
    Do(Outcome::FailedJob(job->about, failed->reason));
  } else if (beginning_.Owns(input.id)) {
    Do(beginning_.OnJob(input.id, *input.result));
  } else if (follower_.Owns(input.id)) {
    follower_.OnJob(input.id, *input.result);
  }
}

void PeerMachine::OnDutyJob(const JobDone& input, const JobDesk::Job& job) {
  const auto done = parts_.duty_jobs.Take(input.id, job, parts_.voice.step(), *input.result);
  if (done.failed) {
    Do(Outcome::FailedJob(job.about, std::get<JobFailed>(*input.result).reason));
    return;
  }
  for (const PeerId& liar : done.liars) {
    parts_.voice.Suspect(liar, "V1",
                         "its sealed numbers of step " + std::to_string(job.about) +
                             " do not follow from the part that it sent me");
  }
}

void PeerMachine::On(const Stored& input) {
  if (parts_.stage.is(Stage::kFrozen)) return;  // what waited to be signed stays unsigned (P3)
  auto released = parts_.journal.Release(input.id);
  if (!released) return;  // a block or evidence: nothing waits for it
  for (SignedDraft& draft : *released) {
    parts_.voice.Say(std::move(draft));
    TakeOwn();
  }
}

void PeerMachine::On(const MessageReceived& input) {
  const bool began = parts_.stage.is(Stage::kGenesis);
  Do(intake_.On(input, step_.get()));
  // The block that made this member leave the genesis is one that the follower wants.
  if (began && parts_.stage.is(Stage::kFollow)) Do(intake_.On(input, step_.get()));
}

void PeerMachine::TakeOwn() {
  while (auto own = parts_.voice.NextOwn()) TakeIn(own->message, std::move(own->blob));
}

void PeerMachine::TakeIn(const wire::SharedMessage& own, SharedBlob blob) {
  if (parts_.stage.is(Stage::kHalted)) return;
  Do(intake_.TakeOwn(own, std::move(blob), step_.get()));
}

// --- what happens to the member -----------------------------------------------------------------

bool PeerMachine::Do(const Outcome& outcome) {
  switch (outcome.what) {
    case Outcome::What::kWait:
      return false;
    case Outcome::What::kGoOn:
      return true;
    case Outcome::What::kBeginStep:
      if (parts_.stage.is(Stage::kRestore)) {
        ResumeStep();
      } else {
        BeginStep();
      }
      return true;
    case Outcome::What::kLeave:
      Leave(outcome.reason, outcome.trust_state);
      return true;
    case Outcome::What::kFinish:
      Finish();
      return false;
    case Outcome::What::kFreeze:
      Freeze();
      return false;
    case Outcome::What::kHalt:
      Halt(outcome.why, outcome.reason);
      return false;
  }
  return false;
}

protocol::Step::Uses PeerMachine::StepUses() {
  return {parts_.self,          parts_.manifest,    verifier_,
          parts_.layout,        &parts_.turn,       &parts_.stage,
          parts_.secrets.get(), &parts_.voice,      &parts_.journal,
          &parts_.jobs,         &parts_.chain,      &parts_.inbox,
          &parts_.server,       &parts_.charges,    &parts_.reports,
          &parts_.duties,       &parts_.duty_jobs,  &parts_.followers,
          &parts_.fork_watch,   &parts_.past_seals, &parts_.pace};
}

void PeerMachine::BeginStep() {
  const std::optional<Time> before_ended = step_ != nullptr ? step_->ended() : std::nullopt;
  step_.reset();
  step_ = std::make_unique<protocol::Step>(StepUses(), before_ended);
  const std::uint64_t step = step_->number();
  parts_.voice.SetStep(step);
  // The last step's messages stay for members that are stuck in it.
  const std::uint64_t kept = step == 0 ? 0 : step - 1;
  parts_.inbox.ForgetBefore(kept);
  parts_.past_seals.ForgetBefore(kept);
  parts_.journal.ForgetBefore(kept);
  parts_.chain.ForgetResults(step);
  parts_.stage.Enter(Stage::kCollect);
  if (base::Planted(base::Bug::kCanary)) {
    parts_.voice.Suspect(parts_.self, "canary", "a bug was planted");
  }
  step_->Begin(intake_.BeginStep(step));
  forks_.AskHeadsOfDropped();
}

void PeerMachine::ResumeStep() {
  std::vector<wire::SignedEnvelope> own;
  for (const Journal::Sent& sent : parts_.journal.sent()) {
    own.push_back(wire::Open(sent.frame).value());
  }
  BeginStep();
  for (const wire::SignedEnvelope& message : own) {
    const wire::Slot& slot = message.envelope.slot;
    if (CarriesBlob(slot.type) || slot.step != step_->number()) continue;
    TakeIn(wire::Share(message), nullptr);
  }
  step_->SendResultAgain();
  TakeOwn();
  parts_.voice.AskHeads(parts_.chain.head().members, step_->number());  // and at each link
}

// Says nothing new in this step: the run goes on without this member. What waits for its store is
// signed still, as its slots are taken.
void PeerMachine::Leave(const std::string& reason, bool trust_state) {
  const bool at_work = parts_.stage.in_step();
  const std::uint64_t step = at_work ? step_->number() : HeightOf(parts_.chain.head());
  parts_.charges.StoreVerdicts();
  parts_.jobs.EndEra();
  parts_.turn.Do(Observe{Away{step, reason}});
  CancelStepTimers();
  // A step that was not finished left the head and the state as they were before it.
  step_.reset();
  parts_.voice.SetStep(0);
  parts_.duties.Clear();
  parts_.duty_jobs.Clear();
  parts_.reports.Clear();
  parts_.past_seals.Clear();
  parts_.chain.ForgetPast();
  intake_.ForgetAhead();
  parts_.stage.Enter(Stage::kFollow);
  follower_.Leave(at_work ? std::optional(step) : std::nullopt, trust_state);
}

void PeerMachine::CancelStepTimers() const {
  for (const TimerId timer : kStepTimers) parts_.turn.Do(CancelTimer{timer});
}

void PeerMachine::Finish() {
  parts_.stage.Enter(Stage::kLinger);
  const Block& head = parts_.chain.head();
  if (IsMember(head.members, parts_.self)) parts_.voice.SetStep(HeightOf(head));
  Do(ending_.Begin());
}

void PeerMachine::Freeze() {
  parts_.stage.Enter(Stage::kFrozen);
  parts_.jobs.EndEra();
  if (step_ != nullptr) step_->sealing().Drop();
  CancelStepTimers();
  forks_.Freeze();
}

void PeerMachine::Halt(Halted::Why why, const std::string& reason) {
  if (parts_.stage.is(Stage::kHalted)) return;
  parts_.charges.StoreVerdicts();
  parts_.stage.Enter(Stage::kHalted);
  parts_.jobs.EndEra();
  resends_ =
      why == Halted::Why::kFinished || why == Halted::Why::kBanned || why == Halted::Why::kLeft;
  CancelStepTimers();
  parts_.turn.Do(CancelTimer{kFollowTimer});
  parts_.turn.Do(Observe{Halted{why, parts_.voice.step(), reason}});
}

// --- for people, and the outside checks ---------------------------------------------------------

Progress PeerMachine::progress() const {
  Progress progress;
  progress.step = parts_.stage.in_step() ? step_->number() : HeightOf(parts_.chain.head());
  progress.at_work = parts_.stage.in_step();
  progress.phase = NameOf(parts_.stage.stage());
  for (const Awaited& awaited : AwaitedBy({parts_.stage.stage(), &parts_.chain, &parts_.inbox,
                                           &parts_.genesis, &ending_, step_.get()})) {
    if (awaited.sender == parts_.self) continue;
    progress.missing.push_back({awaited.sender, wire::MessageTypeName(awaited.type)});
  }
  return progress;
}

void PeerMachine::CheckInvariants() const {
  parts_.CheckInvariants();
  const StageNow& stage = parts_.stage;
  const bool member = IsMember(parts_.chain.head().members, parts_.self);
  OSTRAKA_CHECK(!stage.in_step() || stage.is(Stage::kUpdate) || member);                   // P1
  OSTRAKA_CHECK(!stage.in_step() || IsSealing(stage.stage()) == step_->sealing().open());  // P2
  OSTRAKA_CHECK(!stage.is(Stage::kFrozen) || forks_.split());
  OSTRAKA_CHECK(stage.is(Stage::kFollow) == follower_.away() || stage.is(Stage::kHalted) ||
                stage.is(Stage::kFrozen));
  intake_.CheckInvariants();
  forks_.CheckInvariants();
  follower_.CheckInvariants();
  beginning_.CheckInvariants();
  ending_.CheckInvariants();
  if (step_ != nullptr) step_->CheckInvariants();
}

Digest PeerMachine::Fingerprint() const {
  crypto::Hasher hasher(crypto::kDomainFingerprint);
  HashInto(hasher);
  return hasher.Finish();
}

std::unique_ptr<Machine> MakePeer(PeerOptions options) {
  return std::make_unique<PeerMachine>(std::move(options));
}

void PeerMachine::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, parts_, forks_, follower_, beginning_, ending_, intake_, step_,
               *parts_.secrets, resends_);
}

}  // namespace ostraka::protocol
