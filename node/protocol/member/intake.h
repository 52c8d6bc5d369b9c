// Everything that comes from others, and own messages that come back: each goes to the class that
// it is for. What it leads to for the member is returned as an outcome.
//
//   frame -> Gate::Open -> request or answer -> Answers | Follower | Forks | Ending
//                       -> REJOIN            -> Door
//                       -> other signed      -> Forks::Watch -> Gate::Sort, Judge -> inbox -> step
//   A frozen member hands all signed messages to Forks. A member that lingers takes in COMMITs.
//
// Promises:
//   I1  A signed message is taken in once, by the gate's judgement; an own one without it, as it
//       was signed here.
//   I2  The first proof of an equivocation is kept, and shown (charges.h).
//   I3  Two different own messages of one slot halt the member: another process signs with its key.
//
// May not know: timers, jobs, stores, or how a stage is entered.
//
// Memory: none of its own.
//
// What an attacker can do here: see gate.h (what is let in), door.h (who comes in) and answers.h
// (what is answered).
//
// Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "crypto/hash_into.h"
#include "node/protocol/member/answers.h"
#include "node/protocol/member/beginning.h"
#include "node/protocol/member/components.h"
#include "node/protocol/member/door.h"
#include "node/protocol/member/ending.h"
#include "node/protocol/member/forks.h"
#include "node/protocol/member/gate.h"

namespace ostraka::protocol {

class Intake {
 public:
  Intake(Components& components, StepNow& step, Forks& forks, Follower& follower,
         Beginning& beginning, Ending& ending, const std::shared_ptr<wire::Opener>& opener);
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // kLeave from the genesis: hand the input in again afterwards, as
  // the follower wants the block that it carries.
  Outcome On(const MessageReceived& input);
  // A message of this member's key: it was just signed, or restored.
  Outcome TakeOwn(const wire::SharedMessage& shared, SharedBlob blob) {
    return Accept(shared, std::move(blob));
  }
  // A link with `peer` is up, or a path to it by way of another member, which is then told: says to
  // it all that it may lack.
  void Greet(const PeerId& peer);
  // A step begins: the links whose PARTs of it found no room.
  std::set<PeerId> BeginStep(std::uint64_t step) { return gate_.BeginStep(step); }
  // This member leaves.
  void ForgetAhead() { gate_.ForgetAhead(); }
  void CheckInvariants() const { gate_.CheckInvariants(); }

 private:
  Outcome Take(const MessageReceived& input);
  Outcome OnSigned(const wire::SharedMessage& shared, const MessageReceived& input);
  void AnswerEchoes(const PeerId& to);
  Outcome Perform(Fate fate, const wire::SharedMessage& shared, const MessageReceived& input);
  Outcome Accept(const wire::SharedMessage& shared, SharedBlob blob);
  Outcome KeepEquivocation(const Inbox::Item& item);
  void KeepFaultOfSeal(const wire::SignedEnvelope& message);
  void OnExhibit(const wire::SignedEnvelope& message, const MessageReceived& input);
  Outcome OnService(const PeerId& from, const wire::SignedEnvelope& message,
                    const SharedBlob& blob);
  Outcome OnPull(const PeerId& from, const wire::Slot& slot, const wire::Pull& pull);
  Outcome OnBlock(const PeerId& from, const SharedBlob& blob);
  base::StatusOr<Block> DecodeShown(const SharedBlob& blob) const;
  void OnChunk(const PeerId& from, const wire::SignedEnvelope& message, const SharedBlob& blob);
  Outcome OnForward(const PeerId& link, const wire::Forward& forward);
  Outcome OnCarried(const wire::Forward& forward);
  // What is said to `from` since action `first` goes by the carrier that brought its question, if
  // one did (Post, P5).
  enum class Rationed : std::uint8_t { kNo, kYes };
  void SendBack(std::size_t first, const PeerId& from, Rationed rationed);
  void Malformed(const PeerId& from, const std::string& why) const;
  // After any PULL: a slot that is two steps ahead says that its sender is there.
  Outcome LeaveIfAsksAhead(const PeerId& from, const wire::Slot& slot);
  Outcome LeaveIfBehind(const PeerId& sender);
  Outcome LeaveForNext(const PeerId& from, Block block, const Digest& digest);

  Components& components_;
  StepNow& step_;
  Forks& forks_;
  Follower& follower_;
  Beginning& beginning_;
  Ending& ending_;
  Door door_;
  Gate gate_;
  Answers answers_;
};

}  // namespace ostraka::protocol
