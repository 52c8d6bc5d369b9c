// The PROOF of this member: all that it states at the end of a step. These are the numbers of its
// own parts, its accusation as a validator, its votes, evidence, what it has measured, the disputed
// data that it forwarded, the joins that it confirms, and the state root when that is due.
//
// Promises:
//   W1  The PROOF is sent once (Voice::Prepare keeps it so across restarts), when all that it
//       states is known: numbers, the state root, and the check of all workers' numbers for this
//       member's column in the step before (Duties::AwaitsCrossCheck). Exhibits are waited for
//       until the bulk timer, and recomputations (W3).
//   W2  A worker with OwnGradient::parts_lost() sends no PROOF.
//   W3  Recomputations are waited for until three Delta before others would find this PROOF late,
//       however quick these are. Then it goes out without them: a vote stands in a later PROOF of
//       its case's blocks, and an accusation is given up.
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
#include "node/protocol/lasting/charges.h"
#include "node/protocol/lasting/core.h"
#include "node/protocol/lasting/duty_jobs.h"
#include "node/protocol/lasting/followers.h"
#include "node/protocol/lasting/reports.h"
#include "node/protocol/step/disputed_pairs.h"
#include "node/protocol/step/own_gradient.h"
#include "node/protocol/step/results.h"
#include "node/wire/hash_into.h"

namespace ostraka::protocol {

class Proving {
 public:
  Proving(Core& core, Charges& charges, Reports& reports, Duties& duties, DutyJobs& duty_jobs,
          const Followers& followers, const StepFacts& facts, const OwnGradient& gradient,
          const Results& results, const DisputedPairs& pairs)
      : core_(core),
        charges_(charges),
        reports_(reports),
        duties_(duties),
        duty_jobs_(duty_jobs),
        followers_(followers),
        facts_(facts),
        gradient_(gradient),
        results_(results),
        pairs_(pairs) {}
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // As the step begins: a validator recomputes its target's step; every member recomputes the
  // gradient that an open case disputes; the state root is computed in the steps that state it.
  void Begin();
  // The coin is known: the wait for recomputations begins, and ends at the proof timer.
  void BeginWait();
  void EndWait() { waited_ = true; }
  // Starts what can be started, and sends the PROOF when it is complete. Returns true if it was
  // sent in this call. REQUIRES: the step's coin is known.
  bool Try();

  bool Owns(JobId id) const { return prove_ == id || accuse_ == id || root_ == id; }
  // Accusing compares nothing here: the recompute job decides (duties.h). REQUIRES: Owns(id); the
  // job did not fail.
  void OnJob(JobId id, const JobResult& result);
  // Nullopt if this step states none, or it is not computed yet.
  const std::optional<Digest>& state_root() const { return state_root_; }
  // Aborts if the PROOF was sent without numbers or while its own jobs run (W1), or if a worker
  // whose parts are lost computes numbers (W2).
  void CheckInvariants() const;

 private:
  JobId Start(std::uint64_t about, JobSpec spec);
  void StartAccusation();
  void StartVotes();
  void TryNumbers();
  void TryExhibits();
  bool Recomputes() const;
  bool Ready() const;
  wire::Proof Compose();

  Core& core_;
  Charges& charges_;
  Reports& reports_;
  Duties& duties_;
  DutyJobs& duty_jobs_;
  const Followers& followers_;
  const StepFacts& facts_;
  const OwnGradient& gradient_;
  const Results& results_;
  const DisputedPairs& pairs_;
  std::optional<JobId> prove_, accuse_, root_;
  std::optional<wire::Accusation> target_;  // the subject of job accuse_
  bool started_ = false;                    // prove_ was started, or there is nothing to prove
  std::optional<std::vector<wire::ColumnNumbers>> numbers_;
  std::optional<wire::Accusation> accusation_;
  std::optional<Digest> state_root_;
  bool waited_ = false;  // the wait for recomputations is over
  bool said_ = false;
};

}  // namespace ostraka::protocol
