// JudgeSwarm on made-up reports: a run without fault, and one change for each fault that it must
// report.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "node/cli/swarm/swarm.h"

namespace ostraka::cli::swarm_result_test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

base::PeerId Id(std::uint8_t i) {
  base::PeerId id;
  id.bytes.fill(i);
  return id;
}

json Ban(std::uint8_t peer) {
  return {{"peer", Id(peer).Hex()}, {"step", 4}, {"kind", "verdict"}, {"reason", "it lied"}};
}

json Report(std::uint8_t i) {
  return {
      {"event", "report"},
      {"ok", true},
      {"peer", Id(i).Hex()},
      {"end", "finished"},
      {"step", 60},
      {"reason", "all steps are done"},
      {"steps", 60},
      {"removals", json::array({Ban(3)})},
      {"state_root", std::string(64, 'a')},
      {"metric", {{"name", "accuracy"}, {"value", 0.96}, {"loss", 0.1}, {"step", 59}}},
      {"seconds", 2.0},
      {"seconds_per_step", {{"compute", 0.1}, {"aggregate", 0.2}, {"agree", 0.3}, {"total", 0.6}}},
      {"bytes_sent", 1000},
      {"payload_bytes_sent", 600 + 60 * i},
      {"peak_rss_bytes", 1000 + i},
      {"longest_turn_seconds", 0.01 * i}};
}

// Three honest nodes and one attacker that was banned.
struct Story {
  SwarmOptions options;
  SwarmRun run;

  Story() {
    options.peers = 4;
    options.byzantine = 1;
    run.dimension = 256;
    run.seconds = 2.5;
    run.losses = {{0, 1.0, 0.1}, {59, 0.5, 0.96}};
    for (std::uint8_t i = 0; i < 4; ++i) {
      SwarmNode node;
      node.id = Id(i);
      node.byzantine = i == 3;
      node.log_file = "node" + std::to_string(i) + ".log";
      node.report = Report(i);
      node.exit_status = 0;
      run.nodes.push_back(node);
    }
    json& banned = run.nodes[3].report;
    banned["end"] = "banned";
    banned["steps"] = 5;
    banned["state_root"] = std::string(64, 'b');
  }
  json& report(std::size_t i) { return run.nodes[i].report; }
  json Judge() const { return JudgeSwarm(options, run); }
};

std::vector<std::string> ProblemsAfter(const std::function<void(Story&)>& change) {
  Story story;
  change(story);
  const json result = story.Judge();
  EXPECT_EQ(result["ok"].get<bool>(), result["problems"].empty());
  return result["problems"];
}

TEST(JudgeSwarmTest, ARunWithoutFault) {
  const json result = Story().Judge();
  EXPECT_TRUE(result["ok"].get<bool>()) << result;
  EXPECT_EQ(result["problems"], json::array());
  EXPECT_EQ(result["peers"], 4);
  EXPECT_EQ(result["byzantine"], json::array({Id(3).Hex()}));
  EXPECT_EQ(result["removals"], json::array({Ban(3)}));
  EXPECT_EQ(result["returns"], json::array());
  EXPECT_EQ(result["honest_banned"], 0);
  EXPECT_EQ(result["honest_dropped"], 0);
  EXPECT_EQ(result["state_roots_equal"], true);
  EXPECT_EQ(result["steps"], 60);
  EXPECT_EQ(result["metric"]["value"], 0.96);
  EXPECT_EQ(result["loss"], json::array({1.0, 0.5}));
  EXPECT_EQ(result["parameters"], 256);
}

TEST(JudgeSwarmTest, AddsUpTheNumbers) {
  const json result = Story().Judge();
  EXPECT_EQ(result["bytes_sent"], 4000);      // sum over all nodes
  EXPECT_EQ(result["peak_rss_bytes"], 1003);  // the largest
  EXPECT_EQ(result["longest_turn_seconds"], 0.03);
  // Mean of the honest nodes.
  EXPECT_NEAR(result["seconds_per_step"]["total"].get<double>(), 0.6, 1e-12);
  EXPECT_NEAR(result["payload_bytes_per_step"].get<double>(), (600 + 660 + 720) / 3.0 / 60, 1e-9);
}

TEST(JudgeSwarmTest, AttackerThatStaysIsAProblem) {
  EXPECT_THAT(ProblemsAfter([](Story& story) {
                for (std::size_t i = 0; i < 3; ++i) story.report(i)["removals"] = json::array();
              }),
              ElementsAre("1 of 1 Byzantine peers were neither banned nor dropped"));
}

TEST(JudgeSwarmTest, AttackersThatAreOnlyContainedMayStay) {
  const auto stay = [](Story& story) {
    for (std::size_t i = 0; i < 3; ++i) story.report(i)["removals"] = json::array();
  };
  // No attack; no protection; an attack that the protocol only promises to contain.
  for (const auto& excuse : std::vector<std::function<void(Story&)>>{
           [](Story& story) { story.options.attack = "none"; },
           [](Story& story) { story.options.unprotected = true; },
           [](Story& story) { story.options.attack = "selective_send"; }}) {
    EXPECT_THAT(ProblemsAfter([&](Story& story) { stay(story), excuse(story); }), ElementsAre());
  }
}

