// The embedded data set: handwritten digits of 8 x 8 pixels (source and licence: data/README.md).
//
// Thread safety: pure functions.
#pragma once

#include "node/train/dataset.h"

namespace ostraka::train {

// All 1,797 images, pixels scaled from 0..16 to [0, 1] (exactly), in the file's order. Of each
// class the fifth with the smallest row hashes is the test part, so the split is stratified, does
// not depend on the order of the file, and is the same on every machine.
Dataset LoadDigits();

}  // namespace ostraka::train
