#include "node/net/reach/dial_desk.h"

#include <gtest/gtest.h>

namespace ostraka::net::dial_desk_test {
namespace {

using Verdict = DialDesk::Verdict;

base::PeerId Id(std::uint8_t fill) {
  base::PeerId id;
  id.bytes.fill(fill);
  return id;
}

base::Time At(std::int64_t seconds) { return base::Time{} + base::Seconds(seconds); }

// A link that came in from `remote`.
LinkPath From(const std::string& remote) { return {remote, false}; }

class DialDeskTest : public ::testing::Test {
 protected:
  Verdict Ask(std::int64_t seconds, std::uint8_t peer,
              const std::string& remote = "192.0.2.1:40000", std::uint16_t port = 9000) {
    return desk_.Judge(At(seconds), Id(peer), From(remote), port).verdict;
  }
  DialDesk desk_{AddressPolicy({"192.168.7.1:9000", "192.0.2.9:9000"})};
};

TEST_F(DialDeskTest, TheHostOfTheLinkIsDialedAtThePortThatIsAskedFor) {
  const auto v4 = desk_.Judge(At(0), Id(1), From("192.0.2.1:40000"), 9000);
  ASSERT_EQ(v4.verdict, Verdict::kDial);
  EXPECT_EQ(dht::TextOf(v4.where), "192.0.2.1:9000");
  const auto v6 = desk_.Judge(At(0), Id(2), From("[2001:db8::5]:1"), 7);
  ASSERT_EQ(v6.verdict, Verdict::kDial);
  EXPECT_EQ(dht::TextOf(v6.where), "[2001:db8:0:0:0:0:0:5]:7");
}

TEST_F(DialDeskTest, ALinkThatWeDialedIsNotDialedAgain) {
  EXPECT_EQ(desk_.Judge(At(0), Id(1), {"192.0.2.1:9000", true}, 9000).verdict, Verdict::kDecline);
  EXPECT_EQ(desk_.Judge(At(0), Id(2), {"a.example:9000", true}, 9000).verdict, Verdict::kDecline);
}

// Attack: a member whose link comes through a tunnel that ends on this machine, or from a network
// of ours, has us knock at our own services.
TEST_F(DialDeskTest, OurOwnMachineAndForeignPrivateNetworksAreNotDialed) {
  EXPECT_EQ(Ask(0, 1, "127.0.0.1:40000"), Verdict::kDecline);
  EXPECT_EQ(Ask(0, 2, "[::1]:40000"), Verdict::kDecline);
  EXPECT_EQ(Ask(0, 3, "10.0.0.5:40000"), Verdict::kDecline);
  EXPECT_EQ(Ask(0, 4, "169.254.1.1:40000"), Verdict::kDecline);
  EXPECT_EQ(Ask(0, 5, "192.168.7.5:40000", 22), Verdict::kDecline) << "a low port of our network";
  EXPECT_EQ(Ask(0, 6, "192.168.7.5:40000"), Verdict::kDial) << "the manifest names that network";
}

TEST_F(DialDeskTest, AMemberHasOneDialAtOnce) {
  EXPECT_EQ(Ask(0, 1), Verdict::kDial);
  EXPECT_EQ(Ask(0, 1), Verdict::kIgnore);
  EXPECT_EQ(Ask(0, 2), Verdict::kDial) << "another member's is its own";
  desk_.End(Id(1));
  EXPECT_EQ(Ask(0, 1), Verdict::kDial);
}

// What is declined counts, too: its answers would pile up for a member that does not read.
TEST_F(DialDeskTest, AMemberHasFourAnHourAndIsThenNotEvenAnswered) {
  int dialed = 0;
  for (std::int64_t second = 0; second < 4 * 3600; ++second) {
    const Verdict verdict = Ask(second, 1);
    EXPECT_NE(verdict, Verdict::kDecline);
    if (verdict != Verdict::kDial) continue;
    ++dialed;
    desk_.End(Id(1));
    if (second < 60) EXPECT_LE(dialed, 4);
  }
  EXPECT_GE(dialed, 4 + 3 * 4);
  EXPECT_LE(dialed, 4 + 4 * 4);
  int answered = 0;
  for (int i = 0; i < 100; ++i) answered += Ask(0, 2, "127.0.0.1:1") == Verdict::kDecline ? 1 : 0;
  EXPECT_GE(answered, 3);
  EXPECT_LE(answered, 4);
}

TEST_F(DialDeskTest, AllMembersShareFourAtOnce) {
  for (std::uint8_t peer = 1; peer <= 4; ++peer) EXPECT_EQ(Ask(0, peer), Verdict::kDial);
  EXPECT_EQ(Ask(0, 5), Verdict::kDecline);
  desk_.End(Id(2));
  EXPECT_EQ(Ask(0, 6), Verdict::kDial);
  EXPECT_EQ(desk_.dialing(), 4u);
}

TEST_F(DialDeskTest, AllMembersShareSixtyFourAnHour) {
  int dialed = 0;
  for (int i = 0; i < 200; ++i) {
    const auto peer = static_cast<std::uint8_t>(i + 1);
    if (Ask(i / 100, peer) != Verdict::kDial) continue;
    ++dialed;
    desk_.End(Id(peer));
  }
  EXPECT_EQ(dialed, 64);
}

}  // namespace
}  // namespace ostraka::net::dial_desk_test
