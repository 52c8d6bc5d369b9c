// Bugs that tests of the tests plant: each has a name here and one line where it lives, and the
// simulator must find it (tests/scenario/planted_bugs_test.cpp, docs/simulation.md).
//
// Compiled out: Planted() is consteval false, so no code and no symbol of this is left in any
// library or program but those that CMake's ostraka_planted_twin makes for that test
// (tests/planted_trace_test.py looks).
//
// Thread safety: none; in a twin Plant() is called before a run and by nobody during one.
#pragma once

#include <cstdint>

namespace ostraka::base {

enum class Bug : std::uint8_t {
  kNone,
  kCanary,                   // suspects itself: found in every run, or nothing is ever found
  kSignatureSkipped,         // a message is its sender's whoever signed it
  kQuorumLessOne,            // of a seal
  kSignedBeforeStored,       // a slot is signed while its record is on its way to the disk
  kCoinBeforeSealA,          // shown when the phase is complete here, not when it is sealed
  kMeanForClip,              // aggregators take the mean
  kToleranceHundredfold,     // of the sum check
  kLockIgnored,              // a vote for a proposal that passes over the own lock
  kFewSendersSuffice,        // the column rule without 2b + 1
  kTargetsBeforeProof,       // validators' targets are known before their PROOFs are sealed
  kAbsenceBans,              // who is sealed absent is banned, not dropped
  kEvidenceOfAnotherStep,    // exhibits are judged by another step's coin
  kVoidColumnApplied,        // a void column is applied where its result is held
  kGuiltKeptSecret,          // evidence stays with who saw it
  kLeaderStays,              // the leader of a seal's slow path is the same in every iteration
  kFirstTauGoesOn,           // parts are clipped at the manifest's tau, not at the sealed one
  kTimersPileUp,             // each seal sets a timer of its own, and nobody takes it back
  kSizesUnchecked,           // an aggregate may be of any size
  kVoidsAreFree,             // columns that owners void by their own word are not counted
  kReturnsWithoutAdmission,  // after a lost disk, a member again before a block admits it
  kNoGate,                   // a seal's slow path counts from the own ECHO
  kGateKeptSecret,           // the CLOSEs that opened the gate are not forwarded
  kNoWaitAfterGate,          // STATUS begins when the gate is passed
  kEchoAfterGate,            // a member that opens a seal too late echoes all the same
  kLateWords,                // VOTE and LOCK are said however late the timer is
  kEvidenceEndsWaits,        // a member does not wait for one against whom it holds evidence
  kGenesisKeptSecret,        // who begins does not show the others the ECHOs of all
  kLeavesAtTheEnd,           // who finishes stays for nobody but those who follow
};

#ifdef OSTRAKA_PLANTED_BUGS
inline Bug planted_bug = Bug::kNone;
inline void Plant(Bug bug) { planted_bug = bug; }
inline bool Planted(Bug bug) { return planted_bug == bug; }
#else
consteval bool Planted(Bug) { return false; }
#endif

}  // namespace ostraka::base
