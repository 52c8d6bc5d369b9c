#include "node/net/reach/dial_back_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ostraka::net::dial_back_status_test {
namespace {

using ::testing::HasSubstr;

DialedBack By(std::uint8_t peer, const std::string& from, DialOutcome outcome,
              bool is_public = true) {
  DialedBack result;
  result.peer.bytes.fill(peer);
  result.from = from;
  result.is_public = is_public;
  result.where = dht::Endpoint::V4(0xcb007107, 9000);
  result.outcome = outcome;
  return result;
}

std::string Advice(std::vector<DialedBack> results, bool only_dials = false,
                   std::uint16_t port = 9000) {
  return DialBackAdvice({true, port, std::move(results)}, only_dials);
}

const DialedBack kSilentA = By(1, "192.0.2.0/24", DialOutcome::kSilent);
const DialedBack kRefusedB = By(2, "198.51.100.0/24", DialOutcome::kRefused);

TEST(DialBackAdvice, NamesThePortAndTheOptionIfSeveralPrefixesDialedInVain) {
  const std::string advice = Advice({kSilentA, kRefusedB});
  EXPECT_THAT(advice, HasSubstr("TCP port 9000"));
  EXPECT_THAT(advice, HasSubstr("--reachable no"));
  EXPECT_THAT(advice, HasSubstr(kSilentA.peer.Short() + " dialed 203.0.113.7:9000: no answer"));
  EXPECT_THAT(advice, HasSubstr("refused"));
  EXPECT_EQ(advice.find('\n'), std::string::npos);
}

// One may be cut off itself, or lie; so may all who sit in one place.
TEST(DialBackAdvice, NeedsTwoPrefixes) {
  EXPECT_EQ(Advice({kSilentA}), "");
  EXPECT_EQ(Advice({kSilentA, By(3, "192.0.2.0/24", DialOutcome::kSilent)}), "");
  EXPECT_EQ(Advice({kSilentA, By(3, "198.51.100.0/24", DialOutcome::kDeclined)}), "");
}

TEST(DialBackAdvice, SaysNothingToANodeThatIsReachedOrOnlyDialsOrDoesNotListen) {
  const DialedBack reached = By(3, "203.0.113.0/24", DialOutcome::kReached);
  EXPECT_EQ(Advice({kSilentA, kRefusedB, reached, By(4, "203.0.114.0/24", DialOutcome::kReached)}),
            "");
  DialedBack linked = reached;
  linked.where = {};
  EXPECT_EQ(Advice({kSilentA, kRefusedB, linked}), "") << "it came in";
  EXPECT_EQ(Advice({kSilentA, kRefusedB}, true), "");
  EXPECT_EQ(Advice({kSilentA, kRefusedB}, false, 0), "");
}

TEST(DialBackAdvice, OneThatSaysThatItReachedTheNodeSilencesNobody) {
  EXPECT_NE(Advice({kSilentA, kRefusedB, By(3, "203.0.113.0/24", DialOutcome::kReached)}), "");
}

TEST(DialBackAdvice, ANeighbourSaysNothingOfTheOutside) {
  const DialedBack neighbour = By(3, "192.168.1.0/24", DialOutcome::kReached, false);
  EXPECT_NE(Advice({kSilentA, kRefusedB, neighbour}), "");
  EXPECT_EQ(Advice({kSilentA, By(3, "192.168.1.0/24", DialOutcome::kSilent, false)}), "");
  // In a run of one house all are neighbours.
  EXPECT_NE(Advice({By(1, "192.168.1.0/24", DialOutcome::kSilent, false),
                    By(2, "192.168.2.0/24", DialOutcome::kSilent, false)}),
            "");
}

TEST(DialBackStatus, ALinkThatCameInNamesNoAddress) {
  DialedBack linked = By(1, "192.0.2.0/24", DialOutcome::kReached);
  linked.where = {};
  EXPECT_THAT(TextOf(linked), HasSubstr("they are linked"));
}

// It names no host, as none was dialed.
TEST(DialBackStatus, OneThatDeclinesIsSaidToHaveDialedNothing) {
  DialedBack declined = By(1, "192.0.2.0/24", DialOutcome::kDeclined);
  declined.where = {{}, 9000};
  EXPECT_EQ(TextOf(declined), declined.peer.Short() + " declined to dial");
}

}  // namespace
}  // namespace ostraka::net::dial_back_status_test
