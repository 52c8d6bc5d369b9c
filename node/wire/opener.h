// Opens the frames that a machine receives.
//
// Rationale for the interface: the simulator opens a frame that one peer sends to a hundred only
// once, and holds it in memory once (crypto::Verifier has the same purpose).
#pragma once

#include <utility>

#include "node/wire/codec.h"

namespace ostraka::wire {

class Opener {
 public:
  virtual ~Opener() = default;
  // The result of wire::Open for the frame; never null.
  virtual base::StatusOr<SharedMessage> Open(const base::SharedBytes& frame) = 0;
};

// Thread safety: safe from any number of threads.
class PlainOpener final : public Opener {
 public:
  base::StatusOr<SharedMessage> Open(const base::SharedBytes& frame) override {
    ASSIGN_OR_RETURN(SignedEnvelope opened, wire::Open(frame));
    return Share(std::move(opened));
  }
};

}  // namespace ostraka::wire
