#include "node/cli/views/disk_text.h"

#include <nlohmann/json.hpp>

#include "node/cli/terminal/human.h"

namespace ostraka::cli {

std::string DiskText(const protocol::DiskNeed& need) {
  return "up to " + BytesText(need.kept) + " on its disk beside its ledger, and " +
         BytesText(need.checkpoint) + " for each checkpoint; each step writes " +
         BytesText(need.each_step);
}

nlohmann::json DiskJson(const protocol::DiskNeed& need) {
  return {{"kept_bytes", need.kept},
          {"checkpoint_bytes", need.checkpoint},
          {"step_bytes", need.each_step}};
}

}  // namespace ostraka::cli
