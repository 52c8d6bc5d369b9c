#include "dht/upkeep.h"

#include <gtest/gtest.h>

#include "tests/unit/dht/samples.h"

namespace ostraka::dht::upkeep_test {
namespace {

base::Time At(std::int64_t seconds) { return base::Time{} + base::Seconds(seconds); }

class UpkeepTest : public testing::Test {
 protected:
  void AddNodes(unsigned bucket, int count) {
    for (int i = 0; i < count; ++i) {
      KnownNode node = NodeIn(rng_, prefix_++);
      node.id = Sharing(table_.self(), bucket, node.id);
      table_.OnAnswer(At(0), node);
    }
  }
  base::Rng rng_{1};
  std::uint32_t prefix_ = 0;
  RoutingTable table_{RandomDigest(rng_)};
  Upkeep upkeep_;
};

TEST_F(UpkeepTest, AsksTheBootstrapsEverMoreRarelyUntilOneAnswers) {
  upkeep_.Start(At(0));
  std::vector<std::int64_t> asked;
  for (std::int64_t second = 1; second < 400; ++second) {
    if (!upkeep_.IsDue(At(second))) continue;
    if (upkeep_.Tick(At(second), table_, false, 0).bootstraps) asked.push_back(second);
  }
  ASSERT_GE(asked.size(), 6U);
  EXPECT_EQ(asked[0], 3);
  EXPECT_EQ(asked[1] - asked[0], 6);
  EXPECT_EQ(asked.back() - asked[asked.size() - 2], 60);
  AddNodes(0, 1);
  EXPECT_TRUE(upkeep_.Tick(At(401), table_, false, 0).own_place);
  EXPECT_FALSE(upkeep_.Tick(At(402), table_, true, 0).own_place) << "it is under way";
}

TEST_F(UpkeepTest, FillsBucketsAboveTheDeepestFullOneEachOnce) {
  AddNodes(0, 3);
  AddNodes(1, 12);
  AddNodes(2, 7);
  AddNodes(3, 9);
  AddNodes(5, 2);
  upkeep_.Start(At(0));
  upkeep_.OnJoined();
  std::vector<std::size_t> filled;
  for (std::int64_t second = 1; second < 60; ++second) {
    const auto due = upkeep_.Tick(At(second), table_, false, 0);
    if (due.bucket) filled.push_back(*due.bucket);
  }
  EXPECT_EQ(filled, (std::vector<std::size_t>{0, 2}));
}

TEST_F(UpkeepTest, SearchesItsPlaceAgainAndKeepsContacts) {
  AddNodes(0, 16);
  upkeep_.Start(At(0));
  upkeep_.Tick(At(1), table_, false, 0);
  upkeep_.OnJoined();
  int own_place = 0;
  int kept = 0;
  for (std::int64_t second = 2; second < 3600; second += 10) {
    const auto due = upkeep_.Tick(At(second), table_, false, 0);
    own_place += due.own_place ? 1 : 0;
    kept += due.keep ? 1 : 0;
    EXPECT_EQ(due.own_place, due.bootstraps);
    EXPECT_TRUE(due.silent);
  }
  EXPECT_EQ(own_place, 3);
  EXPECT_GE(kept, 5);
  upkeep_.SearchOwnPlace(At(3600));
  EXPECT_TRUE(upkeep_.Tick(At(3600), table_, false, 0).own_place);
}

TEST_F(UpkeepTest, WithoutANodeLeftItJoinsAnew) {
  upkeep_.Start(At(0));
  upkeep_.OnJoined();
  EXPECT_TRUE(upkeep_.Tick(At(100), table_, false, 0).bootstraps);
  EXPECT_FALSE(upkeep_.joined());
}

TEST_F(UpkeepTest, ItIsNeverDueAtOnceAgain) {
  AddNodes(0, 16);
  upkeep_.Start(At(0));
  upkeep_.OnJoined();
  for (std::uint64_t number = 0; number < 100; ++number) {
    upkeep_.Tick(At(50), table_, (number & 1) != 0, number * 0x123456789abcdef);
    EXPECT_GT(upkeep_.next(), At(50));
  }
}

}  // namespace
}  // namespace ostraka::dht::upkeep_test
