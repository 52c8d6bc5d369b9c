// What people are told of the price of a stop.
#include "node/host/report/stop_price.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ostraka::host::stop_price_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class StopPriceTest : public ::testing::Test {
 protected:
  StopPriceTest() {
    self_.bytes[0] = 7;
    head_.members = {self_};
    head_.thresholds = {.n = 4, .t_s = 1, .t_a = 1};
  }
  Stopping Of(Owed owed) const {
    return {.owed = owed,
            .step = 12,
            .self = self_,
            .head = &head_,
            .waits = {.parts = base::Seconds(20),
                      .messages = base::Seconds(42),
                      .coins = base::Seconds(3),
                      .step = base::Milliseconds(149'250)},
            .recent_step = base::Milliseconds(130)};
  }
  void DroppedBefore(std::uint32_t drops) {
    head_.standings = {{.peer = self_, .drops = drops, .last_drop_step = 3}};
  }
  base::PeerId self_;
  wire::Block head_;
};

TEST_F(StopPriceTest, BetweenTwoStepsTheOthersWaitAndADropIsNoBar) {
  EXPECT_THAT(PriceOf(Of(Owed::kNothing)),
              AllOf(HasSubstr("within 20 s it has lost nothing"), HasSubstr("after 42 s they drop"),
                    HasSubstr("asks to be let in again"), Not(HasSubstr("1000 steps"))));
}

TEST_F(StopPriceTest, ACoinThatIsNotShownBars) {
  EXPECT_THAT(PriceOf(Of(Owed::kCoin)), AllOf(HasSubstr("unless it is back within 3 s"),
                                              HasSubstr("watches for 1000 steps (about 130 s)")));
  Stopping unknown = Of(Owed::kCoin);
  unknown.recent_step = {};
  EXPECT_THAT(PriceOf(unknown), AllOf(HasSubstr("1000 steps before"), Not(HasSubstr("about"))));
}

TEST_F(StopPriceTest, AnotherDropBarsWhateverItIsFor) {
  for (const Owed owed : {Owed::kNothing, Owed::kProof, Owed::kEcho}) {
    DroppedBefore(0);
    EXPECT_THAT(PriceOf(Of(owed)), Not(HasSubstr("1000 steps")));
    DroppedBefore(1);
    EXPECT_THAT(PriceOf(Of(owed)), HasSubstr("only watches for 1000 steps"));
  }
}

TEST_F(StopPriceTest, ARunThatBearsNoFaultWaits) {
  head_.thresholds = {.n = 3, .t_s = 0, .t_a = 0};
  for (const Owed owed : {Owed::kNothing, Owed::kCoin, Owed::kProof, Owed::kEcho}) {
    EXPECT_THAT(PriceOf(Of(owed)), HasSubstr("cannot go on without it"));
  }
}

TEST_F(StopPriceTest, TheFirstOrderSaysHowLongAndWhatASecondOneCosts) {
  EXPECT_THAT(StopsWithBlockText("Ctrl-C", Of(Owed::kCoin)),
              AllOf(HasSubstr("with the block of step 12"), HasSubstr("a step took 130 ms"),
                    HasSubstr("given 150 s"), HasSubstr("Ctrl-C again stops it at once"),
                    HasSubstr("committed to a coin")));
}

TEST_F(StopPriceTest, AllIsOneLine) {
  for (const Owed owed : {Owed::kNothing, Owed::kCoin, Owed::kProof, Owed::kEcho}) {
    EXPECT_THAT(PriceOf(Of(owed)), Not(HasSubstr("\n")));
    EXPECT_LT(PriceOf(Of(owed)).size(), 400U);
  }
}

}  // namespace
}  // namespace ostraka::host::stop_price_test
