// How late the messages of others come here in one seal of the step (node/protocol/watch/
// late_watch.h): which messages are due, and which of them are held.
//
// Promises:
//   L1  Each message that is due in this phase is expected once: the entries of the seal, and the
//       bulk data that must come before these entries can be made.
//   L2  A disputed part counts as held only if its owner can accept it (disputed_pairs.h).
//   L3  Nothing here ends or begins a wait. It only arms the pull timer; asks.h requests what is
//       overdue.
//
// May not know: what lateness leads to, or the stage.
//
// Memory: none of its own. What an attacker can do here: see late_watch.h.
//
// Thread safety: none; one owner.
#pragma once

#include <memory>

#include "node/protocol/lasting/core.h"
#include "node/protocol/lasting/reports.h"
#include "node/protocol/mail/pull_timer.h"
#include "node/protocol/step/disputed_pairs.h"
#include "node/protocol/step/own_column.h"
#include "node/protocol/step/results.h"
#include "node/protocol/step/sealing.h"

namespace ostraka::protocol {

class DueWatch {
 public:
  DueWatch(const Core& core, Reports& reports, PullTimer& pull, const StepFacts& facts,
           const Sealing& sealing, const OwnColumn& column, const DisputedPairs& pairs,
           const Results& results)
      : core_(core),
        reports_(reports),
        pull_(pull),
        facts_(facts),
        sealing_(sealing),
        column_(column),
        pairs_(pairs),
        results_(results) {}

  // The seal of that phase is just opened.
  void BeginA();
  void BeginB();
  void BeginC();
  // Call after each message. Notes what is held now; until this member has sent its ECHO it also
  // arms the pull timer for what is overdue. REQUIRES: the seal is open.
  void Update();

 private:
  LateWatch::Options Options() const;
  bool IsHeld(const LateWatch::Message& due) const;

  const Core& core_;
  Reports& reports_;
  PullTimer& pull_;
  const StepFacts& facts_;
  const Sealing& sealing_;
  const OwnColumn& column_;
  const DisputedPairs& pairs_;
  const Results& results_;
};

}  // namespace ostraka::protocol
