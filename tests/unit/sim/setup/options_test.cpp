#include "sim/setup/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ostraka::sim::options_test {
namespace {

using testing::HasSubstr;

TEST(SimOptions, FormatAndParseAreInverse) {
  SimOptions options;
  options.seed = UINT64_MAX;
  options.peers = 16;
  options.byzantine = 5;
  options.liars = 2;
  options.attack = "alie";
  options.attack_params = {{"z", "0.1"}};
  options.attack_from_step = 9;
  options.mode = protocol::Mode::kThird;
  options.unprotected = true;
  options.steps = 7;
  options.validators = 2;
  options.dimension = 12345;
  options.batch_size = 3;
  options.learning_rate = 1.0 / 3;
  options.tau = 1e-9;
  options.exact = true;
  options.delay_min = base::Nanoseconds(1);
  options.delay_max = base::Seconds(2);
  options.jitter = base::Nanoseconds(3);
  options.bytes_per_second = 4;
  options.fsync_max = base::Nanoseconds(5);
  options.crashes = 6;
  options.crash_down = base::Seconds(7);
  options.blackouts = 8;
  options.lose_disk = true;
  options.cut = "one_way";
  options.cut_at = base::Seconds(9);
  options.cut_for = base::Seconds(10);
  options.time_limit = base::Seconds(6);
  const auto parsed = ParseOptions(FormatOptions(options));
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_EQ(*parsed, options);
}

TEST(SimOptions, OptionsAddedLaterAreWrittenOnlyIfSet) {
  SimOptions options;
  EXPECT_THAT(FormatOptions(options), testing::Not(HasSubstr("liars")));
  EXPECT_THAT(FormatOptions(options), testing::Not(HasSubstr("exact")));
  options.liars = 1;
  EXPECT_THAT(FormatOptions(options), HasSubstr(" liars=1"));
}

TEST(SimOptions, ParseTakesCommentsLinesAndDefaults) {
  const auto parsed = ParseOptions("# found on a Tuesday\n  seed=7\t peers=9 # not peers=10\n\n");
  ASSERT_TRUE(parsed.ok());
  SimOptions expected;
  expected.seed = 7;
  expected.peers = 9;
  EXPECT_EQ(*parsed, expected);
  EXPECT_EQ(*ParseOptions(""), SimOptions{});
}

TEST(SimOptions, ParseNamesTheWordThatIsWrong) {
  for (const char* text : {"sead=7", "seed", "seed=", "seed=-1", "seed=7x", "peers=1e3",
                           "mode=half", "tau=a", "unprotected=yes", "attack.z=", "=3"}) {
    const auto parsed = ParseOptions(std::string("peers=8 ") + text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_THAT(base::MessageOf(parsed.status()), HasSubstr(text));
  }
}

std::string WhyNot(const SimOptions& options) { return base::MessageOf(CheckOptions(options)); }

TEST(SimOptions, DefaultsAreRunnable) { EXPECT_TRUE(CheckOptions(SimOptions{}).ok()); }

TEST(SimOptions, CheckErrorsHaveARemedy) {
  SimOptions options;
  options.attack = "sign_flop";
  EXPECT_THAT(WhyNot(options), HasSubstr("sign_flip"));

  options = {};
  options.attack = "alie";
  options.attack_params = {{"y", "1"}};
  EXPECT_THAT(WhyNot(options), HasSubstr("has no parameter 'y'"));

  options = {};
  options.blackouts = 1;
  options.lose_disk = true;
  EXPECT_THAT(WhyNot(options), HasSubstr("make blackouts 0"));

  options = {};
  options.attack = "flood";
  options.attack_params = {{"rate", "-1"}};
  EXPECT_THAT(WhyNot(options), HasSubstr("rate=-1 must be real in [0, 1e+06]"));
  options.attack = "frame_victim";
  options.attack_params = {{"rule", "10"}};
  EXPECT_THAT(WhyNot(options), HasSubstr("rule=10 must be integer in [0, 9]"));

  options = {};
  options.mode = protocol::Mode::kThird;
  EXPECT_THAT(WhyNot(options), HasSubstr("--mode majority"));
  options.unprotected = true;
  EXPECT_TRUE(CheckOptions(options).ok()) << "an unprotected run bears nothing anyway";

  options = {};
  options.byzantine = options.peers;
  EXPECT_THAT(WhyNot(options), HasSubstr("byzantine"));

  options = {};
  options.dimension = 15;
  EXPECT_THAT(WhyNot(options), HasSubstr("dimension"));

  options = {};
  options.peers = 1;
  EXPECT_THAT(WhyNot(options), HasSubstr("peers"));

  options = {};
  options.delay_max = base::Milliseconds(1);
  EXPECT_THAT(WhyNot(options), HasSubstr("delay_max"));

  options = {};
  options.bytes_per_second = 0;
  EXPECT_THAT(WhyNot(options), HasSubstr("bytes_per_second"));
}

}  // namespace
}  // namespace ostraka::sim::options_test
