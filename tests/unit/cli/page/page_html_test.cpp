#include "node/cli/page/page_html.h"

#include <gmock/gmock.h>

#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "node/cli/page/page_assets.h"
#include "tests/unit/cli/views/status_scene.h"

namespace ostraka::cli::page_html_test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

// The tags of a document with the names of their attributes: what a browser would build of it.
// Fails the test where an attribute's value is not quoted.
std::vector<std::string> Skeleton(const std::string& html) {
  std::vector<std::string> tags;
  for (std::size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at)) {
    std::string tag;
    bool quoted = false;
    for (++at; at < html.size() && (quoted || html[at] != '>'); ++at) {
      if (html[at] == '"') quoted = !quoted;
      if (!quoted && html[at] != '"') tag += html[at];
      if (!quoted && html[at] == '=') {
        EXPECT_EQ(html[at + 1], '"') << tag;
      }
    }
    tags.push_back(tag);
  }
  return tags;
}

// A status with every list filled, and `text` wherever bytes of a peer, a file or a user may stand.
json Filled(const std::string& text) {
  const std::string peer(64, 'b');
  const std::string other(64, 'c');
  json status = StatusScene().Status();
  status["names"] = {{peer, text}};
  status["peer"] = peer;
  status["run_id"] = std::string(64, 'a');
  status["run"] = {{"name", text}, {"model", text}, {"data", text + "!"}, {"unprotected", false}};
  status["unread"] = text;
  status["dial_back"] = {{"results", {{{"text", text}}, {{"text", text}}}}, {"advice", text}};
  status["news"] = {{"mood", "waits"}, {"headline", text}, {"detail", text}};
  status["phase"] = text;
  status["seconds_since_progress"] = 3;
  status["eta_seconds"] = 60;
  status["curve"] = {{"metric", "accuracy"}, {"points", {{9, 1.5, 0.4}, {19, 1.0, 0.8}}}};
  status["batch"] = {{"loss", 2.5}, {"step", 9}};
  status["sample"] = {{"prompt", text}, {"text", text}};
  status["waits_for"] = {{{"message", text}, {"peer", peer}, {"linked", false}},
                         {{"message", text}, {"peer", other}, {"linked", true}}};
  status["keys"] = json::array({{{"peer", peer},
                                 {"state", text},
                                 {"address", text},
                                 {"samples", 64},
                                 {"checked", 1},
                                 {"checks", 2},
                                 {"late_ms", 3},
                                 {"returned", true}}});
  status["samples_from"] = 5;
  status["removals"] =
      json::array({{{"peer", peer},
                    {"step", 3},
                    {"kind", text},
                    {"reason", text},
                    {"returned", 9},
                    {"votes",
                     {{"voters", 5},
                      {"against", 2},
                      {"against_by", {peer, peer}},
                      {"in_favour", 1},
                      {"in_favour_by", json::array({peer})}}},
                    {"evidence", json::array({{{"id", text}, {"kind", text}, {"messages", 2}}})}}});
  status["join"] = {
      {"policy", text},
      {"seats", 16},
      {"members", 9},
      {"kept", 1},
      {"bears", 4},
      {"moderators", json::array({{{"peer", peer}, {"admitted", 2}, {"quota", 8}}})},
      {"asking",
       json::array({{{"peer", peer}, {"blocks", 3}, {"needed", 5}, {"moderator", peer}}})},
      {"vouched", {{peer, peer}}}};
  status["price"] = {{"compute", 0.1}, {"aggregate", 0.2}, {"agree", 0.3}};
  status["step_costs"] = {{"sent_bytes", 1000}, {"received_bytes", 2000}, {"written_bytes", 3000}};
  status["phases"] = json::array({{{"step", 7},
                                   {"collect", 0.005},
                                   {"reveal", 0},
                                   {"prove", 0},
                                   {"settle", 0},
                                   {"slow", true}}});
  status["state_root"] = {{"step", 10}, {"root", text}};
  return status;
}

