// IDX, the format of the MNIST files (http://yann.lecun.com/exdb/mnist, "file formats"): two zero
// bytes, a type byte (8: unsigned bytes), the number of dimensions, one big-endian u32 each, data.
//
// Strict: every count is checked against the available bytes before use, and no bytes may be left
// over. Messages are one line without the file's name, which the caller adds.
//
// Thread safety: pure functions; results point into `bytes`.
#pragma once

#include <cstdint>

#include "node/base/bytes.h"
#include "node/base/status.h"

namespace ostraka::train {

struct IdxImages {
  std::uint32_t count = 0;
  std::uint32_t height = 0;
  std::uint32_t width = 0;
  base::ByteView pixels;  // count * height * width
};

// InvalidArgument: another magic, no images, sides outside 4..256, cut short, bytes after the end.
base::StatusOr<IdxImages> ParseIdxImages(base::ByteView bytes);

// The labels. InvalidArgument: as above, or a label of class_count or more.
base::StatusOr<base::ByteView> ParseIdxLabels(base::ByteView bytes, std::uint32_t class_count);

}  // namespace ostraka::train
