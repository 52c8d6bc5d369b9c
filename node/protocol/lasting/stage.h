// The stages of a member, and which may follow which: the only place that says so
// (docs/protocol/step.md draws it).
//
// Promises:
//   S1  The stage changes in StageNow::Enter alone, which CHECKs the table. No stage follows
//       kHalted.
//
// May not know: why a stage is entered, and what is done in it.
//
// Memory: a number. What an attacker can do here: nothing.
//
// Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <cstdint>

#include "crypto/hash_into.h"

namespace ostraka::protocol {

enum class Stage : std::uint8_t {
  kUnstarted,
  kRestore,  // replaying what the store kept
  kGenesis,  // BOOT and the genesis seal
  kCollect,  // seal A
  kReveal,   // seal B
  kProve,    // seal C
  kSettle,   // waiting for results that the block needs
  kUpdate,   // waiting for the new state
  kFollow,   // no member of the step: catching up, watching, asking to come back
  kLinger,   // the run is over here, or it has left it, but not for all others
  kFrozen,   // the run has split: signs nothing more, and gathers evidence
  kHalted,   // repeats to links that come up what it said, and nothing else
};
inline constexpr std::size_t kStages = 12;

// For people: "collect", "follow", ...
const char* NameOf(Stage stage);
bool MayFollow(Stage before, Stage after);
// A member at work on a step.
constexpr bool IsInStep(Stage stage) { return stage >= Stage::kCollect && stage <= Stage::kUpdate; }
// A seal of the step is open.
constexpr bool IsSealing(Stage stage) { return stage >= Stage::kCollect && stage <= Stage::kProve; }

// The stage of one member. All of its parts see it, and it changes in Enter alone.
class StageNow {
 public:
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  Stage stage() const { return stage_; }
  bool is(Stage stage) const { return stage_ == stage; }
  bool in_step() const { return IsInStep(stage_); }
  // REQUIRES: MayFollow(stage(), stage).
  void Enter(Stage stage);

 private:
  Stage stage_ = Stage::kUnstarted;
};

}  // namespace ostraka::protocol
