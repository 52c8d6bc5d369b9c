// Opens the frames that a machine hears.
//
// An interface for the simulator's sake (as crypto::Verifier is): what one peer sends to a hundred
// is opened there once, and held in memory once.
#pragma once

#include <utility>

#include "node/wire/codec.h"

namespace ostraka::wire {

class Opener {
 public:
  virtual ~Opener() = default;
  // What wire::Open says of the frame; never null.
  virtual base::StatusOr<SharedMessage> Open(const base::SharedBytes& frame) = 0;
};

// Thread safety: any number of threads.
class PlainOpener final : public Opener {
 public:
  base::StatusOr<SharedMessage> Open(const base::SharedBytes& frame) override {
    ASSIGN_OR_RETURN(SignedEnvelope opened, wire::Open(frame));
    return Share(std::move(opened));
  }
};

}  // namespace ostraka::wire
