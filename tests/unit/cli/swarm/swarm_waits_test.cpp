#include "node/cli/swarm/swarm_waits.h"

#include <gtest/gtest.h>

#include "node/train/toy_trainer.h"

namespace ostraka::cli::swarm_waits_test {
namespace {

protocol::Manifest Manifest() {
  protocol::Manifest manifest;
  manifest.part_timeout = base::Seconds(5);
  manifest.seal_timeout = base::Seconds(60);
  manifest.patience = base::Seconds(1);
  return manifest;
}

TEST(SwarmWaitsTest, WorkThatFitsChangesNothing) {
  protocol::Manifest manifest = Manifest();
  EXPECT_EQ(FitWaits(base::Milliseconds(1600), manifest), "");
  EXPECT_EQ(manifest.part_timeout, base::Seconds(5));
  EXPECT_EQ(manifest.patience, base::Seconds(1));
}

TEST(SwarmWaitsTest, LongWorkRaisesAllWaitsAndSaysSo) {
  protocol::Manifest manifest = Manifest();
  const std::string note = FitWaits(base::Seconds(20), manifest);
  EXPECT_EQ(note,
            "a step takes about 20 s here, so parts are waited for up to 61 s "
            "(--part-timeout-ms, --patience-ms)");
  EXPECT_EQ(manifest.part_timeout, base::Seconds(61));
  EXPECT_EQ(manifest.patience, base::Seconds(30));
  EXPECT_GT(manifest.seal_timeout, manifest.part_timeout);
}

TEST(SwarmWaitsTest, AnExchangeTakesTheTimeOfItsBytesAndOfEightDelays) {
  protocol::Manifest manifest = Manifest();
  const WanLine line = {.bits_per_second = 8'000'000, .delay = base::Milliseconds(50)};
  // 3 parts and 3 copies of an aggregate, of 250,001 floats each: 6 MB at 1 MB/s.
  EXPECT_NEAR(ExchangeTime(manifest, 1'000'000, 4, line).seconds(), 6.4, 0.001);
  manifest.codecs = {.parts = protocol::Codec::kI8, .results = protocol::Codec::kI16};
  EXPECT_NEAR(ExchangeTime(manifest, 1'000'000, 4, line).seconds(), 0.4 + 2.274, 0.001);
}

TEST(SwarmWaitsTest, WorkGrowsWithLocalStepsAndWithNodesThatShareTheMachine) {
  auto trainer = train::MakeToyTrainer({.model = "toy", .data = "toy", .hidden = 50'000});
  ASSERT_TRUE(trainer.ok());
  protocol::Manifest manifest = Manifest();
  const auto one = MeasureWork(manifest, **trainer, 1);
  ASSERT_TRUE(one.ok());
  EXPECT_GT(one->ns, 0);
  manifest.training.inner.steps = 1000;
  EXPECT_GT(MeasureWork(manifest, **trainer, 100)->ns, one->ns);
}

}  // namespace
}  // namespace ostraka::cli::swarm_waits_test
