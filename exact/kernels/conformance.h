// The conformance digest: what all kernels give for fixed inputs, as one hash.
//
// A machine whose digest differs computes other gradients than its peers, and would look like an
// attacker. It must end before it meets anybody. Recomputing the digest from time to time also
// finds hardware that has begun to fail.
//
// Thread safety: pure functions.
#pragma once

#include <string_view>

#include "exact/kernels/kernels.h"
#include "node/base/ids.h"
#include "node/base/status.h"

namespace ostraka::exact {

// The digest of every machine that may compute exact gradients, as hexadecimal digits.
extern const std::string_view kConformanceDigest;

// A hash over the bits of every kernel's results: ordinary values, tile edges, NaNs, infinities,
// signed zeros and subnormals. Takes some milliseconds.
base::Digest ConformanceDigest(const Kernels& kernels);

// FailedPrecondition unless ConformanceDigest(kernels) is kConformanceDigest and
// CheckFloatEnvironment() is ok.
base::Status CheckConformance(const Kernels& kernels);

}  // namespace ostraka::exact
