#include "node/train/idx.h"

#include <algorithm>
#include <array>
#include <string>

namespace ostraka::train {
namespace {

constexpr std::size_t kWordBytes = 4;
constexpr std::uint32_t kImagesMagic = 0x00000803;  // unsigned bytes in three dimensions
constexpr std::uint32_t kLabelsMagic = 0x00000801;  // unsigned bytes in one dimension
constexpr std::uint32_t kMinSide = 4;
constexpr std::uint32_t kMaxSide = 256;

std::uint32_t WordAt(base::ByteView bytes, std::size_t index) {
  std::uint32_t word = 0;
  for (const std::uint8_t byte : bytes.subspan(index * kWordBytes, kWordBytes)) {
    word = word << 8 | byte;
  }
  return word;
}

// The data after a header of `magic` and `extents.size()` dimensions, which it reads into
// `extents`.
base::StatusOr<base::ByteView> ReadHeader(base::ByteView bytes, std::uint32_t magic,
                                          std::span<std::uint32_t> extents) {
  const std::size_t header_bytes = (1 + extents.size()) * kWordBytes;
  if (bytes.size() >= kWordBytes && WordAt(bytes, 0) != magic) {
    return base::InvalidArgument("wrong magic number " + std::to_string(WordAt(bytes, 0)) + ", " +
                                 (magic == kImagesMagic ? "IDX images of bytes have 2051"
                                                        : "IDX labels of bytes have 2049"));
  }
  if (bytes.size() < header_bytes) {
    return base::InvalidArgument("cut short: " + std::to_string(bytes.size()) +
                                 " bytes, its IDX header alone has " +
                                 std::to_string(header_bytes));
  }
  for (std::size_t i = 0; i < extents.size(); ++i) extents[i] = WordAt(bytes, 1 + i);
  return bytes.subspan(header_bytes);
}

base::Status CheckSize(base::ByteView data, std::uint64_t wanted) {
  if (data.size() == wanted) return base::OkStatus();
  return base::InvalidArgument((data.size() < wanted ? "cut short: " : "too long: ") +
                               std::to_string(data.size()) + " bytes of data, its header says " +
                               std::to_string(wanted));
}

}  // namespace

base::StatusOr<IdxImages> ParseIdxImages(base::ByteView bytes) {
  std::array<std::uint32_t, 3> extents{};
  ASSIGN_OR_RETURN(const base::ByteView data, ReadHeader(bytes, kImagesMagic, extents));
  const IdxImages images{
      .count = extents[0], .height = extents[1], .width = extents[2], .pixels = data};
  if (std::min(images.height, images.width) < kMinSide ||
      std::max(images.height, images.width) > kMaxSide) {
    return base::InvalidArgument("its images are " + std::to_string(images.height) + " x " +
                                 std::to_string(images.width) + ": sides must be 4 to 256");
  }
  if (images.count == 0) return base::InvalidArgument("it holds no images");
  // Below 2^48: the product does not overflow.
  RETURN_IF_ERROR(CheckSize(data, std::uint64_t{images.count} * images.height * images.width));
  return images;
}

base::StatusOr<base::ByteView> ParseIdxLabels(base::ByteView bytes, std::uint32_t class_count) {
  std::array<std::uint32_t, 1> count{};
  ASSIGN_OR_RETURN(const base::ByteView labels, ReadHeader(bytes, kLabelsMagic, count));
  RETURN_IF_ERROR(CheckSize(labels, count[0]));
  const auto wrong = std::find_if(labels.begin(), labels.end(), [class_count](std::uint8_t label) {
    return label >= class_count;
  });
  if (wrong != labels.end()) {
    return base::InvalidArgument("label " + std::to_string(*wrong) + " of image " +
                                 std::to_string(wrong - labels.begin()) +
                                 " is out of range: 0 to " + std::to_string(class_count - 1));
  }
  return labels;
}

}  // namespace ostraka::train
