#include "node/cli/page/run_page.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "node/base/check.h"
#include "node/cli/page/page_assets.h"
#include "node/cli/page/page_html.h"
#include "node/store/ledger_reader.h"

namespace ostraka::cli {
namespace {

constexpr std::string_view kEvidence = "/evidence/";
constexpr const char* kHtmlType = "text/html; charset=utf-8";

http::HttpResponse NotFound(const std::string& why) {
  return {404, "text/plain; charset=utf-8", why + "\n"};
}

std::optional<http::HttpResponse> Asset(std::string_view path) {
  const auto answer = [](const char* type, std::string_view body) {
    return http::HttpResponse{200, type, std::string(body)};
  };
  if (path == "/page.css") return answer("text/css; charset=utf-8", kPageCss);
  if (path == "/page.js") return answer("text/javascript; charset=utf-8", kPageJs);
  if (path == "/icon.svg") return answer("image/svg+xml", kPageIcon);
  return std::nullopt;
}

}  // namespace

std::optional<http::HttpResponse> RunPage::Answer(std::string_view path,
                                                  const host::NodeStatus& status,
                                                  const host::RunHistory& history) {
  if (path.starts_with(kEvidence)) return Evidence(path.substr(kEvidence.size()), history);
  if (path != "/" && path != "/live") return Asset(path);
  asked_ = status.uptime;
  if (path == "/live") return http::HttpResponse{200, kHtmlType, Live(status, history)};
  return http::HttpResponse{200, kHtmlType, PageDocument(StatusJson(run_, status, history))};
}

const std::string& RunPage::Live(const host::NodeStatus& status, const host::RunHistory& history) {
  if (!live_at_ || status.outcome || status.uptime - *live_at_ >= kFresh) {
    live_ = PageMain(StatusJson(run_, status, history));
    live_at_ = status.uptime;
  }
  return live_;
}

void RunPage::Keep(const host::NodeStatus& status, const host::RunHistory& history) {
  const nlohmann::json now = StatusJson(run_, status, history);
  last_document_ = PageDocument(now);
  last_main_ = PageMain(now);
  kept_ = status.uptime;
}

http::HttpResponse RunPage::AnswerLast(std::string_view path) const {
  OSTRAKA_CHECK(kept_.has_value());
  if (path == "/") return {200, kHtmlType, last_document_};
  if (path == "/live") return {200, kHtmlType, last_main_};
  return Asset(path).value_or(NotFound("the run has ended"));
}

http::HttpResponse RunPage::Evidence(std::string_view id, const host::RunHistory& history) const {
  const auto digest = base::Digest::FromHexDigits(std::string(id));
  const auto& proofs = history.proofs();
  const bool listed = digest && std::any_of(proofs.begin(), proofs.end(),
                                            [&](const auto& proof) { return proof.id == *digest; });
  if (!listed) return NotFound("this node knows no such evidence");
  auto ledger = store::LedgerReader::Open(data_dir_);
  if (!ledger.ok()) return NotFound("the ledger cannot be read");
  const auto file = ledger->EvidenceFile(*digest);
  if (!file.ok()) return NotFound("the evidence is not in the ledger yet: ask again");
  return {200, "application/octet-stream", std::string(file->begin(), file->end())};
}

}  // namespace ostraka::cli
