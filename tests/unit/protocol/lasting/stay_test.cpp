#include "node/protocol/lasting/stay.h"

#include <gtest/gtest.h>

namespace ostraka::protocol::stay_test {
namespace {

using base::Milliseconds;
using base::PeerId;
using base::Seconds;

constexpr base::Time kBegin{1'000'000'000};
constexpr base::Duration kDelta = Milliseconds(500);
constexpr base::Duration kLinger = Seconds(24);

PeerId Peer(std::uint8_t n) {
  PeerId peer;
  peer.bytes[0] = n;
  return peer;
}

// The links of peers 1 and 2 are up.
Stay Begun() {
  Stay stay;
  stay.OnLink(kBegin, Peer(1), true);
  stay.OnLink(kBegin, Peer(2), true);
  stay.Begin(kBegin, kDelta);
  return stay;
}

TEST(StayTest, EndsWhenAllHaveFinished) {
  Stay stay = Begun();
  EXPECT_TRUE(stay.AllFinished()) << "nobody to stay for";
  stay.For(kBegin, Peer(1));
  stay.For(kBegin, Peer(2));
  stay.OnFinished(Peer(1));
  EXPECT_FALSE(stay.AllFinished());
  EXPECT_EQ(stay.Others(), std::vector<PeerId>{Peer(2)});
  stay.OnFinished(Peer(2));
  EXPECT_TRUE(stay.AllFinished());
}

TEST(StayTest, LastsAsLongAsHelpTakes) {
  EXPECT_EQ(LingerFor(kDelta), kLinger);
  Stay stay = Begun();
  stay.For(kBegin, Peer(1));
  EXPECT_EQ(stay.Until(), kBegin + kLinger);
  stay.For(kBegin + Seconds(3), Peer(2));  // one that follows from now on
  EXPECT_EQ(stay.Until(), kBegin + Seconds(3) + kLinger);
  stay.OnFinished(Peer(2));
  EXPECT_EQ(stay.Until(), kBegin + kLinger);
}

TEST(StayTest, CountsFromTheMomentAtWhichALinkComesUp) {
  for (const bool before : {true, false}) {
    Stay stay;
    stay.OnLink(kBegin, Peer(1), true);
    if (before) stay.OnLink(kBegin, Peer(1), false);
    stay.Begin(kBegin, kDelta);
    stay.For(kBegin, Peer(1));
    if (!before) stay.OnLink(kBegin + Seconds(1), Peer(1), false);
    EXPECT_EQ(stay.Until(), kBegin + kStayAtMost) << "down";
    stay.OnLink(kBegin + Seconds(10), Peer(1), true);
    EXPECT_EQ(stay.Until(), kBegin + Seconds(10) + kLinger) << "up again";
  }
}

// Since this process started: it may have restarted in the middle of an outage.
TEST(StayTest, CountsALinkThatNeverCameUpAsDown) {
  Stay stay = Begun();
  stay.For(kBegin, Peer(3));
  EXPECT_EQ(stay.Until(), kBegin + kStayAtMost);
  stay.OnLink(kBegin + Seconds(1), Peer(3), true);
  EXPECT_EQ(stay.Until(), kBegin + Seconds(1) + kLinger);
}

TEST(StayTest, IsNotMadeLongerByLinksOfThoseThatHaveFinished) {
  Stay stay = Begun();
  stay.For(kBegin, Peer(1));
  stay.For(kBegin, Peer(2));
  stay.OnFinished(Peer(2));
  stay.OnLink(kBegin + Seconds(1), Peer(2), false);
  EXPECT_FALSE(stay.IsFor(Peer(2)));
  EXPECT_EQ(stay.Until(), kBegin + kLinger);
}

TEST(StayTest, IsForAGuestOnlyWhileItHasALink) {
  Stay stay = Begun();
  stay.ForGuest(kBegin, Peer(3));
  EXPECT_TRUE(stay.AllFinished()) << "it had gone before";
  stay.ForGuest(kBegin, Peer(1));
  EXPECT_EQ(stay.Until(), kBegin + kLinger);
  stay.OnLink(kBegin + Seconds(1), Peer(1), false);
  EXPECT_TRUE(stay.AllFinished());
  stay.OnLink(kBegin + Seconds(2), Peer(1), true);
  EXPECT_TRUE(stay.AllFinished()) << "it has to ask again";
  stay.ForGuest(kBegin + Seconds(2), Peer(1));
  EXPECT_FALSE(stay.AllFinished());
}

TEST(StayTest, HasAnEndWhateverLinksDo) {
  Stay stay = Begun();
  stay.For(kBegin, Peer(1));
  for (int i = 0; i < 100; ++i) {
    stay.OnLink(kBegin + Seconds(i), Peer(1), false);
    stay.OnLink(kBegin + Seconds(i), Peer(1), true);
    stay.For(kBegin + Seconds(i), Peer(1));
    EXPECT_LE(stay.Until(), kBegin + kStayAtMost);
  }
  // Where Delta is so large that help takes longer.
  Stay slow;
  slow.OnLink(kBegin, Peer(1), true);
  slow.Begin(kBegin, Seconds(60));
  slow.For(kBegin, Peer(1));
  EXPECT_EQ(slow.Until(), kBegin + Seconds(500));
}

TEST(StayDeathTest, NobodyStaysBeforeTheEnd) {
  Stay stay;
  EXPECT_DEATH(stay.For(kBegin, Peer(1)), "CHECK");
  EXPECT_DEATH(Begun().Until(), "CHECK");
}

}  // namespace
}  // namespace ostraka::protocol::stay_test
