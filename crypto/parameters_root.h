// One digest for the parameters of a model: H(kDomainParameters, u64 count | Merkle root of their
// float32 bytes in chunks). Of the parameters alone, as a gradient depends on nothing else of a
// state; flat, as the model that a manifest names says whose tensors they are.
//
// Thread safety: pure function.
#pragma once

#include <span>

#include "node/base/ids.h"

namespace ostraka::crypto {

base::Digest ParametersRoot(std::span<const float> parameters);

}  // namespace ostraka::crypto
