// Any text as a manifest: it must be refused with a message, or be a run that survives writing and
// reading.
#include <cstdint>
#include <string>
#include <string_view>

#include "crypto/sign.h"
#include "node/base/check.h"
#include "node/config/manifest_toml.h"

namespace ostraka::config {
namespace {

void RunOne(std::string_view text) {
  const auto manifest = ParseManifest(text);
  if (!manifest.ok()) {
    OSTRAKA_CHECK(manifest.status().code() == absl::StatusCode::kInvalidArgument);
    OSTRAKA_CHECK(!manifest.status().message().empty());
    return;
  }
  OSTRAKA_CHECK(protocol::Validate(*manifest).ok());
  const std::string written = WriteManifest(*manifest, base::Digest{});
  const auto again = ParseManifest(written);
  OSTRAKA_CHECK(again.ok());
  // All written values are equal; the run id differs, because the bytes do.
  OSTRAKA_CHECK(WriteManifest(*again, base::Digest{}) == written);
}

}  // namespace
}  // namespace ostraka::config

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool initialized = ostraka::crypto::Initialize().ok();
  OSTRAKA_CHECK(initialized);
  ostraka::config::RunOne({reinterpret_cast<const char*>(data), size});
  return 0;
}
