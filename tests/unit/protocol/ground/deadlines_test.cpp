#include "node/protocol/ground/deadlines.h"

#include <gtest/gtest.h>

#include "node/protocol/ground/reach.h"

namespace ostraka::protocol::deadlines_test {
namespace {

TEST(Deadlines, AreTheManifestsUnlessItIsAdaptive) {
  Manifest manifest;
  wire::Block head = GenesisHead(manifest);
  EXPECT_EQ(head.part_us, 0u);
  head.part_us = 4'000'000;
  EXPECT_EQ(PartWaitAfter(head, manifest), base::Seconds(20));
  EXPECT_EQ(SealDeadlineAfter(head, manifest), base::Seconds(42));
}

TEST(Deadlines, OfAnAdaptiveRunAreTheHeads) {
  Manifest manifest;
  manifest.adaptive = true;
  wire::Block head = GenesisHead(manifest);
  EXPECT_EQ(PartWaitAfter(head, manifest), base::Seconds(10)) << "it begins with half";
  head.part_us = 4'000'000;
  head.delta_us = 3'000'000;
  EXPECT_EQ(PartWaitAfter(head, manifest), base::Seconds(4));
  EXPECT_EQ(SealDeadlineAfter(head, manifest), base::Seconds(14));
}

// Heads are a peer's bytes until a quorum has sealed on them: no figure moves a deadline beyond the
// manifest's.
TEST(Deadlines, AreNeverLongerThanTheManifests) {
  Manifest manifest;
  manifest.adaptive = true;
  wire::Block head = GenesisHead(manifest);
  head.part_us = UINT64_MAX;
  EXPECT_EQ(PartWaitAfter(head, manifest), base::Seconds(20));
}

}  // namespace
}  // namespace ostraka::protocol::deadlines_test
