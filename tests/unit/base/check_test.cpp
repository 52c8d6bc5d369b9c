#include "node/base/check.h"

#include <gtest/gtest.h>

#include <csignal>

namespace ostraka::base::check_test {
namespace {

TEST(Check, LetsATrueConditionPassAndEvaluatesItOnce) {
  int evaluations = 0;
  OSTRAKA_CHECK(++evaluations == 1);
  EXPECT_EQ(evaluations, 1);
}

TEST(Check, IsOneStatement) {
  bool reached_else = false;
  if (false)
    OSTRAKA_CHECK(false);
  else
    reached_else = true;
  EXPECT_TRUE(reached_else);
}

// Ends by a signal and not by an exit code, so that a core is left and no exit handler runs.
TEST(CheckDeathTest, ReportsTheConditionAndThePlaceAndAborts) {
  const int limit = 3;
  EXPECT_EXIT(OSTRAKA_CHECK(limit > 5), testing::KilledBySignal(SIGABRT),
              "CHECK failed: limit > 5 at .*check_test.cpp:[0-9]+");
}

}  // namespace
}  // namespace ostraka::base::check_test
