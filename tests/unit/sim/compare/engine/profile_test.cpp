#include "sim/compare/engine/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/compare/engine/code_version.h"

namespace ostraka::compare::profile_test {
namespace {

TEST(Profile, IsStable) {
  const auto profile = ComputeProfile();
  ASSERT_TRUE(profile.ok()) << profile.status().ToString();
  EXPECT_THAT(*profile, testing::MatchesRegex("libtorch .*, numerics [0-9a-f]+"));
  EXPECT_EQ(*ComputeProfile(), *profile);
  EXPECT_FALSE(ProcessorName().empty());
}

TEST(CodeVersion, IsTheProjectsVersion) {
  EXPECT_THAT(CodeVersion(), testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+.*"));
}

}  // namespace
}  // namespace ostraka::compare::profile_test