TEST(JudgeSwarmTest, ALossThatDoesNotFall) {
  // Evaluations of the first step and of every tenth one.
  const auto after = [](const std::vector<double>& losses) {
    return ProblemsAfter([&](Story& story) {
      story.run.losses.clear();
      for (std::size_t i = 0; i < losses.size(); ++i) {
        story.run.losses.push_back({i == 0 ? 0 : 10 * i - 1, losses[i], 0.1});
      }
    });
  };
  EXPECT_THAT(after({}), ElementsAre());
  EXPECT_THAT(after({2.0, 0.5}), ElementsAre());
  EXPECT_THAT(after({2.0, 2.1}), ElementsAre());
  EXPECT_THAT(after({2.0, std::nan("")}), ElementsAre(HasSubstr("is no number")));
  EXPECT_THAT(after({2.0, 1e73, INFINITY}), ElementsAre(HasSubstr("is no number")));
  EXPECT_THAT(after({2.0, 0.5, 4.0}),
              ElementsAre(HasSubstr("the loss rises: it was 2 after step 0 and is 4")));
  EXPECT_THAT(after({2.3, 2.3, 2.3, 2.3, 2.3, 2.3}),
              ElementsAre(HasSubstr("the loss does not fall")));
}

TEST(JudgeSwarmTest, WithoutProtectionTheAttackersAreTheCause) {
  const auto spoilt = [](const std::function<void(Story&)>& change) {
    return ProblemsAfter([&](Story& story) {
      story.run.losses = {{0, 2.0, 0.1}, {9, 0.5, 0.1}, {19, std::nan(""), 0.1}};
      story.options.unprotected = true;
      change(story);
    });
  };
  EXPECT_THAT(spoilt([](Story&) {}),
              ElementsAre(AllOf(HasSubstr("the 1 attacker (sign_flip)"),
                                HasSubstr("without --unprotected the same run bans them"),
                                Not(HasSubstr("learning rate")))));
  EXPECT_THAT(spoilt([](Story& story) { story.options.attack = "none"; }),
              ElementsAre(HasSubstr("a smaller learning rate")));
  EXPECT_THAT(spoilt([](Story& story) { story.options.byzantine = 0; }),
              Contains(HasSubstr("a smaller learning rate")));
}

TEST(JudgeSwarmTest, AnHonestPeerRemoved) {
  Story story;
  for (std::size_t i = 0; i < 3; ++i) story.report(i)["removals"].push_back(Ban(2));
  const json result = story.Judge();
  EXPECT_EQ(result["honest_banned"], 1);
  EXPECT_EQ(result["honest_dropped"], 0);
  EXPECT_EQ(result["ok"], false);
  EXPECT_EQ(result["problems"], json::array({"1 honest peers were banned or dropped"}));
}

TEST(JudgeSwarmTest, AnHonestPeerThatWasDroppedTwiceAndIsBackCountsOnce) {
  Story story;
  for (std::size_t i = 0; i < 3; ++i) {
    for (int k = 0; k < 2; ++k) {
      story.report(i)["removals"].push_back(Ban(2));
      story.report(i)["removals"].back()["kind"] = "drop";
    }
  }
  story.run.returns = {{Id(2).Hex(), 20}, {Id(2).Hex(), 40}};
  const json result = story.Judge();
  EXPECT_EQ(result["honest_banned"], 0);
  EXPECT_EQ(result["honest_dropped"], 1);
  EXPECT_EQ(result["returns"], json::array({{{"peer", Id(2).Hex()}, {"step", 20}},
                                            {{"peer", Id(2).Hex()}, {"step", 40}}}));
  EXPECT_EQ(result["problems"], json::array({"1 honest peers were banned or dropped"}));
}

TEST(JudgeSwarmTest, AnHonestPeerThatWasDroppedAndThenBannedIsOneProblem) {
  Story story;
  for (std::size_t i = 0; i < 3; ++i) {
    story.report(i)["removals"].push_back(Ban(2));
    story.report(i)["removals"].push_back(Ban(2));
    story.report(i)["removals"][1]["kind"] = "drop";
  }
  const json result = story.Judge();
  EXPECT_EQ(result["honest_banned"], 1);
  EXPECT_EQ(result["honest_dropped"], 1);
  EXPECT_EQ(result["problems"], json::array({"1 honest peers were banned or dropped"}));
}