TEST(PageHtmlTest, AStepSaysWhatItMoves) {
  json status = Filled("x");
  EXPECT_NE(
      PageDocument(status).find("sends 1.0 kB and gets 2.0 kB, and writes 3.0 kB to the disk."),
      std::string::npos);
  status["step_costs"].erase("written_bytes");  // an older node's
  EXPECT_NE(PageDocument(status).find("sends 1.0 kB and gets 2.0 kB."), std::string::npos);
}

TEST(PageHtmlTest, ASampleKeepsItsLines) {
  json status = Filled("x");
  status["sample"] = {{"prompt", "ROMEO:\nBut"}, {"text", std::string(1200, 'y') + "\n<b>"}};
  const std::string page = PageDocument(status);
  EXPECT_NE(page.find("ROMEO:\nBut<mark"), std::string::npos);
  EXPECT_NE(page.find(std::string(1200, 'y') + "\n&lt;b&gt;</mark>"), std::string::npos);
}

TEST(PageHtmlTest, HostileTextsChangeNoTagAndNoAttribute) {
  const std::vector<std::string> expected = Skeleton(PageDocument(Filled("x")));
  ASSERT_GT(expected.size(), 100u);
  for (const std::string& hostile : {
           std::string("<script>alert(1)</script>"),
           std::string("\"><img src=x onerror=alert(1)>"),
           std::string("' onmouseover='alert(1)"),
           std::string("</main></body><iframe src=//evil>"),
           std::string("<!-- "),
           std::string("]]><svg onload=alert(1)>"),
           std::string("&lt;b&gt;"),
           std::string("\xc0\xbcscript>"),
           std::string("javascript:alert(1)"),
           std::string("a\0<b>", 5),
           std::string("\r\n\r\n<h1>"),
           "\u202e" + std::string("<b>gnorw"),
       }) {
    EXPECT_EQ(Skeleton(PageDocument(Filled(hostile))), expected) << hostile;
  }
}

TEST(PageHtmlTest, APathOfEvidenceStaysOnThisServer) {
  json status = Filled("x");
  status["removals"][0]["evidence"][0]["id"] = "//evil.example\" onclick=\"x";
  EXPECT_THAT(PageMain(status),
              HasSubstr("href=\"/evidence///evil.example&quot; onclick=&quot;x\""));
}

TEST(PageHtmlTest, HasNoInlineScriptOrStyleAndNothingFromElsewhere) {
  const std::string html = PageDocument(Filled("x"));
  EXPECT_THAT(html, Not(HasSubstr("style=")));
  EXPECT_THAT(html, Not(HasSubstr("<style")));
  EXPECT_THAT(html, Not(HasSubstr("://")));
  EXPECT_THAT(html, HasSubstr("<script src=\"/page.js\" defer></script>"));
  for (const std::string& tag : Skeleton(html)) {
    EXPECT_THAT(tag, Not(HasSubstr(" on"))) << "a handler";
  }
  for (const std::string_view asset : {kPageCss, kPageJs}) {
    EXPECT_EQ(asset.find("://"), std::string_view::npos);
    EXPECT_EQ(asset.find("@import"), std::string_view::npos);
  }
}

TEST(PageHtmlTest, TheLossOfTheOwnBatchStandsAlone) {
  json status = StatusScene().Status();
  status["batch"] = {{"loss", 2.25}, {"step", 1011}};
  EXPECT_THAT(PageMain(status),
              HasSubstr("<dd>2.2500 <small>on its own batch of step 1,011</small>"));
  status["curve"]["points"] = json::array({json::array({9, 0.5, 0.5})});
  EXPECT_THAT(PageMain(status), HasSubstr("<dd>0.5000 <small>after step 9, 2.2500 on its own batch "
                                          "of step 1,011</small>"));
}

TEST(PageHtmlTest, NotesOnAMembersStateAreApart) {
  json status = Filled("x");
  status["keys"][0]["only_dials"] = true;
  status["keys"][0]["carried"] = true;
  status["keys"][0]["may_return"] = 1473;
  status["join"]["vouched"] = json::object();
  EXPECT_THAT(PageMain(status),
              HasSubstr("<small>only dials, forwarded, returned, may return from step 1,473"
                        "</small>"));
}

