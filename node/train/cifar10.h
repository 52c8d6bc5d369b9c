// CIFAR-10's binary version (https://www.cs.toronto.edu/~kriz/cifar.html): rows of 3,073 bytes, a
// label 0..9 followed by 32 x 32 pixels each of red, green and blue.
//
// Strict, with messages in the form that idx.h describes.
//
// Thread safety: pure functions.
#pragma once

#include "node/base/bytes.h"
#include "node/base/status.h"
#include "node/train/dataset.h"

namespace ostraka::train {

inline constexpr ImageShape kCifar10Shape = {3, 32, 32};
inline constexpr std::uint32_t kCifar10Classes = 10;

// Adds the rows of one batch file to `examples`; on an error adds none. InvalidArgument: empty, a
// partial row, or a label out of range. REQUIRES: examples.value_count is kCifar10Shape's.
base::Status AddCifar10Batch(base::ByteView bytes, Examples& examples);

}  // namespace ostraka::train
