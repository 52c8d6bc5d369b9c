#include "node/train/cifar10.h"

#include <string>

namespace ostraka::train {

base::Status AddCifar10Batch(base::ByteView bytes, Examples& examples) {
  const std::size_t row_bytes = 1 + kCifar10Shape.value_count();
  if (bytes.empty()) return base::InvalidArgument("it is empty");
  if (bytes.size() % row_bytes != 0) {
    return base::InvalidArgument(
        std::to_string(bytes.size()) + " bytes are no whole number of rows of " +
        std::to_string(row_bytes) + ": cut short, or not CIFAR-10's binary version");
  }
  const std::size_t rows = bytes.size() / row_bytes;
  for (std::size_t i = 0; i < rows; ++i) {
    const std::uint8_t label = bytes[i * row_bytes];
    if (label >= kCifar10Classes) {
      return base::InvalidArgument("label " + std::to_string(label) + " of image " +
                                   std::to_string(i) + " is out of range: 0 to 9");
    }
  }
  for (std::size_t i = 0; i < rows; ++i) {
    const base::ByteView row = bytes.subspan(i * row_bytes, row_bytes);
    examples.Add(row.subspan(1), row.front());
  }
  return base::OkStatus();
}

}  // namespace ostraka::train
