// What a running node answers over HTTP: /status, /metrics and /healthz (docs/operating.md).
//
// Thread safety: pure functions, but for the wall clock in MetricsText.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "node/runtime/http_server.h"
#include "node/runtime/node_status.h"

namespace ostraka::cli {

// The file beside the ledger at which a running node answers `ostraka status DIR`.
inline constexpr char kStatusSocketName[] = "status.sock";

// The contract of /status and `ostraka status --json` (docs/json.md). `steps` is the manifest's.
nlohmann::json StatusJson(const runtime::NodeStatus& status, std::uint64_t steps);

// Prometheus' text format 0.0.4.
std::string MetricsText(const runtime::NodeStatus& status, std::uint64_t steps);

// /status, /metrics, /healthz (503 with the reason if all is not well); 404 names them.
runtime::HttpResponse AnswerHttp(std::string_view path, const runtime::NodeStatus& status,
                                 std::uint64_t steps);

}  // namespace ostraka::cli
