// Simulated runs that must go well, for the tests of attacks.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "sim/run/cluster.h"

namespace ostraka::sim {

// How many seeds a test takes of each swarm: the environment's OSTRAKA_SEEDS, else one. The figures
// of docs/benchmarks.md are from 200.
inline std::uint64_t SeedsOfEach() {
  const char* const given = std::getenv("OSTRAKA_SEEDS");
  return given == nullptr ? 1 : std::max(1UL, std::strtoul(given, nullptr, 10));
}

struct Swarm {
  std::uint32_t peers = 8;
  std::uint32_t byzantine = 3;
};
// One attacker; as many as eight members bear; as many as sixteen bear.
inline constexpr Swarm kSwarms[] = {{8, 1}, {8, 3}, {16, 7}};

// "3Of8".
inline std::string NameOf(const Swarm& swarm) {
  return std::to_string(swarm.byzantine) + "Of" + std::to_string(swarm.peers);
}
inline std::string NameOfParam(const testing::TestParamInfo<Swarm>& info) {
  return NameOf(info.param);
}

// The options of a drawn swarm that failed, as its replay file has them.
inline SimOptions Replayed(std::string_view replay) {
  auto options = ParseOptions(replay);
  EXPECT_TRUE(options.ok()) << options.status().message();
  return std::move(options).value();
}

// Expects that no checker fails and no honest member is removed.
inline SimResult RunWithoutHarm(const SimOptions& options) {
  auto result = RunSimulation(options);
  EXPECT_TRUE(result.ok()) << result.status().message();
  EXPECT_TRUE(result->ok) << result->failure->checker << ": " << result->failure->message << "\n"
                          << result->replay;
  EXPECT_EQ(result->honest_removed, 0U) << result->replay;
  return std::move(result).value();
}

// How many different members were removed.
inline std::size_t MembersRemoved(const SimResult& result) {
  std::set<base::PeerId> removed;
  for (const wire::Removal& removal : result.removals) removed.insert(removal.peer);
  return removed.size();
}

}  // namespace ostraka::sim
