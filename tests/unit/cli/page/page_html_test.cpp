#include "node/cli/page/page_html.h"

#include <gmock/gmock.h>

#include <limits>

#include "node/cli/page/page_assets.h"
#include "tests/unit/cli/page/page_fixture.h"

namespace ostraka::cli {
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
  data.self = peer;
  data.news = {Mood::kWaits, text, text};
  data.progress = {12, 200, text, 3, 0.3, 60};
  data.learning = {"accuracy", {{9, 1.5, 0.4}, {19, 1.0, 0.8}}};
  data.awaited = {{text, {{peer, false}, {peer, true}}}};
  PageMember member;
  member.peer = peer;
  member.samples = 64;
  member.returned = true;
  data.members = {member};
  data.leaders = {0};
  data.removals = {{peer, 3, true, text, text, 9, {{text, text}}}};
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

TEST(PageHtmlTest, SaysEverythingWithoutAScript) {
  PageScene scene;
  scene.Begin(11);
  scene.Work(11, 3);
  scene.Remove(4, wire::RemovalKind::kVerdict, 11,
               "its gradient does not follow: guilty by 2 of 2 votes");
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

TEST(PageHtmlTest, TheLargestRunFitsItsBudget) {
  PageScene scene;
  scene.manifest->members.clear();
  wire::Block block;
  for (int n = 0; n < 256; ++n) {
    base::PeerId id;
    id.bytes.fill(static_cast<std::uint8_t>(n));
    scene.manifest->members.push_back({id, ""});
    block.members.push_back(id);
    scene.status.progress.missing.push_back({id, "part"});
    block.removals.push_back({id, wire::RemovalKind::kDrop, 1, std::string(300, 'r')});
  }
  for (int i = 0; i < 4; ++i) scene.Done(block);
  for (std::uint64_t step = 0; step < 100'000; ++step) {
    scene.history.SeeEvaluation(step, {.metric = "accuracy", .value = 0.5, .loss = 1});
    scene.Begin(step);
    scene.See(protocol::StepDone{std::make_shared<const wire::Block>(scene.BlockOf(step)), {}});
  }
  EXPECT_LT(PageDocument(scene.Data()).size(), 250'000u);
  EXPECT_LT(kPageCss.size() + kPageJs.size() + kPageIcon.size(), 20'000u);
}

}  // namespace
}  // namespace ostraka::cli
