// The last step: a member that has finished stays for those that have not
// (node/protocol/lasting/stay.h).
#include <gtest/gtest.h>

#include "tests/unit/protocol/member/whole/four_peers.h"

namespace ostraka::protocol::scene::end_test {
namespace {

using wire::MessageType;

constexpr std::uint64_t kSteps = 6;
constexpr std::uint64_t kClosingStep = kSteps;
constexpr std::size_t kLate = 1;

// Of the message with which a member says that it has finished.
bool SaysFinished(const Send& send) {
  const wire::Slot slot = SlotOf(send);
  return slot.type == MessageType::kCommit && slot.step == kClosingStep + 1;
}

// Without it a member counts the links of its process as down.
void LinkAll(Cluster& cluster) {
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    for (std::size_t j = 0; j < cluster.size(); ++j) {
      if (i != j) cluster.Feed(i, LinkChanged{cluster.node(j).id(), true});
    }
  }
}

bool AllButTheCheatSayThatTheyHaveFinished(std::size_t from, const Send& send) {
  return from != kCheat || !SaysFinished(send);
}

TEST(EndTest, AMemberThatHearsThatAllHaveFinishedLeavesAtOnce) {
  Cluster cluster(Steps(kSteps));
  cluster.Start();
  cluster.Run();  // fires no timer
  EXPECT_EQ(cluster.NotHaltedAs(Halted::Why::kFinished), "");
}

TEST(EndTest, AMemberStaysForOneThatDoesNotSayThatItHasFinishedAndNotForEver) {
  Cluster cluster(Steps(kSteps));
  cluster.on_send = AllButTheCheatSayThatTheyHaveFinished;
  cluster.Start();
  LinkAll(cluster);
  cluster.Run();
  for (const std::size_t i : kHonest) {
    EXPECT_FALSE(cluster.node(i).halted);
    const Progress progress = cluster.node(i).machine->progress();
    EXPECT_EQ(progress.phase, "linger");
    ASSERT_EQ(progress.missing.size(), 1U);
    EXPECT_EQ(progress.missing[0].peer, cluster.node(kCheat).id());
    EXPECT_EQ(progress.missing[0].message, "commit");
  }
  const Time finished = cluster.now();
  cluster.RunToEnd();
  EXPECT_EQ(cluster.NotHaltedAs(Halted::Why::kFinished), "");
  const base::Duration stayed = cluster.now() - finished;
  EXPECT_EQ(stayed, base::Seconds(20) + cluster.manifest().delta * 8);
}

// An outage may be all that keeps it from saying so.
TEST(EndTest, AMemberWhoseLinkIsDownIsAwaitedLongerAndFromTheMomentAtWhichItComesUp) {
  for (const bool comes_up : {false, true}) {
    Cluster cluster(Steps(kSteps));
    cluster.on_send = AllButTheCheatSayThatTheyHaveFinished;
    cluster.Start();
    LinkAll(cluster);
    cluster.Run();
    const Time finished = cluster.now();
    cluster.Feed(0, LinkChanged{cluster.node(kCheat).id(), false});
    const auto left = [&](std::size_t i) {
      return [&, i] { return cluster.node(i).halted.has_value(); };
    };
    cluster.RunUntil(left(1));
    EXPECT_FALSE(cluster.node(0).halted) << "the others have left";
    base::Duration stays = base::Seconds(45);
    if (comes_up) {
      stays = std::min(stays,
                       cluster.now() - finished + base::Seconds(20) + cluster.manifest().delta * 8);
      cluster.Feed(0, LinkChanged{cluster.node(kCheat).id(), true});
    }
    cluster.RunUntil(left(0));
    EXPECT_EQ(cluster.now() - finished, stays) << comes_up;
  }
}

// A cheat that closes its link and opens it again holds nobody for ever.
TEST(EndTest, NobodyIsAwaitedLongerForALinkThatComesAndGoes) {
  Cluster cluster(Steps(kSteps));
  cluster.on_send = AllButTheCheatSayThatTheyHaveFinished;
  cluster.Start();
  cluster.Run();
  const Time finished = cluster.now();
  const PeerId cheat = cluster.node(kCheat).id();
  for (int i = 0; i < 20 && !cluster.node(0).halted; ++i) {
    cluster.Feed(0, LinkChanged{cheat, false});
    cluster.Feed(0, LinkChanged{cheat, true});
    const Time before = cluster.now();
    cluster.RunUntil(
        [&] { return cluster.node(0).halted || cluster.now() - before > base::Seconds(5); });
  }
  cluster.RunUntil([&] { return cluster.node(0).halted.has_value(); });
  EXPECT_LE(cluster.now() - finished, base::Seconds(45));
}

// Another block's name says nothing of this run's end.
TEST(EndTest, ACommitToAnotherBlockDoesNotSayThatItsMemberHasFinished) {
  Cluster cluster(Steps(kSteps));
  cluster.on_send = [&](std::size_t from, const Send& send) {
    if (from != kCheat || !SaysFinished(send)) return true;
    const auto other = Resigned(send.frame, *cluster.node(kCheat).key,
                                [](wire::Envelope& envelope) { envelope.entry.bytes[0] ^= 1; });
    cluster.Deliver(cluster.IndexOf(send.to), from, other);
    return false;
  };
  cluster.Start();
  cluster.Run();
  for (const std::size_t i : kHonest) EXPECT_FALSE(cluster.node(i).halted);
}

// Colluders speak to some in the last seal; these finish, and the others can decide it through them
// alone.
TEST(EndTest, AMemberThatIsStuckInTheLastSealIsHelpedByThoseThatHaveFinished) {
  Cluster cluster(Steps(kSteps));
  cluster.on_send = [&](std::size_t, const Send& send) {
    const wire::Slot slot = SlotOf(send);
    const bool last_echo = slot.type == MessageType::kEcho && slot.step == kClosingStep &&
                           slot.phase == wire::Phase::kC;
    return !last_echo || cluster.IndexOf(send.to) != kLate;
  };
  cluster.Start();
  cluster.Run();
  EXPECT_EQ(cluster.node(0).blocks.back()->step, kClosingStep) << "has finished";
  EXPECT_EQ(cluster.node(kLate).blocks.back()->step, kSteps - 1) << "has not";
  EXPECT_FALSE(cluster.node(0).halted);

  cluster.on_send = nullptr;
  const Time stuck = cluster.now();
  cluster.RunToEnd();
  EXPECT_EQ(cluster.NotHaltedAs(Halted::Why::kFinished), "");
  cluster.ExpectAgreement();
  EXPECT_LT(cluster.now() - stuck, base::Seconds(20)) << "nobody waited for the end of its stay";
}

}  // namespace
}  // namespace ostraka::protocol::scene::end_test
