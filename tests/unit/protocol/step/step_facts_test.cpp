#include "node/protocol/step/step_facts.h"

#include <gtest/gtest.h>

#include "node/protocol/ground/deadlines.h"
#include "tests/unit/protocol/scene.h"
#include "tests/unit/protocol/step/step_fixture.h"

namespace ostraka::protocol::step_facts_test {
namespace {

using scene::DigestOf;
using wire::MessageType;
using wire::Phase;

TEST(StepFactsTest, EachPhaseHasTheParentThatOpenedItsSeal) {
  StepWorld w;
  w.facts.parent_a = DigestOf(1);
  w.facts.parent_b = DigestOf(2);
  w.facts.parent_c = DigestOf(3);
  EXPECT_EQ(w.facts.ParentOf(Phase::kA), DigestOf(1));
  EXPECT_EQ(w.facts.ParentOf(Phase::kB), DigestOf(2));
  EXPECT_EQ(w.facts.ParentOf(Phase::kC), DigestOf(3));
  EXPECT_TRUE(w.facts.ParentOf(Phase::kGenesis).is_zero());
}

TEST(StepFactsTest, FactsSayWhichSealsAreDecidedAndWhichDrawIsOpen) {
  StepWorld w;
  EXPECT_FALSE(w.facts.seal_a_decided());
  w.ReadA();
  EXPECT_TRUE(w.facts.seal_a_decided());
  EXPECT_FALSE(w.facts.coin_known());
  w.facts.reading.draw = 2;
  EXPECT_EQ(w.facts.DrawOf(Phase::kA), 0u);
  EXPECT_EQ(w.facts.DrawOf(Phase::kB), 2u);
  EXPECT_EQ(w.facts.DrawOf(Phase::kC), 0u);
  w.facts.reading.draw = 0;
  w.ReadB();
  EXPECT_TRUE(w.facts.coin_known());
}

TEST(StepFactsTest, PlaceNamesTheStepInProgress) {
  const StepWorld w;
  const Inbox::Place place = w.facts.PlaceOf(Phase::kB, MessageType::kReveal, 2);
  EXPECT_EQ(place, (Inbox::Place{StepWorld::kStep, Phase::kB, MessageType::kReveal, 2, 0}));
}

TEST(StepFactsTest, OnlyAMessageWithTheRightParentIsUsable) {
  StepWorld w;
  const Inbox::Place commits = w.facts.PlaceOf(Phase::kA, MessageType::kCommit);
  EXPECT_EQ(Usable(w.inbox, w.facts, commits, w.Id(1)), nullptr);
  w.Hear(w.Commit(1));
  w.Hear(
      w.SayUnder(DigestOf(9), 2, Phase::kA, MessageType::kCommit, wire::Encode(w.CommitBody(2))));
  EXPECT_NE(Usable(w.inbox, w.facts, commits, w.Id(1)), nullptr);
  EXPECT_EQ(Usable(w.inbox, w.facts, commits, w.Id(2)), nullptr);
}

// Attack: a PART that names another parent, sent early, kept the true part out for the whole step.
TEST(StepFactsTest, OfTwoVersionsTheOneWithTheRightParentCounts) {
  StepWorld w;
  const Inbox::Place parts = w.facts.PlaceOf(Phase::kA, MessageType::kPart, 0, 2);
  w.Hear(w.SayUnder(DigestOf(9), 1, Phase::kA, MessageType::kPart, wire::Encode(w.PartBody(1, 2)),
                    0, 2),
         w.PartsOf(1)[2]);
  EXPECT_EQ(Usable(w.inbox, w.facts, parts, w.Id(1)), nullptr);
  w.HearPart(1, 2);
  const Inbox::Version* part = Usable(w.inbox, w.facts, parts, w.Id(1));
  ASSERT_NE(part, nullptr);
  EXPECT_EQ(part->message->envelope.entry, w.facts.parent_a);
  EXPECT_EQ(part->blob, w.PartsOf(1)[2]);
  EXPECT_TRUE(w.inbox.Find(parts, w.Id(1))->equivocated());
}

TEST(StepFactsTest, MomentFollowsTheManifestAndNotTheMeasuredDelta) {
  const StepWorld w([](Manifest&, Block& head) { head.delta_us = 21'000'000; });
  EXPECT_EQ(MomentOf(*w.manifest), base::Milliseconds(125));
  EXPECT_EQ(SealDeadlineAfter(w.chain.head(), *w.manifest), base::Seconds(2 * 20 + 2 * 21));
}

}  // namespace
}  // namespace ostraka::protocol::step_facts_test
