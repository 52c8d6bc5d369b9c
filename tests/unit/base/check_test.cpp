#include "node/base/check.h"

#include <gtest/gtest.h>

namespace ostraka::base {
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

TEST(CheckDeathTest, SaysWhatFailedAndWhere) {
  const int limit = 3;
  EXPECT_DEATH(OSTRAKA_CHECK(limit > 5), "CHECK failed: limit > 5 at .*check_test.cpp:[0-9]+");
}

}  // namespace
}  // namespace ostraka::base
