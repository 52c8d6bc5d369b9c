// Text as labelled examples: the bytes of a window, and the byte that follows.
//
// Thread safety: pure function.
#pragma once

#include "node/base/bytes.h"
#include "node/base/status.h"
#include "node/train/dataset.h"

namespace ostraka::train {

// Number of bytes that a model sees to predict the next one.
inline constexpr std::uint32_t kTextWindow = 8;
// Maximum number of windows in the validation part and in the test part. It bounds an evaluation to
// the cost of some hundred gradients, whatever the length of the text.
inline constexpr std::size_t kMaxHeldOutWindows = 2048;

// Symbols are the distinct bytes of the whole text, numbered in ascending order. Every window of
// the first 8 tenths of the text trains. The next tenth is for validation and the last for tests,
// each with windows at equal distances. No window crosses a border, so no byte of a held-out part
// is trained on. InvalidArgument: shorter than 1,000 bytes, or only one distinct byte.
base::StatusOr<Dataset> TextDataset(base::ByteView text);

}  // namespace ostraka::train
