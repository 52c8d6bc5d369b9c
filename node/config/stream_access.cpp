#include "node/config/stream_access.h"

#include "node/net/fetch/https_reader.h"

namespace ostraka::config {

std::shared_ptr<const train::StreamAccess> StreamAccessOf(const StreamSettings& settings) {
  auto access = std::make_shared<train::StreamAccess>();
  access->open = [settings](const std::string& place) {
    const bool allow = settings.of_manifest.contains(place) ? settings.allow_private_of_manifest
                                                            : settings.allow_private;
    return net::OpenHttps(place, {.allow_private = allow});
  };
  access->cache_root = settings.cache_root;
  access->cache_bytes = settings.cache_bytes;
  return access;
}

}  // namespace ostraka::config
