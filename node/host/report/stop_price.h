// What it costs a member to end in the middle of a run, in words for its operator: how long the
// others wait for it, what they do then, and how it comes back (docs/operating.md, "Stopping").
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "node/base/ids.h"
#include "node/base/time.h"
#include "node/wire/block.h"

namespace ostraka::host {

// What the others still have to get of a member before the block of the step in progress.
enum class Owed : std::uint8_t {
  kNothing,  // its COMMIT is not out
  kCoin,     // its COMMIT is out, its REVEAL is not
  kProof,    // its REVEAL is out
  kEcho,     // its PROOF is out
};

// How long a step waits.
struct StepWaits {
  base::Duration parts;     // an owner, for a part
  base::Duration messages;  // seals A and C, for a COMMIT, AGG or PROOF
  base::Duration coins;     // seal B, for a REVEAL
  base::Duration step;      // all of it, while at most one member is silent
};

struct Stopping {
  Owed owed = Owed::kNothing;
  std::uint64_t step = 0;  // in progress
  base::PeerId self;
  const wire::Block* head = nullptr;  // REQUIRES: not null, and `self` is a member of it
  StepWaits waits;
  base::Duration recent_step;  // 0: not known
};

// Of an end now: clauses that follow "stopped in step 5; ".
std::string PriceOf(const Stopping& stopping);
// A stored outcome, of a node that rests: it comes back by itself, so no command starts it again.
std::string OutcomeAtRest(std::string outcome);
// While it waits for the block of the step. REQUIRES: something is owed.
std::string StopsWithBlockText(const std::string& by, const Stopping& stopping);

}  // namespace ostraka::host
