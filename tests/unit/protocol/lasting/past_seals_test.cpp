#include "node/protocol/lasting/past_seals.h"

#include <gtest/gtest.h>

namespace ostraka::protocol::past_seals_test {
namespace {

using wire::Phase;

PastSeal SealOf(std::uint8_t tag) {
  return {{}, {}, {{{}, {}, std::make_shared<const base::Bytes>(base::Bytes{tag})}}};
}
std::uint8_t TagOf(const PastSeal* seal) { return seal->certificate.at(0).frame->at(0); }

TEST(PastSealsTest, SealIsFoundByItsStepPhaseAndDraw) {
  PastSeals seals;
  seals.Add({4, Phase::kB, 0}, SealOf(1));
  seals.Add({4, Phase::kB, 1}, SealOf(2));
  seals.Add({4, Phase::kC, 0}, SealOf(3));
  EXPECT_EQ(TagOf(seals.Find({4, Phase::kB, 0})), 1);
  EXPECT_EQ(TagOf(seals.Find({4, Phase::kB, 1})), 2);
  EXPECT_EQ(seals.Find({4, Phase::kA, 0}), nullptr);
  EXPECT_EQ(seals.Find({5, Phase::kB, 0}), nullptr);
}

TEST(PastSealsTest, SealsOfTheStepBeforeAreKeptAndNoOlderOnes) {
  PastSeals seals;
  seals.Add({4, Phase::kC, 0}, SealOf(1));
  seals.Add({5, Phase::kA, 0}, SealOf(2));
  seals.ForgetBefore(4);
  seals.CheckInvariants();
  EXPECT_NE(seals.Find({4, Phase::kC, 0}), nullptr);
  seals.ForgetBefore(5);
  EXPECT_EQ(seals.Find({4, Phase::kC, 0}), nullptr);
  EXPECT_NE(seals.Find({5, Phase::kA, 0}), nullptr);
  seals.Clear();
  EXPECT_EQ(seals.Find({5, Phase::kA, 0}), nullptr);
}

TEST(PastSealsTest, SealThatIsAddedTwiceOrUnprovenIsABugOfThisNode) {
  PastSeals seals;
  EXPECT_DEATH(seals.Add({4, Phase::kC, 0}, {}), "CHECK");
  seals.Add({4, Phase::kC, 0}, SealOf(1));
  EXPECT_DEATH(seals.Add({4, Phase::kC, 0}, SealOf(2)), "CHECK");
}

}  // namespace
}  // namespace ostraka::protocol::past_seals_test
