#include "node/protocol/mail/pull_timer.h"

#include <gtest/gtest.h>

#include <vector>

namespace ostraka::protocol::pull_timer_test {
namespace {

using base::Milliseconds;

class PullTimerTest : public testing::Test {
 protected:
  PullTimerTest() { turn_.Begin(At(100), out_); }
  static Time At(std::int64_t ms) { return Time{} + Milliseconds(ms); }

  // When the driver's timer was set to fire, oldest first.
  std::vector<Time> Set() {
    std::vector<Time> times;
    for (const Action& action : out_.actions()) {
      const auto* set = std::get_if<SetTimer>(&action);
      if (set != nullptr && set->id == kPullTimer) times.push_back(set->at);
    }
    out_.actions().clear();
    return times;
  }

  Outbox out_;
  Turn turn_;
  PullTimer timer_{turn_};
};

TEST_F(PullTimerTest, ArmedTimerIsBroughtForwardAndNeverPutOff) {
  timer_.Arm(Milliseconds(50));
  EXPECT_EQ(Set(), std::vector<Time>{At(150)});
  timer_.Arm(Milliseconds(50));
  timer_.Arm(Milliseconds(60));
  EXPECT_TRUE(Set().empty());
  timer_.Arm(Milliseconds(49));
  EXPECT_EQ(Set(), std::vector<Time>{At(149)});
  EXPECT_EQ(timer_.Fire(), At(149));
}

TEST_F(PullTimerTest, FiredTimerIsArmedAnew) {
  timer_.Arm(Milliseconds(10));
  Set();
  ASSERT_TRUE(timer_.Fire());
  EXPECT_FALSE(timer_.Fire()) << "it fires once";
  timer_.Arm(Milliseconds(1'000));
  EXPECT_EQ(Set(), std::vector<Time>{At(1'100)});
}

TEST_F(PullTimerTest, DisarmedTimerDoesNotFire) {
  timer_.Arm(Milliseconds(10));
  timer_.Disarm();
  EXPECT_FALSE(timer_.Fire());
}

TEST_F(PullTimerTest, AttemptsAreCountedSinceTheRestart) {
  EXPECT_EQ(timer_.attempts(), 0u);
  timer_.CountAttempt();
  timer_.CountAttempt();
  timer_.Arm(Milliseconds(10));
  ASSERT_TRUE(timer_.Fire());
  timer_.Disarm();
  EXPECT_EQ(timer_.attempts(), 2u) << "arming, firing and disarming leave the count";
  timer_.Restart();
  EXPECT_EQ(timer_.attempts(), 0u);
}

}  // namespace
}  // namespace ostraka::protocol::pull_timer_test
