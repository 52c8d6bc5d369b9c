#include "node/train/cifar10.h"

#include <gtest/gtest.h>

#include "tests/unit/train/image_files.h"

namespace ostraka::train::cifar10_test {
namespace {

Examples NoExamples() {
  return {.value_count = kCifar10Shape.value_count(), .values = {}, .labels = {}};
}

std::string ErrorOf(const base::Bytes& bytes) {
  Examples examples = NoExamples();
  const base::Status status = AddCifar10Batch(bytes, examples);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(examples.size(), 0u);
  EXPECT_TRUE(examples.values.empty());
  return base::MessageOf(status);
}

TEST(Cifar10, ReadsRowsInOrder) {
  const base::Bytes file = CifarBatch(1, 3);
  Examples examples = NoExamples();
  ASSERT_TRUE(AddCifar10Batch(file, examples).ok());
  ASSERT_TRUE(AddCifar10Batch(CifarBatch(2, 1), examples).ok());
  EXPECT_EQ(examples.labels, (std::vector<std::uint8_t>{0, 1, 2, 0}));
  for (std::size_t i = 0; i < 3; ++i) {
    const auto image = examples.image(i);
    EXPECT_TRUE(
        std::equal(image.begin(), image.end(), file.begin() + 3073 * static_cast<long>(i) + 1));
  }
}

TEST(Cifar10, WrongSizesAreRefused) {
  EXPECT_EQ(ErrorOf({}), "it is empty");
  for (const std::size_t size : {1U, 3072U, 3074U, 2 * 3073U - 1}) {
    EXPECT_EQ(ErrorOf(base::Bytes(size)),
              std::to_string(size) +
                  " bytes are no whole number of rows of 3073: cut short, or not "
                  "CIFAR-10's binary version");
  }
}

TEST(Cifar10, ALabelOutOfRangeIsNamed) {
  base::Bytes file = CifarBatch(1, 3);
  file[2 * 3073] = 10;
  EXPECT_EQ(ErrorOf(file), "label 10 of image 2 is out of range: 0 to 9");
}

}  // namespace
}  // namespace ostraka::train::cifar10_test
