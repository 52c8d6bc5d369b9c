#include "node/host/driver/stop_wait.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ostraka::host::stop_wait_test {
namespace {

using base::Seconds;
using base::Time;
using ::testing::HasSubstr;

constexpr Time kBegin = Time{} + Seconds(100);

class StopWaitTest : public ::testing::Test {
 protected:
  StopWaitTest() { wait_.Begin(kBegin, "SIGTERM", Seconds(60)); }
  std::string At(std::int64_t seconds, std::size_t reachable) {
    return wait_.GivenUp(kBegin + Seconds(seconds), reachable, /*quorum=*/3).value_or("");
  }
  StopWait wait_;
};

TEST(StopWaitBegunTest, NobodyAskedYet) { EXPECT_FALSE(StopWait().begun()); }

TEST_F(StopWaitTest, ItGoesOnWhileAQuorumIsThereUntilTheBound) {
  EXPECT_TRUE(wait_.begun());
  EXPECT_EQ(wait_.by(), "SIGTERM");
  EXPECT_EQ(At(0, 4), "");
  EXPECT_EQ(At(59, 3), "");
  EXPECT_THAT(At(60, 4), HasSubstr("did not come within 60 s"));
}

TEST_F(StopWaitTest, TooFewAreWaitedForTenSecondsInARow) {
  EXPECT_EQ(At(1, 2), "");
  EXPECT_EQ(At(10, 2), "");
  EXPECT_EQ(At(10, 3), "") << "one came back";
  EXPECT_EQ(At(11, 2), "");
  EXPECT_EQ(At(20, 1), "");
  EXPECT_THAT(At(21, 1), HasSubstr("only 1 of the members can be reached"));
}

TEST_F(StopWaitTest, ASecondBeginIsABug) {
  EXPECT_DEATH(wait_.Begin(kBegin, "Ctrl-C", Seconds(1)), "CHECK");
}

}  // namespace
}  // namespace ostraka::host::stop_wait_test
