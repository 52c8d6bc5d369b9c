#include "node/cli/page/page_data.h"

#include <gmock/gmock.h>

#include <limits>

#include "node/protocol/rules/lateness.h"
#include "tests/unit/cli/page/page_fixture.h"

namespace ostraka::cli::page_data_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class PageDataTest : public ::testing::Test {
 protected:
  PageScene scene_;
};

// --- the one line -------------------------------------------------------------------------------

TEST_F(PageDataTest, ARunThatGoesWellSaysSoWithoutNumbers) {
  const PageNews news = scene_.Data().news;
  EXPECT_EQ(news.mood, Mood::kGood);
  EXPECT_EQ(news.headline, "Training");
  EXPECT_EQ(news.detail, "");
}

TEST_F(PageDataTest, AWaitNamesTheMembersAndItsLength) {
  scene_.status.progress.missing = {
      {PeerOf(2), "part"}, {PeerOf(2), "commit"}, {PeerOf(3), "part"}};
  scene_.status.since_progress = base::Milliseconds(500);
  EXPECT_EQ(scene_.Data().news.mood, Mood::kGood) << "each step waits a little";
  scene_.status.since_progress = base::Seconds(20);
  const PageNews news = scene_.Data().news;
  EXPECT_EQ(news.mood, Mood::kWaits);
  EXPECT_EQ(news.headline, "Waiting for other members");
  EXPECT_EQ(news.detail, "step 12: waiting 20 s for 02020202, 03030303; nothing is lost");
}

TEST_F(PageDataTest, AStalledRunIsBadNewsWithTheMembersAwaited) {
  scene_.run.names = MemberNames({{PeerOf(3), "carol"}});
  scene_.status.progress.missing = {{PeerOf(3), "echo"}};
  scene_.status.since_progress = base::Seconds(65);
  const PageNews news = scene_.Data().news;
  EXPECT_EQ(news.mood, Mood::kBad);
  EXPECT_EQ(news.headline, "No progress for too long");
  EXPECT_THAT(news.detail, HasSubstr("waiting 65 s for carol"));
}

TEST_F(PageDataTest, ManyAwaitedMembersAreCounted) {
  for (std::uint8_t n = 10; n < 20; ++n)
    scene_.status.progress.missing.push_back({PeerOf(n), "part"});
  scene_.status.since_progress = base::Seconds(10);
  EXPECT_THAT(scene_.Data().news.detail, HasSubstr("and 7 more"));
}

TEST_F(PageDataTest, BeforeTheFirstStepItWaitsForTheMembersToMeet) {
  scene_.status.met = false;
  scene_.status.linked.pop_back();
  scene_.status.progress.missing = {{PeerOf(4), "boot"}};
  scene_.status.since_progress = base::Seconds(1000);
  const PageNews news = scene_.Data().news;
  EXPECT_EQ(news.mood, Mood::kWaits);
  EXPECT_THAT(news.detail, HasSubstr("2 of 3 linked"));
}

TEST_F(PageDataTest, TheEndIsTheNews) {
  scene_.Done(scene_.BlockOf(199));
  scene_.status.outcome = {host::NodeEnd::kFinished, 200, "all steps are done"};
  PageData data = scene_.Data();
  EXPECT_TRUE(data.ended);
  EXPECT_EQ(data.news.mood, Mood::kGood);
  EXPECT_EQ(data.news.headline, "Finished");
  EXPECT_EQ(data.news.detail, "all steps are done");
  EXPECT_EQ(data.progress.step, 200u);
  EXPECT_THAT(data.awaited, IsEmpty());
  scene_.status.outcome = {host::NodeEnd::kBanned, 30, "it lied"};
  data = scene_.Data();
  EXPECT_EQ(data.news.mood, Mood::kBad);
  EXPECT_EQ(data.news.headline, "Banned");
  EXPECT_EQ(data.progress.step, 200u) << "steps that are done";
}

TEST_F(PageDataTest, ALossThatIsNoNumberOrRisesIsBadNewsAtOnce) {
  scene_.history.SeeEvaluation(9, {.metric = "accuracy", .value = 0.1, .loss = 2.0});
  scene_.history.SeeEvaluation(19, {.metric = "accuracy", .value = 0.1, .loss = 2.1});
  EXPECT_EQ(scene_.Data().news.mood, Mood::kGood);
  scene_.history.SeeEvaluation(29, {.metric = "accuracy", .value = 0.1, .loss = 2.5});
  EXPECT_EQ(scene_.Data().news.headline, "The loss is rising");
  scene_.history.SeeEvaluation(
      39, {.metric = "accuracy", .value = 0.1, .loss = std::numeric_limits<double>::quiet_NaN()});
  const PageNews news = scene_.Data().news;
  EXPECT_EQ(news.mood, Mood::kBad);
  EXPECT_EQ(news.headline, "Training has diverged");
  EXPECT_THAT(news.detail, HasSubstr("after step 39"));
}

