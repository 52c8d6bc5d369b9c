// What this member states at the end of a step: the numbers of its own parts, its accusation as a
// validator, its votes, and what it has measured. All of it goes out in one PROOF.
//
// Promises:
//   W1  The PROOF is said once, when all that it states is known: numbers, recomputations, the
//       state root, V1 of the step before. Exhibits are waited for as long as other bulk data.
//   W2  A worker whose parts are lost says none.
//
// May not know: how the PROOF is sealed, or what follows from it.
//
// Memory: the numbers of one step.
//
// What an attacker can do here: open cases, which this member recomputes (duties.h).
//
// Thread safety: none; one owner.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "node/base/tensor_layout.h"
#include "node/protocol/parts/charges.h"
#include "node/protocol/parts/duty_jobs.h"
#include "node/protocol/parts/followers.h"
#include "node/protocol/parts/reports.h"
#include "node/protocol/step/disputed_pairs.h"
#include "node/protocol/step/own_gradient.h"
#include "node/protocol/step/results.h"
#include "node/wire/hash_into.h"

namespace ostraka::protocol {

class Proving {
 public:
  struct Uses {
    PeerId self;
    std::shared_ptr<const Manifest> manifest;
    base::TensorLayout layout;
    Voice* voice;
    JobDesk* jobs;
    Chain* chain;
    Charges* charges;
    Reports* reports;
    Duties* duties;
    DutyJobs* duty_jobs;
    const Followers* followers;
  };
  // What other parts of the step hold.
  struct Holdings {
    const OwnGradient* gradient;
    const Results* results;
    const DisputedPairs* pairs;
  };
  Proving(Uses uses, const StepFacts* facts, Holdings holdings)
      : uses_(std::move(uses)), facts_(facts), holdings_(holdings) {}
  void HashInto(crypto::Hasher& hasher) const {
    crypto::Feed(hasher, prove_, accuse_, root_, target_, started_, numbers_, accusation_,
                 state_root_, said_);
  }
  friend struct FingerprintProbe;

  // As the step begins: a validator recomputes its target's step; every member recomputes what a
  // gradient case is about; the state's root is due in some steps.
  void Begin();
  // Starts what can be started, and says the PROOF when it is complete. True: it was said now.
  // REQUIRES: the step's coin is known.
  bool Try();

  bool Owns(JobId id) const { return prove_ == id || accuse_ == id || root_ == id; }
  void OnJob(JobId id, const JobResult& result);
  // Nullopt if this step has none, or not yet.
  const std::optional<Digest>& state_root() const { return state_root_; }
  void CheckInvariants() const;  // aborts if W1 or W2 is broken

 private:
  JobId Start(std::uint64_t about, JobSpec spec);
  void StartAccusation();
  void StartVotes();
  void TryNumbers();
  void TryExhibits();
  bool Ready() const;
  wire::Proof Compose();

  Uses uses_;
  const StepFacts* facts_;
  Holdings holdings_;
  std::optional<JobId> prove_, accuse_, root_;
  std::optional<wire::Accusation> target_;  // whom accuse_ is about
  bool started_ = false;                    // on the numbers
  std::optional<std::vector<wire::ColumnNumbers>> numbers_;
  std::optional<wire::Accusation> accusation_;
  std::optional<Digest> state_root_;
  bool said_ = false;
};

}  // namespace ostraka::protocol
