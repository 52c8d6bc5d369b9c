#include "node/cli/doctor/dialed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "node/cli/views/node_answers.h"
#include "tests/unit/cli/views/status_scene.h"

namespace ostraka::cli::dialed_test {
namespace {

using net::DialOutcome;
using ::testing::HasSubstr;

net::DialedBack By(std::uint8_t peer, DialOutcome outcome) {
  net::DialedBack result;
  result.peer.bytes.fill(peer);
  result.from = std::to_string(peer) + ".0.0.0/24";
  result.where = dht::Endpoint::V4(0xcb007107, 9000);
  result.outcome = outcome;
  return result;
}

// What doctor learns of a node with this status, through the node's own answer.
DialedFacts FactsOf(std::vector<net::DialedBack> results, bool only_dials = false) {
  host::NodeStatus status;
  status.reach.dial_back = {true, 9000, std::move(results)};
  if (only_dials) status.only_dial.insert(status.self);
  const auto facts = ParseDialed(AnswerHttp("/status", StatusScene().run, status, {}).body);
  EXPECT_TRUE(facts.has_value());
  return facts.value_or(DialedFacts{});
}

Finding Judge(const DialedFacts& facts) { return JudgeDialed(facts, {}); }

TEST(DialedTest, RefusalsAreRstAndSilenceIsADrop) {
  EXPECT_EQ(StraysOf(FactsOf({By(1, DialOutcome::kRefused)})), Strays::kReset);
  EXPECT_EQ(StraysOf(FactsOf({By(1, DialOutcome::kSilent)})), Strays::kDropped);
  EXPECT_EQ(StraysOf(FactsOf({By(1, DialOutcome::kSilent), By(2, DialOutcome::kRefused)})),
            Strays::kUnknown);
  EXPECT_EQ(StraysOf(FactsOf({By(1, DialOutcome::kReached)})), Strays::kUnknown);
}

TEST(DialedTest, ANodeThatNobodyReachesIsToldThePortAndTheOption) {
  const Finding finding =
      Judge(FactsOf({By(1, DialOutcome::kSilent), By(2, DialOutcome::kSilent)}));
  EXPECT_EQ(finding.severity, Severity::kWarning);
  EXPECT_THAT(finding.text, HasSubstr("203.0.113.7:9000: no answer"));
  EXPECT_THAT(finding.fix, HasSubstr("TCP port 9000"));
  EXPECT_THAT(finding.fix, HasSubstr("--reachable no"));
}

TEST(DialedTest, WhatNeedsNoRemedyHasNone) {
  for (const DialedFacts& facts :
       {FactsOf({By(1, DialOutcome::kSilent), By(2, DialOutcome::kReached)}),
        FactsOf({By(1, DialOutcome::kSilent)}, true), FactsOf({}),
        FactsOf({By(1, DialOutcome::kDeclined)})}) {
    const Finding finding = Judge(facts);
    EXPECT_EQ(finding.severity, Severity::kOk) << finding.text;
    EXPECT_EQ(finding.fix, "");
  }
  DialedFacts off;
  off.on = false;
  EXPECT_THAT(Judge(off).text, HasSubstr("--dial-back off"));
  EXPECT_THAT(Judge({}).text, HasSubstr("does not listen"));
}

TEST(DialedTest, AnotherAnswerIsNoStatus) {
  for (const char* text : {"", "[]", "{}", "{\"dial_back\":3}", "{\"dial_back\":{}}",
                           "{\"reachable\":1,\"dial_back\":{\"on\":true,\"results\":[]}}",
                           "{\"reachable\":true,\"dial_back\":{\"on\":true,\"results\":[1]}}"}) {
    EXPECT_FALSE(ParseDialed(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace ostraka::cli::dialed_test
