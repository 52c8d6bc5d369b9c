// Guests, keys that are no members, as attackers: what they cost members and other newcomers
// (docs/network.md, "Keys that are no members"; sim/attacks/messages/guest_flood.cpp).
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <variant>

#include "sim/engine/checker.h"
#include "tests/scenario/attack_runs.h"

namespace ostraka::sim::guests_test {
namespace {

// When the run had each block, and when the first honest newcomer began and came in.
class Clock final : public StepObserver {
 public:
  explicit Clock(std::uint32_t newcomer) : newcomer_(newcomer) {}
  void OnStep(const StepRecord& record) override {
    const bool own = record.peer == newcomer_;
    if (own && std::holds_alternative<protocol::Started>(record.input)) began_ = record.now;
    for (const protocol::Action& action : record.actions) {
      if (own && Observed<protocol::Back>(action) != nullptr && !came_) came_ = record.now;
      const auto* done = Observed<protocol::StepDone>(action);
      if (done != nullptr) blocks_.try_emplace(HeightOf(*done->block), record.now);
    }
  }
  // Seconds a step while all guests are there: their invite ends later.
  double SecondsAStep(std::uint64_t first, std::uint64_t last) const {
    return (blocks_.at(last) - blocks_.at(first)).seconds() / static_cast<double>(last - first);
  }
  std::optional<double> SecondsToComeIn() const {
    if (!came_) return std::nullopt;
    return (*came_ - began_).seconds();
  }

 private:
  std::uint32_t newcomer_;
  base::Time began_;
  std::optional<base::Time> came_;
  std::map<std::uint64_t, base::Time> blocks_;
};

constexpr std::uint64_t kAllAreThere = 25;
constexpr std::uint64_t kStillThere = 45;

// Five members whose lines the model keeps busy: 600 kB/s, and 80 kB of parameters.
SimOptions FiveOnSlowLines(std::uint64_t seed) {
  SimOptions options;
  options.seed = seed;
  options.peers = 5;
  options.byzantine = 0;
  options.steps = 60;
  options.dimension = 20'000;
  options.uplink_bytes_per_second = 600'000;
  return options;
}
void TenOfOneLink(SimOptions& options, const std::string& rate, const std::string& bulk) {
  options.attack = "guest_flood";
  options.attack_params = {{"rate", rate}, {"bulk", bulk}};
  options.attack_from_step = 2;
  options.intruders = 10;
}

Clock Timed(const SimOptions& options) {
  Clock clock(options.peers);
  const auto result = RunSimulation(options, {}, &clock);
  EXPECT_TRUE(result.ok()) << result.status().message();
  EXPECT_TRUE(result->ok) << result->failure->checker << ": " << result->failure->message << "\n"
                          << result->replay;
  EXPECT_EQ(result->honest_removed, 0U) << result->replay;
  EXPECT_TRUE(result->removals.empty()) << result->replay;
  return clock;
}

class TenGuests : public testing::TestWithParam<const char*> {};  // whether all of it is bulk

TEST_P(TenGuests, CostAStepAtMostAQuarter) {
  const SimOptions alone = FiveOnSlowLines(11);
  SimOptions flooded = alone;
  TenOfOneLink(flooded, "100", GetParam());
  const double without = Timed(alone).SecondsAStep(kAllAreThere, kStillThere);
  const double with = Timed(flooded).SecondsAStep(kAllAreThere, kStillThere);
  RecordProperty("milliseconds_without", static_cast<int>(without * 1e3));
  RecordProperty("milliseconds_with", static_cast<int>(with * 1e3));
  EXPECT_LE(with, 1.25 * without) << without << " s a step without, " << with << " s with ten";
}

TEST_P(TenGuests, KeepANewcomerByAnotherInviteNoMoreThanTwiceItsTime) {
  SimOptions alone = FiveOnSlowLines(12);
  alone.comes = 1;
  alone.steps = 120;
  alone.dimension = 5'000;  // half of an eighth of five lines carries a model a step
  SimOptions flooded = alone;
  TenOfOneLink(flooded, "100", GetParam());
  const auto without = Timed(alone).SecondsToComeIn();
  const auto with = Timed(flooded).SecondsToComeIn();
  ASSERT_TRUE(without.has_value());
  ASSERT_TRUE(with.has_value()) << "it never came in";
  RecordProperty("milliseconds_without", static_cast<int>(*without * 1e3));
  RecordProperty("milliseconds_with", static_cast<int>(*with * 1e3));
  EXPECT_LE(*with, 2 * *without) << *without << " s alone, " << *with << " s beside ten";
}

// It has to keep up with blocks as they come, or nobody confirms it.
TEST_P(TenGuests, LetAFollowerCatchUpWithShortSteps) {
  SimOptions options = FiveOnSlowLines(13);
  options.comes = 1;
  options.steps = 200;
  options.dimension = 500;
  options.delay_min = base::Milliseconds(2);
  options.delay_max = base::Milliseconds(25);
  TenOfOneLink(options, "100", GetParam());
  const Clock clock = Timed(options);
  EXPECT_LE(clock.SecondsAStep(kAllAreThere, kStillThere), 0.25);
  EXPECT_TRUE(clock.SecondsToComeIn().has_value());
}

INSTANTIATE_TEST_SUITE_P(Bulk, TenGuests, testing::ValuesIn(FirstOf({"0", "1"})));

// They ask for nothing but what a newcomer asks for, and never come in.
TEST(GuestsThatOnlyFollow, CostAStepAtMostAQuarter) {
  const SimOptions alone = FiveOnSlowLines(14);
  SimOptions followed = alone;
  TenOfOneLink(followed, "0", "0");
  const double without = Timed(alone).SecondsAStep(kAllAreThere, kStillThere);
  const double with = Timed(followed).SecondsAStep(kAllAreThere, kStillThere);
  EXPECT_LE(with, 1.25 * without) << without << " s a step without, " << with << " s with ten";
}

}  // namespace
}  // namespace ostraka::sim::guests_test
