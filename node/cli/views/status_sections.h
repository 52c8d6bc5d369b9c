// The sections of a node's status (status_json.h), each from what it needs.
//
// Thread safety: pure functions.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "node/cli/views/status_json.h"
#include "node/host/report/figures.h"

namespace ostraka::cli {

// The state of the run in one line: {"mood","headline","detail"}. The headline has no numbers that
// change by themselves, so that a screen reader says it only when something has happened.
nlohmann::json NewsJson(const host::NodeStatus& status, const host::Figures& figures,
                        const host::RunHistory& history);

// Every key of the run, members and former ones: this node, then by name and id.
nlohmann::json KeysJson(const StatusRun& run, const host::NodeStatus& status,
                        const host::RunHistory& history);

// Adds "peers", "linked", "unlinked", "reachable", "dht", "dial_back" and what belongs to them.
void AddNetwork(const host::NodeStatus& status, nlohmann::json& result);

// The newest ones, with their votes and the evidence against the banned.
nlohmann::json RemovalsJson(const host::NodeStatus& status, const host::RunHistory& history);

// The keys that may come in, and those that ask to. REQUIRES: a block was seen.
nlohmann::json DoorJson(const StatusRun& run, const host::RunHistory& history);

// Sums since the start, for monitors.
nlohmann::json CountersJson(const host::NodeStatus& status);

}  // namespace ostraka::cli
