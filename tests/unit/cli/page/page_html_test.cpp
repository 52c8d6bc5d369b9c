#include "node/cli/page/page_html.h"

#include <gmock/gmock.h>

#include <limits>
#include <memory>

#include "node/cli/page/page_assets.h"
#include "tests/unit/cli/page/page_fixture.h"

namespace ostraka::cli::page_html_test {
namespace {

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

// A page with every list filled, and `text` wherever bytes of a peer, a file or a user may stand.
PageData Filled(const std::string& text) {
  PageData data;
  data.run_id = std::string(64, 'a');
  data.run_name = text;
  data.model = text;
  data.data = text + "!";
  const PagePeer peer{std::string(64, 'b'), text};
  data.self = {peer, 60, 1000, text, {text, text}, text};
  data.news = {Mood::kWaits, text, text};
  data.progress = {12, 200, text, 3, 0.3, 60};
  data.learning = {"accuracy", {{9, 1.5, 0.4}, {19, 1.0, 0.8}}, host::Figures::OwnBatch{2.5, 9}};
  data.awaited = {{text, {{peer, false}, {peer, true}}}};
  PageMember member;
  member.peer = peer;
  member.samples = 64;
  member.returned = true;
  data.members = {member};
  data.leaders = {{0}, 5};
  data.removals = {
      {peer, 3, true, text, true, text, 9, PageVotes{{peer, peer}, {peer}, 5}, {{text, text}}}};
  data.price = PagePrice{0.1, 0.2, 0.3};
  host::StepSpan span;
  span.collect = base::Milliseconds(5);
  span.slow = true;
  data.spans = {span};
  data.root = host::SealedRoot{10, {}};
  return data;
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
  PageData data = Filled("x");
  data.removals.front().proofs.front().id = "//evil.example\" onclick=\"x";
  EXPECT_THAT(PageMain(data), HasSubstr("href=\"/evidence///evil.example&quot; onclick=&quot;x\""));
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
  PageData data;
  data.learning.batch = {2.25, 1011};
  EXPECT_THAT(PageMain(data),
              HasSubstr("<dd>2.2500 <small>on its own batch of step 1,011</small>"));
  data.learning.points = {{9, 0.5, 0.5}};
  EXPECT_THAT(PageMain(data), HasSubstr("<dd>0.5000 <small>after step 9, 2.2500 on its own batch "
                                        "of step 1,011</small>"));
}

TEST(PageHtmlTest, NotesOnAMembersStateAreApart) {
  PageData data = Filled("x");
  data.members.front().only_dials = true;
  data.members.front().carried = true;
  data.members.front().may_return = 1473;
  EXPECT_THAT(PageMain(data), HasSubstr("<small>only dials, forwarded, returned, may return from "
                                        "step 1,473</small>"));
}

TEST(PageHtmlTest, ABanThatThisNodeDidNotSeeHasNoStep) {
  PageData data = Filled("x");
  data.removals.front().seen = false;
  EXPECT_THAT(PageMain(data), Not(HasSubstr("in step 3, by")));
  data.removals.front().ban = false;
  EXPECT_THAT(PageMain(data), HasSubstr("in step 3"));
}

TEST(PageHtmlTest, ALossOfTokensHasItsUnit) {
  PageData data = Filled("x");
  EXPECT_THAT(PageMain(data), Not(HasSubstr("nats")));
  data.data = "tokens";
  EXPECT_THAT(PageMain(data), HasSubstr("loss in nats a token"));
}

TEST(PageHtmlTest, SaysEverythingWithoutAScript) {
  PageScene scene;
  scene.Begin(11);
  scene.Work(11, 3);
  scene.Remove(4, wire::RemovalKind::kVerdict, 11,
               {.old_text = "its gradient does not follow: guilty by 2 of 2 votes"});
  scene.history.SeeEvaluation(9, {.metric = "accuracy", .value = 0.875, .loss = 0.5});
  scene.status.progress.missing = {{PeerOf(2), "part"}};
  scene.status.since_progress = base::Seconds(7);
  const std::string html = PageDocument(scene.Data());
  for (const char* said : {"12 <small>of 200", "340 ms", "87.5 %", "0.5000", "checks", "banned",
                           "guilty by 2 of 2 votes", "<strong>part</strong> of", "for 7.0 s",
                           "http-equiv=\"refresh\"", "Leaderboard", "/metrics", "State root"}) {
    EXPECT_THAT(html, HasSubstr(said));
  }
}

TEST(PageHtmlTest, TheEndIsMarkedForTheScript) {
  PageScene scene;
  EXPECT_THAT(PageMain(scene.Data()), Not(HasSubstr("data-ended")));
  scene.status.outcome = {host::NodeEnd::kFinished, 199, "all steps are done"};
  EXPECT_THAT(PageMain(scene.Data()), HasSubstr(" data-ended>"));
}

TEST(PageHtmlTest, NumbersThatAreNoneAreShownAndDrawnAsNone) {
  PageData data = Filled("x");
  const double none = std::numeric_limits<double>::quiet_NaN();
  data.learning.points = {{9, 1e300, 0.5}, {19, none, none}, {29, 1, 0.1}, {39, -none, none}};
  const std::string html = PageDocument(data);
  EXPECT_THAT(html, HasSubstr("no number"));
  EXPECT_THAT(html, Not(HasSubstr("\"nan")));
  EXPECT_THAT(html, Not(HasSubstr(",nan")));
  EXPECT_THAT(html, Not(HasSubstr("inf")));
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

  PageScene scene_;
};

TEST_F(LargestPageTest, FitsItsBudget) {
  const PageData data = scene_.Data();
  ASSERT_EQ(data.members.size(), 256u);
  ASSERT_EQ(data.removals.size(), host::RunHistory::kMostRemovals);
  const std::size_t page = PageDocument(data).size();
  const std::size_t files = kPageCss.size() + kPageJs.size() + kPageIcon.size();
  EXPECT_LT(page + files, 150'000u) << page << " + " << files;
  EXPECT_GT(page, 50'000u) << "it has the members";
}

TEST_F(LargestPageTest, SaysHowManyEntriesOfALongListItLeavesOut) {
  const std::string html = PageMain(scene_.Data());
  EXPECT_THAT(html, HasSubstr("492 earlier"));
  EXPECT_THAT(html, HasSubstr("and 246 more: see Members"));
  EXPECT_THAT(html, HasSubstr("Voted against it (128 of 255): "));
  EXPECT_THAT(html, HasSubstr("and 124 more"));
}

TEST(PageHtmlTest, ABanHasItsVotesByName) {
  PageData data = Filled("x");
  data.removals.front().votes =
      PageVotes{{{std::string(64, '1'), "anna"}, {std::string(64, '2'), "bert"}}, {}, 3};
  EXPECT_THAT(PageMain(data), HasSubstr("Voted against it (2 of 3): "));
  EXPECT_THAT(PageMain(data), HasSubstr("bert (22222222)</bdi>."));
  data.removals.front().votes->in_favour = {{std::string(64, '3'), "carl"}};
  EXPECT_THAT(PageMain(data), HasSubstr("; in its favour (1): "));
  data.removals.front().votes.reset();
  EXPECT_THAT(PageMain(data), Not(HasSubstr("Voted against it")));
}

TEST(PageHtmlTest, TheFootSaysWhetherOthersCanDialThisNode) {
  PageData data = Filled("x");
  data.self.dialed = {"anna dialed", "ben dialed"};
  data.self.advice = "open a port";
  EXPECT_THAT(PageMain(data), HasSubstr("Seen from outside: anna dialed; ben dialed."));
  EXPECT_THAT(PageMain(data), HasSubstr("<strong>open a port</strong>"));
  data.self.dialed.clear();
  EXPECT_THAT(PageMain(data), Not(HasSubstr("Seen from outside")));
}

TEST(PageHtmlTest, ACurveOrALeaderboardThatBeginsLateSaysSo) {
  PageData data = Filled("x");
  data.learning.begins_late = 4990;
  data.leaders.from = 5000;
  EXPECT_THAT(PageMain(data), HasSubstr("from step 4,990 on"));
  EXPECT_THAT(PageMain(data), HasSubstr("from step 5,000 on"));
  data.learning.begins_late.reset();
  data.leaders.from = 0;
  data.self.unread = "";
  EXPECT_THAT(PageMain(data), Not(HasSubstr("from step")));
  EXPECT_THAT(PageMain(data), Not(HasSubstr("is missing here")));
}

TEST(PageHtmlTest, TheDoorIsThereOnceThereIsABlock) {
  PageData data = Filled("x");
  data.door.reset();
  EXPECT_THAT(PageMain(data), Not(HasSubstr("Who may come in")));
  data.door = PageDoor{"invite", 16, 9, 1, 4, {{{std::string(64, '1'), ""}, 2, 8}}, {}};
  data.door->asking = {{{std::string(64, '2'), "<b>"}, 3, 5, PagePeer{std::string(64, '1'), ""}}};
  const std::string html = PageMain(data);
  EXPECT_THAT(html, HasSubstr("9 of 16 seats are taken, 1 more kept for members that may return"));
  EXPECT_THAT(html, HasSubstr("Others come in by invite. The run bears 4 faulty members."));
  EXPECT_THAT(html, HasSubstr("have used 2 of its 8 keys."));
  EXPECT_THAT(html, HasSubstr("confirmed in 3 of 5 blocks, by an invite of "));
  EXPECT_THAT(html, Not(HasSubstr("<b>")));
  data.door->policy = "closed";
  EXPECT_THAT(PageMain(data), HasSubstr("The run is closed: nobody else comes in."));
}

}  // namespace
}  // namespace ostraka::cli::page_html_test
