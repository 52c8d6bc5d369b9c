#include "sim/report/step_diagram.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "sim/run/cluster.h"

namespace ostraka::sim {
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::Not;

SimOptions Attacked() {
  SimOptions options;
  options.peers = 4;
  options.byzantine = 1;
  options.attack = "equivocate";
  options.attack_from_step = 3;
  options.dimension = 64;
  options.steps = 8;
  return options;
}

std::optional<RecordedStep> Record(const SimOptions& options,
                                   std::optional<std::uint64_t> chosen = std::nullopt) {
  StepRecorder recorder(RosterOf(options).value(), chosen);
  EXPECT_TRUE(RunSimulation(options, {}, &recorder).ok());
  return recorder.Recorded();
}

std::size_t CountOf(const RecordedStep& step, wire::MessageType type) {
  return static_cast<std::size_t>(
      std::count_if(step.messages.begin(), step.messages.end(),
                    [&](const RecordedStep::Message& message) { return message.type == type; }));
}

TEST(StepRecorderTest, KeepsTheFirstStepThatRemovedAMember) {
  const auto step = Record(Attacked());
  ASSERT_TRUE(step);
  EXPECT_EQ(step->step, 3U);
  EXPECT_THAT(step->notes,
              Contains(Field(&RecordedStep::Note::text, HasSubstr("two different COMMITs"))));
  EXPECT_THAT(step->notes, Contains(Field(&RecordedStep::Note::text, HasSubstr("seal a decided"))));
  EXPECT_THAT(step->notes, Contains(Field(&RecordedStep::Note::text, "block, 3 members")));
  EXPECT_GE(CountOf(*step, wire::MessageType::kCommit), 4U * 3 + 3) << "and the rival to each";
}

TEST(StepRecorderTest, WithoutARemovalKeepsTheLastStep) {
  SimOptions options = Attacked();
  options.attack = "none";
  options.byzantine = 0;
  const auto step = Record(options);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->step, 7U);
  EXPECT_EQ(CountOf(*step, wire::MessageType::kCommit), 4U * 3);
}

TEST(StepRecorderTest, KeepsTheChosenStep) {
  const auto step = Record(Attacked(), 5);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->step, 5U);
  EXPECT_EQ(CountOf(*step, wire::MessageType::kProof), 3U * 2) << "one is banned";
  for (const RecordedStep::Message& message : step->messages) {
    ASSERT_TRUE(message.arrived) << "nothing is cut here";
    EXPECT_LT(message.sent, *message.arrived);
  }
  EXPECT_FALSE(Record(Attacked(), 500)) << "the run never came to it";
}

RecordedStep Small() {
  RecordedStep step;
  step.step = 9;
  const auto at = [](std::int64_t ms) { return base::Time{ms * 1'000'000}; };
  step.messages = {{0, 1, wire::MessageType::kCommit, at(10), at(30)},
                   {1, 2, wire::MessageType::kReveal, at(40), std::nullopt},
                   {2, 0, wire::MessageType::kProof, at(9'000), at(9'020)}};
  step.notes = {{at(35), "seal a decided"}, {at(35), "drop: peer 2, its <COMMIT> did not come"}};
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
  for (const char* text : {"peer 0", "peer 1", "Byzantine", "commit", "reveal", "proof",
                           "seal a decided", "its &lt;COMMIT&gt; did not come", "0.010 s"}) {
    EXPECT_THAT(svg, HasSubstr(text));
  }
  EXPECT_THAT(svg, HasSubstr("<polygon")) << "arrow heads";
  EXPECT_THAT(svg, HasSubstr("<circle")) << "of what never came";
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
}  // namespace ostraka::sim
