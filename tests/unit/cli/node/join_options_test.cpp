#include "node/cli/node/join_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/cli/options/invite_fixture.h"

namespace ostraka::cli::join_options_test {
namespace {

using ::testing::HasSubstr;

std::string RefusalOf(const JoinOptions& options) {
  const auto plan = JoinPlanOf(options, 4);
  EXPECT_FALSE(plan.ok());
  return plan.ok() ? "" : base::MessageOf(plan.status());
}

TEST(JoinOptions, ThePolicyFollowsFromTheKeys) {
  EXPECT_EQ(JoinPlanOf({}, 4)->policy, protocol::JoinPolicy::kClosed);
  EXPECT_EQ(JoinPlanOf({}, 4)->seats, 0u);
  const std::string a = KeyOf(1).id().Hex(), b = KeyOf(2).id().Hex();
  auto plan = JoinPlanOf({.moderators = {}, .allow = {b, a, b}, .quota = {}, .seats = {}}, 4);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->policy, protocol::JoinPolicy::kAllowlist);
  EXPECT_EQ(plan->allow.size(), 2u);
  EXPECT_TRUE(std::is_sorted(plan->allow.begin(), plan->allow.end()));
  EXPECT_EQ(plan->seats, 6u);
  plan = JoinPlanOf({.moderators = {a}, .allow = {b}, .quota = 3, .seats = {}}, 4);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->policy, protocol::JoinPolicy::kInvite);
  EXPECT_EQ(plan->quota, 3u);
  EXPECT_EQ(plan->seats, 8u);
  EXPECT_EQ(JoinPlanOf({.moderators = {a}, .allow = {}, .quota = 300, .seats = {}}, 4)->seats,
            256u);
  EXPECT_EQ(JoinPlanOf({.moderators = {a}, .allow = {}, .quota = {}, .seats = 5}, 4)->seats, 5u);
}

TEST(JoinOptions, WhatHasNoEffectOrIsNoKeyIsRefused) {
  EXPECT_THAT(RefusalOf({.moderators = {"abc"}, .allow = {}, .quota = {}, .seats = {}}),
              HasSubstr("--moderator 'abc' is no key's id"));
  EXPECT_THAT(
      RefusalOf({.moderators = {}, .allow = {std::string(64, '0')}, .quota = {}, .seats = {}}),
      HasSubstr("--allow"));
  EXPECT_THAT(
      RefusalOf({.moderators = {}, .allow = {KeyOf(1).id().Hex()}, .quota = 2, .seats = {}}),
      HasSubstr("--quota is of moderators"));
  EXPECT_THAT(RefusalOf({.moderators = {}, .allow = {}, .quota = {}, .seats = 7}),
              HasSubstr("--seats"));
}

}  // namespace
}  // namespace ostraka::cli::join_options_test
