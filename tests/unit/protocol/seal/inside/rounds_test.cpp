#include "node/protocol/seal/inside/rounds.h"

#include <gtest/gtest.h>

#include "node/protocol/seal/inside/window.h"
#include "tests/unit/protocol/seal/inside/parts_fixture.h"

namespace ostraka::protocol::rounds_test {
namespace {

using parts::FrameOf;
using scene::DigestOf;
using scene::PeerNumber;
using wire::MessageType;

StatusSeen StatusOf(std::uint32_t rank, std::uint64_t value, std::uint64_t digest) {
  return {{rank, DigestOf(value)}, DigestOf(digest), FrameOf(1)};
}
ProposeSeen ProposalOf(std::uint64_t value, std::uint32_t rank = 0) {
  ProposeSeen seen{PeerNumber(4), {}, DigestOf(1000 + value), FrameOf(2)};
  seen.body.value = DigestOf(value);
  seen.body.rank = rank;
  return seen;
}

TEST(SealWindowTest, IsTheIterationBeforeThePresentOneAndTwoAhead) {
  for (std::uint32_t k = 0; k <= 12; ++k) EXPECT_EQ(InWindow(k, 6), k >= 5 && k <= 8) << k;
  EXPECT_TRUE(InWindow(1, 0));
  EXPECT_FALSE(InWindow(3, 0));
  EXPECT_FALSE(InWindow(0, 0)) << "iterations are counted from 1";
}

// The owner joins members that are ahead, if an honest one must be among them.
TEST(SealRoundsTest, MoreThanTheFaultyMustHaveReachedAnIteration) {
  SealRounds rounds;
  EXPECT_TRUE(rounds.NoteReached(PeerNumber(1), 7));
  EXPECT_FALSE(rounds.NoteReached(PeerNumber(1), 5));
  EXPECT_TRUE(rounds.NoteReached(PeerNumber(2), 9));
  EXPECT_TRUE(rounds.NoteReached(PeerNumber(0), 50));
  EXPECT_EQ(rounds.ReachedByMoreThan(2, PeerNumber(0)), 0u);
  EXPECT_TRUE(rounds.NoteReached(PeerNumber(3), 8));
  EXPECT_EQ(rounds.ReachedByMoreThan(2, PeerNumber(0)), 7u);
  EXPECT_EQ(rounds.ReachedByMoreThan(0, PeerNumber(0)), 9u);
  EXPECT_EQ(rounds.CountThatReached(8, PeerNumber(0)), 2u);
  EXPECT_EQ(rounds.ReachedBy(PeerNumber(1)), 7u);
  EXPECT_EQ(rounds.ReachedBy(PeerNumber(4)), 0u);
  EXPECT_EQ(rounds.members_seen(), 4u);
}

TEST(SealRoundsTest, AnIterationHasAtMostTwoProposals) {
  SealRounds rounds;
  EXPECT_TRUE(rounds.AddProposal(1, ProposalOf(5)));
  EXPECT_FALSE(rounds.AddProposal(1, ProposalOf(5)));
  EXPECT_TRUE(rounds.AddProposal(1, ProposalOf(6)));
  EXPECT_FALSE(rounds.AddProposal(1, ProposalOf(7)));
  rounds.CheckInvariants(1);
  EXPECT_EQ(rounds.ProposedValues(), (std::set<Digest>{DigestOf(5), DigestOf(6)}));
  EXPECT_EQ(rounds.Frames(MessageType::kPropose).size(), 2u);
  EXPECT_EQ(rounds.Frames(MessageType::kPropose)[0].sender, PeerNumber(4));
}

TEST(SealRoundsTest, ClaimsAreTheLocksThatExistedBeforeTheIteration) {
  SealRounds rounds;
  rounds.AddStatus(3, PeerNumber(1), StatusOf(0, 5, 51));
  rounds.AddStatus(3, PeerNumber(2), StatusOf(3, 6, 52));
  rounds.AddStatus(3, PeerNumber(3), StatusOf(4, 7, 53));  // of this iteration: nonsense
  rounds.AddProposal(3, ProposalOf(8, 2));
  EXPECT_EQ(rounds.ClaimsOf(3), (std::vector<SealLock>{{3, DigestOf(6)}, {2, DigestOf(8)}}));
  EXPECT_TRUE(rounds.ClaimsOf(2).empty());
  EXPECT_EQ(rounds.Frames(MessageType::kStatus).size(), 3u);
}

TEST(SealRoundsTest, IterationsBeforeTheLastAreForgotten) {
  SealRounds rounds;
  for (std::uint32_t k = 1; k <= 4; ++k) {
    rounds.AddStatus(k, PeerNumber(1), StatusOf(0, 5, k));
    rounds.Refuse(k, "no proposal came");
  }
  rounds.Forget(4);
  EXPECT_EQ(rounds.StatusesOf(2).FirstOf(PeerNumber(1)), nullptr);
  EXPECT_NE(rounds.StatusesOf(3).FirstOf(PeerNumber(1)), nullptr);
  EXPECT_EQ(rounds.RefusalOf(2), "");
  EXPECT_EQ(rounds.RefusalOf(4), "no proposal came");
  rounds.CheckInvariants(4);
  EXPECT_DEATH(rounds.CheckInvariants(1), "CHECK failed") << "4 is not in the window of 1";
}

}  // namespace
}  // namespace ostraka::protocol::rounds_test
