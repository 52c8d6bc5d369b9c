// Everything that comes from others, and own messages that come back: each goes to the class that
// it is for. What it leads to for the member is returned as an outcome.
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
// What an attacker can do here: see gate.h (what is let in) and answers.h (what is answered).
//
// Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "crypto/hash_into.h"
#include "node/protocol/member/answers.h"
#include "node/protocol/member/beginning.h"
#include "node/protocol/member/ending.h"
#include "node/protocol/member/forks.h"
#include "node/protocol/member/gate.h"
#include "node/protocol/member/parts.h"

namespace ostraka::protocol {

class Intake {
 public:
  struct Uses {
    Parts* parts;
    Forks* forks;
    Follower* follower;
    Beginning* beginning;
    Ending* ending;
  };
  Intake(Uses uses, std::shared_ptr<wire::Opener> opener);
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // `step`: null if there is none. kLeave from the genesis: hand the input in again afterwards, as
  // the follower wants the block that it carries.
  Outcome On(const MessageReceived& input, Step* step);
  // A message of this member's key: it was just signed, or restored.
  Outcome TakeOwn(const wire::SharedMessage& shared, SharedBlob blob, Step* step) {
    return Accept(shared, std::move(blob), step);
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
  Outcome Take(const MessageReceived& input, Step* step);
  bool IsRefusedForGood(const Voucher& voucher) const;
  Outcome OnSigned(const wire::SharedMessage& shared, const MessageReceived& input, Step* step);
  void AnswerEchoes(const PeerId& to);
  Outcome Perform(Fate fate, const wire::SharedMessage& shared, const MessageReceived& input,
                  Step* step);
  Outcome Accept(const wire::SharedMessage& shared, SharedBlob blob, Step* step);
  Outcome KeepEquivocation(const Inbox::Item& item);
  void KeepFaultOfSeal(const wire::SignedEnvelope& message);
  bool MayBeHeard(const PeerId& from) const;
  bool IsVouched(const PeerId& sender, const wire::Rejoin& rejoin);
  void OnRejoin(const wire::SignedEnvelope& message, const PeerId& from);
  void AskHowFar(const PeerId& peer, const Followers::Request& request);
  void OnExhibit(const wire::SignedEnvelope& message, const MessageReceived& input);
  Outcome OnService(const PeerId& from, const wire::SignedEnvelope& message, const SharedBlob& blob,
                    Step* step);
  Outcome OnPull(const PeerId& from, const wire::Slot& slot, const wire::Pull& pull,
                 const Step* step);
  Outcome OnBlock(const PeerId& from, const SharedBlob& blob, const Step* step);
  base::StatusOr<Block> DecodeShown(const SharedBlob& blob) const;
  void OnChunk(const PeerId& from, const wire::SignedEnvelope& message, const SharedBlob& blob,
               Step* step);
  Outcome OnForward(const PeerId& link, const wire::Forward& forward, Step* step);
  Outcome OnCarried(const wire::Forward& forward, Step* step);
  // What is said to `from` since action `first` goes by the carrier that brought its question, if
  // one did (Post, P5).
  enum class Rationed : std::uint8_t { kNo, kYes };
  void SendBack(std::size_t first, const PeerId& from, Rationed rationed);
  void Malformed(const PeerId& from, const std::string& why) const;
  Outcome LeaveIfAsksAhead(const PeerId& from, const wire::Slot& slot, const Step* step);
  Outcome LeaveIfBehind(const PeerId& sender);
  const StepFacts* FactsInStep(const Step* step) const;

  Uses uses_;
  Parts& parts_;
  Gate gate_;
  Answers answers_;
};

}  // namespace ostraka::protocol
