#include "node/protocol/lasting/stage.h"

#include "node/base/check.h"

namespace ostraka::protocol {

const char* NameOf(Stage stage) {
  switch (stage) {
    case Stage::kUnstarted:
      return "starting";
    case Stage::kRestore:
      return "restore";
    case Stage::kGenesis:
      return "genesis";
    case Stage::kCollect:
      return "collect";
    case Stage::kReveal:
      return "reveal";
    case Stage::kProve:
      return "prove";
    case Stage::kSettle:
      return "settle";
    case Stage::kUpdate:
      return "update";
    case Stage::kFollow:
      return "follow";
    case Stage::kLinger:
      return "linger";
    case Stage::kFrozen:
      return "frozen";
    case Stage::kHalted:
      return "halted";
  }
  OSTRAKA_CHECK(false);
  return "";
}

bool MayFollow(Stage before, Stage after) {
  if (before == Stage::kHalted) return false;
  switch (after) {
    case Stage::kUnstarted:
      return false;
    case Stage::kRestore:
    case Stage::kGenesis:
      return before == Stage::kUnstarted;
    case Stage::kCollect:
      return before == Stage::kGenesis || before == Stage::kRestore || before == Stage::kUpdate ||
             before == Stage::kFollow;
    case Stage::kReveal:
      return before == Stage::kCollect;
    case Stage::kProve:
      return before == Stage::kReveal;
    case Stage::kSettle:
      return before == Stage::kProve;
    case Stage::kUpdate:
      return before == Stage::kSettle;
    case Stage::kFollow:
      return before == Stage::kGenesis || before == Stage::kRestore || before == Stage::kLinger ||
             IsInStep(before);
    case Stage::kLinger:
      return before == Stage::kRestore || before == Stage::kUpdate;
    case Stage::kFrozen:  // from kGenesis and kRestore by the rule alone: no fork is watched for
                          // there
      return before == Stage::kGenesis || before == Stage::kFollow || before == Stage::kRestore ||
             IsInStep(before);
    case Stage::kHalted:
      return true;
  }
  return false;
}

void StageNow::Enter(Stage stage) {
  OSTRAKA_CHECK(MayFollow(stage_, stage));
  stage_ = stage;
}

void StageNow::HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, stage_); }

}  // namespace ostraka::protocol
