#include "node/protocol/ground/known_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::known_run_test {
namespace {

TEST(KnownRunTest, NamesTheMembersByKeyAndTheMostThatCanBeAtFault) {
  const Manifest manifest = scene::ManifestOf(9, Mode::kMajority);
  const evidence::KnownRun run = KnownRunOf(manifest);
  EXPECT_EQ(run.run_id, manifest.run_id);
  EXPECT_EQ(run.members.size(), 9U);
  EXPECT_TRUE(std::is_sorted(run.members.begin(), run.members.end()));
  for (const Member& member : manifest.members) {
    EXPECT_TRUE(std::binary_search(run.members.begin(), run.members.end(), member.id));
  }
  EXPECT_EQ(run.faults, 3U);                                             // floor((9 - 1 - 1) / 2)
  EXPECT_EQ(KnownRunOf(scene::ManifestOf(9, Mode::kThird)).faults, 3U);  // floor(9 / 3)
}

TEST(KnownRunTest, OnlyTheExactProfileSuspends) {
  Manifest manifest = scene::ManifestOf(9, Mode::kMajority);
  EXPECT_TRUE(KnownRunOf(manifest).suspending.empty());
  manifest.compute_profile = kExact;
  manifest.eps_g = 0;
  const auto suspending = KnownRunOf(manifest).suspending;
  EXPECT_TRUE(suspending.contains(wire::CaseKind::kGradient));
  EXPECT_TRUE(suspending.contains(wire::CaseKind::kNumbers));
  EXPECT_FALSE(suspending.contains(wire::CaseKind::kCover));
  manifest.protocol_version = 6;
  EXPECT_THAT(KnownRunOf(manifest).suspending, ::testing::ElementsAre(wire::CaseKind::kGradient));
  manifest.protocol_version = 5;
  EXPECT_TRUE(KnownRunOf(manifest).suspending.empty());
}

}  // namespace
}  // namespace ostraka::protocol::known_run_test
