// What a machine tells its driver for people, logs and checkers. Nothing here feeds back.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "node/base/ids.h"
#include "node/protocol/roles.h"
#include "node/protocol/state.h"
#include "node/wire/block.h"

namespace ostraka::protocol {

// A step begins. Public knowledge: everyone can derive it from the blocks.
struct StepStarted {
  std::uint64_t step = 0;
  Digest previous_randomness;  // r^{step-1}: seeds this step's batches
  ModelState state;            // x^step and the velocity
  Roles roles;
  double tau = 0;
};

// A seal was decided; its certificate was n identical echoes.
struct Sealed {
  std::uint64_t step = 0;
  std::uint8_t phase = 0;  // wire::Phase
  Digest decision;
};

// A step is complete: its block and the state that the next step starts from.
struct StepDone {
  std::shared_ptr<const wire::Block> block;
  ModelState state;
};

// Something a peer did that proves or suggests a fault, seen by this machine alone.
struct Suspicion {
  std::uint64_t step = 0;
  PeerId peer;
  std::string check;   // "V1", "equivocation", "part", "bad_frame" ...
  std::string reason;  // one line
};

// Where the time of a step went, by the driver's clock.
struct StepTimes {
  std::uint64_t step = 0;
  std::int64_t compute_ns = 0;    // own gradient
  std::int64_t aggregate_ns = 0;  // parts, aggregation, results, proofs, update
  std::int64_t agree_ns = 0;      // waiting for the three seals
};

// The machine will sign nothing more.
struct Halted {
  enum class Why : std::uint8_t { kFinished, kBanned, kStalled, kDiverged, kFailed };
  Why why = Why::kFinished;
  std::uint64_t step = 0;
  std::string reason;  // one line: what happened and what to do
};

// Where a machine stands, for whoever asks (Machine::progress).
struct Progress {
  std::uint64_t step = 0;  // in progress
  // genesis, collect (to seal A), reveal (B), prove (C), settle, update; starting, halted.
  std::string phase = "starting";
  struct Missing {
    PeerId peer;
    std::string message;  // wire::MessageTypeName
  };
  // What it waits for from others. Empty: its own work, its disk, or nothing.
  std::vector<Missing> missing;
};

using Observation = std::variant<StepStarted, Sealed, StepDone, Suspicion, StepTimes, Halted>;

}  // namespace ostraka::protocol
