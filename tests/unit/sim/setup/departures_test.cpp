#include "sim/setup/departures.h"

#include <gtest/gtest.h>

#include <set>

namespace ostraka::sim::departures_test {
namespace {

Roster RosterOf(const SimOptions& options) {
  Roster roster;
  for (std::uint32_t i = 0; i < options.peers; ++i) {
    base::PeerId id;
    id.bytes.fill(static_cast<std::uint8_t>(i));
    roster.ids.push_back(id);
    roster.byzantine.push_back(i + options.byzantine >= options.peers);
  }
  return roster;
}
SimOptions Eight(std::uint32_t leaves) {
  SimOptions options;
  options.peers = 8;
  options.byzantine = 2;
  options.steps = 40;
  options.leaves = leaves;
  return options;
}
Departures Draw(const SimOptions& options, std::uint64_t seed) {
  return DrawDepartures(base::Rng(seed), options, RosterOf(options));
}

TEST(DeparturesTest, HonestPeersLeaveInTheFirstHalf) {
  std::set<std::uint32_t> who;
  std::set<std::uint64_t> when;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Departures departures = Draw(Eight(3), seed);
    ASSERT_EQ(departures.size(), 3u);
    for (const auto& [peer, step] : departures) {
      who.insert(peer);
      when.insert(step);
    }
  }
  EXPECT_EQ(who, (std::set<std::uint32_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(*when.begin(), 1u);
  EXPECT_EQ(*when.rbegin(), 20u);
}

TEST(DeparturesTest, AttackersLeaveTogether) {
  SimOptions options = Eight(0);
  options.attackers_leave = 9;
  EXPECT_EQ(Draw(options, 1), (Departures{{6, 9}, {7, 9}}));
}

TEST(DeparturesTest, AnHonestPeerSaysSoNoMoreAfterItsReturn) {
  const auto honest = LeavingFrom(5, true);
  const auto attacker = LeavingFrom(5, false);
  EXPECT_EQ(honest.from, 5u);
  EXPECT_EQ(honest.until, 8u);
  EXPECT_EQ(attacker.from, 5u);
  EXPECT_GT(attacker.until, 800u);
}

TEST(DeparturesTest, NoMoreMayLeaveThanTheRunCanDoWithout) {
  SimOptions options = Eight(2);
  EXPECT_TRUE(CheckOptions(options).ok());
  options.leaves = 4;  // four of eight bear one fault
  const base::Status status = CheckOptions(options);
  EXPECT_NE(status.message().find("give fewer leaves"), std::string_view::npos) << status;
  options.leaves = 0;
  options.attackers_leave = 3;
  options.unprotected = true;
  EXPECT_FALSE(CheckOptions(options).ok());
}

}  // namespace
}  // namespace ostraka::sim::departures_test