TEST(JudgeSwarmTest, HonestNodesMustEndByThemselvesByzantineOnesNeedNot) {
  const auto stop = [](std::size_t i) {
    return [i](Story& story) {
      story.report(i) = nullptr;
      story.run.nodes[i].stopped = true;
      story.run.nodes[i].exit_status = 137;
    };
  };
  EXPECT_THAT(ProblemsAfter(stop(3)), ElementsAre());
  EXPECT_THAT(ProblemsAfter(stop(2)), ElementsAre(HasSubstr("ended without a report, status 137")));
}

TEST(JudgeSwarmTest, EveryLostNodeIsReported) {
  EXPECT_THAT(ProblemsAfter([](Story& story) {
                for (const std::size_t i : {1, 2}) {
                  story.report(i) = nullptr;
                  story.run.nodes[i].exit_status = 137;
                }
              }),
              ElementsAre(HasSubstr("node 1"), HasSubstr("node 2")));
}

TEST(JudgeSwarmTest, DifferentStates) {
  Story story;
  story.report(2)["state_root"] = std::string(64, 'c');
  EXPECT_EQ(story.Judge()["state_roots_equal"], false);
  EXPECT_EQ(story.Judge()["problems"], json::array({"the honest nodes' state roots differ"}));
  story.report(2).erase("state_root");
  EXPECT_EQ(story.Judge()["problems"], json::array({"the honest nodes' state roots differ"}));
}

TEST(JudgeSwarmTest, DifferentRemovals) {
  EXPECT_THAT(ProblemsAfter([](Story& story) { story.report(1)["removals"][0]["step"] = 5; }),
              ElementsAre("honest nodes disagree on who was banned or dropped"));
}

TEST(JudgeSwarmTest, NodesStoppedAtDifferentStepsMayDiffer) {
  Story story;
  story.run.interrupted = true;
  story.report(1)["steps"] = 59;
  story.report(1)["state_root"] = std::string(64, 'c');
  story.report(1)["removals"] = json::array();
  const json result = story.Judge();
  EXPECT_EQ(result["problems"],
            json::array({"interrupted", "the honest nodes ended after different steps"}));
  EXPECT_EQ(result["state_roots_equal"], false);
}

TEST(JudgeSwarmTest, AnHonestNodeThatDidNotFinish) {
  EXPECT_THAT(ProblemsAfter([](Story& story) {
                story.report(1)["end"] = "stalled";
                story.report(1)["reason"] = "no word from 0303";
              }),
              ElementsAre("node 1 (0101010101010101) stalled: no word from 0303"));
}

TEST(JudgeSwarmTest, LostNodeIsReportedWithItsLastLogLineAndNodesStoppedForItAreNot) {
  EXPECT_THAT(ProblemsAfter([](Story& story) {
                for (const std::size_t i : {1, 2}) {
                  story.report(i) = nullptr;
                  story.run.nodes[i].exit_status = i == 2 ? 3 : 130;
                }
                story.run.not_started = 2;
                story.run.nodes[2].last_words = "ostraka: the disk is full";
              }),
              ElementsAre("node 2 (0202020202020202) ended without a report, status 3 "
                          "(ostraka: the disk is full): see node2.log"));
}

TEST(JudgeSwarmTest, NoReportAtAll) {
  Story story;
  for (SwarmNode& node : story.run.nodes) node.report = nullptr;
  story.run.not_started = 0;
  const json result = story.Judge();
  EXPECT_EQ(result["ok"], false);
  EXPECT_EQ(result["state_roots_equal"], false);
  EXPECT_EQ(result["steps"], 0);
  EXPECT_TRUE(result["metric"].is_null());
}

TEST(JudgeSwarmTest, AnAccuracyBelowTheTarget) {
  EXPECT_THAT(ProblemsAfter([](Story& story) { story.options.target = 0.96; }), ElementsAre());
  EXPECT_THAT(ProblemsAfter([](Story& story) { story.options.target = 0.97; }),
              ElementsAre("accuracy is 0.960000, below the target 0.970000"));
}

TEST(JudgeSwarmTest, ALossAboveTheTarget) {
  const auto with = [](double target, json value) {
    return ProblemsAfter([&](Story& story) {
      story.options.target = target;
      for (std::size_t i = 0; i < 3; ++i) {
        story.report(i)["metric"] = {
            {"name", "loss"}, {"value", value}, {"loss", value}, {"step", 59}};
      }
    });
  };
  EXPECT_THAT(with(0.2, 0.1), ElementsAre());
  EXPECT_THAT(with(0.05, 0.1), ElementsAre("loss is 0.100000, above the target 0.050000"));
  // Training that diverged: its loss is not a number.
  EXPECT_THAT(with(0.2, nullptr), ElementsAre(HasSubstr("no metric to compare")));
}

TEST(JudgeSwarmTest, AnInterruptedRun) {
  EXPECT_THAT(ProblemsAfter([](Story& story) { story.run.interrupted = true; }),
              ElementsAre("interrupted"));
}

}  // namespace
}  // namespace ostraka::cli::swarm_result_test
