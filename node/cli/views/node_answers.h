// What a running node answers over HTTP: /status, /metrics and /healthz (docs/operating.md).
//
// Thread safety: pure functions, but for the wall clock in MetricsText.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "node/host/node_status.h"
#include "node/http/http_server.h"

namespace ostraka::cli {

// The file beside the ledger at which a running node answers `ostraka status DIR`.
inline constexpr char kStatusSocketName[] = "status.sock";

// The contract of /status and `ostraka status --json` (docs/json.md). `steps` is the manifest's.
nlohmann::json StatusJson(const host::NodeStatus& status, std::uint64_t steps);

// Prometheus' text format 0.0.4.
std::string MetricsText(const host::NodeStatus& status, std::uint64_t steps);

// /status, /metrics, /healthz (503 with the reason if all is not well); 404 names them.
http::HttpResponse AnswerHttp(std::string_view path, const host::NodeStatus& status,
                              std::uint64_t steps);

}  // namespace ostraka::cli
