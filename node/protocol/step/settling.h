// The end of a step: the block that its seals lead to, and the update of the model's state.
//
// Promises:
//   B1  The block is a function of sealed messages and of the aggregates that they name
//       (node/protocol/rules/step_reading.h). It waits for these aggregates and for nothing else.
//   B2  The block is stored before the update begins; the results that it applies were stored
//       before (results.h). After a crash of all, the run goes on from here.
//   B3  A member whose own state differs from the sealed one leaves and does not reuse its state
//       (Outcome::Leave).
//   B4  A member that the block bans halts; a member that the block drops makes the update, and
//       then leaves.
//
// May not know: seals in progress, the stage, or how messages came.
//
// Memory: one fate for each column.
//
// What an attacker can do here: withhold an aggregate that its sealed AGG promised; this member
// then asks the others for it (asks.h).
//
// Thread safety: none; one owner.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "crypto/hash_into.h"
#include "node/protocol/lasting/chain_server.h"
#include "node/protocol/lasting/charges.h"
#include "node/protocol/lasting/core.h"
#include "node/protocol/lasting/duty_jobs.h"
#include "node/protocol/lasting/followers.h"
#include "node/protocol/lasting/outcome.h"
#include "node/protocol/lasting/reports.h"
#include "node/protocol/lasting/slowness_notice.h"
#include "node/protocol/step/own_column.h"
#include "node/protocol/step/results.h"
#include "node/protocol/step/step_clock.h"

namespace ostraka::protocol {

class Settling {
 public:
  Settling(Core& core, ChainServer& server, Charges& charges, Reports& reports, Duties& duties,
           DutyJobs& duty_jobs, Followers& followers, SlownessNotice& pace, const StepFacts& facts,
           const OwnColumn& column, const Results& results, const StepClock& clock)
      : core_(core),
        server_(server),
        charges_(charges),
        reports_(reports),
        duties_(duties),
        duty_jobs_(duty_jobs),
        followers_(followers),
        pace_(pace),
        facts_(facts),
        column_(column),
        results_(results),
        clock_(clock) {}
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // Seal C has decided. Decides which aggregates the block still needs.
  void Begin(const Digest& decision_c);
  // This member's own roots of what it had at the beginning of the step, as far as it needs them.
  struct OwnRoots {
    std::optional<Digest> state;
    std::optional<Digest> parameters;  // profile exact/1
  };
  // Makes the block once its aggregates are held, and starts the update (then updating()).
  Outcome Try(const OwnRoots& own);
  bool updating() const { return update_.has_value(); }

  bool Owns(JobId id) const { return update_ == id; }
  // The state after the block is there. REQUIRES: the job did not fail; the clock's last lap is
  // measured.
  Outcome OnJob(const JobResult& result);
  // Aborts unless there is one fate for each column, and if an update runs without a block (B2).
  void CheckInvariants() const;

 private:
  Outcome TakeBlock(SharedBlock block);
  void ProveGradients(const Block& block);
  void CrossCheck();
  void Remember();
  void StartUpdate();
  void ShowHeadToFollowers();

  Core& core_;
  ChainServer& server_;
  Charges& charges_;
  Reports& reports_;
  Duties& duties_;
  DutyJobs& duty_jobs_;
  Followers& followers_;
  SlownessNotice& pace_;
  const StepFacts& facts_;
  const OwnColumn& column_;
  const Results& results_;
  const StepClock& clock_;
  Digest decision_c_;
  std::vector<ColumnFate> fates_;
  std::vector<RuledCase> ruled_;  // of the block that the update is of, for people
  std::optional<JobId> update_;
};

}  // namespace ostraka::protocol
