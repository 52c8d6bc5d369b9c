#include "node/host/report/waiting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/host/report/node_status.h"

namespace ostraka::host::waiting_test {
namespace {

using base::Seconds;
using ::testing::ElementsAre;

base::PeerId PeerOf(std::uint8_t first) {
  base::PeerId peer;
  peer.bytes[0] = first;
  return peer;
}

const base::PeerId kA = PeerOf(0xa1);
const base::PeerId kB = PeerOf(0xb2);
const base::PeerId kC = PeerOf(0xc3);

// Three others; the run has begun, and step 463 stands for `seconds`.
NodeStatus Standing(int seconds) {
  NodeStatus status;
  status.met = true;
  status.others = status.linked = {kA, kB, kC};
  status.progress.step = 463;
  status.since_progress = Seconds(seconds);
  return status;
}

TEST(WaitingOf, IsShownOnceAHealthyRunWouldHaveGoneOn) {
  NodeStatus status = Standing(2);
  status.progress.missing = {{kA, "commit"}};
  EXPECT_FALSE(WaitingOf(status));
  status.since_progress = Seconds(3);
  ASSERT_TRUE(WaitingOf(status));
  EXPECT_EQ(WaitingOf(status)->step, 463u);
  EXPECT_EQ(WaitingOf(status)->since, Seconds(3));
  status.recent_step = Seconds(2);
  EXPECT_FALSE(WaitingOf(status)) << "its steps take long";
  status.since_progress = Seconds(8);
  EXPECT_TRUE(WaitingOf(status));
  status.outcome = NodeOutcome{};
  EXPECT_FALSE(WaitingOf(status)) << "it has ended";
}

TEST(WaitingOf, NamesThoseWhoAreAwayAndNotThoseWhoWaitForThem) {
  NodeStatus status = Standing(65);
  status.progress.missing = {{kA, "commit"}, {kA, "part"}, {kA, "aggregate"}, {kB, "aggregate"}};
  EXPECT_THAT(WaitingOf(status)->peers, ElementsAre(kA)) << "all are linked: the first message";
  status.linked = {kA, kC};
  EXPECT_THAT(WaitingOf(status)->peers, ElementsAre(kB));
  status.linked = {kC};
  EXPECT_THAT(WaitingOf(status)->peers, ElementsAre(kA, kB));
  status.linked = {kA, kB};
  EXPECT_THAT(WaitingOf(status)->peers, ElementsAre(kA)) << "nobody waits for the one that is away";
  status.progress.missing.clear();
  EXPECT_FALSE(WaitingOf(status)) << "its own work";
}

TEST(WaitingOf, BeforeTheRunItNamesAllThatHaveNotStarted) {
  NodeStatus status = Standing(65);
  status.met = false;
  status.linked = {kB};
  ASSERT_TRUE(WaitingOf(status));
  EXPECT_FALSE(WaitingOf(status)->begun);
  EXPECT_THAT(WaitingOf(status)->peers, ElementsAre(kA, kC));
  status.linked = status.others;
  status.progress.missing = {{kB, "boot"}};
  EXPECT_THAT(WaitingOf(status)->peers, ElementsAre(kB));
}

TEST(WaitingOf, AfterTheEndItNamesNobody) {
  NodeStatus status = Standing(65);
  status.progress.phase = "linger";
  EXPECT_FALSE(WaitingOf(status));
}

TEST(WaitingOf, ANewcomerNamesThoseThatItLacksUntilItHasMostLinks) {
  NodeStatus status = Standing(65);
  status.met = false;
  status.progress.phase = "follow";
  status.linked = {kB};
  ASSERT_TRUE(WaitingOf(status));
  EXPECT_THAT(WaitingOf(status)->peers, ElementsAre(kA, kC));
  status.linked = {kB, kC};
  EXPECT_FALSE(WaitingOf(status));
}

std::string FourDigits(const base::PeerId& peer) { return peer.Hex().substr(0, 4); }

TEST(WaitingText, SaysForWhomAndForHowLong) {
  const Waiting waiting{463, true, Seconds(65), {kA, kB, kC}};
  EXPECT_EQ(WaitingText(waiting, FourDigits, 3),
            "step 463: waiting 65 s for a100, b200, c300; nothing is lost");
  EXPECT_EQ(WaitingText(waiting, FourDigits, 2),
            "step 463: waiting 65 s for a100, b200 and 1 more; nothing is lost");
  EXPECT_EQ(WaitingText({0, false, Seconds(65), {kA}, true}, FourDigits, 2),
            "waiting 65 s for " + FourDigits(kA) +
                ": the run may be over, or go on without those that this node knows; then ask a "
                "moderator for a fresh invite");
  EXPECT_EQ(WaitingText({0, false, Seconds(65), {kA}}, FourDigits, 2),
            "waiting 65 s for a100; the run begins when all have started");
}

TEST(WaitLog, HasALineEachTimeAWaitHasDoubledAndOneAtItsEnd) {
  WaitLog log;
  std::vector<int> lines;
  const auto wait = [](int seconds) { return Waiting{463, true, Seconds(seconds), {kA}}; };
  for (int seconds = 3; seconds < 100; ++seconds) {
    if (log.Of(wait(seconds))) lines.push_back(seconds);
  }
  EXPECT_THAT(lines, ElementsAre(5, 10, 20, 40, 80));
  EXPECT_EQ(log.Of(std::nullopt), "step 463: the run goes on");
  EXPECT_EQ(log.Of(std::nullopt), std::nullopt);
  EXPECT_EQ(log.Of(wait(4)), std::nullopt);
  EXPECT_EQ(log.Of(std::nullopt), std::nullopt) << "nothing had been said";
  EXPECT_TRUE(log.Of(wait(700))) << "the machine slept: one line for all";
  EXPECT_FALSE(log.Of(wait(1279)));
  EXPECT_TRUE(log.Of(wait(1280)));
  log.Of(std::nullopt);
  EXPECT_TRUE(log.Of(Waiting{0, false, Seconds(9), {kA}}));
  EXPECT_EQ(log.Of(std::nullopt), "the run begins");
}

}  // namespace
}  // namespace ostraka::host::waiting_test
