#include "proofs/evidence/judges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "node/wire/codec.h"
#include "tests/unit/evidence/scene.h"
#include "tests/unit/wire/samples.h"

namespace ostraka::evidence::internal::judges_test {
namespace {

Frames OpenedCommits() {
  Frames frames;
  for (const base::SharedBytes& frame : CommitsBuildingOn(BanningBlock())) {
    frames.push_back(*wire::Open(frame));
  }
  std::sort(frames.begin(), frames.end(),
            [](const auto& a, const auto& b) { return a.envelope.sender < b.envelope.sender; });
  return frames;
}

TEST(JudgesTest, AreTheFirstMembersByKeyAndOneMoreThanCanBeAtFault) {
  auto frames = CommitsBuildingOn(BanningBlock());
  const wire::SignedEnvelope stranger = *wire::Open(frames[0]);
  std::reverse(frames.begin(), frames.end());
  frames.push_back(frames[0]);  // one twice
  KnownRun run = RunOfJudges(1);
  std::erase(run.members, stranger.envelope.sender);
  const auto judges = JudgesOf(frames, run);
  ASSERT_TRUE(judges.ok()) << judges.status();
  ASSERT_EQ(judges->size(), 2U);
  Frames opened;
  for (const Bytes& frame : *judges) {
    opened.push_back(*wire::Open(std::make_shared<const Bytes>(frame)));
    EXPECT_NE(opened.back().envelope.sender, stranger.envelope.sender);
  }
  EXPECT_FALSE(CheckOrder(opened));
  EXPECT_FALSE(CheckSigners(opened, run));
  EXPECT_FALSE(JudgesOf({std::make_shared<const Bytes>(Bytes{1, 2, 3})}, run).ok());
}

TEST(JudgesTest, SignersAreMembersAndNoMoreThanNeeded) {
  const Frames frames = OpenedCommits();
  EXPECT_FALSE(CheckSigners(frames, RunOfJudges(kJudges - 1)));
  EXPECT_EQ(CheckSigners(frames, RunOfJudges(kJudges))->outcome, Outcome::kNotProven);
  EXPECT_EQ(CheckSigners(frames, RunOfJudges(kJudges - 2))->outcome, Outcome::kNotProven);
}

TEST(JudgesTest, FramesBuildOnTheBlockInOrder) {
  Frames frames = OpenedCommits();
  const wire::Block block = BanningBlock();
  const Digest run = RunOfJudges(1).run_id;
  EXPECT_FALSE(CheckBuilding(frames, run, block));
  EXPECT_TRUE(CheckBuilding(frames, wire::Filled(0x55), block));
  wire::Block other = block;
  other.tau += 1;
  EXPECT_TRUE(CheckBuilding(frames, run, other));
  std::swap(frames[0], frames[1]);
  EXPECT_EQ(CheckBuilding(frames, run, block)->outcome, Outcome::kMalformed);
}

}  // namespace
}  // namespace ostraka::evidence::internal::judges_test
