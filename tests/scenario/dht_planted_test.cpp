// The tests of the DHT's tests: each planted bug (node/base/planted.h) is found by the checker that
// is named for it, and the run without it passes.
#include <gtest/gtest.h>

#include <string>

#include "node/base/planted.h"
#include "sim/dht/run.h"

namespace ostraka::sim::dhtsim::dht_planted_test {
namespace {

struct Planted {
  base::Bug bug;
  const char* name;
  const char* checker;
  const char* adversary;
  std::uint32_t percent;
  std::uint32_t prefixes;
};
constexpr Planted kPlanted[] = {
    {base::Bug::kDhtNoPrefixRule, "NoPrefixRule", "table_bounds", "grinder", 0, 4},
    {base::Bug::kDhtNoToken, "NoToken", "sources", "spoof", 10, 0},
    {base::Bug::kDhtEarlyStop, "EarlyStop", "found", "colluder", 20, 0},
    {base::Bug::kDhtUnsignedReply, "UnsignedReply", "identity", "poison", 20, 0},
    {base::Bug::kDhtShortQuery, "ShortQuery", "no_amplification", "spoof", 10, 0},
};

DhtResult RunWith(const Planted& planted, base::Bug bug) {
  DhtOptions options;
  options.nodes = 100;
  options.minutes = 1;
  options.join_seconds = 20;
  options.gets = 50;
  options.serve_at_once = true;
  options.least_found_permille = 980;
  options.adversary = planted.adversary;
  options.adversary_percent = planted.percent;
  options.prefixes = planted.prefixes;
  base::Plant(bug);
  auto result = RunDht(options);
  base::Plant(base::Bug::kNone);
  EXPECT_TRUE(result.ok()) << result.status().message();
  return *std::move(result);
}

class DhtPlanted : public testing::TestWithParam<Planted> {};

TEST_P(DhtPlanted, BugIsFoundByItsCheckerAndTheCleanRunPasses) {
  const DhtResult planted = RunWith(GetParam(), GetParam().bug);
  ASSERT_TRUE(planted.failure.has_value()) << "no checker saw it";
  EXPECT_EQ(planted.failure->checker, GetParam().checker) << planted.failure->message;
  const DhtResult clean = RunWith(GetParam(), base::Bug::kNone);
  EXPECT_FALSE(clean.failure.has_value())
      << clean.failure->checker << ": " << clean.failure->message;
}

INSTANTIATE_TEST_SUITE_P(All, DhtPlanted, testing::ValuesIn(kPlanted),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace ostraka::sim::dhtsim::dht_planted_test
