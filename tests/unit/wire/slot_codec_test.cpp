#include <gtest/gtest.h>

#include "node/wire/limits.h"
#include "tests/unit/wire/samples.h"

namespace ostraka::wire::slot_codec_test {
namespace {

bool Opens(const Slot& slot) {
  Envelope envelope = SampleEnvelope(MessageType::kCommit);
  envelope.slot = slot;
  return OpenUnsigned(*EncodeUnsigned(envelope)).ok();
}

bool IsSlowPath(MessageType type) {
  return type >= MessageType::kStatus && type <= MessageType::kLock;
}

// ECHOs and services may concern any seal, the slow path any but the genesis seal, and every other
// message belongs to one.
bool IsSentIn(MessageType type, Phase phase) {
  if (type == MessageType::kEcho || IsService(type)) return true;
  if (IsSlowPath(type) || type == MessageType::kClose) return phase != Phase::kGenesis;
  return phase == SampleSlot(type).phase;
}

TEST(SlotCodecTest, EachTypeHasItsPhases) {
  for (const MessageType type : AllMessageTypes()) {
    for (std::uint8_t phase = 0; phase < kPhaseCount; ++phase) {
      Slot slot = SampleSlot(type);
      slot.phase = static_cast<Phase>(phase);
      slot.draw = 0;
      EXPECT_EQ(Opens(slot), IsSentIn(type, slot.phase))
          << MessageTypeName(type) << " in " << PhaseName(slot.phase);
    }
  }
}

TEST(SlotCodecTest, UnknownPhaseAndTypeAreRefused) {
  Slot slot = SampleSlot(MessageType::kEcho);
  slot.draw = 0;
  ASSERT_TRUE(Opens(slot));
  slot.phase = static_cast<Phase>(kPhaseCount);
  EXPECT_FALSE(Opens(slot));
  slot.phase = Phase::kA;
  slot.type = static_cast<MessageType>(kMessageTypeCount);
  EXPECT_FALSE(Opens(slot));
}

// Otherwise one message could be signed in two slots with one meaning, unpunished.
TEST(SlotCodecTest, OnlyMessagesOfSealBHaveADraw) {
  for (const MessageType type : AllMessageTypes()) {
    for (std::uint8_t phase = 0; phase < kPhaseCount; ++phase) {
      Slot slot = SampleSlot(type);
      slot.phase = static_cast<Phase>(phase);
      slot.draw = 1;
      EXPECT_EQ(Opens(slot), slot.phase == Phase::kB && IsSentIn(type, slot.phase))
          << MessageTypeName(type) << " in " << PhaseName(slot.phase);
    }
  }
}

TEST(SlotCodecTest, OnlyPartsResultsAndTheSlowPathHaveAnIteration) {
  for (const MessageType type : AllMessageTypes()) {
    Slot slot = SampleSlot(type);
    slot.iteration = 1;
    EXPECT_EQ(Opens(slot),
              type == MessageType::kPart || type == MessageType::kResult || IsSlowPath(type))
        << MessageTypeName(type);
  }
}

TEST(SlotCodecTest, LeaderIterationsCountFromOneToTheLimit) {
  for (const MessageType type : AllMessageTypes()) {
    if (!IsSlowPath(type)) continue;
    Slot slot = SampleSlot(type);
    slot.iteration = 0;
    EXPECT_FALSE(Opens(slot)) << MessageTypeName(type);
    slot.iteration = kMaxIterations;
    EXPECT_TRUE(Opens(slot)) << MessageTypeName(type);
    slot.iteration = kMaxIterations + 1;
    EXPECT_FALSE(Opens(slot)) << MessageTypeName(type);
  }
}

TEST(SlotCodecTest, IterationIsTheIndexOfAPart) {
  Slot slot = SampleSlot(MessageType::kPart);
  slot.iteration = kMaxParts - 1;
  EXPECT_TRUE(Opens(slot));
  slot.iteration = kMaxParts;
  EXPECT_FALSE(Opens(slot));
}

}  // namespace
}  // namespace ostraka::wire::slot_codec_test
