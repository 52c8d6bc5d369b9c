#include "node/protocol/sync/landmark.h"

#include <gtest/gtest.h>

#include "tests/unit/protocol/member/whole/past_run.h"

namespace ostraka::protocol::landmark_test {
namespace {

using scene::DigestOf;
using scene::PeerNumber;

base::Time After(int patiences) { return base::Time{} + kPatience * patiences; }

class LandmarkTest : public testing::Test {
 protected:
  const PastRun run_{5, 100};
  Landmark landmark_{run_.blocks[3], 5, wire::BlockDigest(*run_.blocks[5]), kPatience};
};

TEST_F(LandmarkTest, AsksThoseOfItsMembersThatCanBeHeardOnceEach) {
  const auto some = [](const PeerId& peer) { return peer != PeerNumber(2); };
  EXPECT_EQ(landmark_.WhomToAsk(After(0), some).size(), kMemberCount - 1);
  EXPECT_TRUE(landmark_.WhomToAsk(After(0), some).empty());
  const auto all = [](const PeerId&) { return true; };
  EXPECT_EQ(landmark_.WhomToAsk(After(1), all), std::vector<PeerId>{PeerNumber(2)});
}

bool IsTwo(const PeerId& peer) { return peer == PeerNumber(2); }

// The link with the first answer broke. No member can be asked about a block that nobody keeps.
TEST_F(LandmarkTest, AsksThriceAndWaitsNoLonger) {
  EXPECT_TRUE(landmark_.Waits(After(0)));
  std::vector<int> asked;
  for (int i = 0; i < 30; ++i) {
    if (!landmark_.WhomToAsk(After(i), IsTwo).empty()) asked.push_back(i);
    EXPECT_EQ(landmark_.Waits(After(i)), i < 12) << i;
    EXPECT_EQ(landmark_.wake().has_value(), i < 12) << i;
  }
  EXPECT_EQ(asked, (std::vector<int>{0, 4, 8}));
}

// Links with judges come up late, or never.
TEST_F(LandmarkTest, WhereNobodyCanBeAskedItWaitsTwiceAsLong) {
  const auto nobody = [](const PeerId&) { return false; };
  landmark_.WhomToAsk(After(0), nobody);
  EXPECT_EQ(landmark_.wake(), After(24));
  EXPECT_TRUE(landmark_.Waits(After(23)));
  EXPECT_FALSE(landmark_.Waits(After(24)));
  landmark_.WhomToAsk(After(20), IsTwo);
  EXPECT_TRUE(landmark_.Waits(After(31)));
  EXPECT_FALSE(landmark_.Waits(After(32)));
}

// Three of seven are more than may lie; those that were asked may still say otherwise.
TEST_F(LandmarkTest, WithEnoughAnswersItWaitsForThoseThatWereAskedJustNow) {
  const auto all = [](const PeerId&) { return true; };
  landmark_.WhomToAsk(After(0), all);
  for (std::uint32_t i = 0; i < 3; ++i) landmark_.OnAnswer(PeerNumber(i), landmark_.digest());
  EXPECT_TRUE(landmark_.Waits(After(0)));
  EXPECT_FALSE(landmark_.Waits(After(1)));
  for (std::uint32_t i = 3; i < kMemberCount; ++i) {
    landmark_.OnAnswer(PeerNumber(i), landmark_.digest());
  }
  EXPECT_FALSE(landmark_.Waits(After(0)));
  EXPECT_TRUE(landmark_.WhomToAsk(After(9), all).empty());
}

TEST_F(LandmarkTest, TheFirstAnswerOfAMemberCounts) {
  landmark_.OnAnswer(PeerNumber(0), DigestOf(1));
  landmark_.OnAnswer(PeerNumber(0), landmark_.digest());
  landmark_.OnAnswer(PeerNumber(1), landmark_.digest());
  landmark_.OnAnswer(PeerNumber(1), DigestOf(1));
  landmark_.OnAnswer(PeerNumber(50), DigestOf(1));  // no member
  EXPECT_EQ(landmark_.CountOfOthers(), 1U);
  EXPECT_EQ(landmark_.answers().size(), 2U);
}

}  // namespace
}  // namespace ostraka::protocol::landmark_test
