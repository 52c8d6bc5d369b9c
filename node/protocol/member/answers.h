// Answers to the requests of others that concern seals and the step in progress; those that
// concern the chain are passed to chain_server.h.
//
// Promises:
//   N1  Only keys of the run that are not banned and guests (followers.h) are answered, each member
//       within its ration and the others within one for all of them (guest_ration.h); a question
//       that the gate finds (of genesis, or in a past seal) only of a member.
//   N2  What a question has this member look at is in the ration of who asks, whether it is held or
//       not: each author and each digest a unit, and of frames in the seal in progress
//       Ration::kLooksAUnit. Nothing is decoded for an answer.
//   N3  An answer changes nothing here, but for the ration and the list of followers.
//
// May not know: why a member asks.
//
// Memory: none of its own.
//
// What an attacker can do here: ask, as often as its ration lasts. Looking for what is not held
// costs it as much as an answer.
//
// Thread safety: none; one owner.
#pragma once

#include <vector>

#include "node/protocol/lasting/chain_server.h"
#include "node/protocol/lasting/followers.h"
#include "node/protocol/lasting/past_seals.h"
#include "node/protocol/lasting/stage.h"
#include "node/protocol/member/step_now.h"
#include "node/wire/opener.h"

namespace ostraka::protocol {

class Answers {
 public:
  Answers(const Core& core, MemberState& member, const StageNow& stage, const StepNow& step,
          std::shared_ptr<wire::Opener> opener)
      : core_(core), member_(member), stage_(stage), step_(step), opener_(std::move(opener)) {}

  // N1; counts the request.
  bool Admits(const PeerId& from);
  // REQUIRES: admitted; not of kind kProofs or kFollow (Intake::OnPull).
  void Answer(const PeerId& from, const wire::Slot& slot, const wire::Pull& pull);
  void AnswerHead(const PeerId& to);
  // A member that speaks in a seal that is decided here is stuck in it: the certificate helps it
  // on. REQUIRES: the seal is past.
  void HelpStuck(const wire::SignedEnvelope& message, const PeerId& from);

 private:
  void AnswerMessages(const PeerId& from, const wire::Slot& slot, const wire::Pull& pull);
  void AnswerBallots(const PeerId& to, const std::vector<SealFrame>& held,
                     const std::vector<PeerId>& authors);
  // The next two: false if the ration is used up.
  bool AnswerCertificate(const PeerId& to, const wire::Slot& slot, wire::MessageType type,
                         const std::vector<PeerId>& authors);
  bool SendHeld(const PeerId& to, const Inbox::Item* item);
  void LookThrough(const PastSeal& seal);
  void AnswerDigests(const PeerId& from, const wire::Slot& slot, const wire::Pull& pull);
  void AnswerVector(const PeerId& from, const wire::Slot& slot, const wire::Pull& pull);
  void AnswerPart(const PeerId& to, const wire::Slot& slot, const wire::Pull& pull);
  void AnswerOwnPart(const PeerId& to, std::uint64_t step, std::uint32_t column);
  void AnswerPassedOn(const PeerId& to, const PeerId& worker, std::uint32_t column);

  const Core& core_;
  MemberState& member_;
  const StageNow& stage_;
  const StepNow& step_;
  const std::shared_ptr<wire::Opener> opener_;
};

}  // namespace ostraka::protocol
