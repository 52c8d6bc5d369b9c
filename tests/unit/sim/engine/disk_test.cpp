// Records that survive a crash, and records that newer ones replace.
#include "sim/engine/disk.h"

#include <gtest/gtest.h>

#include "node/protocol/mail/signer.h"

namespace ostraka::sim::disk_test {
namespace {

using protocol::Record;
using protocol::RecordKind;

Record Slot(std::uint64_t step) {
  wire::Slot slot;
  slot.step = step;
  return {RecordKind::kSlot, protocol::SlotKey(slot), {1}};
}
Record BlockOf(std::uint64_t step) {
  return {RecordKind::kBlock, protocol::BlockKey(false, step), {2}};
}
Record ResultOf(std::uint64_t step, std::uint32_t column) {
  return {RecordKind::kResult, protocol::ResultKey(step, column), {3}};
}
Record StateAfter(std::uint64_t step) {
  return {RecordKind::kState, protocol::BlockKey(false, step), {4}};
}

TEST(Disk, IsEmptyAtFirstAndAfterALoss) {
  Disk disk;
  EXPECT_EQ(disk.Restored(), nullptr);
  disk.Apply({1, {Slot(0)}});
  EXPECT_NE(disk.Restored(), nullptr);
  disk.Erase();
  EXPECT_EQ(disk.Restored(), nullptr);
}

TEST(Disk, RestoresSlotsFromTheNewestBlocksStepOn) {
  Disk disk;
  disk.Apply({1, {Slot(3), Slot(4), BlockOf(3)}});
  EXPECT_EQ(disk.Restored()->slots.size(), 2U);
  disk.Apply({2, {BlockOf(4)}});
  ASSERT_EQ(disk.Restored()->slots.size(), 1U);
  EXPECT_EQ(disk.Restored()->slots[0].key, Slot(4).key);
  EXPECT_EQ(disk.Restored()->blocks.size(), 2U);
}

TEST(Disk, LastResultOfAColumnCounts) {
  Disk disk;
  Record result = ResultOf(2, 0);
  disk.Apply({1, {BlockOf(2), result}});
  result.value = {9};
  disk.Apply({2, {result}});
  ASSERT_EQ(disk.Restored()->results.size(), 1U);
  EXPECT_EQ(disk.Restored()->results[0].value, result.value);
}

TEST(Disk, StateReplacesTheResultsThatLedToIt) {
  Disk disk;
  disk.Apply({1, {StateAfter(1), BlockOf(1), BlockOf(2), ResultOf(2, 0), ResultOf(2, 1)}});
  disk.Apply({2, {BlockOf(3), ResultOf(3, 0), StateAfter(2)}});
  const auto restored = disk.Restored();
  ASSERT_TRUE(restored->state);
  EXPECT_EQ(restored->state->key, StateAfter(2).key);
  ASSERT_EQ(restored->blocks.size(), 2U) << "from the state's own block on";
  EXPECT_EQ(restored->blocks[0].key, BlockOf(2).key);
  ASSERT_EQ(restored->results.size(), 3U) << "those of that block are for who is one behind";
  EXPECT_EQ(restored->results[2].key, ResultOf(3, 0).key);
  disk.Apply({3, {StateAfter(3)}});
  ASSERT_EQ(disk.Restored()->results.size(), 1U);
  EXPECT_EQ(disk.Restored()->results[0].key, ResultOf(3, 0).key);
}

TEST(Disk, KeepsThePartsOfTheNewestStateUntilItIsWhole) {
  const auto part = [](std::uint64_t height, std::uint32_t number) {
    return Record{RecordKind::kStatePart, protocol::StatePartKey(height, number), {5}};
  };
  Disk disk;
  disk.Apply({1, {part(10, 0), part(10, 1)}});
  EXPECT_EQ(disk.Restored()->state_parts.size(), 2U);
  disk.Apply({2, {part(20, 0)}});
  ASSERT_EQ(disk.Restored()->state_parts.size(), 1U);
  EXPECT_EQ(disk.Restored()->state_parts[0].key, part(20, 0).key);
  disk.Apply({3, {part(15, 0), part(20, 0)}});
  EXPECT_EQ(disk.Restored()->state_parts.size(), 1U) << "of one state alone";
  disk.Apply({3, {StateAfter(18)}});
  EXPECT_EQ(disk.Restored()->state_parts.size(), 1U) << "of an older state";
  disk.Apply({4, {StateAfter(19)}});
  EXPECT_TRUE(disk.Restored()->state_parts.empty());
}

TEST(Disk, KnowsWhetherThisStoreHasSignedAsAMember) {
  Disk disk;
  disk.Apply({1, {Slot(0)}});
  EXPECT_FALSE(disk.Restored()->member);
  disk.Apply({2, {{RecordKind::kMember, {1}, {}}}});
  EXPECT_TRUE(disk.Restored()->member);
}

TEST(Disk, DiesOnASecondValueForOneKey) {
  Disk disk;
  disk.Apply({1, {Slot(0)}});
  disk.Apply({2, {Slot(0)}});
  Record other = Slot(0);
  other.value = {9};
  EXPECT_DEATH(disk.Apply({3, {other}}), "");
}

}  // namespace
}  // namespace ostraka::sim::disk_test
