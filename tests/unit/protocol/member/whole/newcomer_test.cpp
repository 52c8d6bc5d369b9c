// Keys from outside, as machines among members: who comes in, and who does not.
#include <gtest/gtest.h>

#include <algorithm>

#include "node/protocol/ground/invite.h"
#include "node/protocol/sync/catch_up.h"
#include "tests/unit/protocol/keys.h"
#include "tests/unit/protocol/member/whole/cluster.h"

namespace ostraka::protocol::newcomer_test {
namespace {

using scene::Cluster;
using scene::ClusterOptions;
using scene::KeyNumber;

constexpr std::uint32_t kModerator = 70;
constexpr std::uint32_t kHolder = 71;

// Four members, two more seats, and invites.
ClusterOptions Open() {
  ClusterOptions options;
  options.steps = 80;
  options.edit = [](Manifest& manifest) {
    manifest.join = {.policy = JoinPolicy::kInvite,
                     .allow = {KeyNumber(60)->id()},
                     .moderators = {KeyNumber(kModerator)->id()},
                     .quota = 4,
                     .seats = 6};
  };
  return options;
}

class NewcomersTest : public testing::Test {
 protected:
  // The run is at its third block.
  NewcomersTest() {
    cluster_.delivery_takes = base::Microseconds(20);
    cluster_.Start();
    RunToBlock(3);
  }
  void RunToBlock(std::size_t count) {
    cluster_.RunUntil([&] { return cluster_.node(0).blocks.size() >= count; });
  }
  wire::Credential InviteFor(std::uint32_t number, std::uint32_t uses = 1,
                             wire::InviteKind kind = wire::InviteKind::kAdmit) const {
    const wire::Invite invite{.moderator = KeyNumber(kModerator)->id(),
                              .holder = KeyNumber(kHolder)->id(),
                              .uses = uses,
                              .ends_step = 1000,
                              .kind = kind};
    const Digest& run = cluster_.manifest().run_id;
    const auto signature = SignInvite(run, invite, *KeyNumber(kModerator));
    return UseInvite(run, invite, signature, *KeyNumber(kHolder), KeyNumber(number)->id());
  }
  // The height of the block that admitted it; 0: none did.
  std::uint64_t AdmittedAt(std::uint32_t number) {
    for (const auto& block : cluster_.node(0).blocks) {
      const PeerId id = KeyNumber(number)->id();
      if (IsMember(block->joined, id)) return HeightOf(*block);
    }
    return 0;
  }
  bool Finished(std::size_t node) {
    const auto& halted = cluster_.node(node).halted;
    return halted && halted->why == Halted::Why::kFinished;
  }

