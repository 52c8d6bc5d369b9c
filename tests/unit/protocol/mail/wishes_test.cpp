#include "node/protocol/mail/wishes.h"

#include <gtest/gtest.h>

namespace ostraka::protocol {
namespace {

TEST(WishesTest, SayWhatTheRunSaysUntilTheOwnerSpeaks) {
  Wishes wishes;
  EXPECT_TRUE(wishes.OnlyDials(true));
  EXPECT_FALSE(wishes.OnlyDials(false));
  wishes.Tell({.only_dials = true});
  EXPECT_TRUE(wishes.OnlyDials(false));
  wishes.Tell({.only_dials = false});
  EXPECT_FALSE(wishes.OnlyDials(true));
}

TEST(WishesTest, AnUnsetFieldChangesNothing) {
  Wishes wishes;
  wishes.Tell({.only_dials = true,
               .leave = Told::Leave{},
               .revocations = std::vector<wire::Revocation>(1)});
  wishes.Tell({});
  EXPECT_TRUE(wishes.OnlyDials(false));
  EXPECT_TRUE(wishes.WasToldToLeave(0));
  EXPECT_EQ(wishes.revocations().size(), 1u);
  wishes.Tell({.revocations = std::vector<wire::Revocation>{}});
  EXPECT_TRUE(wishes.revocations().empty());
}

TEST(WishesTest, LeavesInTheStepsThatItWasTold) {
  Wishes wishes;
  EXPECT_FALSE(wishes.SaysItLeaves(7));
  wishes.Tell({.leave = Told::Leave{.from = 7, .until = 9}});
  EXPECT_FALSE(wishes.SaysItLeaves(6));
  EXPECT_FALSE(wishes.WasToldToLeave(6));
  EXPECT_TRUE(wishes.WasToldToLeave(7));
  EXPECT_FALSE(wishes.WasToldToLeave(9)) << "and no COMMIT said so";
  EXPECT_TRUE(wishes.SaysItLeaves(8));
  EXPECT_FALSE(wishes.SaysItLeaves(9));
  EXPECT_TRUE(wishes.WasToldToLeave(9)) << "it said so in step 8";
}

}  // namespace
}  // namespace ostraka::protocol
