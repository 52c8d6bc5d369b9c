// Internal to node/wire, included by its .cpp files only: what the decoders of all bodies share.
#pragma once

#include <string_view>

#include "node/wire/canonical.h"
#include "node/wire/codec.h"
#include "ostraka.capnp.h"

namespace ostraka::wire::internal {

// Decodes one body; `read` fills the Body from the schema root and checks limits. A body arrives
// only inside a frame, so kMaxFrameBytes bounds its length.
template <typename Schema, typename Body>
base::StatusOr<Body> DecodeBody(std::string_view what, base::ByteView bytes,
                                base::Status (*read)(typename Schema::Reader, Body&)) {
  const auto read_value = [read](typename Schema::Reader root) -> base::StatusOr<Body> {
    Body body;
    RETURN_IF_ERROR(read(root, body));
    return body;
  };
  return DecodeCanonical<Schema, Body>(what, bytes, kMaxFrameBytes, read_value,
                                       [](const Body& body) { return Encode(body); });
}

}  // namespace ostraka::wire::internal
