// How a member speaks: it gives each message its slot, has the journal sign and store it, and sends
// requests and answers, which are not signed.
//
// Promises:
//   V1  A message goes to others only through the journal (J1).
//   V2  A message that is addressed to this member itself comes back through NextOwn, after the
//       call in which it was said, so that no part of the member is entered twice.
//
// May not know: what a message means, or the stage.
//
// Memory: the own messages of one call.
//
// What an attacker can do here: nothing; what comes from others does not pass here.
//
// Thread safety: none; one owner.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "node/base/check.h"
#include "node/protocol/mail/journal.h"
#include "node/protocol/mail/turn.h"
#include "node/protocol/mail/wishes.h"
#include "node/wire/hash_into.h"

namespace ostraka::protocol {

class Voice {
 public:
  Voice(const PeerId& self, const Digest& run_id, const Turn& turn, Journal& journal)
      : self_(self), run_id_(run_id), turn_(turn), journal_(journal) {}
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // --- signed messages ---
  wire::Slot SlotOf(std::uint64_t step, wire::Phase phase, wire::MessageType type,
                    std::uint32_t draw = 0, std::uint32_t iteration = 0) const;
  // `parent`: the decision or block on which the message builds.
  Draft MakeDraft(const wire::Slot& slot, const Digest& parent, Bytes body, std::vector<PeerId> to,
                  SharedBlob blob = nullptr) const;
  // Says them as soon as their slots are stored. What was said before a crash stays said: its draft
  // is left out, and the restored frame goes out with the bulk data that belongs to it.
  void Prepare(std::vector<Draft> drafts);
  void Prepare(Draft draft);
  // A released draft goes out.
  void Say(SignedDraft draft);
  // The next own message to take in; nullopt if there is none.
  std::optional<Journal::Own> NextOwn();
  bool HasOwn() const { return !own_.empty(); }
  // What a COMMIT says of its sender.
  Wishes& wishes() { return wishes_; }
  const Wishes& wishes() const { return wishes_; }
  // Between two calls of the machine: nothing that was said is still to be taken in (V2).
  void CheckInvariants() const {
    OSTRAKA_CHECK(own_.empty());
    wishes_.CheckInvariants();
  }

  // --- requests and answers ---
  void SendService(const PeerId& to, wire::Slot slot, Bytes body, SharedBlob blob = nullptr) const;
  // Nothing is asked of this member itself.
  void Ask(const PeerId& to, wire::Slot slot, const wire::Pull& pull) const;
  // Has the run gone on without this member? Asked after a restart, and when a seal does not end.
  void AskHeads(const std::vector<PeerId>& members, std::uint64_t step) const;

  // --- people ---
  // The step in progress, which people are told with what they are told.
  void SetStep(std::uint64_t step) { step_ = step; }
  std::uint64_t step() const { return step_; }
  void Suspect(const PeerId& peer, std::string check, std::string reason) const;

 private:
  PeerId self_;
  Digest run_id_;
  const Turn& turn_;
  Journal& journal_;
  Wishes wishes_;
  std::uint64_t step_ = 0;
  std::deque<Journal::Own> own_;
};

// The slot of a request or an answer.
wire::Slot ServiceSlot(std::uint64_t step, wire::Phase phase, wire::MessageType type);

}  // namespace ostraka::protocol
