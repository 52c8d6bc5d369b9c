#include "node/protocol/ground/transcript.h"

#include <gtest/gtest.h>

#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::transcript_test {
namespace {

// (tests/unit/sim/engine/trace_test.cpp changes each part of each action.)
TEST(TranscriptTest, ActionsAndTheirOrderCount) {
  const std::vector<Action> none;
  const std::vector<Action> two = {SetTimer{1, Time{5}}, StopJob{2}};
  const std::vector<Action> turned = {StopJob{2}, SetTimer{1, Time{5}}};
  EXPECT_EQ(DigestOfActions(two), DigestOfActions(two));
  EXPECT_NE(DigestOfActions(two), DigestOfActions(turned));
  EXPECT_NE(DigestOfActions(two), DigestOfActions(none));
}

TEST(TranscriptTest, EqualFramesCountAlikeWhereverTheyAre) {
  const auto send = [] {
    return Send{scene::PeerNumber(1), std::make_shared<const base::Bytes>(base::Bytes{1, 2})};
  };
  EXPECT_EQ(DigestOfActions({send()}), DigestOfActions({send()}));
}

TEST(TranscriptTest, FoldingKeepsWhatWasPut) {
  Transcript folded;
  Transcript other;
  folded.Put(std::uint64_t{1});
  other.Put(std::uint64_t{2});
  folded.Fold();
  other.Fold();
  EXPECT_EQ(folded.unfolded(), 0u);
  EXPECT_NE(folded.digest(), other.digest());
}

TEST(TranscriptTest, ACallIsOneLine) {
  EXPECT_EQ(DescribeTurn(TimerFired{3}, {}), "timer 3");
  EXPECT_EQ(DescribeTurn(Stored{4}, {StopJob{1}, Observe{Back{7}}}),
            "stored 4 -> 1 jobs stopped, 1 observations; back in step 7");
}

}  // namespace
}  // namespace ostraka::protocol::transcript_test
