// Labelled images, windows or tokens of a text, or rows of named columns, in memory, split into
// training, validation and test parts.
//
// Values stay bytes as on disk: they take a quarter of the memory of floats, and hash and split do
// not depend on rounding. Models see the features of WriteFeatures.
//
// Thread safety: plain values and pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "node/base/ids.h"
#include "node/base/status.h"

namespace ostraka::train {

struct ImageShape {
  std::uint32_t channels = 0;
  std::uint32_t height = 0;
  std::uint32_t width = 0;

  std::uint32_t value_count() const { return channels * height * width; }
  bool operator==(const ImageShape&) const = default;
};

// Training rows that lie elsewhere, and come when they are needed (node/train/stream).
//
// Thread safety: one thread; Abandon from any.
class RowStore {
 public:
  virtual ~RowStore() = default;

  virtual std::size_t size() const = 0;
  virtual base::Digest DataHash() const = 0;  // HashOf the data set
  // The rows of a batch, a function of the arguments alone. REQUIRES: batch_size <= size().
  virtual std::vector<std::uint32_t> Draw(const base::Digest& batch_seed,
                                          std::uint32_t batch_size) const = 0;

  // These rows will be loaded soon: what is missing may be fetched meanwhile.
  virtual void Expect(std::span<const std::uint32_t> rows) = 0;
  // Waits until the rows are here; row() has them until the next call. `check_wanted` is asked
  // while it waits, and ends it. FailedPrecondition: nobody has them. Unavailable: abandoned.
  using CheckWanted = std::function<base::Status()>;
  virtual base::Status Load(std::span<const std::uint32_t> rows,
                            const CheckWanted& check_wanted) = 0;
  // REQUIRES: the row was loaded last.
  virtual std::span<const std::uint8_t> row(std::uint32_t index) const = 0;

  // Load ends soon, now and later.
  virtual void Abandon() = 0;
  // News for people since the last call. Any thread.
  virtual std::vector<std::string> TakeNotices() = 0;
};

// INVARIANT: values.size() == size() * value_count * value_bytes, labels.size() == size() *
// value_bytes; or both are empty, and the rows are the store's.
struct Examples {
  std::uint32_t value_count = 0;     // of one image
  std::vector<std::uint8_t> values;  // one image after another: channel by channel, row by row
  std::vector<std::uint8_t> labels;  // 0..class_count-1
  // Of each value and label: 1, and of tokens of larger vocabularies 2 or 4, little-endian.
  std::uint32_t value_bytes = 1;

  std::shared_ptr<RowStore> store = nullptr;

  std::size_t size() const { return store ? store->size() : labels.size() / value_bytes; }
  std::span<const std::uint8_t> image(std::size_t index) const {
    if (store) return store->row(static_cast<std::uint32_t>(index));
    const std::size_t bytes = std::size_t{value_count} * value_bytes;
    return std::span(values).subspan(index * bytes, bytes);
  }
  std::span<const std::uint8_t> label_bytes(std::size_t index) const {
    return std::span(labels).subspan(index * value_bytes, value_bytes);
  }
  // REQUIRES: image.size() == value_count; value_bytes is 1.
  void Add(std::span<const std::uint8_t> image, std::uint8_t label);
};

// Of a row of examples (node/train/examples_file.h).
enum class ColumnElement : std::uint8_t { kU8, kU16, kU32, kPixel, kFloat };
struct Column {
  std::string name;
  ColumnElement element = ColumnElement::kU8;
  std::uint32_t bytes = 1;  // of an element
  std::vector<std::int64_t> shape = {};
  std::uint64_t count = 1;  // elements
  std::int32_t lowest = 0;  // of integers
  std::int32_t bound = 0;   // above all of them
  std::size_t at = 0;       // where it begins in a row

  bool of_integers() const { return element <= ColumnElement::kU32; }
  std::size_t row_bytes() const { return count * bytes; }
  bool operator==(const Column&) const = default;
};

// The name of data that are records of tokens (node/train/tokens/tokens.h).
inline constexpr char kTokens[] = "tokens";

// As `max_value`: values are symbols 0..class_count-1, not amounts.
inline constexpr std::uint8_t kSymbols = 0;

struct Dataset {
  std::string name;
  ImageShape shape;
  std::uint32_t class_count = 0;
  std::uint8_t max_value = kSymbols;  // of a pixel
  // Of examples: a row is the bytes of its columns, and has no label. Else there are none.
  std::vector<Column> columns = {};
  Examples training;
  Examples validation;  // for choosing hyperparameters, never `test`
  Examples test;
  // Of tokens and examples: a target t is taken for class_count - 1 - t, or in its column for
  // bound - 1 - t. For attacks that flip labels; no part of the hash.
  bool reversed_targets = false;
};

// A model's input for one example, in order. All features have a mean square near one, as initial
// parameters by fan-in presume:
//   a pixel is one feature, 2 value / max_value - 1. (Mean square on digits: 0.72; without the
//     centring 0.23. Measured for mlp with 7 workers, 128 hidden units, rate 1, 300 steps and 12
//     seeds: accuracy 0.971 on average, 0.966 at worst; without it 0.965 and 0.958.)
//   a symbol is class_count features, sqrt(class_count) for itself and 0 for every other one.
std::uint32_t FeatureCount(const Dataset& data);
// REQUIRES: image.size() == data.shape.value_count(); features.size() == FeatureCount(data).
void WriteFeatures(const Dataset& data, std::span<const std::uint8_t> image,
                   std::span<float> features);

// The hash of everything that a gradient or an evaluation depends on: H(kDomainData, channels |
// height | width | classes | max_value | for training, validation and test: sized values | sized
// labels), all numbers as u64. Of tokens: HashOfRecords (node/train/tokens/tokens.h). Of
// examples: HashOfExamples.
base::Digest HashOf(const Dataset& data);

// InvalidArgument unless `data` have held-out parts, and a batch of so many rows can be drawn.
base::Status CheckForTraining(const Dataset& data, std::uint64_t batch_size);

// Moves one example in `share` of each class out of `examples`: those with the smallest leaf hashes
// (crypto/merkle.h) of image and label. So the split is stratified, independent of the file's order
// and of any generator, and equal on every machine. Both parts keep their order. REQUIRES: share >
// 0; labels are below class_count.
Examples SplitOff(Examples& examples, std::uint32_t class_count, std::size_t share);

}  // namespace ostraka::train
