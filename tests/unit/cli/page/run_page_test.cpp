#include "node/cli/page/run_page.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "node/store/ledger.h"
#include "tests/unit/cli/views/status_scene.h"

namespace ostraka::cli::run_page_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class RunPageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "ostraka-page-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    page_.emplace(scene_.run, folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  http::HttpResponse Ask(std::string_view path) {
    return page_->Answer(path, scene_.status, scene_.history)
        .value_or(http::HttpResponse{0, "", ""});
  }

  StatusScene scene_;
  std::string folder_;
  std::optional<RunPage> page_;
};

TEST_F(RunPageTest, ServesThePageItsLivePartAndItsFiles) {
  EXPECT_THAT(Ask("/").body, StartsWith("<!DOCTYPE html>"));
  EXPECT_EQ(Ask("/").content_type, "text/html; charset=utf-8");
  EXPECT_THAT(Ask("/live").body, StartsWith("<main "));
  EXPECT_EQ(Ask("/page.css").content_type, "text/css; charset=utf-8");
  EXPECT_THAT(Ask("/page.js").body, HasSubstr("'use strict'"));
  EXPECT_EQ(Ask("/page.js").content_type, "text/javascript; charset=utf-8");
  EXPECT_THAT(Ask("/icon.svg").body, StartsWith("<svg"));
}

TEST_F(RunPageTest, LeavesOtherPathsToOthers) {
  for (const char* path :
       {"/status", "/metrics", "/page", "/live/", "/assets/page.css", "/evidence"}) {
    EXPECT_FALSE(page_->Answer(path, scene_.status, scene_.history).has_value()) << path;
  }
}

TEST_F(RunPageTest, OnlyThePageIsWatching) {
  scene_.status.uptime = base::Seconds(5);
  Ask("/page.css");
  EXPECT_EQ(page_->asked(), std::nullopt);
  Ask("/live");
  EXPECT_EQ(page_->asked(), base::Seconds(5));
}

TEST_F(RunPageTest, ManyWhoWatchShareAnAnswerForHalfASecond) {
  scene_.status.uptime = base::Seconds(5);
  const std::string first = Ask("/live").body;
  scene_.status.progress.step = 13;
  scene_.status.uptime = base::Milliseconds(5499);
  EXPECT_EQ(Ask("/live").body, first);
  EXPECT_THAT(Ask("/").body, HasSubstr(">13 <small>of 200"))
      << "who opens the page sees it as it is";
  scene_.status.uptime = base::Milliseconds(5500);
  EXPECT_THAT(Ask("/live").body, HasSubstr(">13 <small>of 200"));
  scene_.status.outcome = {host::NodeEnd::kFinished, 199, "all steps are done"};
  EXPECT_THAT(Ask("/live").body, HasSubstr("data-ended")) << "the end is told at once";
}

TEST_F(RunPageTest, KeepsTheLastPage) {
  scene_.status.outcome = {host::NodeEnd::kFinished, 199, "all steps are done"};
  page_->Keep(scene_.status, scene_.history);
  EXPECT_THAT(page_->AnswerLast("/").body, HasSubstr("all steps are done"));
  EXPECT_THAT(page_->AnswerLast("/live").body, HasSubstr("data-ended"));
  EXPECT_EQ(page_->AnswerLast("/page.js").status, 200u);
  EXPECT_EQ(page_->AnswerLast("/status").status, 404u);
}

TEST_F(RunPageTest, ServesListedEvidenceFromTheLedgerAndNothingElse) {
  wire::EvidenceFile file;
  file.accused = PeerOf(2);
  const base::Bytes bytes = wire::EncodeEvidence(file);
  const base::PeerId id = PeerOf(9);
  const protocol::Record record{
      protocol::RecordKind::kEvidence, {id.bytes.begin(), id.bytes.end()}, bytes};
  auto ledger = store::Ledger::Open(
      {.data_dir = folder_, .run_id = scene_.manifest->run_id, .peer = PeerOf(1)});
  ASSERT_TRUE(ledger.ok()) << ledger.status();
  (*ledger)->Start({.committed = [](const std::vector<protocol::StoreId>&) {},
                    .failed = [](const base::Status&) {}});
  ASSERT_TRUE((*ledger)->Append({1, {record}}).ok());
  ASSERT_TRUE((*ledger)->Close("done").ok());

  const std::string path = "/evidence/" + id.Hex();
  EXPECT_EQ(Ask(path).status, 404u) << "in the ledger, and not listed";
  scene_.history.SeeStored(record);
  const http::HttpResponse answer = Ask(path);
  EXPECT_EQ(answer.status, 200u);
  EXPECT_EQ(answer.content_type, "application/octet-stream");
  EXPECT_EQ(answer.body, std::string(bytes.begin(), bytes.end()));
  for (const std::string& other :
       {std::string("/evidence/"), std::string("/evidence/../ledger.sqlite"),
        std::string("/evidence/00"), "/evidence/" + PeerOf(8).Hex(), path + "/x"}) {
    EXPECT_EQ(Ask(other).status, 404u) << other;
  }
}

TEST_F(RunPageTest, EvidenceThatIsNotInTheLedgerYetIsNotFound) {
  wire::EvidenceFile file;
  const base::PeerId id = PeerOf(9);
  scene_.history.SeeStored({protocol::RecordKind::kEvidence,
                            {id.bytes.begin(), id.bytes.end()},
                            wire::EncodeEvidence(file)});
  EXPECT_EQ(Ask("/evidence/" + id.Hex()).status, 404u);
}

}  // namespace
}  // namespace ostraka::cli::run_page_test
