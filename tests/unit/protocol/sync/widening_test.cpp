// Whom to ask, attempt by attempt.
#include "node/protocol/sync/widening.h"

#include <gtest/gtest.h>

#include <set>

namespace ostraka::protocol::widening_test {
namespace {

TEST(Widening, AsksEachOnceBeforeAnybodyTwice) {
  for (std::size_t n = 1; n <= 70; ++n) {
    std::set<std::size_t> asked;
    std::size_t questions = 0;
    for (std::size_t attempt = 0; attempt < WideningSweep(n); ++attempt) {
      const auto [first, count] = WideningAt(attempt, n);
      for (std::size_t k = first; k < first + count; ++k) asked.insert(k % n);
      questions += count;
    }
    EXPECT_EQ(asked.size(), n);
    EXPECT_EQ(questions, n);
  }
}

TEST(Widening, AsksOneThenThreeThenNine) {
  EXPECT_EQ(WideningSweep(13), 3U);
  EXPECT_EQ(WideningAt(1, 16).first, 1U);
  EXPECT_EQ(WideningAt(1, 16).count, 3U);
  EXPECT_EQ(WideningAt(2, 16).count, 9U);
  EXPECT_EQ(WideningAt(3, 16).count, 3U) << "those that are left";
  EXPECT_EQ(WideningAt(4, 16).count, 1U) << "all have been asked";
}

}  // namespace
}  // namespace ostraka::protocol::widening_test
