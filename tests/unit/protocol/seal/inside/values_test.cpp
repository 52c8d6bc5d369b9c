#include "node/protocol/seal/inside/values.h"

#include <gtest/gtest.h>

#include "tests/unit/protocol/seal/inside/parts_fixture.h"

namespace ostraka::protocol::values_test {
namespace {

using parts::AllFive;
using parts::HeldMessages;
using parts::ValueOf;
using parts::Without;

TEST(SealValuesTest, AVectorIsKnownByItsHashUntilItIsForgotten) {
  const HeldMessages messages(5);
  SealValues values(5, &messages);
  const Digest all = ValueOf(AllFive());
  const Digest less = ValueOf(Without(2));
  EXPECT_EQ(values.Find(all), nullptr);
  EXPECT_TRUE(values.Add(all, AllFive()));
  EXPECT_FALSE(values.Add(all, AllFive()));
  EXPECT_TRUE(values.Add(less, Without(2)));
  values.CheckInvariants();
  values.ForgetAllBut({less});
  EXPECT_EQ(values.Find(all), nullptr);
  ASSERT_NE(values.Find(less), nullptr);
  EXPECT_EQ(*values.Find(less), Without(2));
  EXPECT_EQ(values.size(), 1u);
}

TEST(SealValuesTest, OnlyVectorsWithTheEntriesOfThisSealAreTaken) {
  const HeldMessages messages(5);
  const SealValues values(5, &messages);
  EXPECT_EQ(values.Parse(WireOf(AllFive())), AllFive());
  SealVector longer = AllFive();
  longer.push_back({});
  EXPECT_EQ(values.Parse(WireOf(longer)), std::nullopt);
  wire::Vector malformed = WireOf(AllFive());
  malformed.entries[0].state = 7;
  EXPECT_EQ(values.Parse(malformed), std::nullopt);
}

TEST(SealValuesTest, HoldsAllIfEveryMessageThatAVectorNamesIsHeld) {
  HeldMessages messages(5);
  const SealValues values(5, &messages);
  EXPECT_EQ(values.HeldNow(), AllFive());
  EXPECT_TRUE(values.HoldsAll(AllFive()));
  messages.Drop(2);
  EXPECT_EQ(values.HeldNow(), Without(2));
  EXPECT_FALSE(values.HoldsAll(AllFive()));
  EXPECT_TRUE(values.HoldsAll(Without(2)));
  SealVector twice = Without(2);
  twice[2] = {SealEntry::State::kEquivocated, {}};
  EXPECT_TRUE(values.HoldsAll(twice)) << "an equivocation names no message";
}

TEST(SealValuesDeathTest, AWrongHashIsABugOfOurs) {
  const HeldMessages messages(5);
  SealValues values(5, &messages);
  values.Add(scene::DigestOf(7), AllFive());
  EXPECT_DEATH(values.CheckInvariants(), "CHECK failed");
}

}  // namespace
}  // namespace ostraka::protocol::values_test
