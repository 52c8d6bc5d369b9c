// Who may come into a running run, as options of `run init` (docs/decisions/0027).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "node/base/status.h"
#include "node/protocol/ground/manifest.h"

namespace CLI {
class App;
}

namespace ostraka::cli {

struct JoinOptions {
  std::vector<std::string> moderators;  // ids of keys that sign invites
  std::vector<std::string> allow;       // ids of keys that need none
  std::optional<std::uint32_t> quota;   // none: JoinPlan's
  std::optional<std::uint32_t> seats;   // none: for all that the plan may let in
};

void AddJoinOptions(CLI::App& command, JoinOptions& options);

// The plan for a run of `members`: by invite if there is a moderator, by the list if there is one,
// else closed. InvalidArgument: what is no key's id, or options without effect.
base::StatusOr<protocol::JoinPlan> JoinPlanOf(const JoinOptions& options, std::size_t members);

}  // namespace ostraka::cli
