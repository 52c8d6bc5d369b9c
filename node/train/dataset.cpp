#include "node/train/dataset.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "crypto/merkle.h"
#include "node/base/check.h"
#include "node/train/examples_file.h"
#include "node/train/tokens/tokens.h"

namespace ostraka::train {

void Examples::Add(std::span<const std::uint8_t> image, std::uint8_t label) {
  OSTRAKA_CHECK(image.size() == value_count && value_bytes == 1);
  values.insert(values.end(), image.begin(), image.end());
  labels.push_back(label);
}

std::uint32_t FeatureCount(const Dataset& data) {
  return data.shape.value_count() * (data.max_value == kSymbols ? data.class_count : 1);
}

void WriteFeatures(const Dataset& data, std::span<const std::uint8_t> image,
                   std::span<float> features) {
  OSTRAKA_CHECK(features.size() == FeatureCount(data));
  if (data.max_value == kSymbols) {
    std::fill(features.begin(), features.end(), 0.0F);
    const float present = std::sqrt(static_cast<float>(data.class_count));
    for (std::size_t i = 0; i < image.size(); ++i) {
      features[i * data.class_count + image[i]] = present;
    }
    return;
  }
  const auto max_value = static_cast<float>(data.max_value);
  for (std::size_t i = 0; i < image.size(); ++i) {
    features[i] = 2 * (static_cast<float>(image[i]) / max_value) - 1;
  }
}

base::Digest HashOf(const Dataset& data) {
  if (data.training.store) return data.training.store->DataHash();
  if (data.name == kTokens) return HashOfRecords(data);
  if (!data.columns.empty()) return HashOfExamples(data);
  crypto::Hasher hasher(crypto::kDomainData);
  for (const std::uint64_t number : {data.shape.channels, data.shape.height, data.shape.width,
                                     data.class_count, std::uint32_t{data.max_value}}) {
    hasher.UpdateU64(number);
  }
  for (const Examples* part : {&data.training, &data.validation, &data.test}) {
    hasher.UpdateSized(part->values).UpdateSized(part->labels);
  }
  return hasher.Finish();
}

base::Status CheckForTraining(const Dataset& data, std::uint64_t batch_size) {
  if (data.test.size() == 0 || data.validation.size() == 0) {
    return base::InvalidArgument("data " + data.name +
                                 ": too few examples for a test and a validation part");
  }
  if (batch_size == 0 || batch_size > data.training.size()) {
    return base::InvalidArgument("batch_size must be 1 to " + std::to_string(data.training.size()) +
                                 ", the training rows of " + data.name + ", not " +
                                 std::to_string(batch_size));
  }
  return base::OkStatus();
}

Examples SplitOff(Examples& examples, std::uint32_t class_count, std::size_t share) {
  OSTRAKA_CHECK(share > 0);
  std::vector<std::vector<std::pair<base::Digest, std::size_t>>> hashed(class_count);
  std::vector<std::uint8_t> row;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const std::uint8_t label = examples.labels[i];
    OSTRAKA_CHECK(label < class_count);
    row.assign(examples.image(i).begin(), examples.image(i).end());
    row.push_back(label);
    hashed[label].emplace_back(crypto::ChunkLeaf(row), i);
  }
  std::vector<bool> is_taken(examples.size(), false);
  for (auto& rows : hashed) {
    std::sort(rows.begin(), rows.end());
    for (std::size_t k = 0; k < rows.size() / share; ++k) is_taken[rows[k].second] = true;
  }
  Examples kept{.value_count = examples.value_count, .values = {}, .labels = {}};
  Examples taken = kept;
  kept.values.reserve(examples.values.size());
  for (std::size_t i = 0; i < examples.size(); ++i) {
    (is_taken[i] ? taken : kept).Add(examples.image(i), examples.labels[i]);
  }
  examples = std::move(kept);
  return taken;
}

}  // namespace ostraka::train