  Cluster cluster_{Open()};
};

TEST_F(NewcomersTest, WhoShowsAnInviteBecomesAMemberAndTrains) {
  const std::size_t guest = cluster_.Join(KeyNumber(50), InviteFor(50));
  cluster_.RunToEnd();
  EXPECT_GT(AdmittedAt(50), 3u);
  EXPECT_TRUE(Finished(guest)) << cluster_.node(guest).halted->reason;
  EXPECT_EQ(cluster_.node(guest).back.size(), 1u);
  EXPECT_FALSE(cluster_.node(guest).started.empty());
  const auto& last = cluster_.node(0).blocks.back();
  EXPECT_TRUE(IsMember(last->members, KeyNumber(50)->id()));
  EXPECT_EQ(last->invites.size(), 1u);
  EXPECT_EQ(last->moderators.size(), 1u);
  for (const auto& block : cluster_.node(0).blocks) EXPECT_TRUE(block->removals.empty());
  bool owns = false;
  for (const auto& block : cluster_.node(0).blocks) {
    for (const auto& column : block->aggregated) owns |= column.owner == KeyNumber(50)->id();
  }
  EXPECT_TRUE(owns);
  cluster_.ExpectAgreement({0, 1, 2, 3});
}

// It believes the members of its anchor, and fetches a state before it applies anything.
TEST_F(NewcomersTest, WhoseInviteHoldsALaterBlockBeginsThere) {
  RunToBlock(20);
  const std::size_t guest =
      cluster_.Join(KeyNumber(50), InviteFor(50), cluster_.node(0).blocks.back());
  cluster_.RunToEnd();
  EXPECT_GT(AdmittedAt(50), 20u);
  EXPECT_TRUE(Finished(guest)) << cluster_.node(guest).halted->reason;
  for (const auto& block : cluster_.node(guest).blocks) EXPECT_GE(HeightOf(*block), 20u);
  cluster_.ExpectAgreement({0, 1, 2, 3});
}

// Attack: an invite that holds a forged block with the run's members, or a block of a copy of the
// run. The members that it names show another one at that height.
TEST_F(NewcomersTest, WhoseInviteHoldsABlockThatIsNotTheRunsStopsAndSaysSo) {
  RunToBlock(20);
  for (const std::size_t back : {1, 5}) {
    wire::Block forged = *cluster_.node(0).blocks.rbegin()[static_cast<std::ptrdiff_t>(back)];
    forged.decision.bytes.fill(9);
    const std::size_t guest = cluster_.Join(KeyNumber(50 + back), InviteFor(50 + back, 2),
                                            std::make_shared<const wire::Block>(forged));
    cluster_.RunUntil([&] { return cluster_.node(guest).halted.has_value(); });
    const auto& halted = cluster_.node(guest).halted;
    ASSERT_TRUE(halted);
    EXPECT_EQ(halted->why, Halted::Why::kForked);
    EXPECT_NE(halted->reason.find("two histories of this run are signed, which differ from block " +
                                  std::to_string(HeightOf(forged))),
              std::string::npos)
        << halted->reason;
    EXPECT_EQ(AdmittedAt(50 + static_cast<std::uint32_t>(back)), 0u);
  }
  cluster_.RunToEnd();
  EXPECT_TRUE(Finished(0) && Finished(1) && Finished(2) && Finished(3));
}

TEST_F(NewcomersTest, WhoIsListedNeedsNone) {
  const std::size_t guest = cluster_.Join(KeyNumber(60), std::nullopt);
  cluster_.RunToEnd();
  EXPECT_GT(AdmittedAt(60), 3u);
  EXPECT_TRUE(Finished(guest));
  EXPECT_TRUE(cluster_.node(0).blocks.back()->invites.empty());
}

// Why it stays out it learns by the heads that members show it, in tests/e2e/return_test.py: not in
// this world, whose run is over before it asks again.
TEST_F(NewcomersTest, OfTwoWithOneUseTheSecondStaysOut) {
  const std::size_t first = cluster_.Join(KeyNumber(50), InviteFor(50));
  cluster_.RunUntil([&] { return AdmittedAt(50) > 0; });
  RunToBlock(cluster_.node(0).blocks.size() + 2);  // members take nobody else before
  const std::size_t second = cluster_.Join(KeyNumber(51), InviteFor(51));
  cluster_.RunToEnd();
  EXPECT_TRUE(Finished(first));
  EXPECT_EQ(AdmittedAt(51), 0u);
  EXPECT_TRUE(cluster_.node(second).started.empty());
}

// Attack: it copies the credential out of another one's REJOIN.
TEST_F(NewcomersTest, ACopiedCredentialLetsNobodyIn) {
  cluster_.Join(KeyNumber(51), InviteFor(50));
  cluster_.Join(KeyNumber(52), std::nullopt);
  cluster_.RunToEnd();
  EXPECT_EQ(AdmittedAt(51) + AdmittedAt(52), 0u);
  EXPECT_TRUE(Finished(0) && Finished(1) && Finished(2) && Finished(3));
}

// It follows the run to its end, started again as well, and no member ever states it.
TEST_F(NewcomersTest, WhoShowsAnInviteToFollowNeverComesIn) {
  const std::size_t guest =
      cluster_.Join(KeyNumber(50), InviteFor(50, 1, wire::InviteKind::kObserve));
  RunToBlock(20);
  EXPECT_FALSE(cluster_.node(guest).blocks.empty()) << "it follows";
  cluster_.Kill(guest);
  cluster_.Restart(guest);
  cluster_.RunToEnd();
  EXPECT_TRUE(Finished(guest)) << cluster_.node(guest).halted->reason;
  EXPECT_EQ(HeightOf(*cluster_.node(guest).blocks.back()),
            HeightOf(*cluster_.node(0).blocks.back()));
  for (const auto& block : cluster_.node(0).blocks) {
    EXPECT_TRUE(block->candidates.empty() && block->invites.empty() && block->moderators.empty());
    EXPECT_EQ(block->members.size(), 4u);
  }
}

TEST_F(NewcomersTest, ARestartBeforeItsAdmissionDelaysItAtMost) {
  const std::size_t guest = cluster_.Join(KeyNumber(50), InviteFor(50));
  cluster_.RunUntil([&] { return !cluster_.node(0).blocks.back()->candidates.empty(); });
  cluster_.Kill(guest);
  RunToBlock(cluster_.node(0).blocks.size() + 2);
  cluster_.Restart(guest);
  cluster_.RunToEnd();
  EXPECT_GT(AdmittedAt(50), 0u);
  EXPECT_TRUE(Finished(guest));
  for (const auto& block : cluster_.node(0).blocks) EXPECT_TRUE(block->removals.empty());
}

}  // namespace
}  // namespace ostraka::protocol::newcomer_test
