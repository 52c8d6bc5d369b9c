// The course of a Seal: what follows from each input (impl.h).
#include <algorithm>
#include <utility>

#include "node/base/check.h"
#include "node/base/planted.h"
#include "node/protocol/seal/inside/impl.h"
#include "node/protocol/seal/inside/lacks.h"
#include "node/protocol/seal/inside/memory.h"
#include "node/wire/codec.h"

namespace ostraka::protocol {
namespace {

using Step = SealClock::Step;
using wire::MessageType;

constexpr base::Duration Half(base::Duration duration) { return {duration.ns / 2}; }

void Append(const std::vector<base::SharedBytes>& frames, std::vector<base::SharedBytes>& out) {
  out.insert(out.end(), frames.begin(), frames.end());
}

}  // namespace

void Seal::Impl::Drive(base::Time now, SealOutput& out) {
  if (!decision_.made()) TryDecide(now, out);
  if (!decision_.made()) TryGate(now, out);
  if (!decision_.made()) RunClock(now, out);
  if (decision_.made()) decision_.Resolve(values_);
  if (!decision_.vector() && asks_.IsDue(now)) Ask(now, out);
  CheckInvariants();
}

void Seal::Impl::TryDecide(base::Time now, SealOutput& out) {
  const auto decided = slow_path_.certificates().Decided(setup_.unmuted().size());
  if (!decided) return;
  decision_.Make(decided->value, decided->signers, setup_.self());
  // The others may lack a single frame, and would then decide an iteration later. Before the first
  // CLOSE they ask for ECHOs often enough by themselves.
  if (view().HasVoice() && (slow_ || !gate_.empty())) Append(decision_.certificate(), out.forward);
  clock_.Stop();
  repeats_.Stop();
  asks_.Restart();
  asks_.LookAt(now);
  CheckParts();
}

void Seal::Impl::TryGate(base::Time now, SealOutput& out) {
  if (gate_.passed() || !gate_.open() || base::Planted(base::Bug::kNoGate)) return;
  gate_.Pass();
  if (!setup_.muted() && !base::Planted(base::Bug::kGateKeptSecret)) {
    Append(gate_.FramesToForward(setup_.self()), out.forward);
  }
  if (opened_) Begin(now, CloseTime::kWithEcho, out);
  if (!setup_.muted()) clock_.Passed(now);
  asks_.LookAt(now);
}

void Seal::Impl::Begin(base::Time now, CloseTime close, SealOutput& out) {
  if (!echoes_.EndWait(now)) return;
  asks_.LookAt(now + Half(setup_.delta()));
  // A member that finds the gate passed when it opens the seal must not echo: the others rely on
  // holding every honest ECHO soon after the gate.
  const bool too_late = (gate_.passed() && !opened_) || clock_.iteration() > 0;
  if (setup_.muted() || (too_late && !base::Planted(base::Bug::kEchoAfterGate))) return;
  SealVector held = values_.HeldNow();
  const wire::Echo echo = EchoOf(held);
  values_.Add(echo.vector, std::move(held));
  echoes_.Send(now, echo.vector);
  slow_path_.NameOwnEcho(echo.vector);
  if (!decision_.made()) clock_.Echoed(now, close);
  if (base::Planted(base::Bug::kNoGate) && !decision_.made()) {
    clock_.Rest(0, now + setup_.delta() * 2);
  }
  out.say.push_back({MessageType::kEcho, 0, wire::Encode(echo)});
}

void Seal::Impl::RunClock(base::Time now, SealOutput& out) {
  if (!view().HasVoice()) return;
  const SealRounds& rounds = slow_path_.rounds();
  // Fault bound + 1 members have reached an iteration, so an honest one has; and in a timely
  // network no honest member is more than Delta ahead of another.
  const std::uint32_t ahead = rounds.ReachedByMoreThan(setup_.fault_bound(), setup_.self());
  if (ahead > clock_.iteration()) {
    clock_.Enter(ahead, now);
    BeginStep(now, out);
  }
  while (true) {
    if (clock_.step() == Step::kStatus &&
        1 + rounds.CountThatReached(clock_.iteration(), setup_.self()) >= setup_.quorum()) {
      clock_.Gathered(now);
    }
    if (!clock_.Advance(now)) break;
    BeginStep(now, out);
  }
  RepeatOwn(now, out);
}

void Seal::Impl::BeginStep(base::Time now, SealOutput& out) {
  repeats_.Stop();  // what a step waits for, the next one does not wait for
  switch (clock_.step()) {
    case Step::kIdle:
    case Step::kEchoed:
    case Step::kRest:
      return;
    case Step::kClosed:
      out.say.push_back({MessageType::kClose, 0, wire::Encode(wire::Close{})});
      break;
    case Step::kStatus:
      BeginIteration(out);
      break;
    case Step::kPropose:
      if (setup_.LeaderOf(clock_.iteration()) == setup_.self()) Propose(out);
      break;
    case Step::kVote:
      if (!clock_.IsLate(now)) Vote(out);
      break;
    case Step::kLock:
      if (clock_.IsLate(now)) break;
      if (const auto lock = slow_path_.LockIn(clock_.iteration())) {
        out.say.push_back({MessageType::kLock, clock_.iteration(), wire::Encode(*lock)});
      }
      break;
  }
  asks_.LookAt(now);
}

void Seal::Impl::BeginIteration(SealOutput& out) {
  if (!slow_) echoes_.NameSilent();
  slow_ = true;
  const std::uint32_t k = clock_.iteration();
  const wire::SealStatus status = slow_path_.BeginIteration(k, echoes_.own_value());
  asks_.Restart();
  values_.ForgetAllBut(NamedValues(view()));
  CheckParts();
  out.say.push_back({MessageType::kStatus, k, wire::Encode(status)});
}

void Seal::Impl::Propose(SealOutput& out) {
  const std::uint32_t k = clock_.iteration();
  auto proposal = slow_path_.Propose(k, values_);
  if (!proposal) return;
  if (proposal->merged) values_.Add(proposal->body.value, *std::move(proposal->merged));
  out.say.push_back({MessageType::kPropose, k, wire::Encode(proposal->body)});
}

void Seal::Impl::Vote(SealOutput& out) {
  // A merge must hold the own ECHO. A member that echoed nothing has shown nothing, so a merge may
  // leave out anything that it holds. Attack: compared with what it holds, every merge of another
  // leader was refused by each such member that a two-faced member had shown its second message;
  // nobody could ask for that message, and two such members refused each other for ever.
  std::optional<SealVector> own;
  if (echoes_.own_vector_known()) {
    own = *values_.Find(echoes_.own_value());
  } else if (!echoes_.sent_at()) {
    own = SealVector(setup_.entries());
  }
  const std::uint32_t k = clock_.iteration();
  const ProposeSeen* proposal = slow_path_.Vote(k, values_, own);
  if (proposal == nullptr) return;
  const wire::SealVote vote{proposal->body.value, proposal->body.rank};
  out.say.push_back({MessageType::kVote, k, wire::Encode(vote)});
  out.forward.push_back(proposal->frame);
}

// While too few members have reached this point, the own CLOSE or STATUS may have been lost.
void Seal::Impl::RepeatOwn(base::Time now, SealOutput& out) {
  const bool closed = clock_.step() == Step::kClosed;
  const bool alone_in_status = clock_.step() == Step::kStatus && !clock_.gathered();
  if (!closed && !alone_in_status) return repeats_.Stop();
  const base::Duration step = StepLength(setup_.delta(), clock_.iteration());
  if (!repeats_.TakeDue(now, clock_.began(), step)) return;
  const base::SharedBytes* own = nullptr;  // null: not durable yet
  if (closed) {
    own = gate_.FrameOf(setup_.self());
  } else if (const StatusSeen* status =
                 slow_path_.rounds().StatusesOf(clock_.iteration()).FirstOf(setup_.self())) {
    own = &status->frame;
  }
  if (own != nullptr) {
    out.forward.push_back(*own);
    out.unhelped = repeats_.OnRepeat(closed);
  }
  asks_.Restart();
  asks_.LookAt(now);
}

void Seal::Impl::Ask(base::Time now, SealOutput& out) {
  const SealLacks lacks = FindLacks(view(), now);
  const bool more = asks_.Send(lacks, slow_, out.ask);
  if (lacks.sources.empty()) return;
  const base::Duration delta = setup_.delta();
  if (more || (!decision_.made() && !slow_ && echoes_.wait_ended_at())) {
    // A member that closed long ago may wait for the gate until the deadline of the phase.
    const bool waits = clock_.step() == Step::kClosed && now - clock_.began() > delta;
    asks_.LookAt(now + (waits ? delta * 2 : Half(delta)));
  } else if (decision_.made()) {
    // No later iteration will ask again: repeat the requests every 2 Delta.
    asks_.Restart();
    asks_.LookAt(now + delta * 2);
    out.unhelped = decision_.NoteAsked();
  }
}

void Seal::Impl::CheckInvariants() const {
  decision_.CheckInvariants();
  const bool idle = clock_.step() == Step::kIdle;
  OSTRAKA_CHECK(!decision_.made() || idle);
  OSTRAKA_CHECK(!setup_.muted() || (idle && slow_path_.certificates().lock().rank == 0));
  OSTRAKA_CHECK(slow_ || clock_.iteration() == 0);
  const std::size_t unmuted = setup_.unmuted().size();
  OSTRAKA_CHECK(slow_path_.rounds().members_seen() <= unmuted);
  OSTRAKA_CHECK(slow_path_.certificates().named().size() <= MostNames(unmuted));
  OSTRAKA_CHECK(slow_path_.certificates().locks().groups().size() <= Locks::kLocksOfOne * unmuted);
  OSTRAKA_CHECK(values_.size() <= MostVectors(unmuted));
}

void Seal::Impl::CheckParts() const {
  echoes_.CheckInvariants();
  slow_path_.CheckInvariants(clock_.iteration());
  gate_.CheckInvariants();
  values_.CheckInvariants();
  CheckMemory();
}

void Seal::Impl::CheckMemory() const {
  std::size_t frames = 0;
  std::size_t bytes = 0;
  for (const MessageType type : {MessageType::kEcho, MessageType::kClose, MessageType::kStatus,
                                 MessageType::kPropose, MessageType::kVote, MessageType::kLock}) {
    for (const SealFrame& held : Frames(type)) {
      ++frames;
      bytes += held.frame->size();
    }
  }
  OSTRAKA_CHECK(frames <= MostFrames(setup_.unmuted().size()));
  OSTRAKA_CHECK(bytes <= frames * kMostFrameBytes);
}

SealView Seal::Impl::view() const {
  return {setup_, values_, echoes_, gate_, clock_, slow_path_, decision_};
}

}  // namespace ostraka::protocol
