// Bugs that tests plant in the code, to test the tests: each has a name here and one line where it
// is planted, and the simulator must find it (tests/scenario/planted_bugs_test.cpp,
// docs/simulation.md).
//
// Compiled out elsewhere: Planted() is consteval false, so no code and no symbol of a planted bug
// remains in any library or program except those that CMake's ostraka_planted_twin builds for that
// test (tests/planted_trace_test.py checks it).
//
// Thread safety: none; in a twin, Plant() is called before a run and never during one.
#pragma once

#include <cstdint>

namespace ostraka::base {

enum class Bug : std::uint8_t {
  kNone,
  kCanary,              // a member suspects itself: found in every run, or the search finds nothing
  kSignatureSkipped,    // any signature is accepted for any sender
  kQuorumLessOne,       // a seal's quorum is too small by one
  kSignedBeforeStored,  // a slot is signed while its record is still on its way to the disk
  kCoinBeforeSealA,  // a coin is revealed when the phase is complete locally, not when it is sealed
  kMeanForClip,      // aggregators use the mean
  kToleranceHundredfold,     // the tolerance of the sum check is too large
  kLockIgnored,              // a vote for a proposal that ignores the voter's own lock
  kFewSendersSuffice,        // the column rule lacks its minimum of 2b + 1 senders
  kTargetsBeforeProof,       // validators' targets are known before their PROOFs are sealed
  kAbsenceBans,              // a member sealed absent is banned instead of dropped
  kEvidenceOfAnotherStep,    // exhibits are judged with another step's coin
  kVoidColumnApplied,        // a void column is applied by members that hold its result
  kGuiltKeptSecret,          // evidence is not passed on by the member that found it
  kLeaderStays,              // a seal's slow path has one leader in all iterations
  kFirstTauGoesOn,           // parts are clipped at the manifest's tau instead of the sealed one
  kTimersPileUp,             // each seal sets a timer and never cancels it
  kSizesUnchecked,           // an aggregate may have any size
  kVoidsAreFree,             // columns that owners void by their own messages are not counted
  kReturnsWithoutAdmission,  // after a lost disk, a member acts as one before a block admits it
  kNoGate,                   // a seal's slow path counts from the member's own ECHO
  kGateKeptSecret,           // the CLOSEs that opened the gate are not forwarded
  kNoWaitAfterGate,          // STATUS begins as soon as the gate is passed
  kEchoAfterGate,            // a member that opens a seal too late echoes all the same
  kLateWords,                // VOTE and LOCK are sent however late the timer is
  kEvidenceEndsWaits,        // a member does not wait for a member against which it holds evidence
  kGenesisKeptSecret,        // a member that begins does not forward the ECHOs of all to the others
  kLeavesAtTheEnd,           // a member that finishes stays only for followers
  kAnyCredential,            // whoever asks to come in is taken at its word
  kInvitesNeverEnd,          // an invite lets in after its last step
  kInvitesAreNotCounted,     // an invite lets in any number of keys
  kAnyKeyComesAgain,         // an invite that was used lets in anybody again
  kReturnsAreFree,           // who comes back by its invite may leave again at once
  kObserversComeIn,          // an invite to follow the run lets in
  kAnyRevocation,            // an invite is revoked by whoever says so
  kRevocationsAreIgnored,    // a revoked invite lets in as before
  kStruckFirst,              // owners are drawn among those that are left
  kSeatsAreForEver,          // who has left returns without an invite, however late
  kLeaversCount,             // members that come or go count among those that hold a role
  kNobodyIsNeeded,           // a member leaves while a case may still open about it
  kLeavesAreFree,            // a member leaves as often as it likes
  kWaitNeverGrows,           // a wait for parts that was too short stays as it is
  kShortWaitsBlame,          // what did not come within a short wait opens disputes
  kLooksFirst,               // gradients wait behind looks: no job is more urgent than another
  kProofWaitsForAll,         // a PROOF waits for all recomputations, however long they take
  kNamingHides,              // nobody judges a target, or as a validator, who is in a numbers case
  kCasesAtOnce,              // all gradient cases of a block begin with it
  kOneAttests,               // a newcomer believes a head to which one member attests
  kFirstHeadIsLast,          // a newcomer believes no head after the first
  kOneDenies,                // a newcomer stops when one member has another block of the past
  kDonorsAreAwaited,         // a donor that sends nothing is waited for
  kResultsSixAtATime,        // a newcomer asks for six small results at a time
  kLooksAreFree,             // a question has frames decoded that no ration counts
  kGuestsAsMembers,          // each key that is no member has a member's ration and place in queues
  kGuestsAreForEver,         // guests stay when their invite has ended or is revoked
  kAnyDistance,              // a newcomer is confirmed however long its answers take
  kNothingIsHandedOver,      // what one is late with is asked of another when its wait is over
  kDhtNoPrefixRule,          // limits that count by address prefix count nothing
  kDhtNoToken,               // a record is stored whatever the token
  kDhtEarlyStop,             // a read of the DHT ends when a few nodes have answered
  kDhtUnsignedReply,         // a reply is believed whoever signed it
  kDhtShortQuery,            // a query of any size is answered
};

#ifdef OSTRAKA_PLANTED_BUGS
inline Bug planted_bug = Bug::kNone;
inline void Plant(Bug bug) { planted_bug = bug; }
inline bool Planted(Bug bug) { return planted_bug == bug; }
#else
consteval bool Planted(Bug) { return false; }
#endif

}  // namespace ostraka::base
