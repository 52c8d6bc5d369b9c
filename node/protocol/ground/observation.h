// What a machine reports to its driver for people, logs and checkers. No protocol decision depends
// on it.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "node/base/ids.h"
#include "node/base/time.h"
#include "node/protocol/ground/batches.h"
#include "node/protocol/ground/roles.h"
#include "node/protocol/ground/state.h"
#include "node/wire/block.h"

namespace ostraka::protocol {

// A step begins. Public: every peer can derive this from the blocks.
struct StepStarted {
  std::uint64_t step = 0;
  BatchPlan batches;  // of this step
  ModelState state;   // x^step and the optimizer's slots
  Roles roles;
  double tau = 0;
};

// A seal was decided: by equal ECHOs (iteration 0), or in an iteration of the slow path.
struct Sealed {
  std::uint64_t step = 0;
  std::uint8_t phase = 0;  // wire::Phase
  Digest decision;
  std::uint32_t draw = 0;
  std::uint32_t iteration = 0;
};

// A seal is in its slow path: some member is silent, late or two-faced. Once for each iteration.
struct SlowSeal {
  std::uint64_t step = 0;
  std::uint8_t phase = 0;
  std::uint32_t iteration = 0;
  std::string reason;  // one line: what it waits for, and from whom
};

// This member takes no part in the run for now: it was sealed absent, fell behind, came without its
// store, or found that its state differs. It follows the run and asks to come back.
struct Away {
  std::uint64_t step = 0;
  std::string reason;  // one line
};
// This member was dropped in `step`, may not ask to come back before `until`
// (docs/protocol/removals.md), and follows the run as an observer. Once each time that it is away.
struct Barred {
  std::uint64_t step = 0;
  std::uint64_t until = 0;
};
// This key asks to come in since the block of height `since`, and no block has confirmed it. Once
// each time that it is away.
struct Unconfirmed {
  std::uint64_t since = 0;
  base::Duration at_most;  // which an answer may take
};
// The progress of an absent member.
struct CatchingUp {
  std::uint64_t height = 0;  // blocks it has
  std::uint64_t head = 0;    // blocks of the run
  std::string detail;
};
// This member takes part again, from `step` on.
struct Back {
  std::uint64_t step = 0;
};

// A restarted member has read its store: the newest block whose state it holds.
struct Resumed {
  std::shared_ptr<const wire::Block> block;
  ModelState state;
};

// A case that the votes of a step decided: the block keeps its outcome, and not who voted how.
struct RuledCase {
  PeerId loser;                                    // banned or dropped by it
  wire::Verdict verdict = wire::Verdict::kGuilty;  // that decided it
  std::vector<wire::Case::Ballot> ballots;         // of all steps, in sealed order
  std::uint32_t voters = 0;                        // members that could vote
};

// A step is complete: its block, and the state from which the next step starts.
struct StepDone {
  std::shared_ptr<const wire::Block> block;
  ModelState state;
  std::vector<RuledCase> ruled = {};  // in the block; empty on a member that follows
};

// A peer's action that proves or suggests a fault, as seen by this machine alone.
struct Suspicion {
  std::uint64_t step = 0;
  PeerId peer;
  std::string check;   // "V1", "equivocation", "part", "bad_frame" ...
  std::string reason;  // one line
};

// A block bans `worker`, as its gradient of `step` is false (profile exact/1). The evidence that
// was stored with it convinces whoever has these parameters, at which the gradient was due.
struct FalseGradient {
  std::uint64_t step = 0;
  PeerId worker;
  SharedVector parameters;
};

// The time that parts of a step took, by the driver's clock.
struct StepTimes {
  std::uint64_t step = 0;
  std::int64_t compute_ns = 0;    // own gradient
  std::int64_t aggregate_ns = 0;  // parts, aggregation, results, proofs, update
  std::int64_t agree_ns = 0;      // waiting for the three seals
};

// This member kept the others waiting (node/protocol/rules/lateness.h) and has used more than half
// of its allowance. With each block while this lasts, and once when it ends.
struct Slow {
  bool Lasts() const { return used_ms > allowed_ms / 2; }
  std::uint64_t step = 0;  // of the block that says so
  std::uint64_t used_ms = 0;
  std::uint64_t allowed_ms = 0;  // beyond it the member is dropped
};

// This member has finished, and stays for others that have not announced that they have.
struct Staying {
  std::uint64_t step = 0;      // the last one
  std::vector<PeerId> others;  // not empty
  base::Duration at_most;      // from now on
};

// The machine will sign nothing more.
struct Halted {
  enum class Why : std::uint8_t {
    kFinished,
    kBanned,
    kStalled,
    kDiverged,
    kFailed,
    kForked,
    kLeft,
    kRefused  // it asked to come in, and may not
  };
  Why why = Why::kFinished;
  std::uint64_t step = 0;
  std::string reason;  // one line: what happened and what to do
};

// The state of a machine, for people (Machine::progress).
struct Progress {
  std::uint64_t step = 0;  // in progress
  bool at_work = false;    // on that step, as a member
  // genesis, collect (to seal A), reveal (B), prove (C), settle, update; starting, frozen, halted.
  std::string phase = "starting";
  struct Missing {
    PeerId peer;
    std::string message;  // wire::MessageTypeName
  };
  // Messages of others that the machine waits for. If empty, it waits for its own work, its disk,
  // or nothing.
  std::vector<Missing> missing;
};

using Observation =
    std::variant<StepStarted, Sealed, SlowSeal, Resumed, StepDone, Away, Barred, Unconfirmed,
                 CatchingUp, Back, Suspicion, StepTimes, Slow, Staying, Halted, FalseGradient>;

}  // namespace ostraka::protocol
