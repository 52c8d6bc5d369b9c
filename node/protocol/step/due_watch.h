// How late the messages of others come here in one seal of the step (node/protocol/watch/
// late_watch.h): which messages are due, and which of them are held.
//
// Promises:
//   L1  Only what the opened seal waits for is expected, once each.
//   L2  A disputed part is held only if its owner can take it in (disputed_pairs.h).
//   L3  Nothing here ends or begins a wait. What is overdue is asked for.
//
// May not know: what lateness leads to, or the stage.
//
// Memory: none of its own. What an attacker can do here: see late_watch.h.
//
// Thread safety: none; one owner.
#pragma once

#include <memory>

#include "node/protocol/mail/pull_timer.h"
#include "node/protocol/parts/reports.h"
#include "node/protocol/step/disputed_pairs.h"
#include "node/protocol/step/own_column.h"
#include "node/protocol/step/results.h"
#include "node/protocol/step/sealing.h"

namespace ostraka::protocol {

class DueWatch {
 public:
  struct Uses {
    PeerId self;
    std::shared_ptr<const Manifest> manifest;
    const Turn* turn;
    const Chain* chain;
    Reports* reports;
    PullTimer* pull;
  };
  // What the parts of the step hold.
  struct Holdings {
    const Sealing* sealing;
    const OwnColumn* column;
    DisputedPairs* pairs;
    const Results* results;
  };
  DueWatch(Uses uses, const StepFacts* facts, Holdings holdings)
      : uses_(std::move(uses)), facts_(facts), holdings_(holdings) {}

  // The seal is just opened.
  void BeginA();
  void BeginB();
  void BeginC();
  // Wherever something may have come. REQUIRES: the seal is open.
  void Update();

 private:
  LateWatch::Options Options() const;
  bool IsHeld(const LateWatch::Message& due);

  Uses uses_;
  const StepFacts* facts_;
  Holdings holdings_;
};

}  // namespace ostraka::protocol
