#include "node/net/reach/sounding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ostraka::net::sounding_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::uint16_t kPort = 9000;

base::PeerId Id(std::uint8_t fill) {
  base::PeerId id;
  id.bytes.fill(fill);
  return id;
}

base::Time At(std::int64_t seconds) { return base::Time{} + base::Seconds(seconds); }

LinkPath To(const std::string& remote) { return {remote, true}; }
LinkPath From(const std::string& remote) { return {remote, false}; }

DialBackAnswer Answer(DialOutcome outcome, std::uint16_t port = kPort) {
  DialBackAnswer answer{port, {}, outcome};
  const dht::Endpoint seen = dht::Endpoint::V4(0xcb007107, port);  // 203.0.113.7
  answer.host = seen.address;
  return answer;
}

TEST(Sounding, MembersOfOtherPrefixesAreAskedFirst) {
  Sounding sounding;
  for (std::uint8_t i = 1; i <= 4; ++i) {
    sounding.OnLink(At(0), Id(i), To("192.0.2." + std::to_string(i) + ":9000"));
  }
  sounding.OnLink(At(0), Id(5), To("198.51.100.1:9000"));
  sounding.OnLink(At(0), Id(6), To("a.example:9000"));
  EXPECT_THAT(sounding.Due(At(0), kPort), ElementsAre(Id(1), Id(5), Id(6), Id(2)));
  EXPECT_THAT(sounding.Due(At(1), kPort), IsEmpty()) << "four are enough";
}

TEST(Sounding, ANodeThatDoesNotListenAsksNobody) {
  Sounding sounding;
  sounding.OnLink(At(0), Id(1), To("192.0.2.1:9000"));
  EXPECT_THAT(sounding.Due(At(0), 0), IsEmpty());
}

TEST(Sounding, ALinkThatCameInHasReachedUsAndIsNotAsked) {
  Sounding sounding;
  sounding.OnLink(At(0), Id(1), From("192.0.2.1:40000"));
  EXPECT_THAT(sounding.Due(At(0), kPort), IsEmpty());
  const auto results = sounding.Results(At(7200));
  ASSERT_EQ(results.size(), 1u) << "as long as the link is up";
  EXPECT_EQ(results[0].outcome, DialOutcome::kReached);
  EXPECT_EQ(results[0].where.port, 0);
  EXPECT_EQ(results[0].from, "192.0.2.0/24");
  sounding.OnLink(At(7200), Id(1), std::nullopt);
  EXPECT_EQ(sounding.Results(At(7200 + 3599)).size(), 1u);
  EXPECT_THAT(sounding.Results(At(7200 + 3600)), IsEmpty());
}

TEST(Sounding, AnAnswerCountsOnceForItsPortAndInTime) {
  Sounding sounding;
  sounding.OnLink(At(0), Id(1), To("192.0.2.1:9000"));
  EXPECT_FALSE(sounding.OnAnswer(At(0), Id(1), Answer(DialOutcome::kRefused))) << "nobody asked";
  ASSERT_THAT(sounding.Due(At(0), kPort), ElementsAre(Id(1)));
  EXPECT_FALSE(sounding.OnAnswer(At(1), Id(2), Answer(DialOutcome::kRefused)));
  EXPECT_FALSE(sounding.OnAnswer(At(1), Id(1), Answer(DialOutcome::kRefused, 9001)));
  EXPECT_TRUE(sounding.OnAnswer(At(1), Id(1), Answer(DialOutcome::kRefused)));
  EXPECT_FALSE(sounding.OnAnswer(At(1), Id(1), Answer(DialOutcome::kReached)));
  const auto results = sounding.Results(At(3));
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].outcome, DialOutcome::kRefused);
  EXPECT_EQ(dht::TextOf(results[0].where), "203.0.113.7:9000");
  EXPECT_EQ(results[0].age, base::Seconds(2));

  sounding.OnLink(At(10), Id(3), To("192.0.2.3:9000"));
  ASSERT_THAT(sounding.Due(At(10), kPort), ElementsAre(Id(3)));
  EXPECT_FALSE(sounding.OnAnswer(At(25), Id(3), Answer(DialOutcome::kReached))) << "too late";
}

TEST(Sounding, AMemberIsAskedAgainAfterTwentyMinutesWhateverItsLinkDoes) {
  Sounding sounding;
  std::vector<std::int64_t> asked;
  for (std::int64_t second = 0; second <= 3600; second += 10) {
    sounding.OnLink(At(second), Id(1), std::nullopt);
    sounding.OnLink(At(second), Id(1), To("192.0.2.1:9000"));
    if (sounding.Due(At(second), kPort).empty()) continue;
    asked.push_back(second);
    EXPECT_TRUE(sounding.OnAnswer(At(second + 1), Id(1), Answer(DialOutcome::kSilent)));
  }
  EXPECT_THAT(asked, ElementsAre(0, 1200, 2400, 3600)) << "as many an hour as a desk lets";
}

TEST(Sounding, OneThatDeclinesMakesRoomForAnother) {
  Sounding sounding;
  for (std::uint8_t i = 1; i <= 5; ++i) {
    sounding.OnLink(At(0), Id(i), To("192.0.2." + std::to_string(i) + ":9000"));
  }
  ASSERT_EQ(sounding.Due(At(0), kPort).size(), 4u);
  EXPECT_TRUE(sounding.OnAnswer(At(1), Id(2), Answer(DialOutcome::kDeclined)));
  EXPECT_THAT(sounding.Due(At(1), kPort), ElementsAre(Id(5)));
  EXPECT_THAT(sounding.Due(At(16), kPort), IsEmpty())
      << "those that say nothing are not asked anew";
}

TEST(Sounding, AForgottenMemberLeavesNothing) {
  Sounding sounding;
  sounding.OnLink(At(0), Id(1), From("192.0.2.1:40000"));
  sounding.Forget(Id(1));
  EXPECT_THAT(sounding.Results(At(0)), IsEmpty());
}

}  // namespace
}  // namespace ostraka::net::sounding_test
