// What the gate lets in of bulk data, which is as large as the model.
#include <set>

#include "node/protocol/member/gate.h"
#include "tests/unit/protocol/member/gate_fixture.h"

namespace ostraka::protocol::gate_bulk_test {
namespace {

using scene::GateTest;
using scene::kMemberCount;
using scene::kStep;
using scene::Saying;

class GateBulkTest : public GateTest {};

TEST_F(GateBulkTest, BulkDataOtherThanAnnouncedIsSuspectedOfTheLink) {
  BeginStep();
  const auto part = Sign(PartOf(1, MyColumn(), FloatsBlob(8, 1)));
  EXPECT_EQ(Judge(part, IdOf(2), FloatsBlob(8, 2)), Fate::kNothing);
  EXPECT_EQ(SuspectedOf(IdOf(2)), "blob");
  EXPECT_FALSE(components().charges.Against(IdOf(1))) << "a relay may have spoilt it";
}

// It never comes into the inbox, so that each copy is new.
TEST_F(GateBulkTest, UnreadableAnnouncementIsVerifiedOnceAndItsForgeriesAreCounted) {
  BeginStep();
  Pass(base::Seconds(1));
  const SharedBlob blob = FloatsBlob(8);
  Saying unreadable = PartOf(1, 0, blob);
  unreadable.body = {0xff, 0xff};
  const std::size_t before = verifier_->asked;
  for (std::uint64_t i = 0; i < Ration::kForgeriesASecond; ++i) {
    EXPECT_TRUE(components().ration.IsHeard(components().turn.now(), IdOf(2)));
    Judge(Forged(unreadable), IdOf(2), blob);
  }
  EXPECT_FALSE(components().ration.IsHeard(components().turn.now(), IdOf(2)));
  EXPECT_FALSE(components().charges.Against(IdOf(1)));
  EXPECT_EQ(verifier_->asked, before + Ration::kForgeriesASecond);
  for (int i = 0; i < 10; ++i) Judge(Sign(unreadable), IdOf(3), blob);
  EXPECT_TRUE(components().charges.Against(IdOf(1)));
  EXPECT_EQ(verifier_->asked, before + Ration::kForgeriesASecond + 1);
}

TEST_F(GateBulkTest, UnreadableAnnouncementIsChargedToItsSigner) {
  BeginStep();
  const SharedBlob blob = FloatsBlob(8);
  for (const std::uint32_t signer : {1u, scene::kSelf}) {
    Saying saying = PartOf(signer, MyColumn(), blob);
    saying.body = {1, 2, 3};
    EXPECT_EQ(Judge(Sign(saying), IdOf(2), blob), Fate::kNothing);
  }
  EXPECT_TRUE(components().charges.Against(IdOf(1)));
  EXPECT_FALSE(components().charges.Against(Self()));
}

TEST_F(GateBulkTest, OwnerTakesInThePartsOfItsColumnAlone) {
  BeginStep();
  const SharedBlob blob = FloatsBlob(8);
  const std::uint32_t other = (MyColumn() + 1) % kMemberCount;
  EXPECT_EQ(Judge(PartOf(1, MyColumn(), blob), blob), Fate::kTakeIn);
  EXPECT_EQ(Judge(Sign(PartOf(1, MyColumn(), blob)), IdOf(2), blob), Fate::kTakeIn) << "relayed";
  EXPECT_EQ(Judge(PartOf(1, other, blob), blob), Fate::kNothing);
}

TEST_F(GateBulkTest, PartOfADisputedPairIsTakenInByAll) {
  Block head = HeadBlock();
  BeginStep(head);
  const std::uint32_t column = (MyColumn() + 1) % kMemberCount;
  const PeerId owner = step().facts().roles().owners[column];
  std::uint32_t worker = 1;
  while (IdOf(worker) == owner) ++worker;
  head.disputes = {{.worker = IdOf(worker), .aggregator = owner, .since = 0}};
  step_->Drop();
  components_->stage.Enter(Stage::kFollow);
  BeginStep(head);
  const SharedBlob blob = FloatsBlob(8);
  EXPECT_EQ(Judge(PartOf(worker, column, blob), blob), Fate::kTakeIn);
}

TEST_F(GateBulkTest, ResultIsTakenFromTheOwnerOfItsColumn) {
  BeginStep();
  const SharedBlob blob = FloatsBlob(8);
  const std::uint32_t column = step().facts().roles().PartOwnedBy(IdOf(1)).value();
  EXPECT_EQ(Judge(ResultOf(1, column, blob), blob), Fate::kTakeIn);
  EXPECT_EQ(Judge(ResultOf(1, (column + 1) % kMemberCount, blob), blob), Fate::kNothing);
}

TEST_F(GateBulkTest, EarlyPartsFillTheirSignersRoomAndTheRestIsAskedForWhenTheStepBegins) {
  BeginStep();
  const SharedBlob blob = FloatsBlob(8);
  for (std::uint32_t column = 0; column < 2; ++column) {
    const Saying part = PartOf(1, column, blob, kStep + 1);
    EXPECT_EQ(Judge(part, blob), Fate::kTakeIn);
    Hold(part, blob);
  }
  EXPECT_EQ(Judge(PartOf(1, 2, blob, kStep + 1), blob), Fate::kNothing);
  EXPECT_EQ(SuspectedOf(IdOf(1)), "") << "to come early is no fault";
  EXPECT_EQ(Judge(PartOf(2, 2, blob, kStep + 1), blob), Fate::kTakeIn) << "each has its own room";
  EXPECT_EQ(gate_.BeginStep(kStep + 1), std::set<PeerId>{IdOf(1)});
  EXPECT_TRUE(gate_.BeginStep(kStep + 1).empty()) << "given out once";
}

TEST_F(GateBulkTest, WorkerInDisputeHasRoomForAPartMore) {
  Block head = HeadBlock();
  head.disputes = {{.worker = IdOf(1), .aggregator = IdOf(2), .since = 0}};
  BeginStep(head);
  const SharedBlob blob = FloatsBlob(8);
  for (std::uint32_t column = 0; column < 3; ++column) {
    const Saying part = PartOf(1, column, blob, kStep + 1);
    EXPECT_EQ(Judge(part, blob), Fate::kTakeIn);
    Hold(part, blob);
  }
  EXPECT_EQ(Judge(PartOf(1, 3, blob, kStep + 1), blob), Fate::kNothing);
}

// [A cheat filled the room of an honest worker with parts of other columns.]
TEST_F(GateBulkTest, EarlyPartThatIsPassedOnTakesNoRoomAndIsRememberedForItsLink) {
  BeginStep();
  const SharedBlob blob = FloatsBlob(8);
  EXPECT_EQ(Judge(Sign(PartOf(1, 0, blob, kStep + 1)), IdOf(2), blob), Fate::kNothing);
  EXPECT_EQ(gate_.BeginStep(kStep + 1), std::set<PeerId>{IdOf(2)});
}

TEST_F(GateBulkTest, EarlyPartIsNoLargerThanAnyPartCanBe) {
  BeginStep();
  const std::size_t largest = LargestPart(scene::kFloats, 0);
  const SharedBlob fits = FloatsBlob(largest);
  const SharedBlob more = FloatsBlob(largest + 1);
  EXPECT_EQ(Judge(PartOf(1, 0, more, kStep + 1), more), Fate::kNothing);
  EXPECT_EQ(Judge(PartOf(1, 0, fits, kStep + 1), fits), Fate::kTakeIn);
}

TEST_F(GateBulkTest, OneEarlyResultIsTakenInAndARefusedOneNotRemembered) {
  BeginStep();
  const SharedBlob blob = FloatsBlob(8);
  EXPECT_EQ(Judge(ResultOf(1, 0, blob, kStep + 1), blob), Fate::kTakeIn);
  Hold(ResultOf(1, 0, blob, kStep + 1), blob);
  EXPECT_EQ(Judge(ResultOf(1, 1, blob, kStep + 1), blob), Fate::kNothing);
  EXPECT_TRUE(gate_.BeginStep(kStep + 1).empty());
}

// A member that may not come back follows for a thousand steps, and a cheat sends it a PART of
// somebody else in each.
TEST_F(GateBulkTest, RefusedPartsOfStepsThatAreOverAreForgotten) {
  Follow();
  const SharedBlob blob = FloatsBlob(8);
  for (std::uint64_t step = kStep; step < kStep + 10; ++step) {
    Block head = HeadBlock();
    head.step = step - 1;
    SetHead(head);
    EXPECT_EQ(Judge(Sign(PartOf(1, 0, blob, step + 2)), IdOf(2), blob), Fate::kNothing);
  }
  EXPECT_EQ(gate_.BeginStep(kStep + 10), std::set<PeerId>{IdOf(2)});
}

}  // namespace
}  // namespace ostraka::protocol::gate_bulk_test