TEST_F(PageDataTest, ARunThatLearnedNothingDoesNotEndWell) {
  for (std::uint64_t step = 0; step < 60; step += 10) {
    scene_.history.SeeEvaluation(step == 0 ? 0 : step - 1,
                                 {.metric = "accuracy", .value = 0.1, .loss = 2.3});
  }
  EXPECT_EQ(scene_.Data().news.headline, "The loss does not fall");
  scene_.status.outcome = host::NodeOutcome{host::NodeEnd::kFinished, 49, "all steps are done"};
  const PageNews news = scene_.Data().news;
  EXPECT_EQ(news.mood, Mood::kBad);
  EXPECT_EQ(news.headline, "Finished. The loss does not fall");
  EXPECT_THAT(news.detail, HasSubstr("all steps are done; the loss does not fall"));
}

TEST_F(PageDataTest, AnAwayNodeSaysWhy) {
  scene_.See(protocol::Away{3, "it fell behind"});
  EXPECT_EQ(scene_.Data().news.detail, "out of the run, and asks to return: it fell behind");
  EXPECT_EQ(scene_.Member(scene_.Data(), 1).state, MemberState::kAway);
}

// --- progress, learning, price ------------------------------------------------------------------

TEST_F(PageDataTest, ProgressHasRateAndTimeLeft) {
  const PageProgress progress = scene_.Data().progress;
  EXPECT_EQ(progress.step, 12u);
  EXPECT_EQ(progress.steps, 200u);
  EXPECT_DOUBLE_EQ(*progress.seconds_per_step, 0.34);
  EXPECT_NEAR(*progress.seconds_left, 188 * 0.34, 0.01);
  scene_.status.recent_step = {};
  EXPECT_EQ(scene_.Data().progress.seconds_left, std::nullopt);
}

TEST_F(PageDataTest, ThePriceIsTheMeanOfTheStepsThatWereTimed) {
  EXPECT_FALSE(scene_.Data().price.has_value());
  for (std::uint64_t step = 0; step < 3; ++step) {
    scene_.Begin(step);
    const auto ns = static_cast<std::int64_t>(step) * 1'000'000'000;
    scene_.See(protocol::StepTimes{step, ns, 2 * ns, 3 * ns});
    scene_.Done(scene_.BlockOf(step));
  }
  const PagePrice price = *scene_.Data().price;  // of steps 1 and 2: step 0 has no times
  EXPECT_DOUBLE_EQ(price.compute, 1.5);
  EXPECT_DOUBLE_EQ(price.aggregate, 3);
  EXPECT_DOUBLE_EQ(price.agree, 4.5);
}

TEST_F(PageDataTest, AwaitedMessagesAreGroupedByKind) {
  scene_.status.progress.missing = {
      {PeerOf(2), "part"}, {PeerOf(3), "commit"}, {PeerOf(4), "part"}};
  scene_.status.linked = {PeerOf(2), PeerOf(3)};
  const std::vector<PageAwaited> awaited = scene_.Data().awaited;
  ASSERT_THAT(awaited, SizeIs(2));
  EXPECT_EQ(awaited[0].message, "part");
  ASSERT_THAT(awaited[0].authors, SizeIs(2));
  EXPECT_TRUE(awaited[0].authors[0].linked);
  EXPECT_FALSE(awaited[0].authors[1].linked);
}

// --- members ------------------------------------------------------------------------------------

TEST_F(PageDataTest, EachMemberHasItsState) {
  EXPECT_EQ(scene_.Member(scene_.Data(), 2).state, MemberState::kReady);
  scene_.Done(scene_.BlockOf(4));
  scene_.Begin(5);
  scene_.status.linked = {PeerOf(2), PeerOf(3)};
  const PageData data = scene_.Data();
  EXPECT_EQ(scene_.Member(data, 1).state, MemberState::kTrains);
  EXPECT_EQ(scene_.Member(data, 2).state, MemberState::kTrains);
  EXPECT_EQ(scene_.Member(data, 3).state, MemberState::kChecks);
  EXPECT_EQ(scene_.Member(data, 4).state, MemberState::kAway);
  scene_.status.linked.clear();
  scene_.status.outcome = {host::NodeEnd::kFinished, 5, "all steps are done"};
  EXPECT_EQ(scene_.Member(scene_.Data(), 4).state, MemberState::kChecks)
      << "links close at the end";
}

