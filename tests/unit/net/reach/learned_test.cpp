#include "node/net/reach/learned.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/base/rng.h"
#include "node/net/udp/resolver.h"

namespace ostraka::net::learned_test {
namespace {

using ::testing::HasSubstr;

base::PeerId Id(std::uint8_t fill) {
  base::PeerId id;
  id.bytes.fill(fill);
  return id;
}

Learned Sample() {
  Learned learned;
  learned.members[Id(1)] = {
      7, 1'700'000'000, {"8.8.8.8:9", "[2606:0:0:0:0:0:0:1]:9"}, {"9.9.9.9:1"}};
  learned.members[Id(2)] = {0, 0, {}, {"name.example:9000"}};
  learned.members[Id(3)] = {8, 1'700'000'001, {}, {}};
  learned.nodes = {{Id(4), NumericEndpoint("8.8.4.4:9000").value()}};
  return learned;
}

TEST(Learned, TextAndBack) {
  const auto parsed = ParseLearned(TextOf(Sample()));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(*parsed, Sample());
  EXPECT_EQ(*ParseLearned(TextOf(Learned())), Learned());
}

std::string ErrorOf(const std::string& text) {
  const auto parsed = ParseLearned(text);
  return parsed.ok() ? "" : base::MessageOf(parsed.status());
}

TEST(Learned, DamageIsOneLine) {
  const std::string header = "ostraka learned 1\n";
  const std::string id = Id(1).Hex();
  EXPECT_THAT(ErrorOf(""), HasSubstr("cut short"));
  EXPECT_THAT(ErrorOf("ostraka learned 1"), HasSubstr("cut short"));
  EXPECT_THAT(ErrorOf("ostraka learned 2\n"), HasSubstr("does not begin with"));
  EXPECT_THAT(ErrorOf(header + "\n"), HasSubstr("line 2 begins with no word"));
  EXPECT_THAT(ErrorOf(header + "linked x 1.1.1.1:1\n"), HasSubstr("line 2 has no id"));
  EXPECT_THAT(ErrorOf(header + "announced " + id + " 1 x\n"), HasSubstr("has no number"));
  EXPECT_THAT(ErrorOf(header + "announced " + id + " 1\n"), HasSubstr("cut short"));
  EXPECT_THAT(ErrorOf(header + "linked " + id + " 1.1.1.1\n"), HasSubstr("line 2"));
  EXPECT_THAT(ErrorOf(header + "linked " + id + " a:1 b:1 c:1 d:1 e:1\n"),
              HasSubstr("more than 4"));
  EXPECT_THAT(ErrorOf(header + "node " + id + " name:1\n"), HasSubstr("no numeric address"));
  EXPECT_THAT(ErrorOf(header + "node " + id + " 224.0.0.1:1\n"), HasSubstr("no numeric address"));
  EXPECT_THAT(ErrorOf(std::string(kMostLearnedBytes, 'x') + "\n"), HasSubstr("more than"));
  std::string nodes = header;
  for (std::size_t i = 0; i <= kMostLearnedNodes; ++i) nodes += "node " + id + " 8.8.8.8:1\n";
  EXPECT_THAT(ErrorOf(nodes), HasSubstr("one node too many"));
}

TEST(Learned, AnyDamageIsRefusedOrHarmless) {
  base::Rng rng(3);
  const std::string good = TextOf(Sample());
  for (int i = 0; i < 5000; ++i) {
    std::string text = good;
    for (int change = 0; change < 3; ++change) {
      const std::size_t at = rng.Below(text.size());
      if (rng.Below(2) == 0) {
        text[at] = static_cast<char>(rng.Below(256));
      } else {
        text.erase(at, rng.Below(20));
        if (text.empty()) text = "x";
      }
    }
    const auto parsed = ParseLearned(text);
    if (!parsed.ok()) continue;
    EXPECT_EQ(*ParseLearned(TextOf(*parsed)), *parsed);
  }
}

}  // namespace
}  // namespace ostraka::net::learned_test
