// The entries of the seal in progress: which message each of them names, as far as this member
// holds it. The seal reads them (SealMessages).
//
// Promises:
//   E1  An entry is a function of the inbox and of what the earlier seals of the step decided.
//   E2  The phase is complete (Complete) when nothing that an unmuted member owes is absent. An
//       entry that was settled stays settled until the seal is decided.
//
// May not know: clocks, links, or the agreement.
//
// Memory: a figure. What an attacker can do here: fill its own entries.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "crypto/hash_into.h"
#include "node/protocol/mail/inbox.h"
#include "node/protocol/parts/chain.h"
#include "node/protocol/parts/charges.h"
#include "node/protocol/seal/seal.h"
#include "node/protocol/step/step_facts.h"

namespace ostraka::protocol {

class Entries final : public SealMessages {
 public:
  // Of the seal of `phase` and `draw`. All outlive it.
  Entries(wire::Phase phase, std::uint32_t draw, const StepFacts* facts, const Chain* chain,
          const Inbox* inbox, const Charges* charges)
      : phase_(phase),
        draw_(draw),
        facts_(facts),
        chain_(chain),
        inbox_(inbox),
        charges_(charges) {}
  void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, phase_, draw_); }
  friend struct FingerprintProbe;

  // Two a member in phase A (COMMIT, AGG), else one.
  std::size_t Count() const;
  // Where entry `index` is found; nullopt if nobody fills it.
  std::optional<std::pair<Inbox::Place, PeerId>> PlaceOf(std::size_t index) const;
  SealEntry EntryNow(std::size_t index) const override;
  bool Holds(std::size_t index, const Digest& digest) const override;
  // `vector` is known with every message that it names.
  bool HoldsAll(const SealVector& vector) const;
  bool Complete();
  // The messages that the decided vector names. REQUIRES: they are held.
  SealedMessages MessagesOf(const SealVector& vector) const;
  void CheckInvariants() const;  // aborts if E2 counts entries that do not exist

 private:
  // No entry of the member is waited for, as the own ECHO shows why.
  bool OwesNothing(std::size_t index, const PeerId& member) const;

  wire::Phase phase_;
  std::uint32_t draw_;
  const StepFacts* facts_;
  const Chain* chain_;
  const Inbox* inbox_;
  const Charges* charges_;   // read by a planted bug alone
  std::size_t settled_ = 0;  // the first entries, of which nothing is lacking
};

}  // namespace ostraka::protocol