TEST_F(PageDataTest, ALinkedMemberThatTheRunWaitsForIsAsleep) {
  scene_.Begin(5);
  scene_.status.progress.missing = {{PeerOf(3), "commit"}, {PeerOf(2), "echo"}};
  scene_.status.since_progress = base::Seconds(1);
  EXPECT_EQ(scene_.Member(scene_.Data(), 3).state, MemberState::kChecks) << "a usual wait";
  scene_.status.since_progress = base::Seconds(10);
  const PageData data = scene_.Data();
  EXPECT_EQ(scene_.Member(data, 3).state, MemberState::kAsleep);
  EXPECT_EQ(scene_.Member(data, 2).state, MemberState::kTrains) << "its echo waits for member 3";
  scene_.status.linked = {PeerOf(2), PeerOf(4)};
  EXPECT_EQ(scene_.Member(scene_.Data(), 3).state, MemberState::kAway);
}

TEST_F(PageDataTest, ARunThatHasNotBegunHasNoMemberAsleep) {
  scene_.status.met = false;
  scene_.status.progress.missing = {{PeerOf(3), "boot"}};
  scene_.status.since_progress = base::Seconds(1000);
  EXPECT_EQ(scene_.Member(scene_.Data(), 3).state, MemberState::kReady);
}

TEST_F(PageDataTest, TheCurveSaysIfItBeginsAfterTheRun) {
  scene_.history.SeeEvaluation(9990, {.metric = "loss", .value = 1, .loss = 1});
  EXPECT_EQ(scene_.Data().learning.begins_late, 9990u);
  PageScene whole;
  whole.history.SeeEvaluation(0, {.metric = "loss", .value = 1, .loss = 1});
  EXPECT_EQ(whole.Data().learning.begins_late, std::nullopt);
}

TEST_F(PageDataTest, PartiesOfAnOpenCaseAreOnTrial) {
  scene_.Begin(5);
  wire::Block block = scene_.BlockOf(5);
  wire::Case open;
  open.id = {
      .kind = wire::CaseKind::kGradient, .accuser = PeerOf(3), .target = PeerOf(2), .step = 4};
  block.cases = {open};
  scene_.Done(block);
  const PageData data = scene_.Data();
  EXPECT_EQ(scene_.Member(data, 2).state, MemberState::kOnTrial);
  EXPECT_EQ(scene_.Member(data, 3).state, MemberState::kOnTrial);
  EXPECT_EQ(scene_.Member(data, 1).state, MemberState::kTrains);
}

TEST_F(PageDataTest, BansDropsAndReturnsAreThreeStates) {
  scene_.Remove(2, wire::RemovalKind::kDrop, 3, "silent");
  EXPECT_EQ(scene_.Member(scene_.Data(), 2).state, MemberState::kDropped);
  EXPECT_FALSE(scene_.Member(scene_.Data(), 2).asks);

  wire::Block asking = scene_.BlockOf(4);
  std::erase(asking.members, PeerOf(2));
  asking.standings = {{PeerOf(2), false, 1, 3, 0}};
  asking.candidates = {{PeerOf(2), 4, 4}};
  scene_.Done(asking);
  EXPECT_TRUE(scene_.Member(scene_.Data(), 2).asks);

  wire::Block back = scene_.BlockOf(9);
  back.standings = {{PeerOf(2), false, 1, 3, 0}};
  back.joined = {PeerOf(2)};
  scene_.Done(back);
  scene_.Begin(10);
  PageData data = scene_.Data();
  EXPECT_EQ(scene_.Member(data, 2).state, MemberState::kTrains);
  EXPECT_TRUE(scene_.Member(data, 2).returned);
  ASSERT_THAT(data.removals, SizeIs(1));
  EXPECT_FALSE(data.removals.front().ban);
  EXPECT_EQ(data.removals.front().returned, 9u);

  scene_.Remove(2, wire::RemovalKind::kVerdict, 20, "it lied");
  data = scene_.Data();
  EXPECT_EQ(scene_.Member(data, 2).state, MemberState::kBanned);
  EXPECT_FALSE(scene_.Member(data, 2).returned);
  EXPECT_TRUE(data.removals.front().ban) << "the newest comes first";
  EXPECT_EQ(data.removals.front().step, 20u);
}

