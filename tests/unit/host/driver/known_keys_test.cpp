#include "node/host/driver/known_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <vector>

namespace ostraka::host::known_keys_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

base::PeerId Id(std::uint8_t n) {
  base::PeerId id;
  id.bytes.fill(n);
  return id;
}

class KnownKeysTest : public ::testing::Test {
 protected:
  boost::asio::io_context io_;
  std::vector<base::PeerId> forgotten_;
  KnownKeys known_keys_{
      io_, {Id(1), Id(2), Id(3)}, base::Milliseconds(1), [this](const base::PeerId& peer) {
        forgotten_.push_back(peer);
      }};
};

TEST_F(KnownKeysTest, CountsLinksOfMembersThatMayTakePart) {
  EXPECT_TRUE(known_keys_.LinkChanged(Id(1), true));
  EXPECT_TRUE(known_keys_.LinkChanged(Id(2), true));
  EXPECT_TRUE(known_keys_.LinkChanged(Id(1), false));
  EXPECT_FALSE(known_keys_.LinkChanged(Id(9), true)) << "no member";
  EXPECT_THAT(known_keys_.linked(), ElementsAre(Id(2)));
  EXPECT_EQ(known_keys_.linked_count(), 1u);
  EXPECT_EQ(known_keys_.member_count(), 3u);
}

TEST_F(KnownKeysTest, WhoHasLeftCountsNowhereUntilItIsBack) {
  known_keys_.LinkChanged(Id(1), true);
  known_keys_.LinkChanged(Id(2), true);
  EXPECT_TRUE(known_keys_.SetLeft({Id(2), Id(9)}));
  EXPECT_FALSE(known_keys_.SetLeft({Id(2), Id(9)}));
  EXPECT_THAT(known_keys_.others(), ElementsAre(Id(1), Id(3)));
  EXPECT_THAT(known_keys_.linked(), ElementsAre(Id(1)));
  EXPECT_EQ(known_keys_.linked_count(), 1u);
  EXPECT_EQ(known_keys_.member_count(), 2u);
  EXPECT_TRUE(known_keys_.SetLeft({}));
  EXPECT_THAT(known_keys_.linked(), ElementsAre(Id(1), Id(2))) << "its link was up all the time";
}

TEST_F(KnownKeysTest, ABannedMemberNoLongerCountsAndIsForgottenLater) {
  known_keys_.LinkChanged(Id(2), true);
  EXPECT_TRUE(known_keys_.Ban(Id(2)));
  EXPECT_FALSE(known_keys_.Ban(Id(2))) << "once";
  EXPECT_FALSE(known_keys_.Ban(Id(9)));
  EXPECT_FALSE(known_keys_.LinkChanged(Id(2), true));
  EXPECT_THAT(known_keys_.linked(), IsEmpty());
  EXPECT_THAT(known_keys_.others(), ElementsAre(Id(1), Id(3)));
  EXPECT_THAT(forgotten_, IsEmpty()) << "it may still learn of its ban";
  io_.run();
  EXPECT_THAT(forgotten_, ElementsAre(Id(2)));
}

TEST_F(KnownKeysTest, AMemberThatWasBannedLongAgoIsTheCallersToForget) {
  EXPECT_TRUE(known_keys_.Remove(Id(2)));
  EXPECT_FALSE(known_keys_.Ban(Id(2)));
  EXPECT_FALSE(known_keys_.LinkChanged(Id(2), true));
  io_.run();
  EXPECT_THAT(forgotten_, IsEmpty());
}

TEST_F(KnownKeysTest, AKeyThatComesCountsUnlessItWasBanned) {
  EXPECT_TRUE(known_keys_.Add(Id(9)));
  EXPECT_FALSE(known_keys_.Add(Id(9)));
  EXPECT_FALSE(known_keys_.Add(Id(1)));
  EXPECT_TRUE(known_keys_.LinkChanged(Id(9), true));
  EXPECT_EQ(known_keys_.member_count(), 4u);
  EXPECT_TRUE(known_keys_.Ban(Id(9)));
  EXPECT_FALSE(known_keys_.Add(Id(9)));
  EXPECT_FALSE(known_keys_.Remove(Id(8))) << "banned before it was known";
  EXPECT_FALSE(known_keys_.Add(Id(8)));
  EXPECT_EQ(known_keys_.member_count(), 3u);
}

TEST_F(KnownKeysTest, NobodyIsForgottenOnceTheRunEnds) {
  known_keys_.Ban(Id(2));
  known_keys_.StopForgetting();
  EXPECT_TRUE(known_keys_.Ban(Id(3)));
  io_.run();
  EXPECT_THAT(forgotten_, IsEmpty());
}

}  // namespace
}  // namespace ostraka::host::known_keys_test
