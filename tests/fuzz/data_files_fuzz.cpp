// Any bytes as a file of a data set: IDX images, IDX labels, a CIFAR-10 batch, gzip, a text,
// examples, an index of streamed data. The first byte chooses; an accepted file must have
// everything that the parser promises.
#include <cstdint>
#include <string>
#include <vector>

#include "node/base/check.h"
#include "node/train/cifar10.h"
#include "node/train/columns.h"
#include "node/train/examples_file.h"
#include "node/train/gzip.h"
#include "node/train/idx.h"
#include "node/train/stream/stream_index.h"
#include "node/train/text.h"

namespace ostraka::train {
namespace {

constexpr std::size_t kMaxBytes = 1 << 20;

void Refused(const base::Status& status) {
  OSTRAKA_CHECK(status.code() == absl::StatusCode::kInvalidArgument);
  OSTRAKA_CHECK(!status.message().empty());
  OSTRAKA_CHECK(base::MessageOf(status).find('\n') == std::string::npos);
}

void RunImages(base::ByteView bytes) {
  const auto images = ParseIdxImages(bytes);
  if (!images.ok()) return Refused(images.status());
  OSTRAKA_CHECK(images->count > 0 && images->height >= 4 && images->width >= 4);
  OSTRAKA_CHECK(images->pixels.size() ==
                std::uint64_t{images->count} * images->height * images->width);
  OSTRAKA_CHECK(images->pixels.size() + 16 == bytes.size());
}

void RunLabels(base::ByteView bytes) {
  const auto labels = ParseIdxLabels(bytes, 10);
  if (!labels.ok()) return Refused(labels.status());
  OSTRAKA_CHECK(labels->size() + 8 == bytes.size());
  for (const std::uint8_t label : *labels) OSTRAKA_CHECK(label < 10);
}

void RunCifar10(base::ByteView bytes) {
  Examples examples{.value_count = kCifar10Shape.value_count(), .values = {}, .labels = {}};
  const base::Status status = AddCifar10Batch(bytes, examples);
  if (!status.ok()) {
    OSTRAKA_CHECK(examples.size() == 0 && examples.values.empty());
    return Refused(status);
  }
  OSTRAKA_CHECK(examples.values.size() == examples.size() * examples.value_count);
  OSTRAKA_CHECK(examples.size() * 3073 == bytes.size());
  for (const std::uint8_t label : examples.labels) OSTRAKA_CHECK(label < kCifar10Classes);
}

void RunGzip(base::ByteView bytes) {
  const auto plain = Gunzip(bytes, kMaxBytes);
  if (!plain.ok()) return Refused(plain.status());
  OSTRAKA_CHECK(LooksLikeGzip(bytes));
  OSTRAKA_CHECK(plain->size() <= kMaxBytes);
  RunImages(*plain);
}

void RunText(base::ByteView bytes) {
  const auto data = TextDataset(bytes);
  if (!data.ok()) return Refused(data.status());
  for (const Examples* part : {&data->training, &data->validation, &data->test}) {
    OSTRAKA_CHECK(part->size() > 0 && part->values.size() == part->size() * kTextWindow);
    for (const std::uint8_t symbol : part->values) OSTRAKA_CHECK(symbol < data->class_count);
    for (const std::uint8_t symbol : part->labels) OSTRAKA_CHECK(symbol < data->class_count);
  }
}

void RunExamples(base::ByteView bytes) {
  const auto data = ParseExamples(bytes);
  if (!data.ok()) return Refused(data.status());
  OSTRAKA_CHECK(!data->columns.empty() && data->columns.size() <= kMostColumns);
  for (const Examples* part : {&data->training, &data->validation, &data->test}) {
    OSTRAKA_CHECK(part->size() > 0 && part->values.size() == part->size() * part->value_count);
    for (const Column& column : data->columns) {
      OSTRAKA_CHECK(column.at + column.row_bytes() <= part->value_count);
      if (!column.of_integers()) {
        std::vector<float> values(column.count);
        ReadFloats(part->image(part->size() - 1), column, values);
        for (const float value : values) OSTRAKA_CHECK(value - value == 0);
        continue;
      }
      std::vector<std::int32_t> values(column.count);
      ReadIntegers(part->image(part->size() - 1), column, values);
      for (const std::int32_t value : values) {
        OSTRAKA_CHECK(value >= column.lowest && value < column.bound);
      }
    }
  }
  HashOf(*data);
}

void RunStreamIndex(base::ByteView bytes) {
  const auto index = ParseStreamIndex(bytes);
  if (!index.ok()) return Refused(index.status());
  OSTRAKA_CHECK(index->chunk_bytes() > 0 && index->chunk_bytes() <= kMostChunkBytes);
  OSTRAKA_CHECK(!index->leaves.empty() && index->training() > 0);
  OSTRAKA_CHECK(!index->FileOf(index->leaves.size() - 1).empty());
  OSTRAKA_CHECK(!CheckChunk(*index, 0, bytes).ok());
  HashOfStream(*index);
}

}  // namespace
}  // namespace ostraka::train

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const ostraka::base::ByteView bytes(data + 1, size - 1);
  if (data[0] == 'e') {
    ostraka::train::RunExamples(bytes);
    return 0;
  }
  if (data[0] == 's') {
    ostraka::train::RunStreamIndex(bytes);
    return 0;
  }
  switch (data[0] % 5) {
    case 0:
      ostraka::train::RunImages(bytes);
      break;
    case 1:
      ostraka::train::RunLabels(bytes);
      break;
    case 2:
      ostraka::train::RunCifar10(bytes);
      break;
    case 3:
      ostraka::train::RunGzip(bytes);
      break;
    default:
      ostraka::train::RunText(bytes);
  }
  return 0;
}
