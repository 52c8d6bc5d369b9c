// All that a running node says of itself, as one JSON object: the lines of `ostraka status`, the
// page and the metrics are made from it, so what one of them says the others can say. docs/json.md
// is its contract.
//
//   NodeStatus, RunHistory, StatusRun ─► StatusJson ─► /status ─► StatusText
//                                                  ├► PageMain, PageDocument (node/cli/page)
//                                                  └► MetricsText
//
// Ids stand with all their digits, and texts name members by their ids; a view puts names in
// (MemberNames::In). A loss that is no number is one in the object, and null once it is printed.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "node/cli/terminal/member_names.h"
#include "node/host/report/node_status.h"
#include "node/host/report/run_history.h"
#include "node/protocol/ground/manifest.h"

namespace ostraka::cli {

// What does not change during a run.
struct StatusRun {
  std::shared_ptr<const protocol::Manifest> manifest;  // REQUIRES: not null
  MemberNames names;
  bool unprotected = false;
};

// So that an answer about 256 members stays below 400 KB: of longer lists the newest removals and
// the first of the others are told, and how many more there are.
inline constexpr std::size_t kRemovalsInStatus = 64;
inline constexpr std::size_t kWaitsInStatus = 256;
inline constexpr std::size_t kDialsInStatus = 16;
inline constexpr std::size_t kAskingInStatus = 64;
inline constexpr std::size_t kVotersInStatus = 4;
inline constexpr std::size_t kProofsInStatus = 2;

nlohmann::json StatusJson(const StatusRun& run, const host::NodeStatus& status,
                          const host::RunHistory& history);

// {ID: NAME}, as "names" of several commands, and back. Without names it is empty, and so is that
// of an object that has none. Throws json::exception if it is of another shape.
nlohmann::json NamesJson(const MemberNames::Map& names);
MemberNames NamesOf(const nlohmann::json& result);

}  // namespace ostraka::cli
