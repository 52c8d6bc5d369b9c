// A running node's answers over HTTP to programs: /status, /metrics and /healthz
// (docs/operating.md).
//
// Thread safety: pure functions, except for the wall clock in MetricsText.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "node/cli/views/status_json.h"
#include "node/http/http_server.h"

namespace ostraka::cli {

// The socket beside the ledger on which a running node answers `ostraka status DIR`.
inline constexpr char kStatusSocketName[] = "status.sock";

// Prometheus' text format 0.0.4. `status`: what StatusJson says.
std::string MetricsText(const nlohmann::json& status);

// Answers /status, /metrics and /healthz (503 with the reason if not healthy); 404 lists them.
http::HttpResponse AnswerHttp(std::string_view path, const StatusRun& run,
                              const host::NodeStatus& status, const host::RunHistory& history);

}  // namespace ostraka::cli
