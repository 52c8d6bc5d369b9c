#include "node/host/report/door_report.h"

#include <gmock/gmock.h>

namespace ostraka::host::door_report_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

base::PeerId Id(std::uint8_t n) {
  base::PeerId id;
  id.bytes.fill(n);
  return id;
}

class DoorTest : public ::testing::Test {
 protected:
  DoorTest() {
    for (std::uint8_t n = 1; n <= 7; ++n) {
      manifest_.members.push_back({Id(n), ""});
      head_.members.push_back(Id(n));
    }
    manifest_.join = {protocol::JoinPolicy::kInvite, {}, {Id(20), Id(21)}, 4, 16};
    manifest_.probation = 5;
    head_.thresholds.t_s = 3;
    head_.step = 2'000;
  }
  protocol::Manifest manifest_;
  wire::Block head_;
};

TEST_F(DoorTest, CountsSeatsThatAreTakenAndKept) {
  head_.standings = {{.peer = Id(8), .left_step = 1'500},  // may return for 1000 steps
                     {.peer = Id(9), .left_step = 500},    // did not
                     {.peer = Id(10), .banned = true, .drops = 1, .last_drop_step = 1'999}};
  const DoorReport door = DoorOf(manifest_, head_, {});
  EXPECT_EQ(door.seats, 16u);
  EXPECT_EQ(door.members, 7u);
  EXPECT_EQ(door.kept, 1u);
  EXPECT_EQ(door.bears, 3u);
}

TEST_F(DoorTest, NamesTheModeratorsWithWhatTheirInvitesHaveLetIn) {
  head_.moderators = {{Id(21), 3}};
  const DoorReport door = DoorOf(manifest_, head_, {});
  ASSERT_THAT(door.moderators, SizeIs(2));
  EXPECT_EQ(door.moderators[0].admitted, 0u);
  EXPECT_EQ(door.moderators[1].admitted, 3u);
  EXPECT_EQ(door.moderators[1].quota, 4u);
}

TEST_F(DoorTest, NamesWhoAsksAndWhoVouches) {
  wire::Voucher voucher;
  voucher.moderator = Id(20);
  head_.candidates = {{Id(30), 198, 200, voucher}, {Id(31), 200, 200, {}}};
  const DoorReport door = DoorOf(manifest_, head_, {{Id(3), Id(21)}, {Id(12), Id(21)}});
  ASSERT_THAT(door.asking, SizeIs(2));
  EXPECT_EQ(door.asking[0].blocks, 3u);
  EXPECT_EQ(door.asking[0].needed, 5u);
  EXPECT_EQ(door.asking[0].moderator, Id(20));
  EXPECT_FALSE(door.asking[1].moderator.has_value());
  EXPECT_THAT(door.vouched, ElementsAre(Pair(Id(3), Id(21)))) << "12 is no member";
}

TEST_F(DoorTest, AClosedRunHasTheSeatsOfItsGenesis) {
  manifest_.join = {};
  const DoorReport door = DoorOf(manifest_, head_, {});
  EXPECT_EQ(door.policy, protocol::JoinPolicy::kClosed);
  EXPECT_EQ(door.seats, 7u);
  EXPECT_THAT(door.moderators, IsEmpty());
}

}  // namespace
}  // namespace ostraka::host::door_report_test
