#include "sim/report/step_diagram.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "sim/run/cluster.h"

namespace ostraka::sim::step_diagram_test {
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;

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
  EXPECT_EQ(step->removed.size(), 1U);
  EXPECT_FALSE(RosterOf(Attacked())->IsHonest(step->removed.front()));
  const std::string peer = "peer " + std::to_string(step->removed.front());
  EXPECT_THAT(
      step->notes,
      Contains(Field(&RecordedStep::Note::text,
                     peer + " banned by evidence: signed two different COMMITs of one slot")));
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

TEST(StepRecorderTest, CutsNoReason) {
  SimOptions options = Attacked();
  options.attack = "sign_flip";
  options.steps = 40;
  const auto step = Record(options);
  ASSERT_TRUE(step && !step->removed.empty());
  const auto is_reason = [](const RecordedStep::Note& note) {
    return note.text.find(" banned by ") != std::string::npos;
  };
  const auto reason = std::find_if(step->notes.begin(), step->notes.end(), is_reason);
  ASSERT_NE(reason, step->notes.end());
  EXPECT_GT(reason->text.size(), 96U);
  EXPECT_THAT(reason->text, testing::EndsWith(" votes"));
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

}  // namespace
}  // namespace ostraka::sim::step_diagram_test
