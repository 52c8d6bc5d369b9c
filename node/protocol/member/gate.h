// What is let in: every frame is opened here, and every signed message but REJOIN (door.h) is
// judged here, cheap checks first, before anything of it is kept or believed.
//
// Promises:
//   G1  A message is taken in only if it is of use now (its step and phase are in the window), its
//       signer is a member, its bulk data is what it announces and is wanted, and its signature is
//       good.
//   G2  A relayed frame counts as its author's, for it is signed. Relayed bulk data counts if it is
//       what the frame announces.
//   G3  What a link brings is counted for the link, and never for the signer. A link that brought
//       too many forged signatures is not heard at all until its second is over.
//
// May not know: what is done with a message, or what the seals decide.
//
// Memory: for three steps, the links whose PARTs found no room; the members seen two steps ahead,
// and the block that each shows as the next.
//
// What an attacker can do here: fill its own places of the inbox, once each, in a window of two
// steps; have signatures verified for nothing, as far as its ration goes (ration.h); be suspected.
//
// Thread safety: none; one owner.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "crypto/hash_into.h"
#include "node/protocol/lasting/charges.h"
#include "node/protocol/lasting/genesis_seal.h"
#include "node/protocol/lasting/past_seals.h"
#include "node/protocol/lasting/stage.h"
#include "node/protocol/mail/signature_check.h"
#include "node/protocol/member/step_now.h"
#include "node/wire/opener.h"

namespace ostraka::protocol {

// What is to be done with a signed message.
enum class Fate : std::uint8_t {
  kNothing,
  kExhibit,          // a PART of an old step: a case may be about it
  kGenesisQuestion,  // its sender believes that the run has not begun
  kPastSeal,         // of a seal that is decided here
  kOdd,              // verified, for the seal alone: a lock may rest on it
  kPassedOver,       // in the inbox, and for the seal once more: a lock may rest on it by now
  kAhead,            // verified: its sender is two steps ahead
  kTakeIn,           // verified, and new to the inbox
};

class Gate {
 public:
  Gate(const Core& core, MemberState& member, SignatureCheck& check, const GenesisSeal& genesis,
       const StageNow& stage, StepNow& step, std::shared_ptr<wire::Opener> opener)
      : core_(core),
        member_(member),
        check_(check),
        genesis_(genesis),
        stage_(stage),
        step_(step),
        opener_(std::move(opener)) {}
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // The frame as a message of this run; nullopt if it is none. A request or an answer comes from
  // its sender alone.
  std::optional<wire::SharedMessage> Open(const MessageReceived& input) const;
  // It comes with bulk data if and only if its kind has some.
  bool HasItsBlob(const wire::Envelope& envelope, const MessageReceived& input) const;

  // Whom the message concerns: kTakeIn if Judge is to be asked.
  Fate Sort(const wire::SignedEnvelope& message, const PeerId& from) const;
  // REQUIRES: Sort gave kTakeIn.
  Fate Judge(const wire::SharedMessage& shared, const MessageReceived& input);
  // The run is over here: two things still matter. One is a member that finishes; the other is a
  // member that is stuck in a seal that is decided here.
  Fate JudgeAfterEnd(const wire::SharedMessage& shared, const PeerId& from) const;

  // What is said in the name of `from` is its own word, as far as this member can get that: it came
  // over their link, or was carried as no such link can be. Attack: a carrier keeps an old BOOT,
  // and shows it while the link is down.
  bool IsFirstHand(const PeerId& from) const;

  // `sender` is two steps ahead, or in a run that has not begun here. True iff so many members are
  // that one of them is honest.
  bool NoteAhead(const PeerId& sender);
  // `from` shows `block` as the one after the head. True iff more members than may lie show it over
  // their own links. Attack: a carrier shows it in the name of others, as no BLOCK is signed.
  bool NoteNext(const PeerId& from, const Digest& block);
  // A step begins: the links whose PARTs of it found no room.
  std::set<PeerId> BeginStep(std::uint64_t step);
  // This member leaves: who is ahead is counted anew.
  void ForgetAhead();

  void CheckInvariants() const;

 private:
  void SuspectLink(const PeerId& from, const char* check, const std::string& reason) const;
  std::uint64_t ExpectedStep() const;
  bool InWindow(const wire::Slot& slot) const;
  bool InStepWindow(const wire::Slot& slot, const Step& step) const;
  Fate JudgeOdd(const wire::SignedEnvelope& message, const PeerId& from) const;
  Fate JudgeOutside(const wire::SignedEnvelope& message, const PeerId& from) const;
  void KeepUnreadable(const wire::SignedEnvelope& message, const PeerId& from);
  bool BlobIsWanted(const wire::SignedEnvelope& message, const MessageReceived& input);
  bool BulkWanted(const wire::Envelope& envelope, const PeerId& from, std::uint64_t bytes) const;
  std::size_t DisputesOf(const PeerId& worker) const;

  const Core& core_;
  MemberState& member_;
  SignatureCheck& check_;
  const GenesisSeal& genesis_;
  const StageNow& stage_;
  StepNow& step_;
  const std::shared_ptr<wire::Opener> opener_;
  std::set<PeerId> ahead_;
  std::map<PeerId, Digest> next_;
  std::map<std::uint64_t, std::set<PeerId>> refused_early_;  // links, by step
};

}  // namespace ostraka::protocol
