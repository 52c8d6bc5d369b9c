#include "node/protocol/seal/seal_clock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::seal_clock_test {
namespace {

using base::Milliseconds;
using base::Seconds;
using base::Time;
using scene::DigestOf;
using scene::PeersUpTo;
using Step = SealClock::Step;

constexpr base::Duration kDelta = Seconds(1);
Time At(std::int64_t ms) { return Time{ms * 1'000'000}; }

TEST(StepLengthTest, DoublesFromTheThirdIterationAndIsCapped) {
  EXPECT_EQ(StepLength(kDelta, 1), Seconds(2));
  EXPECT_EQ(StepLength(kDelta, 2), Seconds(2));
  EXPECT_EQ(StepLength(kDelta, 3), Seconds(4));
  EXPECT_EQ(StepLength(kDelta, 5), Seconds(16));
  EXPECT_EQ(StepLength(kDelta, 6), kMaxStep);
  EXPECT_EQ(StepLength(kDelta, 1u << 20), kMaxStep);
  EXPECT_EQ(StepLength(Seconds(30), 1), Seconds(60));  // never less than 2 Delta
  EXPECT_EQ(StepLength(Seconds(30), 9), Seconds(60));
}

TEST(LeadersTest, AreAPermutationOfTheUnmutedThatSeedPhaseAndDrawChange) {
  const std::vector<PeerId> unmuted = PeersUpTo(16);
  wire::Slot slot;
  slot.phase = wire::Phase::kA;
  std::set<std::vector<PeerId>> seen;
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    for (const auto phase : {wire::Phase::kA, wire::Phase::kB}) {
      for (std::uint32_t draw = 0; draw < 2; ++draw) {
        slot.phase = phase;
        slot.draw = draw;
        std::vector<PeerId> leaders = LeadersOf(DigestOf(seed), slot, unmuted);
        EXPECT_TRUE(seen.insert(leaders).second);
        std::sort(leaders.begin(), leaders.end());
        EXPECT_EQ(leaders, unmuted);
      }
    }
  }
}

TEST(SealClockTest, RunsThroughTheFourSteps) {
  SealClock clock(kDelta);
  EXPECT_EQ(clock.due(), std::nullopt);
  clock.Rest(0, At(2000));
  EXPECT_FALSE(clock.Advance(At(1999)));
  EXPECT_TRUE(clock.Advance(At(2000)));
  EXPECT_EQ(clock.step(), Step::kStatus);
  EXPECT_EQ(clock.iteration(), 1u);
  clock.Gathered(At(2500));
  for (const Step step : {Step::kPropose, Step::kVote, Step::kLock, Step::kStatus}) {
    const Time due = *clock.due();
    EXPECT_FALSE(clock.Advance(Time{due.ns - 1}));
    EXPECT_TRUE(clock.Advance(due));
    EXPECT_EQ(clock.step(), step);
  }
  EXPECT_EQ(clock.began(), At(10'000));
  EXPECT_EQ(clock.iteration(), 2u);
}

TEST(SealClockTest, StatusWaitsForAQuorumAndThenForItsMessages) {
  SealClock clock(kDelta);
  clock.Enter(3, At(0));  // steps of 4 s
  EXPECT_EQ(clock.due(), std::nullopt);
  clock.Gathered(At(1250));  // as late as in a timely network: nothing changes
  EXPECT_EQ(clock.due(), At(4000));
  clock.Enter(4, At(0));  // steps of 8 s
  clock.Gathered(At(60'000));
  clock.Gathered(At(90'000));  // only the first call counts
  EXPECT_EQ(clock.due(), At(66'500));
}

TEST(SealClockTest, ClosesTwoDeltaAfterTheEchoAndWaitsForTheGate) {
  SealClock clock(kDelta);
  clock.Echoed(At(500), CloseTime::kAfterEcho);
  clock.Echoed(At(900), CloseTime::kWithEcho);  // only the first call counts
  EXPECT_EQ(clock.due(), At(2500));
  EXPECT_TRUE(clock.Advance(At(2500)));
  EXPECT_EQ(clock.step(), Step::kClosed);
  EXPECT_EQ(clock.due(), std::nullopt);
  clock.Passed(At(9000));
  EXPECT_EQ(clock.due(), At(10'500));
  clock.Passed(At(9100));
  EXPECT_EQ(clock.due(), At(10'500));
  EXPECT_TRUE(clock.Advance(At(10'500)));
  EXPECT_EQ(clock.step(), Step::kStatus);
  EXPECT_EQ(clock.iteration(), 1u);
}

// It has waited for the messages; waiting for ECHOs in their place would be a second wait.
TEST(SealClockTest, ClosesWithTheEchoWhereTheWaitRanOut) {
  SealClock clock(kDelta);
  clock.Echoed(At(500), CloseTime::kWithEcho);
  EXPECT_TRUE(clock.Advance(At(500)));
  EXPECT_EQ(clock.step(), Step::kClosed);
}

TEST(SealClockTest, AMemberThatPassesTheGateEarlySendsNoClose) {
  SealClock clock(kDelta);
  clock.Echoed(At(0), CloseTime::kAfterEcho);
  clock.Passed(At(100));
  EXPECT_EQ(clock.step(), Step::kRest);
  EXPECT_EQ(clock.due(), At(1600));
}

TEST(SealClockTest, TheGateDoesNotUndoAnIterationWithOwnMessages) {
  SealClock clock(kDelta);
  clock.Rest(2, At(8000));
  clock.Closed(At(10));
  clock.Passed(At(20));
  EXPECT_EQ(clock.due(), At(8000));
}

// A process that was suspended does not send its messages in later steps of others: it skips them.
TEST(SealClockTest, ALateTimerShiftsNoStep) {
  SealClock clock(kDelta);
  clock.Enter(1, At(0));
  clock.Gathered(At(0));
  EXPECT_TRUE(clock.Advance(At(2500)));
  EXPECT_FALSE(clock.IsLate(At(2500)));
  EXPECT_TRUE(clock.IsLate(At(2501)));
  EXPECT_EQ(clock.due(), At(4000));
  EXPECT_TRUE(clock.Advance(At(60'000)));
  EXPECT_EQ(clock.step(), Step::kVote);
  EXPECT_TRUE(clock.IsLate(At(60'000)));
  EXPECT_TRUE(clock.Advance(At(60'000)));
  EXPECT_TRUE(clock.Advance(At(60'000)));
  EXPECT_EQ(clock.step(), Step::kStatus);
  EXPECT_FALSE(clock.Advance(At(60'000))) << "until a quorum is seen there";
}

}  // namespace
}  // namespace ostraka::protocol::seal_clock_test
