#include "node/wire/slot_codec.h"

#include "node/wire/canonical.h"

namespace ostraka::wire::internal {
namespace {

// SEAL's slow path: STATUS, PROPOSE, VOTE and LOCK.
bool IsSlowPath(MessageType type) {
  return type == MessageType::kStatus || type == MessageType::kPropose ||
         type == MessageType::kVote || type == MessageType::kLock;
}

bool PhaseFits(MessageType type, Phase phase) {
  switch (type) {
    case MessageType::kBoot:
      return phase == Phase::kGenesis;
    case MessageType::kCommit:
    case MessageType::kPart:
    case MessageType::kAggregate:
    case MessageType::kResult:
      return phase == Phase::kA;
    case MessageType::kReveal:
      return phase == Phase::kB;
    case MessageType::kProof:
    case MessageType::kRejoin:
      return phase == Phase::kC;
    case MessageType::kStatus:
    case MessageType::kPropose:
    case MessageType::kVote:
    case MessageType::kLock:
    case MessageType::kClose:
      return phase != Phase::kGenesis;
    case MessageType::kEcho:
    case MessageType::kPull:
    case MessageType::kVector:
    case MessageType::kBlock:
    case MessageType::kChunk:
    case MessageType::kForward:
      return true;
  }
  return false;
}

// Only seal B has draws: its REVEALs, the seal messages about them, and services about them.
base::Status CheckDraw(const Slot& slot) {
  if (slot.draw != 0 && slot.phase != Phase::kB) return Refuse("slot", "draw must be 0 here");
  return base::OkStatus();
}

base::Status CheckIteration(const Slot& slot) {
  if (IsSlowPath(slot.type)) {
    const bool counts = slot.iteration >= 1 && slot.iteration <= kMaxIterations;
    return counts ? base::OkStatus() : Refuse("slot", "no such leader iteration");
  }
  if (slot.type == MessageType::kPart || slot.type == MessageType::kResult) {
    if (slot.iteration >= kMaxParts) return Refuse("slot", "iteration is not a part's index");
    return base::OkStatus();
  }
  return slot.iteration == 0 ? base::OkStatus() : Refuse("slot", "iteration must be 0 here");
}

base::Status CheckSlot(const Slot& slot) {
  if (!PhaseFits(slot.type, slot.phase)) return Refuse("slot", "no such message in this phase");
  RETURN_IF_ERROR(CheckDraw(slot));
  return CheckIteration(slot);
}

}  // namespace

void WriteSlot(const Slot& slot, schema::Slot::Builder builder) {
  builder.setRunId(AsData(slot.run_id));
  builder.setIncarnation(slot.incarnation);
  builder.setStep(slot.step);
  builder.setPhase(static_cast<schema::Phase>(slot.phase));
  builder.setType(static_cast<schema::MessageType>(slot.type));
  builder.setDraw(slot.draw);
  builder.setIteration(slot.iteration);
}

base::Status ReadSlot(schema::Slot::Reader reader, Slot& out) {
  RETURN_IF_ERROR(ReadId(reader.getRunId(), "run id", out.run_id));
  out.incarnation = reader.getIncarnation();
  out.step = reader.getStep();
  RETURN_IF_ERROR(ReadEnum(reader.getPhase(), "phase", kPhaseCount, out.phase));
  RETURN_IF_ERROR(ReadEnum(reader.getType(), "type", kMessageTypeCount, out.type));
  out.draw = reader.getDraw();
  out.iteration = reader.getIteration();
  return CheckSlot(out);
}

}  // namespace ostraka::wire::internal
