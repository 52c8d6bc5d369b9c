// Data in chunks as a data set: from folders of this machine, or from what a caller opens.
//
// Thread safety: pure function, but for files.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "node/base/chunk_lending.h"
#include "node/base/ids.h"
#include "node/base/range_reader.h"
#include "node/base/status.h"
#include "node/train/dataset.h"

namespace ostraka::train {

// How this machine reaches data that are not in one file.
struct StreamAccess {
  // Opens a place that begins with "https://" or "http://". Null: there are folders alone.
  std::function<base::StatusOr<std::unique_ptr<base::RangeReader>>(const std::string& place)> open =
      {};
  std::string cache_root = {};  // a folder, for all data; empty: nothing is kept
  std::uint64_t cache_bytes = 0;
  // The run's members, who lend each other chunks; null: nobody is asked, and nothing lent.
  std::shared_ptr<base::ChunkLenders> members = nullptr;
};

// Places in one text, apart by commas: folders and addresses.
std::vector<std::string> PlacesIn(const std::string& text);
bool IsAddress(const std::string& place);

// The index comes from the first place that has it, or from the cache. `hash` zero: any data.
// FailedPrecondition: no place has the data of this hash. Errors of a place, if it is the only one.
base::StatusOr<Dataset> OpenStream(const std::string& places, const StreamAccess& access,
                                   const base::Digest& hash);

}  // namespace ostraka::train
