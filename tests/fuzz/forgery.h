// Bodies that a cheat may send instead of honest ones: each kind of message with fields that the
// fuzzer changes. Changing fields instead of bytes keeps the encoding canonical, so the false body
// reaches the code that judges it and not only the decoder (which bodies_fuzz.cpp tests).
//
// Thread safety: pure but for the source.
#pragma once

#include <vector>

#include "node/wire/messages.h"
#include "tests/fuzz/byte_source.h"

namespace ostraka::fuzz {

// The facts of the run that a forger knows.
struct ForgerView {
  std::vector<base::PeerId> members;
  std::uint64_t step = 0;
  std::vector<base::Bytes> evidence;  // files that were made so far
};

// `body`, an honest body of `type`, with up to a few fields changed; or other bytes altogether.
base::Bytes ForgeBody(wire::MessageType type, const base::Bytes& body, const ForgerView& view,
                      ByteSource& source);

}  // namespace ostraka::fuzz
