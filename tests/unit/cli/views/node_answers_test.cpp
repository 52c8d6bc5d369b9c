#include "node/cli/views/node_answers.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace ostraka::cli::node_answers_test {
namespace {

using nlohmann::json;

base::PeerId PeerOf(int n) {
  base::PeerId id;
  id.bytes.fill(static_cast<std::uint8_t>(n));
  return id;
}

json StatusOf(const host::NodeStatus& status, const MemberNames& names = {}) {
  const http::HttpResponse answer = AnswerHttp("/status", status, 100'000, names);
  EXPECT_EQ(answer.status, 200u);
  return json::parse(answer.body);
}

TEST(NodeAnswersTest, TheLargestStatusFitsItsBudget) {
  host::NodeStatus status;
  MemberNames::Map names;
  status.met = true;
  for (int n = 0; n < 256; ++n) {
    const base::PeerId id = PeerOf(n);
    names[id] = std::string(64, 'n');
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
  const http::HttpResponse answer = AnswerHttp("/status", status, 100'000, MemberNames(names));
  EXPECT_LT(answer.body.size(), 150'000u);
  const json result = json::parse(answer.body);
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
    found.peer = PeerOf(n);
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

TEST(NodeAnswersTest, TheStatusSaysWhoMayComeInAndWhoAsks) {
  host::DoorReport door{protocol::JoinPolicy::kInvite, 16, 9, 1, 4, {{PeerOf(20), 2, 8}}, {}, {}};
  door.asking.push_back({PeerOf(30), 3, 5, PeerOf(20)});
  door.vouched[PeerOf(7)] = PeerOf(20);
  const auto join = [&door] {
    return json::parse(AnswerHttp("/status", {}, 10, {}, door).body)["join"];
  };
  EXPECT_EQ(join()["policy"], "invite");
  EXPECT_EQ(join()["kept"], 1);
  EXPECT_EQ(join()["moderators"][0]["quota"], 8);
  EXPECT_EQ(join()["asking"][0]["moderator"], PeerOf(20).Hex());
  EXPECT_EQ(join()["vouched"][PeerOf(7).Hex()], PeerOf(20).Hex());
  EXPECT_FALSE(join().contains("asking_more"));
  door.asking.resize(100);
  EXPECT_EQ(join()["asking"].size(), 64u);
  EXPECT_EQ(join()["asking_more"], 36);
  EXPECT_FALSE(StatusOf({}).contains("join")) << "before the first block";
}

}  // namespace
}  // namespace ostraka::cli::node_answers_test
