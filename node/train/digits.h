// The embedded data set: handwritten digits of 8 x 8 pixels (source and licence: data/README.md).
//
// Thread safety: pure functions.
#pragma once

#include "node/train/dataset.h"

namespace ostraka::train {

// All 1,797 images, pixels 0..16, in the file's order. A fifth of each class is the test part
// (355), a tenth of the rest the validation part (140), and the remainder trains (1,302).
Dataset LoadDigits();

}  // namespace ostraka::train
