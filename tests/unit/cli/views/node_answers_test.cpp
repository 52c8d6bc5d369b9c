#include "node/cli/views/node_answers.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/unit/cli/views/status_scene.h"

namespace ostraka::cli::node_answers_test {
namespace {

using nlohmann::json;

json StatusOf(const host::NodeStatus& status) {
  const http::HttpResponse answer = AnswerHttp("/status", StatusScene().run, status, {});
  EXPECT_EQ(answer.status, 200u);
  return json::parse(answer.body);
}

TEST(NodeAnswersTest, OfLongListsTheStatusTellsHowManyMore) {
  host::NodeStatus status;
  status.met = true;
  for (int n = 0; n < 256; ++n) {
    const base::PeerId id = PeerOf(static_cast<std::uint8_t>(n));
    status.others.push_back(id);
    for (const char* message : {"commit", "part", "aggregate"}) {
      status.progress.missing.push_back({id, message});
    }
    for (int i = 0; i < 4; ++i) {
      status.removals.push_back({{id,
                                  wire::RemovalKind::kDrop,
                                  static_cast<std::uint64_t>(n),
                                  {.old_text = std::string(wire::kMaxReasonBytes, 'r')}},
                                 1'000'000,
                                 std::nullopt});
    }
  }
  const json result = StatusOf(status);
  EXPECT_EQ(result["waits_for"].size(), 256u);
  EXPECT_EQ(result["waits_for_more"], 512u);
  EXPECT_EQ(result["removals"].size(), 64u);
  EXPECT_EQ(result["removals_earlier"], 960u);
  EXPECT_EQ(result["removals"].back()["step"], 255u) << "the newest is the last";
  EXPECT_EQ(result["unlinked"].size(), 256u);
}

TEST(NodeAnswersTest, AShortStatusIsWhole) {
  host::NodeStatus status;
  status.progress.missing = {{PeerOf(1), "commit"}};
  status.removals = {{{PeerOf(2), wire::RemovalKind::kVerdict, 3, {.old_text = "it lied"}}, {}, {}},
                     {{PeerOf(3), wire::RemovalKind::kDrop, 4, {.old_text = "silent"}}, 9, {}}};
  const json result = StatusOf(status);
  EXPECT_EQ(result["waits_for"].size(), 1u);
  ASSERT_EQ(result["removals"].size(), 2u);
  EXPECT_FALSE(result["removals"][0].contains("returned"));
  EXPECT_EQ(result["removals"][1]["returned"], 9);
  EXPECT_FALSE(result.contains("waits_for_more"));
  EXPECT_FALSE(result.contains("removals_earlier"));
}

TEST(NodeAnswersTest, TheStatusSaysWhoDialedAndWhatToOpen) {
  host::NodeStatus status;
  status.reach.dial_back = {true, 9000, {}};
  for (int n = 1; n <= 40; ++n) {
    net::DialedBack found;
    found.peer = PeerOf(static_cast<std::uint8_t>(n));
    found.from = std::to_string(n);
    found.outcome = net::DialOutcome::kReached;  // a link that came in
    if (n > 38) {
      found.outcome = net::DialOutcome::kRefused;
      found.where = dht::Endpoint::V4(0xcb007107, 9000);
    }
    status.reach.dial_back.results.push_back(found);
  }
  json dial_back = StatusOf(status)["dial_back"];
  EXPECT_EQ(dial_back["port"], 9000);
  ASSERT_EQ(dial_back["results"].size(), 16u);
  EXPECT_EQ(dial_back["results"][0]["outcome"], "refused") << "dials are first";
  EXPECT_EQ(dial_back["results"][0]["address"], "203.0.113.7:9000");
  EXPECT_EQ(dial_back["results"][0]["peer"], PeerOf(39).Hex());
  EXPECT_FALSE(dial_back["results"][2].contains("address"));
  EXPECT_FALSE(dial_back.contains("advice")) << "others reached it";
  status.reach.dial_back.results.erase(status.reach.dial_back.results.begin(),
                                       status.reach.dial_back.results.begin() + 38);
  EXPECT_THAT(StatusOf(status)["dial_back"]["advice"].get<std::string>(),
              testing::HasSubstr("TCP port 9000"));
  status.only_dial.insert(status.self);
  EXPECT_FALSE(StatusOf(status)["dial_back"].contains("advice")) << "it declares so";
}

TEST(NodeAnswersTest, EachPathHasItsAnswer) {
  StatusScene scene;
  const auto ask = [&](const char* path) {
    return AnswerHttp(path, scene.run, scene.Seen(), scene.history);
  };
  EXPECT_EQ(json::parse(ask("/status").body)["step"], 12u);
  EXPECT_THAT(ask("/metrics").body, testing::HasSubstr("\nostraka_step 12\n"));
  EXPECT_EQ(ask("/healthz").status, 200u);
  EXPECT_EQ(ask("/").status, 200u);
  EXPECT_EQ(ask("/else").status, 404u);
}

TEST(NodeAnswersTest, EachFamilyOfTheMetricsIsOpenedOnce) {
  StatusScene scene;
  scene.Begin(11);
  scene.Work(11, 3);
  scene.Remove(4, wire::RemovalKind::kVerdict, 12, "it lied");
  scene.status.suspicions["echo"] = 3;
  scene.status.traffic.by_peer[PeerOf(2)] = {.control_sent = 5, .control_received = 7};
  scene.status.learning.evaluation = {.metric = "accuracy", .value = 0.5, .loss = 1.5};
  const std::string text = AnswerHttp("/metrics", scene.run, scene.Seen(), scene.history).body;
  std::set<std::string> families;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("# TYPE ")) continue;
    EXPECT_TRUE(families.insert(line.substr(7, line.find(' ', 7) - 7)).second) << line;
  }
  EXPECT_GE(families.size(), 49u) << "more where a node is out of its run, or has names";
  for (const char* line :
       {"ostraka_former_members{why=\"banned\"} 1", "ostraka_suspicions_total{check=\"echo\"} 3",
        "ostraka_peer_sent_bytes_total{peer=\"0202020202020202\"} 5",
        "ostraka_peer_linked{peer=\"0202020202020202\"} 1", "ostraka_member 1",
        "ostraka_evaluation{metric=\"accuracy\"} 0.5", "ostraka_evaluation{metric=\"loss\"} 1.5",
        "ostraka_phase{phase=\"collect\"} 1", "ostraka_step_duration_seconds_count 0",
        "ostraka_columns_total{fate=\"applied\"} 0", "ostraka_loss_trend{trend=\"fine\"} 1"}) {
    EXPECT_THAT(text, testing::HasSubstr(std::string("\n") + line + "\n"));
  }
}

}  // namespace
}  // namespace ostraka::cli::node_answers_test