TEST(PageHtmlTest, AWaitIsGroupedByMessageWithNames) {
  json status = Filled("anna");
  EXPECT_THAT(PageMain(status), HasSubstr("<strong>anna</strong> of "));
  EXPECT_THAT(PageMain(status), HasSubstr("anna (bbbbbbbb)</bdi> (not linked), "));
  status["news"]["detail"] = "waiting 65 s for " + std::string(16, 'b');
  EXPECT_THAT(PageMain(status), HasSubstr("waiting 65 s for anna (bbbbbbbb)"));
}

TEST(PageHtmlTest, SharesAreOfAllSamples) {
  StatusScene scene;
  scene.Work(0, 4);
  scene.Work(1, 2);
  const std::string html = PageMain(scene.Status());
  EXPECT_THAT(html, HasSubstr("33.3 %"));
  EXPECT_THAT(html, HasSubstr("16.7 %"));
}

TEST(PageHtmlTest, ABanThatThisNodeDidNotSeeHasNoStep) {
  json status = Filled("x");
  status["removals"][0]["seen"] = false;
  status["removals"][0].erase("step");
  EXPECT_THAT(PageMain(status), Not(HasSubstr("in step 3")));
  status["removals"][0]["step"] = 3;
  EXPECT_THAT(PageMain(status), HasSubstr("in step 3"));
  EXPECT_THAT(PageMain(status), Not(HasSubstr("in step 3, by")));
}

TEST(PageHtmlTest, ALossOfTokensHasItsUnit) {
  json status = Filled("x");
  EXPECT_THAT(PageMain(status), Not(HasSubstr("nats")));
  status["run"]["data"] = "tokens";
  EXPECT_THAT(PageMain(status), HasSubstr("loss in nats a token"));
}

TEST(PageHtmlTest, SaysEverythingWithoutAScript) {
  StatusScene scene;
  scene.Begin(11);
  scene.Work(11, 3);
  scene.Remove(4, wire::RemovalKind::kVerdict, 11,
               "its gradient does not follow: guilty by 2 of 2 votes");
  scene.history.SeeEvaluation(9, {.metric = "accuracy", .value = 0.875, .loss = 0.5});
  scene.status.progress.missing = {{PeerOf(2), "part"}};
  scene.status.since_progress = base::Seconds(7);
  const std::string html = PageDocument(scene.Status());
  for (const char* said : {"12 <small>of 200", "340 ms", "87.5 %", "0.5000", "checks", "banned",
                           "guilty by 2 of 2 votes", "<strong>part</strong> of", "for 7.0 s",
                           "http-equiv=\"refresh\"", "Leaderboard", "/metrics", "State root"}) {
    EXPECT_THAT(html, HasSubstr(said));
  }
}

TEST(PageHtmlTest, TheEndIsMarkedForTheScript) {
  StatusScene scene;
  EXPECT_THAT(PageMain(scene.Status()), Not(HasSubstr("data-ended")));
  scene.status.outcome = {host::NodeEnd::kFinished, 199, "all steps are done"};
  EXPECT_THAT(PageMain(scene.Status()), HasSubstr(" data-ended>"));
}

TEST(PageHtmlTest, NumbersThatAreNoneAreShownAndDrawnAsNone) {
  json status = Filled("x");
  const double none = std::numeric_limits<double>::quiet_NaN();
  status["curve"]["points"] = {{9, 1e300, 0.5}, {19, none, none}, {29, 1, 0.1}, {39, -none, none}};
  for (const json& seen : {status, json::parse(status.dump())}) {
    const std::string html = PageMain(seen);
    EXPECT_THAT(html, HasSubstr("no number"));
    EXPECT_THAT(html, Not(HasSubstr("\"nan")));
    EXPECT_THAT(html, Not(HasSubstr(",nan")));
    EXPECT_THAT(html, Not(HasSubstr("inf")));
  }
}

base::PeerId Numbered(int n) {
  base::PeerId id;
  id.bytes.fill(static_cast<std::uint8_t>(n));
  return id;
}

