// Named runs of the DHT under each adversary and fault (docs/simulation.md): the records are found,
// and no checker fails.
#include <gtest/gtest.h>

#include "sim/dht/run.h"

namespace ostraka::sim::dhtsim::dht_attacks_test {
namespace {

DhtOptions Small() {
  DhtOptions options;
  options.nodes = 150;
  options.minutes = 1;
  options.join_seconds = 20;
  options.gets = 60;
  options.serve_at_once = true;
  options.least_found_permille = 980;
  return options;
}

void ExpectFound(const DhtOptions& options) {
  const auto result = RunDht(options);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_FALSE(result->failure.has_value())
      << result->failure->checker << ": " << result->failure->message;
  EXPECT_EQ(result->gets, options.gets);
}

DhtOptions Under(const char* adversary, std::uint32_t percent = 20) {
  DhtOptions options = Small();
  options.adversary = adversary;
  options.adversary_percent = percent;
  return options;
}

TEST(DhtAttacks, ColludersAndDeadNodesHideNothing) {
  DhtOptions options = Under("colluder");
  options.dead_percent = 30;
  ExpectFound(options);
}
TEST(DhtAttacks, IdsMadeAroundAKeyFrom16PrefixesHideNothing) {
  DhtOptions options = Small();
  options.adversary = "grinder";
  options.prefixes = 16;
  ExpectFound(options);
}
TEST(DhtAttacks, PoisonedContactsHideNothingAndImpersonateNobody) { ExpectFound(Under("poison")); }
TEST(DhtAttacks, ReplayedRecordsAreNotTakenForTheNewest) { ExpectFound(Under("replay")); }
TEST(DhtAttacks, SilentNodesHideNothing) { ExpectFound(Under("silent")); }
TEST(DhtAttacks, AFloodOfRecordsPushesNobodyOut) { ExpectFound(Under("store_flood", 5)); }
TEST(DhtAttacks, ForgedSourcesGainNothing) { ExpectFound(Under("spoof", 10)); }

TEST(DhtFaults, ChurnABurstLossAndNatsAreBorne) {
  DhtOptions options = Small();
  options.serve_at_once = false;
  options.minutes = 25;
  options.churn_percent = 50;
  options.burst = 60;
  options.loss_permille = 50;
  options.nat_percent = 20;
  ExpectFound(options);
}
TEST(DhtFaults, APartitionHeals) {
  DhtOptions options = Small();
  options.minutes = 10;
  options.partition_seconds = 240;
  ExpectFound(options);
}

}  // namespace
}  // namespace ostraka::sim::dhtsim::dht_attacks_test
