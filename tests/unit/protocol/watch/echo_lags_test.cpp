#include "node/protocol/watch/echo_lags.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::echo_lags_test {
namespace {

constexpr std::size_t kQuorum = 3;  // of 4
constexpr base::Duration kDelta = base::Seconds(1);

std::map<base::PeerId, base::Duration> Lags(const std::vector<std::int64_t>& ms) {
  std::map<base::PeerId, base::Duration> lags;
  for (std::size_t i = 0; i < ms.size(); ++i) {
    lags[scene::PeerNumber(static_cast<std::uint32_t>(i))] = base::Milliseconds(ms[i]);
  }
  return lags;
}

TEST(EchoLagsTest, CountsTheSlowestThatAQuorumNeeds) {
  EchoLags lags;
  EXPECT_EQ(lags.Microseconds(), std::nullopt);
  lags.Note(Lags({90, 20, 30}), kQuorum, kDelta);
  EXPECT_EQ(lags.Microseconds(), 30'000u);
  lags.Note(Lags({90}), kQuorum, kDelta);
  EXPECT_EQ(lags.Microseconds(), 30'000u) << "no quorum beside the own";
}

// So an outage doubles Delta, which is four times the lag, and does not make it four outages long.
TEST(EchoLagsTest, AnOutageCountsAsHalfADelta) {
  EchoLags lags;
  lags.Note(Lags({7'000, 7'000, 7'000}), kQuorum, kDelta);
  EXPECT_EQ(lags.Microseconds(), 500'000u);
  lags.Note(Lags({7'000, 7'000, 7'000}), kQuorum, base::Seconds(2));
  EXPECT_EQ(lags.Microseconds(), 1'000'000u) << "a slow network raises Delta step by step";
}

TEST(EchoLagsTest, StatesTheLargestOfAHundredSealsAndForgetsOlderOnes) {
  EchoLags lags;
  lags.Note(Lags({400, 400, 400}), kQuorum, kDelta);
  for (std::size_t i = 0; i + 1 < EchoLags::kLagsKept; ++i)
    lags.Note(Lags({5, 5, 5}), kQuorum, kDelta);
  EXPECT_EQ(lags.Microseconds(), 5'000u) << "p99";
  lags.Note(Lags({300, 300, 300}), kQuorum, kDelta);
  lags.Note(Lags({300, 300, 300}), kQuorum, kDelta);
  EXPECT_EQ(lags.Microseconds(), 300'000u);
  for (std::size_t i = 0; i < EchoLags::kLagsKept; ++i) lags.Note(Lags({6, 6, 6}), kQuorum, kDelta);
  EXPECT_EQ(lags.Microseconds(), 6'000u);
}

}  // namespace
}  // namespace ostraka::protocol::echo_lags_test
