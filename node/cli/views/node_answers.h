// A running node's answers over HTTP: /status, /metrics and /healthz (docs/operating.md).
//
// Thread safety: pure functions, except for the wall clock in MetricsText.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "node/host/report/node_status.h"
#include "node/http/http_server.h"

namespace ostraka::cli {

// The socket beside the ledger on which a running node answers `ostraka status DIR`.
inline constexpr char kStatusSocketName[] = "status.sock";

// The contract of /status and `ostraka status --json` (docs/json.md). `steps` comes from the
// manifest.
nlohmann::json StatusJson(const host::NodeStatus& status, std::uint64_t steps);

// Prometheus' text format 0.0.4.
std::string MetricsText(const host::NodeStatus& status, std::uint64_t steps);

// Answers /status, /metrics and /healthz (503 with the reason if not healthy); 404 lists them.
http::HttpResponse AnswerHttp(std::string_view path, const host::NodeStatus& status,
                              std::uint64_t steps);

}  // namespace ostraka::cli
