// The aggregates of a step, as their owners' sealed AGGs announce them: held, judged and kept.
//
// Promises:
//   R1  A result is taken from any sender, and only if it has the root that the sealed AGG names
//       and holds finite numbers of its part's size.
//   R2  A result is on disk before this member sends anything that depends on it. So after a crash
//       of all members, each member that signed a PROOF can still apply and serve the result.
//
// May not know: seals in progress, jobs, or columns' fates.
//
// Memory: one result a column (a model's size).
//
// What an attacker can do here: announce a result that holds no values. It is read once, and what
// it costs its owner is settled by others (node/protocol/rules).
//
// Thread safety: none; one owner.
#pragma once

#include <optional>
#include <vector>

#include "crypto/hash_into.h"
#include "node/protocol/lasting/chain.h"
#include "node/protocol/lasting/core.h"
#include "node/protocol/mail/journal.h"
#include "node/protocol/step/step_facts.h"

namespace ostraka::protocol {

class Results {
 public:
  Results(Core& core, const StepFacts& facts)
      : core_(core),
        facts_(facts),
        results_(facts.roles().parts.size()),
        spoilt_(facts.roles().parts.size()) {}
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // The column's sealed AGG gives a result: every member waits for it.
  bool IsWanted(std::size_t column) const { return facts_.reading.sealed.GivesResult(column); }
  bool IsMissing(std::size_t column) const {
    return IsWanted(column) && results_[column] == nullptr;
  }
  // Takes results from the inbox and the store; closed() once none is missing.
  // REQUIRES: seal A is decided.
  void TakeHeld();
  // True if the result is held now. Before seal A is decided nothing is taken.
  // REQUIRES: `blob` is not null.
  bool Take(std::size_t column, const SharedBlob& blob);
  // The PROOF waits no longer for results. Settling still needs them.
  void Expire() { closed_ = expired_ = true; }
  bool closed() const { return closed_; }
  bool expired() const { return expired_; }

  // By column; null until held.
  const std::vector<SharedBlob>& all() const { return results_; }
  // REQUIRES: the step's coin is known.
  Column ColumnOf(std::size_t column) const;
  // Aborts if a result is held that no sealed AGG names by its root (R1; its numbers are not read
  // again), or if the wait expired and is not closed.
  void CheckInvariants() const;

 private:
  Codec codec() const;

  Core& core_;
  const StepFacts& facts_;
  std::vector<SharedBlob> results_;
  std::vector<std::optional<Digest>> spoilt_;  // roots of bytes that hold no values
  bool closed_ = false;                        // complete, or expired
  bool expired_ = false;                       // the PROOF waits for no more bulk data
};

}  // namespace ostraka::protocol
