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
      components_(options),
      forks_(components_, step_, components_.followers, components_.charges, components_.check,
             components_.server, components_.fork_watch),
      follower_(components_, components_.check, components_.post, std::move(options.credential)),
      beginning_(components_, components_.genesis, follower_, components_.charges,
                 std::move(options.anchor)),
      ending_(components_, components_.followers, components_.charges),
      intake_(components_, step_, forks_, follower_, beginning_, ending_, options.opener) {}

void PeerMachine::Step(Time now, const Input& input, Outbox& out) {
  const std::size_t before = out.actions().size();
  components_.turn.Begin(now, out);
  components_.post.SetHead(components_.chain.shared_head());
  if (!components_.stage.is(Stage::kHalted)) {
    std::visit([this](const auto& event) { On(event); }, input);
    Advance();
  } else if (const auto* link = std::get_if<LinkChanged>(&input); link != nullptr && resends_) {
    On(*link);
  } else if (const auto* stored = std::get_if<Stored>(&input); stored != nullptr && resends_) {
    On(*stored);  // last messages
  }
  components_.turn.End();
  components_.post.SetHead(components_.chain.shared_head());
  if (components_.routes) components_.post.Route(out, before);
}

void PeerMachine::Advance() {
  do {
    TakeOwn();
  } while (TryAdvance() || components_.voice.HasOwn());
}

bool PeerMachine::TryAdvance() {
  if (components_.stage.is(Stage::kGenesis)) return Do(beginning_.TryGenesis());
  if (step_.in()) return Do(step_.step().TryAdvance());
  // A step that begins here waits for the next input.
  if (components_.stage.is(Stage::kFollow)) Do(follower_.Advance());
  return false;
}

// --- inputs -------------------------------------------------------------------------------------

void PeerMachine::On(const Started& input) {
  OSTRAKA_CHECK(components_.stage.is(Stage::kUnstarted));
  components_.secrets->Begin(input.private_seed);
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
    components_.stage.Enter(Stage::kRestore);
    Do(beginning_.ReplayNext());
    return;
  }
  if (status.ok()) {
    components_.stage.Enter(Stage::kGenesis);
    if (!IsMember(components_.chain.head().members, components_.self)) {
      Do(beginning_.ComeIn());
      return;
    }
    beginning_.BeginGenesis(input.store_nonce);
    for (const wire::SignedEnvelope& message : own) {
      TakeIn(wire::Share(message), nullptr);
      if (message.envelope.slot.type != MessageType::kEcho) continue;
      const auto* echo = message.As<wire::Echo>();
      if (echo != nullptr) components_.genesis.OnOwnEcho(*echo);
      if (echo == nullptr) status = base::InvalidArgument(message.WhyUnreadable());
    }
  }
  if (!status.ok()) {
    Halt(Halted::Why::kFailed, "what this node stored cannot be used: " + base::MessageOf(status) +
                                   "; move its data folder away and start again to rejoin");
  }
}

void PeerMachine::On(const LinkChanged& input) {
  components_.post.OnLink(input.peer, input.up);
  if (!input.up) {
    components_.genesis.OnLinkDown(input.peer);
    components_.followers.OnLinkDown(input.peer);
  }
  ending_.OnLink(input.peer, input.up);
  if (components_.stage.is(Stage::kLinger)) Do(ending_.Rearm(input.peer));
  if (input.up) intake_.Greet(input.peer);
}

void PeerMachine::On(const TimerFired& input) {
  if (input.id == kFollowTimer) {  // while following, Advance asks again
    if (components_.stage.is(Stage::kLinger)) Do(ending_.OnTimer());
    if (components_.stage.is(Stage::kFrozen)) Halt(Halted::Why::kForked, forks_.End());
    return;
  }
  protocol::Step* step = step_.last();
  if (step == nullptr) return;
  if (input.id == kEchoTimer) step->sealing().OnEchoTimer();
  if (input.id == kSealTimer) step->sealing().OnSealTimer();
  if (input.id == kBulkTimer) step->OnBulkTimer();
  if (input.id == kPullTimer) step->OnPullTimer();
  if (input.id == kProofTimer) step->OnProofTimer();
}

