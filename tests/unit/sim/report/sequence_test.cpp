#include "sim/report/sequence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "sim/run/cluster.h"

namespace ostraka::sim::sequence_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(SequenceTest, ShowsTheLastMessagesAndMarksByzantinePeers) {
  SimOptions options;
  options.peers = 4;
  options.byzantine = 1;
  options.attack = "sign_flip";
  options.dimension = 64;
  options.steps = 8;
  SequenceRecorder recorder(100);
  const auto roster = RosterOf(options);
  ASSERT_TRUE(roster.ok());
  ASSERT_TRUE(RunSimulation(options, {}, &recorder).ok());
  const std::string text = recorder.Mermaid(*roster);
  EXPECT_THAT(text, StartsWith("sequenceDiagram\n"));
  EXPECT_THAT(text, HasSubstr("->>"));
  EXPECT_THAT(text, HasSubstr(" Byzantine\n"));
  EXPECT_THAT(text, HasSubstr("block 8 with"));
  EXPECT_EQ(text.find(';'), std::string::npos);
  const std::string lines = recorder.Lines();
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 100);
}

TEST(SequenceTest, WithoutEventsIsAnEmptyDiagram) {
  EXPECT_EQ(SequenceRecorder(5).Mermaid(Roster{}), "sequenceDiagram\n");
}

}  // namespace
}  // namespace ostraka::sim::sequence_test
