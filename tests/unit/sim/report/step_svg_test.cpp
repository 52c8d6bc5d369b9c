#include "sim/report/step_svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

namespace ostraka::sim::step_svg_test {
namespace {

using testing::HasSubstr;
using testing::Not;

RecordedStep Small() {
  RecordedStep step;
  step.step = 9;
  const auto at = [](std::int64_t ms) { return base::Time{ms * 1'000'000}; };
  using wire::MessageType;
  using wire::Phase;
  step.messages = {{0, 1, MessageType::kCommit, Phase::kA, at(10), at(30)},
                   {2, 1, MessageType::kReveal, Phase::kB, at(40), std::nullopt},
                   {2, 0, MessageType::kProof, Phase::kC, at(9'000), at(9'020)}};
  step.notes = {{at(35), "seal a decided"}, {at(35), "peer 2 dropped: its <COMMIT> did not come"}};
  step.removed = {2};
  return step;
}

Roster RosterOfThree() {
  Roster roster;
  for (std::uint8_t i = 0; i < 3; ++i) {
    roster.ids.emplace_back();
    roster.ids.back().bytes[0] = i;
  }
  roster.byzantine = {false, true, false};
  return roster;
}

TEST(StepSvgTest, NamesPeersMessagesAndDecisions) {
  const std::string svg = StepSvg(Small(), RosterOfThree());
  for (const char* text :
       {"peer 0", "peer 1", "Byzantine", "commit", "reveal", "proof", ">seal a<", ">seal c<",
        "seal a decided", "peer 2 dropped: its &lt;COMMIT&gt; did not come", "0.010 s"}) {
    EXPECT_THAT(svg, HasSubstr(text));
  }
}

std::size_t CountOf(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

TEST(StepSvgTest, DrawsArrowsOfOffendersOnlyAndDotsForOthers) {
  const std::string svg = StepSvg(Small(), RosterOfThree());
  EXPECT_EQ(CountOf(svg, "<polygon"), 1U) << "the message of peer 2 that arrives";
  EXPECT_THAT(svg, HasSubstr("<title>peer 2 sends proof to peer 0 at 9.000 s; it takes 0.020 s<"));
  EXPECT_THAT(svg, HasSubstr("<title>peer 2 sends reveal to peer 1 at 0.040 s; it never arrives<"));
  EXPECT_THAT(svg, HasSubstr("<title>peer 0 sends commit to 1 peer at 0.010 s<"));
  EXPECT_EQ(CountOf(svg, "<circle"), 2U) << "that dot, and the end of what never arrives";
  EXPECT_THAT(svg, HasSubstr("<title>8.960 s pass<"));
}

TEST(StepSvgTest, WithoutABanOrDropTheByzantineMembersAreTheOffenders) {
  RecordedStep step = Small();
  step.removed.clear();
  step.messages.push_back({1, 0, wire::MessageType::kCommit, wire::Phase::kA,
                           base::Time{11'000'000}, base::Time{12'000'000}});
  EXPECT_THAT(StepSvg(step, RosterOfThree()), HasSubstr("peer 1 sends commit to peer 0"));
  EXPECT_THAT(StepCaption(step, RosterOfThree()), HasSubstr("peer 1, the Byzantine members"));
  step.messages.pop_back();
  EXPECT_THAT(StepCaption(step, RosterOfThree()), HasSubstr("peer 0, as an example"));
  EXPECT_THAT(StepCaption(Small(), RosterOfThree()), HasSubstr("peer 2, which the step banned"));
}

TEST(StepSvgTest, BreaksLongReasonsAndCutsNone) {
  RecordedStep step = Small();
  step.notes[1].text = std::string(4, 'x');
  for (int word = 0; word < 40; ++word) step.notes[1].text += " word" + std::to_string(word);
  const std::string svg = StepSvg(step, RosterOfThree());
  for (int word = 0; word < 40; ++word) EXPECT_THAT(svg, HasSubstr("word" + std::to_string(word)));
  EXPECT_THAT(svg, Not(HasSubstr(step.notes[1].text)));
}

TEST(StepSvgTest, ShowsRemovedPeersFirst) {
  const std::string svg = StepSvg(Small(), RosterOfThree(), 2);
  EXPECT_THAT(svg, HasSubstr(">peer 0<"));
  EXPECT_THAT(svg, Not(HasSubstr(">peer 1<")));
  EXPECT_THAT(svg, HasSubstr(">peer 2<"));
}

// Nine seconds of waiting do not push the last message off the page.
TEST(StepSvgTest, ShortensLongWaits) {
  const std::string svg = StepSvg(Small(), RosterOfThree());
  const std::size_t place = svg.find(" height=\"");
  ASSERT_NE(place, std::string::npos);
  EXPECT_LT(std::stod(svg.substr(place + 9)), 400);
}

}  // namespace
}  // namespace ostraka::sim::step_svg_test
