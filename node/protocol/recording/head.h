// With what a machine was made, as the head of a recording, and back. The key stays behind, and so
// does the key of an invite: the credential holds what both signed.
//
// Thread safety: pure functions.
#pragma once

#include <memory>

#include "node/protocol/member/peer.h"
#include "node/protocol/recording/said.h"
#include "node/wire/recording_codec.h"

namespace ostraka::protocol {

// `manifest`: the bytes of the manifest's file. `program`: the version of ostraka.
wire::RecordingHead HeadOf(const PeerOptions& options, base::Bytes manifest,
                           const std::string& program);

// For a machine that signs and reveals what was `said`. InvalidArgument: no member of the run can
// have such a machine. REQUIRES: Validate(*manifest).ok().
base::StatusOr<PeerOptions> OptionsOf(const wire::RecordingHead& head,
                                      std::shared_ptr<const Manifest> manifest,
                                      const std::shared_ptr<const Said>& said);

}  // namespace ostraka::protocol
