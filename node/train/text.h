// Text as labelled examples: the bytes of a window, and the byte that follows.
//
// Thread safety: pure function.
#pragma once

#include "node/base/bytes.h"
#include "node/base/status.h"
#include "node/train/dataset.h"

namespace ostraka::train {

// Bytes that a model sees before it says the next one.
inline constexpr std::uint32_t kTextWindow = 8;
// Windows of the validation part, and of the test part, at most: evaluations cost as much as some
// hundred gradients then, whatever the length of the text.
inline constexpr std::size_t kMaxHeldOutWindows = 2048;

// Symbols are the distinct bytes of the whole text, numbered upwards. The first 8 tenths of the
// text train, every window of them; the next tenth is for validation and the last for tests, each
// with windows at equal distances. No window reaches over a border, so that no byte which judges
// has been trained on. InvalidArgument: shorter than 1,000 bytes, or of one byte throughout.
base::StatusOr<Dataset> TextDataset(base::ByteView text);

}  // namespace ostraka::train
