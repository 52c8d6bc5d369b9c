// What a member owes, by the records of what it signs.
#include "node/host/driver/pledge.h"

#include <gtest/gtest.h>

#include "node/protocol/mail/signer.h"

namespace ostraka::host::pledge_test {
namespace {

using wire::MessageType;
using wire::Phase;

protocol::Record RecordOf(std::uint64_t step, Phase phase, MessageType type) {
  wire::Envelope envelope;
  envelope.slot.step = step;
  envelope.slot.phase = phase;
  envelope.slot.type = type;
  return {protocol::RecordKind::kSlot, protocol::SlotKey(envelope.slot),
          *wire::EncodeUnsigned(envelope)};
}

protocol::Progress At(std::uint64_t step, bool at_work = true) {
  protocol::Progress progress;
  progress.step = step;
  progress.at_work = at_work;
  return progress;
}

class PledgeTest : public ::testing::Test {
 protected:
  void Sign(std::uint64_t step, Phase phase, MessageType type) {
    const protocol::StoreId id = next_++;
    pledge_.Asked({id, {RecordOf(step, phase, type)}});
    pledge_.Stored(id);
  }
  Pledge pledge_;
  protocol::StoreId next_ = 1;
};

TEST_F(PledgeTest, AStepIsOwedFromItsCommitToItsBlock) {
  EXPECT_EQ(pledge_.OwedIn(At(0)), Owed::kNothing);
  for (std::uint64_t step = 3; step < 5; ++step) {
    EXPECT_EQ(pledge_.OwedIn(At(step)), Owed::kNothing) << step;
    Sign(step, Phase::kA, MessageType::kCommit);
    EXPECT_EQ(pledge_.OwedIn(At(step)), Owed::kCoin);
    Sign(step, Phase::kA, MessageType::kPart);
    Sign(step, Phase::kA, MessageType::kAggregate);
    Sign(step, Phase::kA, MessageType::kEcho);
    EXPECT_EQ(pledge_.OwedIn(At(step)), Owed::kCoin);
    Sign(step, Phase::kB, MessageType::kReveal);
    EXPECT_EQ(pledge_.OwedIn(At(step)), Owed::kProof);
    Sign(step, Phase::kC, MessageType::kProof);
    EXPECT_EQ(pledge_.OwedIn(At(step)), Owed::kEcho);
  }
  EXPECT_EQ(pledge_.OwedIn(At(5)), Owed::kNothing);
}

TEST_F(PledgeTest, WhatIsOnItsWayToTheDiskIsNotSigned) {
  pledge_.Asked(
      {7,
       {RecordOf(2, Phase::kA, MessageType::kPart), RecordOf(2, Phase::kA, MessageType::kCommit)}});
  EXPECT_EQ(pledge_.OwedIn(At(2)), Owed::kNothing);
  pledge_.Stored(6);
  EXPECT_EQ(pledge_.OwedIn(At(2)), Owed::kNothing);
  pledge_.Stored(7);
  EXPECT_EQ(pledge_.OwedIn(At(2)), Owed::kCoin);
}

TEST_F(PledgeTest, WhoIsInNoStepOwesNothing) {
  Sign(2, Phase::kA, MessageType::kCommit);
  EXPECT_EQ(pledge_.OwedIn(At(2, /*at_work=*/false)), Owed::kNothing)
      << "it follows, or its last COMMIT only says that it has finished";
}

TEST_F(PledgeTest, AnEarlierProcessPledgedToo) {
  protocol::Restored restored;
  restored.slots = {RecordOf(8, Phase::kA, MessageType::kCommit),
                    RecordOf(8, Phase::kB, MessageType::kReveal),
                    RecordOf(9, Phase::kA, MessageType::kCommit)};
  pledge_.Restore(restored);
  EXPECT_EQ(pledge_.OwedIn(At(9)), Owed::kCoin);
  EXPECT_EQ(pledge_.OwedIn(At(10)), Owed::kNothing);
}

TEST_F(PledgeTest, RecordsOfOtherKindsAndGarbageSayNothing) {
  protocol::Record block = RecordOf(2, Phase::kA, MessageType::kCommit);
  block.kind = protocol::RecordKind::kBlock;
  pledge_.Asked({1, {block, {protocol::RecordKind::kSlot, {}, {1, 2, 3}}}});
  pledge_.Stored(1);
  EXPECT_EQ(pledge_.OwedIn(At(2)), Owed::kNothing);
}

}  // namespace
}  // namespace ostraka::host::pledge_test