TEST_F(PageDataTest, ABanTakesVerifiedSamplesAway) {
  scene_.Work(0, 4);
  scene_.Work(1, 2);
  PageData data = scene_.Data();
  EXPECT_EQ(scene_.Member(data, 1).samples, 2 * kBatch);
  EXPECT_EQ(scene_.Member(data, 4).samples, kBatch);
  EXPECT_DOUBLE_EQ(scene_.Member(data, 4).share, 1.0 / 6);
  EXPECT_EQ(data.members[data.leaders.places.front()].samples, 2 * kBatch);
  EXPECT_THAT(data.leaders.places, SizeIs(4));
  scene_.Remove(2, wire::RemovalKind::kEvidence, 2, "two messages");
  data = scene_.Data();
  EXPECT_EQ(scene_.Member(data, 2).samples, 0u);
  EXPECT_DOUBLE_EQ(scene_.Member(data, 1).share, 0.5);
  EXPECT_THAT(data.leaders.places, SizeIs(3));
}

TEST_F(PageDataTest, MembersHaveLagAndBytes) {
  wire::Block block = scene_.BlockOf(1);
  block.lateness = {{PeerOf(3), 1500}};
  scene_.Done(block);
  scene_.status.traffic.by_peer[PeerOf(3)] = {
      .control_sent = 1, .control_received = 2, .payload_sent = 10, .payload_received = 20};
  const PageData data = scene_.Data();
  const PageMember& member = scene_.Member(data, 3);
  EXPECT_EQ(member.late_ms, 1500u);
  EXPECT_EQ(member.sent, 11u);
  EXPECT_EQ(member.received, 22u);
  EXPECT_EQ(data.late_allowed_ms, protocol::AllowanceMs(block, *scene_.manifest));
}

TEST_F(PageDataTest, ThisNodeComesFirstThenNamesThenIds) {
  scene_.run.names = MemberNames({{PeerOf(4), "anna"}, {PeerOf(3), "bert"}});
  std::vector<std::string> order;
  for (const PageMember& member : scene_.Data().members) {
    order.push_back(member.peer.name.empty() ? member.peer.id.substr(0, 2) : member.peer.name);
  }
  EXPECT_THAT(order, ElementsAre("01", "anna", "bert", "02"));
}

TEST_F(PageDataTest, ProofsStandBesideTheBanOfTheirAccused) {
  wire::EvidenceFile file;
  file.accused = PeerOf(2);
  file.kind = wire::EvidenceKind::kFalseReveal;
  file.frames = {base::Bytes{1}};
  const base::PeerId id = PeerOf(9);
  scene_.history.SeeStored({protocol::RecordKind::kEvidence,
                            {id.bytes.begin(), id.bytes.end()},
                            wire::EncodeEvidence(file)});
  scene_.Remove(3, wire::RemovalKind::kEvidence, 1, "other");
  scene_.Remove(2, wire::RemovalKind::kEvidence, 2, "false coin");
  const PageData data = scene_.Data();
  ASSERT_THAT(data.removals, SizeIs(2));
  ASSERT_THAT(data.removals[0].proofs, SizeIs(1));
  EXPECT_EQ(data.removals[0].proofs[0].id, id.Hex());
  EXPECT_EQ(data.removals[0].proofs[0].text, "false reveal, 1 signed message");
  EXPECT_THAT(data.removals[1].proofs, IsEmpty());
}

TEST_F(PageDataTest, TheDoorSaysWhoAsksAndWhoVouches) {
  scene_.manifest->join = {protocol::JoinPolicy::kInvite, {}, {PeerOf(20)}, 4, 8};
  wire::Voucher voucher;
  voucher.moderator = PeerOf(20);
  wire::Block asks = scene_.BlockOf(1);
  asks.candidates = {{PeerOf(7), 1, 1, voucher}};
  scene_.Done(asks);
  ASSERT_TRUE(scene_.Data().door.has_value());
  const PageDoor door = *scene_.Data().door;
  EXPECT_EQ(door.policy, "invite");
  EXPECT_EQ(door.seats, 8u);
  ASSERT_THAT(door.asking, SizeIs(1));
  EXPECT_EQ(door.asking[0].moderator->id, PeerOf(20).Hex());
  wire::Block comes = scene_.BlockOf(2);
  comes.members.push_back(PeerOf(7));
  comes.joined = {PeerOf(7)};
  scene_.Done(comes);
  const PageData data = scene_.Data();
  EXPECT_EQ(scene_.Member(data, 7).vouched->id, PeerOf(20).Hex());
  EXPECT_FALSE(scene_.Member(data, 1).vouched.has_value());
}

}  // namespace
}  // namespace ostraka::cli::page_data_test