// The seals of a step may end it while its jobs still run, most of all after a restart: what they
// give says nothing of the step in progress [signed in it, the gradient or numbers of another step
// would convict an honest member]. Duties outlast their step (duty_jobs.h).
void PeerMachine::On(const JobDone& input) {
  const auto job = components_.jobs.Take(input.id);
  if (!job) return;
  if (components_.duty_jobs.Owns(input.id)) return OnDutyJob(input, *job);
  if (job->asked_in != components_.voice.step()) return;
  if (protocol::Step* step = step_.last(); step != nullptr && step->Owns(input.id)) {
    if (step_.in()) Do(step->OnJob(input.id, *job, *input.result));
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
  const auto done =
      components_.duty_jobs.Take(input.id, job, components_.voice.step(), *input.result);
  if (done.failed) {
    Do(Outcome::FailedJob(job.about, std::get<JobFailed>(*input.result).reason));
    return;
  }
  for (const PeerId& liar : done.liars) {
    components_.voice.Suspect(liar, "V1",
                              "its sealed numbers of step " + std::to_string(job.about) +
                                  " do not follow from the part that it sent me");
  }
}

void PeerMachine::On(const Stored& input) {
  if (components_.stage.is(Stage::kFrozen)) return;  // what waited to be signed stays unsigned (P3)
  auto released = components_.journal.Release(input.id);
  if (!released) return;  // a block or evidence: nothing waits for it
  for (SignedDraft& draft : *released) {
    components_.voice.Say(std::move(draft));
    TakeOwn();
  }
}

void PeerMachine::On(const MessageReceived& input) {
  const bool began = components_.stage.is(Stage::kGenesis);
  Do(intake_.On(input));
  // The block that made this member leave the genesis is one that the follower wants.
  if (began && components_.stage.is(Stage::kFollow)) Do(intake_.On(input));
}

void PeerMachine::TakeOwn() {
  while (auto own = components_.voice.NextOwn()) TakeIn(own->message, std::move(own->blob));
}

void PeerMachine::TakeIn(const wire::SharedMessage& own, SharedBlob blob) {
  if (components_.stage.is(Stage::kHalted)) return;
  Do(intake_.TakeOwn(own, std::move(blob)));
}

// --- what happens to the member -----------------------------------------------------------------

bool PeerMachine::Do(const Outcome& outcome) {
  switch (outcome.what) {
    case Outcome::What::kWait:
      return false;
    case Outcome::What::kGoOn:
      return true;
    case Outcome::What::kBeginStep:
      if (components_.stage.is(Stage::kRestore)) {
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

void PeerMachine::BeginStep() {
  const std::optional<Time> before_ended = step_.ended();
  step_.Drop();
  protocol::Step& next = step_.Begin(std::make_unique<protocol::Step>(
      components_, components_, components_.stage, *verifier_, before_ended));
  const std::uint64_t step = next.number();
  components_.voice.SetStep(step);
  // The last step's messages stay for members that are stuck in it.
  const std::uint64_t kept = step == 0 ? 0 : step - 1;
  components_.inbox.ForgetBefore(kept);
  components_.past_seals.ForgetBefore(kept);
  components_.journal.ForgetBefore(kept);
  components_.chain.ForgetResults(step);
  components_.stage.Enter(Stage::kCollect);
  if (base::Planted(base::Bug::kCanary)) {
    components_.voice.Suspect(components_.self, "canary", "a bug was planted");
  }
  next.Begin(intake_.BeginStep(step));
  forks_.AskHeadsOfDropped();
}

void PeerMachine::ResumeStep() {
  std::vector<wire::SignedEnvelope> own;
  for (const Journal::Sent& sent : components_.journal.sent()) {
    own.push_back(wire::Open(sent.frame).value());
  }
  BeginStep();
  for (const wire::SignedEnvelope& message : own) {
    const wire::Slot& slot = message.envelope.slot;
    if (CarriesBlob(slot.type) || slot.step != step_.step().number()) continue;
    TakeIn(wire::Share(message), nullptr);
  }
  step_.step().SendResultAgain();
  TakeOwn();
  follower_.ShowCredentialAsKey();
  components_.voice.AskHeads(components_.chain.head().members,
                             step_.step().number());  // and at each link
}

// Says nothing new in this step: the run goes on without this member. What waits for its store is
// signed still, as its slots are taken.
void PeerMachine::Leave(const std::string& reason, bool trust_state) {
  const bool at_work = step_.in();
  const std::uint64_t step = at_work ? step_.step().number() : HeightOf(components_.chain.head());
  components_.charges.StoreVerdicts();
  components_.jobs.EndEra();
  components_.turn.Do(Observe{Away{step, reason}});
  CancelStepTimers();
  // A step that was not finished left the head and the state as they were before it.
  components_.voice.SetStep(0);
  components_.duties.Clear();
  components_.duty_jobs.Clear();
  components_.reports.Clear();
  components_.past_seals.Clear();
  components_.chain.ForgetPast();
  intake_.ForgetAhead();
  components_.stage.Enter(Stage::kFollow);
  step_.Drop();
  follower_.Leave(at_work ? std::optional(step) : std::nullopt, trust_state);
}

void PeerMachine::CancelStepTimers() const {
  for (const TimerId timer : kStepTimers) components_.turn.Do(CancelTimer{timer});
}

void PeerMachine::Finish() {
  components_.stage.Enter(Stage::kLinger);
  const Block& head = components_.chain.head();
  if (IsMember(head.members, components_.self)) components_.voice.SetStep(HeightOf(head));
  Do(ending_.Begin());
}

void PeerMachine::Freeze() {
  if (protocol::Step* step = step_.last()) step->sealing().Drop();
  components_.stage.Enter(Stage::kFrozen);
  components_.jobs.EndEra();
  CancelStepTimers();
  forks_.Freeze();
}

void PeerMachine::Halt(Halted::Why why, const std::string& reason) {
  if (components_.stage.is(Stage::kHalted)) return;
  components_.charges.StoreVerdicts();
  components_.stage.Enter(Stage::kHalted);
  components_.jobs.EndEra();
  resends_ =
      why == Halted::Why::kFinished || why == Halted::Why::kBanned || why == Halted::Why::kLeft;
  CancelStepTimers();
  components_.turn.Do(CancelTimer{kFollowTimer});
  components_.turn.Do(Observe{Halted{why, components_.voice.step(), reason}});
}

// --- for people, and the outside checks ---------------------------------------------------------

Progress PeerMachine::progress() const {
  Progress progress;
  progress.step = step_.in() ? step_.step().number() : HeightOf(components_.chain.head());
  progress.at_work = step_.in();
  progress.phase = NameOf(components_.stage.stage());
  const WaitingView member{components_, components_.stage.stage(), components_.genesis, ending_,
                           step_};
  for (const Awaited& awaited : AwaitedBy(member)) {
    if (awaited.sender == components_.self) continue;
    progress.missing.push_back({awaited.sender, wire::MessageTypeName(awaited.type)});
  }
  return progress;
}

void PeerMachine::CheckInvariants() const {
  components_.CheckInvariants();
  const StageNow& stage = components_.stage;
  const bool member = IsMember(components_.chain.head().members, components_.self);
  OSTRAKA_CHECK(!stage.in_step() || stage.is(Stage::kUpdate) || member);  // P1
  step_.CheckInvariants();
  OSTRAKA_CHECK(!step_.in() || IsSealing(stage.stage()) == step_.step().sealing().open());  // P2
  OSTRAKA_CHECK(!stage.is(Stage::kFrozen) || forks_.split());
  OSTRAKA_CHECK(stage.is(Stage::kFollow) == follower_.away() || stage.is(Stage::kHalted) ||
                stage.is(Stage::kFrozen));
  intake_.CheckInvariants();
  forks_.CheckInvariants();
  follower_.CheckInvariants();
  beginning_.CheckInvariants();
  ending_.CheckInvariants();
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
  crypto::Feed(hasher, components_, forks_, follower_, beginning_, ending_, intake_, step_,
               *components_.secrets, resends_);
}

}  // namespace ostraka::protocol
