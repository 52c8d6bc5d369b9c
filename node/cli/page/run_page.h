// The paths of the page of one run, and their answers (docs/decisions/0020-page.md).
//
// Promises
// A1  An answer to `/` is a function of the status and the history at that time, and one to `/live`
//     of those at that time or less than kFresh before: many who watch cost little more than one.
//     Once the run has an outcome, each answer is of that time.
// A2  `/evidence/ID` reads the ledger only for an ID that the history lists.
// May not know: sockets, the machine, other runs.
// Memory: one answer to `/live`, and the last page, once the run has ended.
// What an attacker can do here: whoever may connect can make the node render pages, one for each
// connection (http_server.h bounds those), and read evidence from the ledger, at most
// wire::kMaxEvidenceFileBytes a request. Nothing that is asked changes anything.
//
// Thread safety: none; the thread that answers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "node/base/time.h"
#include "node/cli/views/status_json.h"
#include "node/http/http_server.h"

namespace ostraka::cli {

class RunPage {
 public:
  static constexpr base::Duration kFresh = base::Milliseconds(500);

  // `data_dir` has the ledger.
  RunPage(StatusRun run, std::string data_dir)
      : run_(std::move(run)), data_dir_(std::move(data_dir)) {}

  // Nullopt: the path is none of the page.
  std::optional<http::HttpResponse> Answer(std::string_view path, const host::NodeStatus& status,
                                           const host::RunHistory& history);

  // Keeps the page as it is now, for AnswerLast.
  void Keep(const host::NodeStatus& status, const host::RunHistory& history);
  // As Answer, from what was kept; 404 for every other path. REQUIRES: Keep was called.
  http::HttpResponse AnswerLast(std::string_view path) const;
  // Uptime of the node when the page was last asked for; nullopt: never.
  std::optional<base::Duration> asked() const { return asked_; }
  std::optional<base::Duration> kept() const { return kept_; }
  const StatusRun& run() const { return run_; }

 private:
  const std::string& Live(const host::NodeStatus& status, const host::RunHistory& history);
  http::HttpResponse Evidence(std::string_view id, const host::RunHistory& history) const;

  const StatusRun run_;
  const std::string data_dir_;
  std::optional<base::Duration> asked_;
  std::optional<base::Duration> live_at_;  // the uptime of live_
  std::string live_;
  std::optional<base::Duration> kept_;  // the uptime at Keep
  std::string last_document_;
  std::string last_main_;
};

}  // namespace ostraka::cli
