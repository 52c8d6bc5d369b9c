// What a part of a member returns when more is to happen than the part may do: the member's stage
// is the member's own to change.
#pragma once

#include <string>
#include <utility>

#include "node/protocol/ground/observation.h"

namespace ostraka::protocol {

// The reason with which a member halts that has all steps.
inline constexpr char kAllDone[] = "all steps are done";

struct Outcome {
  enum class What : std::uint8_t {
    kWait,       // nothing more can be done now
    kGoOn,       // a transition was taken: there may be another
    kBeginStep,  // the step after the head begins
    kLeave,      // the run goes on without this member
    kFinish,     // the run is over here
    kFreeze,     // the run has split
    kHalt,
  };
  What what = What::kWait;
  std::string reason = {};                 // of kLeave and kHalt
  bool trust_state = true;                 // of kLeave: the state is the run's
  Halted::Why why = Halted::Why::kFailed;  // of kHalt

  static Outcome Wait() { return {}; }
  static Outcome GoOn() { return {.what = What::kGoOn}; }
  static Outcome BeginStep() { return {.what = What::kBeginStep}; }
  static Outcome Finish() { return {.what = What::kFinish}; }
  static Outcome Freeze() { return {.what = What::kFreeze}; }
  static Outcome Leave(std::string reason, bool trust_state = true) {
    return {.what = What::kLeave, .reason = std::move(reason), .trust_state = trust_state};
  }
  static Outcome Halt(Halted::Why why, std::string reason) {
    return {.what = What::kHalt, .reason = std::move(reason), .why = why};
  }
  // A job about `step` failed: a library failed, or memory ran out.
  static Outcome FailedJob(std::uint64_t step, const std::string& reason) {
    return Halt(Halted::Why::kFailed, "step " + std::to_string(step) + ": " + reason);
  }
};

}  // namespace ostraka::protocol
