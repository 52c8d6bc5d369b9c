#include "node/cli/node/page_service.h"

#include <utility>

#include "node/cli/views/node_answers.h"
#include "node/http/serve_for.h"
#include "node/protocol/ground/manifest.h"

namespace ostraka::cli {
namespace {

// An open page asks each second, a hidden one each ten.
constexpr base::Duration kWatched = base::Seconds(10);
constexpr base::Duration kLastPage = base::Seconds(3);

}  // namespace

std::shared_ptr<RunPage> ServePage(host::RunOptions& run) {
  StatusRun facts;
  facts.manifest = run.manifest;
  facts.names = MemberNames(protocol::NamesOf(run.manifest->members));
  facts.unprotected = run.unprotected;
  auto page = std::make_shared<RunPage>(std::move(facts), run.files.data_dir);
  host::StatusService& service = run.network.status;
  service.answer = [page](std::string_view path, const host::NodeStatus& status,
                          const host::RunHistory& history) {
    if (auto answer = page->Answer(path, status, history)) return *std::move(answer);
    return AnswerHttp(path, page->run(), status, history);
  };
  service.last = [page](const host::NodeStatus& status, const host::RunHistory& history) {
    page->Keep(status, history);
  };
  return page;
}

base::Status ServeLastPage(const RunPage& page, const std::string& address) {
  if (!page.asked() || !page.kept() || *page.kept() - *page.asked() > kWatched) {
    return base::OkStatus();
  }
  return http::ServeFor({.address = address, .socket_path = {}}, kLastPage,
                        [&page](std::string_view path) { return page.AnswerLast(path); });
}

}  // namespace ostraka::cli
