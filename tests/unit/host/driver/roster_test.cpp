#include "node/host/driver/roster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <vector>

namespace ostraka::host::roster_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

base::PeerId Id(std::uint8_t n) {
  base::PeerId id;
  id.bytes.fill(n);
  return id;
}

class RosterTest : public ::testing::Test {
 protected:
  boost::asio::io_context io_;
  std::vector<base::PeerId> forgotten_;
  Roster roster_{
      io_, {Id(1), Id(2), Id(3)}, base::Milliseconds(1), [this](const base::PeerId& peer) {
        forgotten_.push_back(peer);
      }};
};

TEST_F(RosterTest, CountsLinksOfMembersThatMayTakePart) {
  EXPECT_TRUE(roster_.LinkChanged(Id(1), true));
  EXPECT_TRUE(roster_.LinkChanged(Id(2), true));
  EXPECT_TRUE(roster_.LinkChanged(Id(1), false));
  EXPECT_FALSE(roster_.LinkChanged(Id(9), true)) << "no member";
  EXPECT_THAT(roster_.linked(), ElementsAre(Id(2)));
  EXPECT_EQ(roster_.linked_count(), 1u);
  EXPECT_EQ(roster_.member_count(), 3u);
}

TEST_F(RosterTest, WhoHasLeftCountsNowhereUntilItIsBack) {
  roster_.LinkChanged(Id(1), true);
  roster_.LinkChanged(Id(2), true);
  EXPECT_TRUE(roster_.SetLeft({Id(2), Id(9)}));
  EXPECT_FALSE(roster_.SetLeft({Id(2), Id(9)}));
  EXPECT_THAT(roster_.others(), ElementsAre(Id(1), Id(3)));
  EXPECT_THAT(roster_.linked(), ElementsAre(Id(1)));
  EXPECT_EQ(roster_.linked_count(), 1u);
  EXPECT_EQ(roster_.member_count(), 2u);
  EXPECT_TRUE(roster_.SetLeft({}));
  EXPECT_THAT(roster_.linked(), ElementsAre(Id(1), Id(2))) << "its link was up all the time";
}

TEST_F(RosterTest, ABannedMemberNoLongerCountsAndIsForgottenLater) {
  roster_.LinkChanged(Id(2), true);
  EXPECT_TRUE(roster_.Ban(Id(2)));
  EXPECT_FALSE(roster_.Ban(Id(2))) << "once";
  EXPECT_FALSE(roster_.Ban(Id(9)));
  EXPECT_FALSE(roster_.LinkChanged(Id(2), true));
  EXPECT_THAT(roster_.linked(), IsEmpty());
  EXPECT_THAT(roster_.others(), ElementsAre(Id(1), Id(3)));
  EXPECT_THAT(forgotten_, IsEmpty()) << "it may still learn of its ban";
  io_.run();
  EXPECT_THAT(forgotten_, ElementsAre(Id(2)));
}

TEST_F(RosterTest, AMemberThatWasBannedLongAgoIsTheCallersToForget) {
  EXPECT_TRUE(roster_.Remove(Id(2)));
  EXPECT_FALSE(roster_.Ban(Id(2)));
  EXPECT_FALSE(roster_.LinkChanged(Id(2), true));
  io_.run();
  EXPECT_THAT(forgotten_, IsEmpty());
}

TEST_F(RosterTest, AKeyThatComesCountsUnlessItWasBanned) {
  EXPECT_TRUE(roster_.Add(Id(9)));
  EXPECT_FALSE(roster_.Add(Id(9)));
  EXPECT_FALSE(roster_.Add(Id(1)));
  EXPECT_TRUE(roster_.LinkChanged(Id(9), true));
  EXPECT_EQ(roster_.member_count(), 4u);
  EXPECT_TRUE(roster_.Ban(Id(9)));
  EXPECT_FALSE(roster_.Add(Id(9)));
  EXPECT_FALSE(roster_.Remove(Id(8))) << "banned before it was known";
  EXPECT_FALSE(roster_.Add(Id(8)));
  EXPECT_EQ(roster_.member_count(), 3u);
}

TEST_F(RosterTest, NobodyIsForgottenOnceTheRunEnds) {
  roster_.Ban(Id(2));
  roster_.StopForgetting();
  EXPECT_TRUE(roster_.Ban(Id(3)));
  io_.run();
  EXPECT_THAT(forgotten_, IsEmpty());
}

}  // namespace
}  // namespace ostraka::host::roster_test
