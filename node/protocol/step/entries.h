// The entries of the open seal: for each entry, which message it stands for, if this member has it.
// Seal reads them through SealMessages.
//
// Promises:
//   E1  An entry is a function of the head, the inbox and the seals that were decided earlier in
//       this step.
//   E2  The phase is complete (Complete) when no message is absent that a member still owes.
//       Members that an earlier seal of this step shows absent or with two COMMITs owe nothing;
//       neither does a member whose two COMMITs are visible now owe its AGG. A phase that is
//       complete stays so until the seal is decided.
//
// May not know: clocks, links, or the agreement.
//
// Whoever changes who owes nothing changes Sealing::WatchEchoes too: else honest ECHOs look hasty,
// and honest members are dropped.
//
// Memory: one counter. What an attacker can do here: choose what its own entries hold.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "crypto/hash_into.h"
#include "node/protocol/lasting/charges.h"
#include "node/protocol/lasting/core.h"
#include "node/protocol/mail/inbox.h"
#include "node/protocol/seal/seal.h"
#include "node/protocol/step/step_facts.h"

namespace ostraka::protocol {

class Entries final : public SealMessages {
 public:
  // Of the seal of `phase` and `draw`. All outlive it. REQUIRES: `phase` is A, B or C.
  Entries(wire::Phase phase, std::uint32_t draw, const StepFacts& facts, const Core& core,
          const Charges& charges)
      : phase_(phase), draw_(draw), facts_(facts), core_(core), charges_(charges) {}
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // --- the layout, by the member's index in the head's sealers ---
  // Phase A: one COMMIT for each member, then one AGG for each member. Other phases: one message
  // for each member. StepReading reads the sealed messages in this order.
  std::size_t Count() const;
  // The member's COMMIT, REVEAL or PROOF.
  static std::size_t EntryOf(std::size_t member) { return member; }
  // REQUIRES: phase A.
  std::size_t AggEntryOf(std::size_t member) const;
  // The COMMIT of the member whose AGG entry `index` holds; nullopt if it holds no AGG.
  std::optional<std::size_t> CommitEntryOf(std::size_t index) const;

  // --- what they hold ---
  // Where the message of entry `index` is in the inbox, and its sender; nullopt if nobody owes it.
  std::optional<std::pair<Inbox::Place, PeerId>> PlaceOf(std::size_t index) const;
  SealEntry EntryNow(std::size_t index) const override;
  bool Holds(std::size_t index, const Digest& digest) const override;
  // Every message that `vector` names is held.
  bool HoldsAll(const SealVector& vector) const;
  bool Complete();
  // The messages that the decided vector names. REQUIRES: they are held.
  SealedMessages MessagesOf(const SealVector& vector) const;
  void CheckInvariants() const;  // aborts if more entries are complete than there are

 private:
  // This entry is not waited for, for a reason that this member's ECHO shows to the others.
  bool OwesNothing(std::size_t index, const PeerId& member) const;

  wire::Phase phase_;
  std::uint32_t draw_;
  const StepFacts& facts_;
  const Core& core_;
  const Charges& charges_;           // used only by a deliberate bug for tests (planted.h)
  std::size_t complete_prefix_ = 0;  // entries before this one are held, or not waited for
};

}  // namespace ostraka::protocol
