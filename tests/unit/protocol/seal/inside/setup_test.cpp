#include "node/protocol/seal/inside/setup.h"

#include <gtest/gtest.h>

#include "tests/unit/protocol/seal/inside/parts_fixture.h"

namespace ostraka::protocol::setup_test {
namespace {

using parts::FiveMembers;
using scene::PeerNumber;
using wire::MessageType;

TEST(SealSetupTest, MutedMembersCountInThresholdsAndInNoOtherList) {
  SealOptions options = FiveMembers();
  options.muted_members = {PeerNumber(3)};
  const SealSetup setup(options);
  EXPECT_EQ(setup.unmuted(),
            (std::vector<PeerId>{PeerNumber(0), PeerNumber(1), PeerNumber(2), PeerNumber(4)}));
  EXPECT_EQ(setup.others(), (std::vector<PeerId>{PeerNumber(1), PeerNumber(2), PeerNumber(4)}));
  EXPECT_TRUE(setup.IsUnmuted(PeerNumber(4)));
  EXPECT_FALSE(setup.IsUnmuted(PeerNumber(3)));
  EXPECT_FALSE(setup.IsUnmuted(PeerNumber(9)));
  EXPECT_EQ(setup.IndexOf(PeerNumber(4)), 4u) << "an index among all members";
  EXPECT_EQ(setup.quorum(), 3u);
}

TEST(SealSetupTest, NumbersFollowFromTheThresholds) {
  SealOptions options = FiveMembers();
  options.members = scene::PeersUpTo(8);
  options.entries = 8;
  options.thresholds = {8, 3, 1};
  const SealSetup setup(options);
  EXPECT_EQ(setup.quorum(), 5u);
  EXPECT_EQ(setup.force_count(), 4u);
  EXPECT_EQ(setup.fault_bound(), 3u);
}

TEST(SealSetupTest, EveryUnmutedMemberLeadsOnceInEachTurn) {
  SealOptions options = FiveMembers();
  options.muted_members = {PeerNumber(1)};
  const SealSetup setup(options);
  std::set<PeerId> leaders;
  for (std::uint32_t k = 1; k <= 4; ++k) {
    leaders.insert(setup.LeaderOf(k));
    EXPECT_EQ(setup.LeaderOf(k), setup.LeaderOf(k + 4));
  }
  EXPECT_EQ(leaders, std::set<PeerId>(setup.unmuted().begin(), setup.unmuted().end()));
}

TEST(SealSetupTest, EachEntryIsFilledByTheMessageOfItsPhase) {
  SealOptions options = FiveMembers();
  EXPECT_EQ(SealSetup(options).TypeOfEntry(4), MessageType::kReveal);
  options.slot.phase = wire::Phase::kA;
  options.entries = 10;
  EXPECT_EQ(SealSetup(options).TypeOfEntry(4), MessageType::kCommit);
  EXPECT_EQ(SealSetup(options).TypeOfEntry(5), MessageType::kAggregate);
  options.slot.phase = wire::Phase::kC;
  EXPECT_EQ(SealSetup(options).TypeOfEntry(0), MessageType::kProof);
  options.slot.phase = wire::Phase::kGenesis;
  EXPECT_EQ(SealSetup(options).TypeOfEntry(0), MessageType::kBoot);
}

TEST(SealSetupTest, AMemberThatIsNotAmongTheUnmutedOnlyWatches) {
  SealOptions options = FiveMembers();
  EXPECT_FALSE(SealSetup(options).muted());
  options.muted_members = {options.self};
  EXPECT_TRUE(SealSetup(options).muted());
  options.muted_members = {};
  options.self = PeerNumber(9);
  EXPECT_TRUE(SealSetup(options).muted());
}

TEST(SealSetupDeathTest, OptionsThatOurRulesNeverGiveAbort) {
  const auto dies = [](auto change) {
    SealOptions options = FiveMembers();
    change(options);
    EXPECT_DEATH(SealSetup{options}, "CHECK failed");
  };
  dies([](SealOptions& o) { o.thresholds = {5, 2, 1}; });
  dies([](SealOptions& o) { o.thresholds = {5, 0, 1}; });
  dies([](SealOptions& o) { o.thresholds = {6, 2, 0}; });
  dies([](SealOptions& o) { o.members[1] = o.members[0]; });
  dies([](SealOptions& o) { std::swap(o.members[0], o.members[1]); });
  dies([](SealOptions& o) { o.entries = 6; });
  dies([](SealOptions& o) { o.muted_members.insert(o.members.begin(), o.members.end()); });
  EXPECT_DEATH(SealSetup(FiveMembers()).LeaderOf(0), "CHECK failed");
}

}  // namespace
}  // namespace ostraka::protocol::setup_test
