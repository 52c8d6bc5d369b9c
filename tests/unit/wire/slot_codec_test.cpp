#include <gtest/gtest.h>

#include "node/wire/limits.h"
#include "tests/unit/wire/samples.h"

namespace ostraka::wire {
namespace {

bool Opens(const Slot& slot) {
  Envelope envelope = SampleEnvelope(MessageType::kCommit);
  envelope.slot = slot;
  return OpenUnsigned(*EncodeUnsigned(envelope)).ok();
}

TEST(SlotCodecTest, EachTypeHasItsPhases) {
  for (const MessageType type : AllMessageTypes()) {
    const Slot sample = SampleSlot(type);
    for (std::uint8_t phase = 0; phase < kPhaseCount; ++phase) {
      Slot slot = sample;
      slot.phase = static_cast<Phase>(phase);
      slot.draw = 0;
      EXPECT_EQ(Opens(slot), type == MessageType::kEcho || slot.phase == sample.phase)
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

// Else one message could be signed under two slots that mean the same, unpunished.
TEST(SlotCodecTest, OnlyRevealsAndEchoesOfSealBHaveADraw) {
  for (const MessageType type : AllMessageTypes()) {
    Slot slot = SampleSlot(type);
    slot.draw = 1;
    EXPECT_EQ(Opens(slot), type == MessageType::kReveal || type == MessageType::kEcho)
        << MessageTypeName(type);
  }
  Slot echo = SampleSlot(MessageType::kEcho);
  for (const Phase phase : {Phase::kGenesis, Phase::kA, Phase::kC}) {
    echo.phase = phase;
    echo.draw = 1;
    EXPECT_FALSE(Opens(echo)) << PhaseName(phase);
  }
}

TEST(SlotCodecTest, OnlyPartsAndResultsHaveAnIteration) {
  for (const MessageType type : AllMessageTypes()) {
    Slot slot = SampleSlot(type);
    slot.iteration = 1;
    EXPECT_EQ(Opens(slot), type == MessageType::kPart || type == MessageType::kResult)
        << MessageTypeName(type);
  }
}

TEST(SlotCodecTest, IterationIsAPartsIndex) {
  Slot slot = SampleSlot(MessageType::kPart);
  slot.iteration = kMaxParts - 1;
  EXPECT_TRUE(Opens(slot));
  slot.iteration = kMaxParts;
  EXPECT_FALSE(Opens(slot));
}

}  // namespace
}  // namespace ostraka::wire
