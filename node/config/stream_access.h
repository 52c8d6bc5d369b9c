// How this machine reaches data that are fetched in chunks.
//
// Thread safety: pure function.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "node/train/stream/open_stream.h"

namespace ostraka::config {

struct StreamSettings {
  std::string cache_root = {};    // a folder; empty: nothing is kept
  std::uint64_t cache_bytes = 0;  // of each run's data
  // Addresses of this machine and of private networks, too. Attack: an address in a stranger's
  // manifest would make the node ask its owner's router, or a cloud's metadata.
  bool allow_private = false;
  // Others decide by `allow_private`, these by theirs: somebody else chose them.
  std::set<std::string> of_manifest = {};
  bool allow_private_of_manifest = false;
};

std::shared_ptr<const train::StreamAccess> StreamAccessOf(const StreamSettings& settings);

}  // namespace ostraka::config
