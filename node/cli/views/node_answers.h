// A running node's answers over HTTP: /status, /metrics and /healthz (docs/operating.md).
//
// Thread safety: pure functions, except for the wall clock in MetricsText.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "node/cli/terminal/member_names.h"
#include "node/host/report/door_report.h"
#include "node/host/report/node_status.h"
#include "node/http/http_server.h"

namespace ostraka::cli {

// The socket beside the ledger on which a running node answers `ostraka status DIR`.
inline constexpr char kStatusSocketName[] = "status.sock";

// So that an answer about 256 members stays below 150 KB: of longer lists the newest removals and
// the first awaited messages are told, and how many more there are.
inline constexpr std::size_t kRemovalsInStatus = 64;
inline constexpr std::size_t kWaitsInStatus = 256;
inline constexpr std::size_t kDialsInStatus = 16;
inline constexpr std::size_t kAskingInStatus = 64;

// The contract of /status and `ostraka status --json` (docs/json.md). `steps` and `names` come from
// the manifest; there is no door before the first block.
nlohmann::json StatusJson(const host::NodeStatus& status, std::uint64_t steps,
                          const MemberNames& names, const std::optional<host::DoorReport>& door);

// {ID: NAME}, as "names" of several commands (docs/json.md), and back. Without names it is empty,
// and so is that of an object that has none. Throws json::exception if it is of another shape.
nlohmann::json NamesJson(const MemberNames::Map& names);
MemberNames NamesOf(const nlohmann::json& result);

// Prometheus' text format 0.0.4.
std::string MetricsText(const host::NodeStatus& status, std::uint64_t steps,
                        const MemberNames& names);

// Answers /status, /metrics and /healthz (503 with the reason if not healthy); 404 lists them.
http::HttpResponse AnswerHttp(std::string_view path, const host::NodeStatus& status,
                              std::uint64_t steps, const MemberNames& names,
                              const std::optional<host::DoorReport>& door = std::nullopt);

}  // namespace ostraka::cli
