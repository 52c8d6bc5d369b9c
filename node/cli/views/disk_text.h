// What a member of a run keeps on its disk, for people and for programs.
//
// Thread safety: pure functions.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "node/protocol/lasting/memory_need.h"

namespace ostraka::cli {

// "up to 5.1 GB on its disk, ...": without a full stop.
std::string DiskText(const protocol::DiskNeed& need);
nlohmann::json DiskJson(const protocol::DiskNeed& need);

}  // namespace ostraka::cli
