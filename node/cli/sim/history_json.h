// The history of one simulated run in JSON, for a notebook or a script that draws it.
//
// Thread safety: pure function.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sim/report/history.h"

namespace ostraka::cli {

// {"byzantine":[id],"names":{id:"peer 3"},"steps":[{"step","members":{"byzantine","honest"},"loss",
// "removals","returns"}]}; docs/json.md.
nlohmann::json HistoryJson(const sim::RunAndHistory& run);

}  // namespace ostraka::cli
