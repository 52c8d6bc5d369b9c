#include "node/wire/slot_codec.h"

#include "node/wire/canonical.h"

namespace ostraka::wire::internal {
namespace {

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
      return phase == Phase::kC;
    case MessageType::kEcho:
      return true;
  }
  return false;
}

bool HasDraw(const Slot& slot) {
  return slot.type == MessageType::kReveal ||
         (slot.type == MessageType::kEcho && slot.phase == Phase::kB);
}

bool HasIteration(const Slot& slot) {
  return slot.type == MessageType::kPart || slot.type == MessageType::kResult;
}

base::Status CheckSlot(const Slot& slot) {
  if (!PhaseFits(slot.type, slot.phase)) return Refuse("slot", "no such message in this phase");
  if (slot.draw != 0 && !HasDraw(slot)) return Refuse("slot", "draw must be 0 here");
  if (slot.iteration != 0 && !HasIteration(slot)) return Refuse("slot", "iteration must be 0 here");
  if (slot.iteration >= kMaxParts) return Refuse("slot", "iteration is not a part's index");
  return base::OkStatus();
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
