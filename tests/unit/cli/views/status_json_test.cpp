#include "node/cli/views/status_json.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "node/protocol/rules/lateness.h"
#include "tests/unit/cli/views/status_scene.h"

namespace ostraka::cli::status_json_test {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class StatusJsonTest : public ::testing::Test {
 protected:
  StatusScene scene_;
};

// --- the one line -------------------------------------------------------------------------------

TEST_F(StatusJsonTest, ARunThatGoesWellSaysSoWithoutNumbers) {
  const json news = scene_.Status()["news"];
  EXPECT_EQ(news["mood"], "good");
  EXPECT_EQ(news["headline"], "Training");
  EXPECT_EQ(news["detail"], "");
}

TEST_F(StatusJsonTest, AWaitNamesTheMembersAndItsLength) {
  scene_.status.progress.missing = {
      {PeerOf(2), "part"}, {PeerOf(2), "commit"}, {PeerOf(3), "part"}};
  scene_.status.since_progress = base::Milliseconds(500);
  EXPECT_EQ(scene_.Status()["news"]["mood"], "good") << "each step waits a little";
  scene_.status.since_progress = base::Seconds(20);
  const json news = scene_.Status()["news"];
  EXPECT_EQ(news["mood"], "waits");
  EXPECT_EQ(news["headline"], "Waiting for other members");
  EXPECT_EQ(news["detail"],
            "step 12: waiting 20 s for 0202020202020202, 0303030303030303; nothing is lost");
}

TEST_F(StatusJsonTest, AStalledRunIsBadNewsWithTheMembersAwaited) {
  scene_.status.progress.missing = {{PeerOf(3), "echo"}};
  scene_.status.since_progress = base::Seconds(65);
  const json news = scene_.Status()["news"];
  EXPECT_EQ(news["mood"], "bad");
  EXPECT_EQ(news["headline"], "No progress for too long");
  EXPECT_THAT(news["detail"].get<std::string>(), HasSubstr("waiting 65 s for 0303030303030303"));
}

TEST_F(StatusJsonTest, ManyAwaitedMembersAreCounted) {
  for (std::uint8_t n = 10; n < 20; ++n)
    scene_.status.progress.missing.push_back({PeerOf(n), "part"});
  scene_.status.since_progress = base::Seconds(10);
  EXPECT_THAT(scene_.Status()["news"]["detail"].get<std::string>(), HasSubstr("and 7 more"));
}

TEST_F(StatusJsonTest, BeforeTheFirstStepItWaitsForTheMembersToMeet) {
  scene_.status.met = false;
  scene_.status.linked.pop_back();
  scene_.status.progress.missing = {{PeerOf(4), "boot"}};
  scene_.status.since_progress = base::Seconds(1000);
  const json news = scene_.Status()["news"];
  EXPECT_EQ(news["mood"], "waits");
  EXPECT_THAT(news["detail"].get<std::string>(), HasSubstr("2 of 3 linked"));
}

TEST_F(StatusJsonTest, TheEndIsTheNews) {
  scene_.Done(scene_.BlockOf(199));
  scene_.status.outcome = {host::NodeEnd::kFinished, 200, "all steps are done"};
  json data = scene_.Status();
  EXPECT_EQ(data["running"], false);
  EXPECT_EQ(data["news"]["mood"], "good");
  EXPECT_EQ(data["news"]["headline"], "Finished");
  EXPECT_EQ(data["news"]["detail"], "all steps are done");
  EXPECT_EQ(data["step"], 200u);
  scene_.status.outcome = {host::NodeEnd::kBanned, 30, "it lied"};
  data = scene_.Status();
  EXPECT_EQ(data["news"]["mood"], "bad");
  EXPECT_EQ(data["news"]["headline"], "Banned");
  EXPECT_EQ(data["step"], 200u) << "steps that are done";
}

TEST_F(StatusJsonTest, ALossThatIsNoNumberOrRisesIsBadNewsAtOnce) {
  scene_.history.SeeEvaluation(9, {.metric = "accuracy", .value = 0.1, .loss = 2.0});
  scene_.history.SeeEvaluation(19, {.metric = "accuracy", .value = 0.1, .loss = 2.1});
  EXPECT_EQ(scene_.Status()["news"]["mood"], "good");
  scene_.history.SeeEvaluation(29, {.metric = "accuracy", .value = 0.1, .loss = 2.5});
  EXPECT_EQ(scene_.Status()["news"]["headline"], "The loss is rising");
  scene_.history.SeeEvaluation(
      39, {.metric = "accuracy", .value = 0.1, .loss = std::numeric_limits<double>::quiet_NaN()});
  const json news = scene_.Status()["news"];
  EXPECT_EQ(news["mood"], "bad");
  EXPECT_EQ(news["headline"], "Training has diverged");
  EXPECT_THAT(news["detail"].get<std::string>(), HasSubstr("after step 39"));
}

TEST_F(StatusJsonTest, ARunThatLearnedNothingDoesNotEndWell) {
  for (std::uint64_t step = 0; step < 60; step += 10) {
    scene_.history.SeeEvaluation(step == 0 ? 0 : step - 1,
                                 {.metric = "accuracy", .value = 0.1, .loss = 2.3});
  }
  EXPECT_EQ(scene_.Status()["news"]["headline"], "The loss does not fall");
  scene_.status.outcome = host::NodeOutcome{host::NodeEnd::kFinished, 49, "all steps are done"};
  const json news = scene_.Status()["news"];
  EXPECT_EQ(news["mood"], "bad");
  EXPECT_EQ(news["headline"], "Finished. The loss does not fall");
  EXPECT_THAT(news["detail"].get<std::string>(),
              HasSubstr("all steps are done; the loss does not fall"));
}

TEST_F(StatusJsonTest, AnAwayNodeSaysWhy) {
  scene_.See(protocol::Away{3, "it fell behind"});
  EXPECT_EQ(scene_.Status()["news"]["detail"],
            "out of the run, and asks to return: it fell behind");
  EXPECT_EQ(scene_.Key(1)["state"], "away");
}

// --- progress, learning, price ------------------------------------------------------------------

TEST_F(StatusJsonTest, ProgressHasRateAndTimeLeft) {
  const json status = scene_.Status();
  EXPECT_EQ(status["step"], 12u);
  EXPECT_EQ(status["steps"], 200u);
  EXPECT_DOUBLE_EQ(status["seconds_per_step"], 0.34);
  EXPECT_NEAR(status["eta_seconds"], 188 * 0.34, 0.01);
  scene_.status.recent_step = {};
  EXPECT_FALSE(scene_.Status().contains("eta_seconds"));
}

TEST_F(StatusJsonTest, ThePriceIsTheMeanOfTheStepsThatWereTimed) {
  EXPECT_FALSE(scene_.Status().contains("price"));
  for (std::uint64_t step = 0; step < 3; ++step) {
    scene_.Begin(step);
    const auto ns = static_cast<std::int64_t>(step) * 1'000'000'000;
    scene_.See(protocol::StepTimes{step, ns, 2 * ns, 3 * ns});
    scene_.Done(scene_.BlockOf(step));
  }
  const json price = scene_.Status()["price"];  // of steps 1 and 2: step 0 has no times
  EXPECT_DOUBLE_EQ(price["compute"], 1.5);
  EXPECT_DOUBLE_EQ(price["aggregate"], 3);
  EXPECT_DOUBLE_EQ(price["agree"], 4.5);
  EXPECT_THAT(scene_.Status()["phases"], SizeIs(3));
}

TEST_F(StatusJsonTest, AwaitedMessagesAreListedAndCounted) {
  scene_.status.progress.missing = {
      {PeerOf(2), "part"}, {PeerOf(3), "commit"}, {PeerOf(4), "part"}};
  scene_.status.linked = {PeerOf(2), PeerOf(3)};
  const json status = scene_.Status();
  ASSERT_THAT(status["waits_for"], SizeIs(3));
  EXPECT_EQ(status["waits_for"][0]["linked"], true);
  EXPECT_EQ(status["waits_for"][2]["linked"], false);
  EXPECT_EQ(status["awaited"], (json{{"part", 2}, {"commit", 1}}));
}

// A loss that is no number is one for the page and the metrics, and null for programs.
TEST_F(StatusJsonTest, ALossThatIsNoNumberIsNullOnceItIsPrinted) {
  scene_.history.SeeEvaluation(
      9, {.metric = "loss", .value = 1, .loss = std::numeric_limits<double>::infinity()});
  const json points = scene_.Status()["curve"]["points"];
  EXPECT_TRUE(std::isinf(points[0][1].get<double>()));
  EXPECT_TRUE(json::parse(points.dump())[0][1].is_null());
}

// --- members ------------------------------------------------------------------------------------

TEST_F(StatusJsonTest, EachMemberHasItsState) {
  EXPECT_EQ(scene_.Key(2)["state"], "ready");
  scene_.Done(scene_.BlockOf(4));
  scene_.Begin(5);
  scene_.status.linked = {PeerOf(2), PeerOf(3)};
  const json data = scene_.Status();
  EXPECT_EQ(scene_.Key(1)["state"], "trains");
  EXPECT_EQ(scene_.Key(2)["state"], "trains");
  EXPECT_EQ(scene_.Key(3)["state"], "checks");
  EXPECT_EQ(scene_.Key(4)["state"], "away");
  scene_.status.linked.clear();
  scene_.status.outcome = {host::NodeEnd::kFinished, 5, "all steps are done"};
  EXPECT_EQ(scene_.Key(4)["state"], "checks") << "links close at the end";
}

TEST_F(StatusJsonTest, ALinkedMemberThatTheRunWaitsForIsAsleep) {
  scene_.Begin(5);
  scene_.status.progress.missing = {{PeerOf(3), "commit"}, {PeerOf(2), "echo"}};
  scene_.status.since_progress = base::Seconds(1);
  EXPECT_EQ(scene_.Key(3)["state"], "checks") << "a usual wait";
  scene_.status.since_progress = base::Seconds(10);
  const json data = scene_.Status();
  EXPECT_EQ(scene_.Key(3)["state"], "asleep");
  EXPECT_EQ(scene_.Key(2)["state"], "trains") << "its echo waits for member 3";
  scene_.status.linked = {PeerOf(2), PeerOf(4)};
  EXPECT_EQ(scene_.Key(3)["state"], "away");
}

TEST_F(StatusJsonTest, ARunThatHasNotBegunHasNoMemberAsleep) {
  scene_.status.met = false;
  scene_.status.progress.missing = {{PeerOf(3), "boot"}};
  scene_.status.since_progress = base::Seconds(1000);
  EXPECT_EQ(scene_.Key(3)["state"], "ready");
}

TEST_F(StatusJsonTest, PartiesOfAnOpenCaseAreOnTrial) {
  scene_.Begin(5);
  wire::Block block = scene_.BlockOf(5);
  wire::Case open;
  open.id = {
      .kind = wire::CaseKind::kGradient, .accuser = PeerOf(3), .target = PeerOf(2), .step = 4};
  block.cases = {open};
  scene_.Done(block);
  const json data = scene_.Status();
  EXPECT_EQ(scene_.Key(2)["state"], "on trial");
  EXPECT_EQ(scene_.Key(3)["state"], "on trial");
  EXPECT_EQ(scene_.Key(1)["state"], "trains");
}

TEST_F(StatusJsonTest, BansDropsAndReturnsAreThreeStates) {
  scene_.Remove(2, wire::RemovalKind::kDrop, 3, "silent");
  EXPECT_EQ(scene_.Key(2)["state"], "dropped");
  EXPECT_FALSE(scene_.Key(2).contains("asks"));

  wire::Block asking = scene_.BlockOf(4);
  std::erase(asking.members, PeerOf(2));
  asking.standings = {{PeerOf(2), false, 1, 3, 0}};
  asking.candidates = {{PeerOf(2), 4, 4}};
  scene_.Done(asking);
  EXPECT_TRUE(scene_.Key(2).contains("asks"));

  wire::Block back = scene_.BlockOf(9);
  back.standings = {{PeerOf(2), false, 1, 3, 0}};
  back.joined = {PeerOf(2)};
  scene_.Done(back);
  scene_.Begin(10);
  json data = scene_.Status();
  EXPECT_EQ(scene_.Key(2)["state"], "trains");
  EXPECT_TRUE(scene_.Key(2).contains("returned"));
  ASSERT_THAT(data["removals"], SizeIs(1));
  EXPECT_EQ(data["removals"][0]["kind"], "drop");
  EXPECT_EQ(data["removals"][0]["returned"], 9u);

  scene_.Remove(2, wire::RemovalKind::kVerdict, 20, "it lied");
  data = scene_.Status();
  EXPECT_EQ(scene_.Key(2)["state"], "banned");
  EXPECT_FALSE(scene_.Key(2).contains("returned"));
  EXPECT_EQ(data["removals"].back()["kind"], "verdict") << "the newest comes last";
  EXPECT_EQ(data["removals"].back()["step"], 20u);
}

TEST_F(StatusJsonTest, ABanTakesVerifiedSamplesAway) {
  scene_.Work(0, 4);
  scene_.Work(1, 2);
  EXPECT_EQ(scene_.Key(1)["samples"], 2 * kBatch);
  EXPECT_EQ(scene_.Key(2)["samples"], 2 * kBatch);
  EXPECT_EQ(scene_.Key(4)["samples"], kBatch);
  scene_.Remove(2, wire::RemovalKind::kEvidence, 2, "two messages");
  EXPECT_EQ(scene_.Key(2)["samples"], 0u);
  EXPECT_EQ(scene_.Key(1)["samples"], 2 * kBatch);
}

TEST_F(StatusJsonTest, MembersHaveLagAndBytes) {
  wire::Block block = scene_.BlockOf(1);
  block.lateness = {{PeerOf(3), 1500}};
  scene_.Done(block);
  scene_.status.traffic.by_peer[PeerOf(3)] = {
      .control_sent = 1, .control_received = 2, .payload_sent = 10, .payload_received = 20};
  const json key = scene_.Key(3);
  EXPECT_EQ(key["late_ms"], 1500u);
  EXPECT_EQ(key["sent_bytes"], 11u);
  EXPECT_EQ(key["received_bytes"], 22u);
  EXPECT_FALSE(scene_.Key(2).contains("sent_bytes"));
  EXPECT_EQ(scene_.Status()["late_allowed_ms"], protocol::AllowanceMs(block, *scene_.manifest));
}

TEST_F(StatusJsonTest, ThisNodeComesFirstThenNamesThenIds) {
  scene_.run.names = MemberNames({{PeerOf(4), "anna"}, {PeerOf(3), "bert"}});
  std::vector<std::string> order;
  const json seen = scene_.Status();
  for (const json& key : seen["keys"]) {
    order.push_back(key["peer"].get<std::string>().substr(0, 2));
  }
  EXPECT_THAT(order, ElementsAre("01", "04", "03", "02"));
  EXPECT_EQ(scene_.Key(1)["self"], true);
  EXPECT_EQ(scene_.Status()["names"][PeerOf(4).Hex()], "anna");
}

TEST_F(StatusJsonTest, ProofsStandBesideTheBanOfTheirAccused) {
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
  const json removals = scene_.Status()["removals"];
  ASSERT_THAT(removals, SizeIs(2));
  EXPECT_FALSE(removals[0].contains("evidence"));
  ASSERT_THAT(removals[1]["evidence"], SizeIs(1));
  EXPECT_EQ(removals[1]["evidence"][0],
            (json{{"id", id.Hex()}, {"kind", "false_reveal"}, {"messages", 1}}));
  for (int more = 0; more < 3; ++more) {
    scene_.history.RecallProof({base::Digest{}, PeerOf(2), wire::EvidenceKind::kFalseReveal, 1});
  }
  EXPECT_EQ(scene_.Status()["removals"][1]["evidence_more"], 2u);
}

TEST_F(StatusJsonTest, ABanHasItsVotes) {
  wire::Block block = scene_.BlockOf(3);
  block.removals = {{PeerOf(2), wire::RemovalKind::kVerdict, 3, {.old_text = "it lied"}}};
  protocol::RuledCase ruled{PeerOf(2), wire::Verdict::kGuilty, {}, 9};
  for (std::uint8_t n = 10; n < 16; ++n) {
    ruled.ballots.push_back({PeerOf(n), wire::Verdict::kGuilty});
  }
  ruled.ballots.push_back({PeerOf(20), wire::Verdict::kInnocent});
  scene_.See(protocol::StepDone{std::make_shared<const wire::Block>(block), {}, {ruled}});
  const json votes = scene_.Status()["removals"][0]["votes"];
  EXPECT_EQ(votes["voters"], 9u);
  EXPECT_EQ(votes["against"], 6u);
  EXPECT_THAT(votes["against_by"], SizeIs(kVotersInStatus));
  EXPECT_EQ(votes["in_favour"], 1u);
  EXPECT_THAT(votes["in_favour_by"], ElementsAre(PeerOf(20).Hex()));
}

TEST_F(StatusJsonTest, TheDoorSaysWhoAsksAndWhoVouches) {
  EXPECT_FALSE(scene_.Status().contains("join")) << "before the first block";
  scene_.manifest->join = {protocol::JoinPolicy::kInvite, {}, {PeerOf(20)}, 4, 8};
  wire::Voucher voucher;
  voucher.moderator = PeerOf(20);
  wire::Block asks = scene_.BlockOf(1);
  asks.candidates = {{PeerOf(7), 1, 1, voucher}};
  scene_.Done(asks);
  const json door = scene_.Status()["join"];
  EXPECT_EQ(door["policy"], "invite");
  EXPECT_EQ(door["seats"], 8u);
  EXPECT_EQ(door["moderators"][0]["quota"], 4u);
  ASSERT_THAT(door["asking"], SizeIs(1));
  EXPECT_EQ(door["asking"][0]["moderator"], PeerOf(20).Hex());
  EXPECT_FALSE(door.contains("asking_more"));
  wire::Block comes = scene_.BlockOf(2);
  comes.members.push_back(PeerOf(7));
  comes.joined = {PeerOf(7)};
  scene_.Done(comes);
  EXPECT_EQ(scene_.Status()["join"]["vouched"], (json{{PeerOf(7).Hex(), PeerOf(20).Hex()}}));
}

TEST_F(StatusJsonTest, OfManyThatAskTheFirstAreTold) {
  scene_.manifest->join = {protocol::JoinPolicy::kInvite, {}, {PeerOf(20)}, 4, 8};
  wire::Block asks = scene_.BlockOf(1);
  for (std::uint8_t n = 100; n < 200; ++n) {
    wire::Voucher voucher;
    voucher.moderator = PeerOf(20);
    asks.candidates.push_back({PeerOf(n), 1, 1, voucher});
  }
  scene_.Done(asks);
  const json door = scene_.Status()["join"];
  EXPECT_THAT(door["asking"], SizeIs(kAskingInStatus));
  EXPECT_EQ(door["asking_more"], 100 - kAskingInStatus);
}

}  // namespace
}  // namespace ostraka::cli::status_json_test
