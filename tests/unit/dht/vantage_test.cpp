#include "dht/vantage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ostraka::dht::vantage_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Endpoint From(std::uint32_t prefix, std::uint32_t host = 1) {
  return Endpoint::V4((std::uint32_t{20} << 24) + (prefix << 8) + host, 7000);
}
const Endpoint kOwn = Endpoint::V4(0x08080808, 1);
const Endpoint kLie = Endpoint::V4(0x09090909, 1);

TEST(Vantage, OneAnswerIsBelievedUntilOthersDiffer) {
  Vantage vantage;
  EXPECT_THAT(vantage.agreed(), IsEmpty());
  EXPECT_EQ(vantage.scope(), Scope::kPublic);
  vantage.OnAnswer(From(1), kOwn);
  EXPECT_THAT(vantage.agreed(), ElementsAre(kOwn));
  vantage.OnAnswer(From(2), kLie);
  EXPECT_THAT(vantage.agreed(), IsEmpty()) << "half is no majority";
  vantage.OnAnswer(From(3), kOwn);
  EXPECT_THAT(vantage.agreed(), ElementsAre(kOwn));
}

TEST(Vantage, ManyNodesOfOnePrefixAreOneVote) {
  Vantage vantage;
  vantage.OnAnswer(From(1), kOwn);
  vantage.OnAnswer(From(2), kOwn);
  for (std::uint32_t host = 1; host < 100; ++host) vantage.OnAnswer(From(3, host), kLie);
  EXPECT_THAT(vantage.agreed(), ElementsAre(kOwn));
}

TEST(Vantage, PortsDoNotCountAndTheNewestIsNamed) {
  Vantage vantage;
  for (std::uint16_t port = 1; port <= 3; ++port) {
    Endpoint seen = kOwn;
    seen.port = port;
    vantage.OnAnswer(From(port), seen);
  }
  ASSERT_EQ(vantage.agreed().size(), 1u);
  EXPECT_EQ(vantage.agreed()[0].port, 3);
}

TEST(Vantage, AMoveIsFollowedAndVotesAreBounded) {
  Vantage vantage;
  for (std::uint32_t i = 0; i < 100; ++i) vantage.OnAnswer(From(i), kOwn);
  for (std::uint32_t i = 0; i < 9; ++i) vantage.OnAnswer(From(i), kLie);
  EXPECT_THAT(vantage.agreed(), ElementsAre(kLie));
}

TEST(Vantage, FamiliesAgreeApart) {
  Vantage vantage;
  Endpoint v6;
  v6.address[0] = 0x26;
  v6.port = 9;
  vantage.OnAnswer(From(1), kOwn);
  vantage.OnAnswer(From(1), v6);
  EXPECT_THAT(vantage.agreed(), ElementsAre(v6, kOwn));
}

}  // namespace
}  // namespace ostraka::dht::vantage_test
