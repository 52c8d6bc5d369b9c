// CIFAR-10's binary version (https://www.cs.toronto.edu/~kriz/cifar.html): rows of 3,073 bytes, a
// label 0..9 and then 32 x 32 pixels of red, as many of green and of blue.
//
// Strict, with messages as idx.h has them.
//
// Thread safety: pure functions.
#pragma once

#include "node/base/bytes.h"
#include "node/base/status.h"
#include "node/train/dataset.h"

namespace ostraka::train {

inline constexpr ImageShape kCifar10Shape = {3, 32, 32};
inline constexpr std::uint32_t kCifar10Classes = 10;

// Adds the rows of one batch file to `examples`, whose value_count is kCifar10Shape's. Nothing is
// added on an error. InvalidArgument: empty, no whole number of rows, a label out of range.
base::Status AddCifar10Batch(base::ByteView bytes, Examples& examples);

}  // namespace ostraka::train
