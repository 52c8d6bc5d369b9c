// Run manifests as TOML files. The file's exact bytes are the run: run_id = H(kDomainManifest,
// bytes), so there is no canonical form to get wrong
// (docs/decisions/0004-run-id-is-hash-of-file-bytes.md).
//
// Every key is described once, in a table that reading, writing and suggestions share.
//
// Thread safety: pure functions, but for ReadManifestFile.
#pragma once

#include <string>
#include <string_view>

#include "node/base/status.h"
#include "node/protocol/ground/manifest.h"

namespace ostraka::cli {

// Strict: an unknown, missing or mistyped key is InvalidArgument with the line and, where one is
// close, the key that was meant. The result satisfies protocol::Validate. Any bytes are safe.
base::StatusOr<protocol::Manifest> ParseManifest(std::string_view text);

// Reads at most 1 MiB. NotFound if there is no such file.
base::StatusOr<protocol::Manifest> ReadManifestFile(const std::string& path);

// A commented TOML text that ParseManifest takes. `nonce` makes two runs with equal settings
// differ.
std::string WriteManifest(const protocol::Manifest& manifest, const base::Digest& nonce);

}  // namespace ostraka::cli
