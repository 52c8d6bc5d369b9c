// What a cheat may write instead of an honest body: each kind of message with fields changed as the
// fuzzer says. Editing fields, not bytes, keeps the encoding canonical, so that the lie reaches the
// code that judges it and not only the decoder (bodies_fuzz.cpp looks at that).
//
// Thread safety: pure but for the source.
#pragma once

#include <vector>

#include "node/wire/messages.h"
#include "tests/fuzz/byte_source.h"

namespace ostraka::fuzz {

// What a forger knows of the run.
struct ForgerView {
  std::vector<base::PeerId> members;
  std::uint64_t step = 0;
  std::vector<base::Bytes> evidence;  // files that were made so far
};

// `body`, an honest body of `type`, with up to a few fields changed; or other bytes altogether.
base::Bytes ForgeBody(wire::MessageType type, const base::Bytes& body, const ForgerView& view,
                      ByteSource& source);

}  // namespace ostraka::fuzz
