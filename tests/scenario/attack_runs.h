// Simulated runs that must go well, for the tests of attacks.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/run/cluster.h"

namespace ostraka::sim {

// `make soak` sets OSTRAKA_SOAK. A test then takes all its seeds, sizes and parameters; in `make
// test` it takes the first of them, and swarms of eight.
inline bool InSoak() { return std::getenv("OSTRAKA_SOAK") != nullptr; }
inline std::uint64_t SeedsUpTo(std::uint64_t all) { return InSoak() ? all : 1; }
template <typename T>
std::vector<T> FirstOf(std::initializer_list<T> all, std::size_t few = 1) {
  return {all.begin(), InSoak() ? all.end() : all.begin() + static_cast<std::ptrdiff_t>(few)};
}

// How many seeds a test takes of each swarm: the environment's OSTRAKA_SEEDS, else one. The figures
// of docs/measurements/attacks.md are from 200.
inline std::uint64_t SeedsOfEach() {
  const char* const given = std::getenv("OSTRAKA_SEEDS");
  return given == nullptr ? 1 : std::max(1UL, std::strtoul(given, nullptr, 10));
}

struct Swarm {
  std::uint32_t peers = 8;
  std::uint32_t byzantine = 3;
};
// As many attackers as eight members bear; one; as many as sixteen bear, which takes eight times as
// long.
inline std::vector<Swarm> Swarms() { return FirstOf<Swarm>({{8, 3}, {8, 1}, {16, 7}}, 1); }

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
