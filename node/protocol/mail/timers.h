// The timers of a member. A timer of one number replaces an earlier one of that number.
#pragma once

#include "node/protocol/ground/machine.h"

namespace ostraka::protocol {

inline constexpr TimerId kEchoTimer = 1;    // the phase's deadline: echo what is held
inline constexpr TimerId kBulkTimer = 2;    // the wait for parts or results ends
inline constexpr TimerId kSealTimer = 3;    // the seal's own clock
inline constexpr TimerId kPullTimer = 4;    // asking for what is missing (pull_timer.h)
inline constexpr TimerId kFollowTimer = 5;  // away, at the end of the run, or frozen
inline constexpr TimerId kProofTimer = 6;   // the PROOF's wait for recomputations ends

// The timers of a step in progress.
inline constexpr TimerId kStepTimers[] = {kEchoTimer, kBulkTimer, kSealTimer, kPullTimer,
                                          kProofTimer};

}  // namespace ostraka::protocol
