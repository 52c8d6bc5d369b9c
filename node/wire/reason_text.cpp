#include <string>

#include "node/base/check.h"
#include "node/wire/block.h"
#include "node/wire/evidence_codec.h"

namespace ostraka::wire {
namespace {

// As docs/protocol/removals.md calls them.
const char* EntryName(MessageType type) {
  switch (type) {
    case MessageType::kCommit:
      return "COMMIT";
    case MessageType::kAggregate:
      return "AGG";
    case MessageType::kReveal:
      return "REVEAL";
    case MessageType::kProof:
      return "PROOF";
    default:
      return "message";
  }
}

std::string PartOf(const Reason& reason) { return "part " + std::to_string(reason.part); }

std::string PartOfStep(const Reason& reason) {
  return PartOf(reason) + " of step " + std::to_string(reason.step);
}

std::string Other(const Reason& reason) {
  return reason.other ? reason.other->Short() : std::string("nobody");
}

std::string Votes(const Reason& reason, const char* word) {
  return std::string(word) + " by " + std::to_string(reason.count) + " of " +
         std::to_string(reason.of) + " votes";
}

std::string Members(const Reason& reason, const char* what) {
  return std::to_string(reason.count) + " members " + what;
}

std::string Blocks(const Reason& reason) { return std::to_string(reason.count) + " blocks"; }

std::string EvidenceText(std::uint64_t kind) {
  static constexpr const char* kFaults[kEvidenceKindCount] = {
      "signed two different messages of one slot",
      "its REVEAL does not open its COMMIT",
      "signed a message that nobody can read",
      "signed a part that is not under its COMMIT",
      "its PROOF states impossible numbers",
      "voted against a lock of its own",
      "a block bans it",
      "its STATUS denies what it had said",
      "a verdict was against it",
      "its gradient is false"};
  const char* fault = kind < kEvidenceKindCount ? kFaults[kind] : "a fault of a later version";
  return std::string(fault) + ", proven by evidence";
}

std::string SealedText(const Reason& reason) {
  const std::string entry = EntryName(reason.entry);
  switch (reason.cause) {
    case Cause::kAbsent:
      return "sealed absent: its " + entry + " did not come";
    case Cause::kTwoMessages:
      return "signed two different " + entry + "s of one slot";
    case Cause::kMalformed:
      return "its " + entry + " is malformed";
    case Cause::kOtherParameters:
      return "its COMMIT names other parameters than the run's";
    case Cause::kFalseReveal:
      return "its REVEAL does not open its COMMIT";
    case Cause::kForeignSender:
      return "its AGG includes who is no worker of the step";
    case Cause::kImpossibleNumbers:
      return "its PROOF states impossible numbers for " + PartOf(reason);
    default:
      return EvidenceText(reason.count);
  }
}

std::string VerdictText(const Reason& reason) {
  const std::string step = "step " + std::to_string(reason.step);
  switch (reason.cause) {
    case Cause::kFalseGradient:
      return "its gradient of " + step + " does not follow from its batch: accused by " +
             Other(reason) + ", " + Votes(reason, "guilty");
    case Cause::kFalseNumbers:
      return "its numbers for " + PartOfStep(reason) +
             " do not follow from what it sent: named by " + Other(reason) + ", " +
             Votes(reason, "guilty");
    case Cause::kHidNumbers:
      return "it hid that the numbers of " + Other(reason) + " for " + PartOfStep(reason) +
             " do not follow from what it was sent: " + Votes(reason, "guilty");
    case Cause::kFalseAccusation:
      return "accused " + Other(reason) + " falsely of " + step + ": " + Votes(reason, "innocent");
    default:
      return "named " + Other(reason) + " falsely of " + PartOfStep(reason) + ": " +
             Votes(reason, "innocent");
  }
}

std::string UndecidedText(const Reason& reason) {
  switch (reason.cause) {
    case Cause::kUndecidedAccusation:
      return "its accusation of " + Other(reason) + " found no majority in " + Blocks(reason);
    case Cause::kUnshownNaming:
      return "it named " + Other(reason) + " for " + PartOfStep(reason) +
             " and did not show the part in " + Blocks(reason);
    default:
      return "it did not show " + PartOfStep(reason) + " of the convicted " + Other(reason) +
             " in " + Blocks(reason);
  }
}

std::string ConductText(const Reason& reason) {
  const bool size = reason.count == static_cast<std::uint64_t>(ColumnFate::kSizeCheck);
  switch (reason.cause) {
    case Cause::kNamedNobody:
      return "its part of step " + std::to_string(reason.step) + " failed the " +
             (size ? "size" : "sum") + " check and it named nobody who lied";
    case Cause::kVoidedColumns:
      return "voided " + std::to_string(reason.count) + " columns by its own word";
    case Cause::kWithheldAggregate:
      return "it withheld its aggregate of " + PartOf(reason) + ": " + Members(reason, "miss it");
    case Cause::kWithheldEcho:
      return "withheld its echo: " + Members(reason, "waited for it");
    case Cause::kHastyEcho:
      return "echoed without what it had to wait for: " + Members(reason, "saw it");
    case Cause::kUnshownEcho:
      return "echoed what it did not show: " + Members(reason, "asked for it");
    default:
      return "let the others wait: " + std::to_string(reason.count) +
             " ms beyond what it was allowed";
  }
}

std::string PairText(const Reason& reason) {
  switch (reason.cause) {
    case Cause::kLeftOutPart:
      return "it left out " + PartOf(reason) + " of " + Other(reason) +
             ", which others held in time";
    case Cause::kWithheldPart:
      return "it withheld " + PartOf(reason) + " from " + Other(reason) +
             " and from the others, in dispute";
    case Cause::kClaimsToMiss:
      return "it claims to miss the aggregate of " + PartOf(reason) + " by " + Other(reason) +
             ", which others passed to it";
    case Cause::kWithheldFromOne:
      return "it withheld its aggregate of " + PartOf(reason) + " from " + Other(reason) +
             " and from the others, in dispute";
    default:
      return "in dispute with " + std::to_string(reason.count) +
             " members, more than can be at fault";
  }
}

}  // namespace

std::string TextOf(const Reason& reason) {
  if (reason.cause == Cause::kOldText) return reason.old_text;
  const std::string text = reason.cause <= Cause::kImpossibleNumbers ? SealedText(reason)
                           : reason.cause <= Cause::kFalseNaming     ? VerdictText(reason)
                           : reason.cause <= Cause::kUnshownCover    ? UndecidedText(reason)
                           : reason.cause <= Cause::kSlow            ? ConductText(reason)
                                                                     : PairText(reason);
  return reason.first_fault ? text + ": a first fault" : text;
}

}  // namespace ostraka::wire