// 256 members with long names and large numbers, all awaited, each banned by all others or dropped
// and returned, with evidence; and the evaluations and steps of a run of 10^5 steps.
class LargestPageTest : public ::testing::Test {
 protected:
  static constexpr int kMembers = 256;

  LargestPageTest() {
    protocol::Manifest& manifest = *scene_.manifest;
    manifest.members.clear();
    manifest.training.steps = 100'000;
    MemberNames::Map names;
    scene_.status.others.clear();
    for (int n = 0; n < kMembers; ++n) {
      const base::PeerId id = Numbered(n);
      manifest.members.push_back({id, ""});
      names[id] = std::string(61, 'n') + std::to_string(n);
      scene_.status.progress.missing.push_back({id, "part"});
      scene_.status.others.push_back(id);
      scene_.status.traffic.by_peer[id] = {.control_sent = 123'456'789'012,
                                           .control_received = 123'456'789'012,
                                           .payload_sent = 1,
                                           .payload_received = 1};
    }
    scene_.run.names = MemberNames(names);
    scene_.status.since_progress = base::Seconds(100);
    scene_.status.linked = scene_.status.others;
    Train();
    Remove();
  }
  static wire::Block Block(std::uint64_t step) {
    wire::Block block;
    block.step = step;
    block.columns = {wire::ColumnFate::kApplied};
    block.aggregated = {{Numbered(0), {}}};
    for (int n = 0; n < kMembers; ++n) {
      block.members.push_back(Numbered(n));
      block.lateness.push_back({Numbered(n), 12'345'678});
      block.aggregated.front().senders.push_back(Numbered(n));
    }
    block.proven = block.members;
    return block;
  }
  void Train() {
    auto block = std::make_shared<wire::Block>(Block(0));
    for (std::uint64_t step = 0; step < 100'000; ++step) {
      scene_.history.SeeEvaluation(step, {.metric = "accuracy", .value = 0.5, .loss = 1});
      if (step % 100 != 0) continue;  // to be quick
      scene_.Begin(step);
      scene_.See(protocol::StepTimes{step, 1'000'000'000, 2'000'000'000, 3'000'000'000});
      block = std::make_shared<wire::Block>(*block);
      block->step = step;
      scene_.See(protocol::StepDone{block, {}});
    }
  }
  void Remove() {
    wire::Block block = Block(100'000);
    std::vector<protocol::RuledCase> ruled;
    for (int n = 0; n < kMembers; ++n) {
      const base::PeerId id = Numbered(n);
      block.removals.push_back({id,
                                wire::RemovalKind::kVerdict,
                                100'000,
                                {.old_text = std::string(wire::kMaxReasonBytes, 'r')}});
      block.standings.push_back({id, false, 1, 100'000, 0});
      ruled.push_back({id, wire::Verdict::kGuilty, {}, kMembers - 1});
      for (int voter = 0; voter < kMembers; ++voter) {
        ruled.back().ballots.push_back(
            {Numbered(voter), voter % 2 == 0 ? wire::Verdict::kGuilty : wire::Verdict::kInnocent});
      }
      for (int proof = 0; proof < 6; ++proof) {
        scene_.history.RecallProof({{}, id, wire::EvidenceKind::kImpossibleNumbers, 255});
      }
    }
    block.joined = block.members;
    const auto shared = std::make_shared<const wire::Block>(block);
    for (int twice = 0; twice < 2; ++twice) scene_.See(protocol::StepDone{shared, {}, ruled});
  }

  StatusScene scene_;
};

TEST_F(LargestPageTest, FitsItsBudget) {
  const json status = scene_.Status();
  ASSERT_EQ(status["keys"].size(), 256u);
  ASSERT_EQ(status["removals"].size(), kRemovalsInStatus);
  EXPECT_LT(status.dump().size(), 400'000u) << "status_json.h";
  const std::size_t page = PageDocument(status).size();
  const std::size_t files = kPageCss.size() + kPageJs.size() + kPageIcon.size();
  EXPECT_LT(page + files, 150'000u) << page << " + " << files;
  EXPECT_GT(page, 50'000u) << "it has the members";
}

TEST_F(LargestPageTest, SaysHowManyEntriesOfALongListItLeavesOut) {
  const std::string html = PageMain(scene_.Status());
  EXPECT_THAT(html, HasSubstr("492 earlier"));
  EXPECT_THAT(html, HasSubstr("and 246 more: see Members"));
  EXPECT_THAT(html, HasSubstr("Voted against it (128 of 255): "));
  EXPECT_THAT(html, HasSubstr("and 124 more"));
}

TEST(PageHtmlTest, ABanHasItsVotesByName) {
  json status = Filled("x");
  const std::string anna(64, '1');
  const std::string bert(64, '2');
  const std::string carl(64, '3');
  status["names"] = {{anna, "anna"}, {bert, "bert"}, {carl, "carl"}};
  json& votes = status["removals"][0]["votes"];
  votes = {{"voters", 3},
           {"against", 2},
           {"against_by", {anna, bert}},
           {"in_favour", 0},
           {"in_favour_by", json::array()}};
  EXPECT_THAT(PageMain(status), HasSubstr("Voted against it (2 of 3): "));
  EXPECT_THAT(PageMain(status), HasSubstr("bert (22222222)</bdi>."));
  votes["in_favour"] = 1;
  votes["in_favour_by"] = json::array({carl});
  EXPECT_THAT(PageMain(status), HasSubstr("; in its favour (1): "));
  status["removals"][0].erase("votes");
  EXPECT_THAT(PageMain(status), Not(HasSubstr("Voted against it")));
}

TEST(PageHtmlTest, TheFootSaysWhetherOthersCanDialThisNode) {
  json status = Filled("x");
  status["dial_back"] = {{"results", {{{"text", "anna dialed"}}, {{"text", "ben dialed"}}}},
                         {"advice", "open a port"}};
  EXPECT_THAT(PageMain(status), HasSubstr("Seen from outside: anna dialed; ben dialed."));
  EXPECT_THAT(PageMain(status), HasSubstr("<strong>open a port</strong>"));
  status["dial_back"]["results"].clear();
  EXPECT_THAT(PageMain(status), Not(HasSubstr("Seen from outside")));
}

TEST(PageHtmlTest, ACurveOrALeaderboardThatBeginsLateSaysSo) {
  json status = Filled("x");
  status["curve"]["points"] = {{4990, 1.5, 0.4}, {5000, 1.0, 0.8}};
  status["samples_from"] = 5000;
  EXPECT_THAT(PageMain(status), HasSubstr("from step 4,990 on"));
  EXPECT_THAT(PageMain(status), HasSubstr("from step 5,000 on"));
  status["curve"]["points"] = {{0, 1.5, 0.4}, {10, 1.0, 0.8}};
  status.erase("samples_from");
  status.erase("unread");
  EXPECT_THAT(PageMain(status), Not(HasSubstr("from step")));
  EXPECT_THAT(PageMain(status), Not(HasSubstr("is missing here")));
}

TEST(PageHtmlTest, TheDoorIsThereOnceThereIsABlock) {
  json status = Filled("<b>");
  status["join"]["policy"] = "invite";
  const std::string html = PageMain(status);
  EXPECT_THAT(html, HasSubstr("9 of 16 seats are taken, 1 more kept for members that may return"));
  EXPECT_THAT(html, HasSubstr("Others come in by invite. The run bears 4 faulty members."));
  EXPECT_THAT(html, HasSubstr("have used 2 of its 8 keys."));
  EXPECT_THAT(html, HasSubstr("confirmed in 3 of 5 blocks, by an invite of "));
  EXPECT_THAT(html, Not(HasSubstr("<b>")));
  status["join"]["policy"] = "closed";
  EXPECT_THAT(PageMain(status), HasSubstr("The run is closed: nobody else comes in."));
  status.erase("join");
  EXPECT_THAT(PageMain(status), Not(HasSubstr("Who may come in")));
}

}  // namespace
}  // namespace ostraka::cli::page_html_test
