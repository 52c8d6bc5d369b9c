// Run manifests as TOML files. The file's exact bytes identify the run: run_id = H(kDomainManifest,
// bytes), so no canonical form is needed (docs/decisions/0004-run-id-is-hash-of-file-bytes.md).
//
// One table describes every key, for reading, writing and suggestions.
//
// Thread safety: pure functions, except those that read a file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "node/base/status.h"
#include "node/protocol/ground/manifest.h"

namespace ostraka::config {

// Strict: an unknown, missing or mistyped key is InvalidArgument with the line and, if one is
// close, the intended key. The result satisfies protocol::Validate. Any bytes are safe.
// A manifest of another protocol version is refused for that in one line, unless `versions` allows
// it: kEarlierToo reads those of earlier versions and drafts too, back to 6, by which evidence of
// their runs is judged and from whose states new runs begin. What is newer than the file's version
// has its default.
enum class Versions : std::uint8_t { kThis, kEarlierToo };
base::StatusOr<protocol::Manifest> ParseManifest(std::string_view text,
                                                 Versions versions = Versions::kThis);

// The bytes of a file, at most one more than ParseManifest takes. NotFound if there is no such
// file.
base::StatusOr<std::string> ReadManifestText(const std::string& path);
// ParseManifest of them.
base::StatusOr<protocol::Manifest> ReadManifestFile(const std::string& path,
                                                    Versions versions = Versions::kThis);

// What an editor of another system did to the run's id, for people: a note of one line, empty if it
// did nothing (node/base/foreign_text.h).
std::string NoteOnForeignMarks(std::string_view text);

// A commented TOML text that ParseManifest accepts. `nonce` makes the ids of runs with equal
// settings differ.
std::string WriteManifest(const protocol::Manifest& manifest, const base::Digest& nonce);

}  // namespace ostraka::config
