#include "crypto/secret.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <type_traits>

namespace ostraka::crypto::secret_test {
namespace {

static_assert(!std::is_copy_constructible_v<Secret> && !std::is_copy_assignable_v<Secret>);

TEST(Secret, StartsAsZeros) {
  const Secret secret(100);
  EXPECT_EQ(secret.span().size(), 100u);
  EXPECT_TRUE(std::ranges::all_of(secret.span(), [](std::uint8_t b) { return b == 0; }));
}

TEST(Secret, MovingLeavesNoBytesBehind) {
  Secret from(3);
  from.span()[1] = 7;
  Secret to(std::move(from));
  EXPECT_TRUE(from.span().empty());  // NOLINT(bugprone-use-after-move): what is tested
  ASSERT_EQ(to.span().size(), 3u);
  EXPECT_EQ(to.span()[1], 7);
  Secret assigned(1);
  assigned = std::move(to);
  EXPECT_TRUE(to.span().empty());  // NOLINT(bugprone-use-after-move): what is tested
  ASSERT_EQ(assigned.span().size(), 3u);
  EXPECT_EQ(assigned.span()[1], 7);
}

TEST(SecretDeathTest, AGuardPageFollowsTheBytes) {
  Secret secret(32);
  volatile std::uint8_t* const end = secret.span().data() + secret.span().size();
  EXPECT_DEATH(*end = 1, "");
}

}  // namespace
}  // namespace ostraka::crypto::secret_test
