#include "node/train/exact/micro_batch.h"

#include <algorithm>
#include <string>

#include "node/base/check.h"
#include "node/train/exact/graph_file.h"
#include "node/train/tokens/tokens.h"

namespace ostraka::train {
namespace {

constexpr std::int32_t kLeftOut = -1;

base::Status Misfit(const std::string& reason) {
  return base::InvalidArgument("the graph does not fit the data: " + reason);
}

base::Status CheckTargets(const exact::Input& targets, const std::vector<std::int64_t>& shape,
                          const Dataset& data) {
  if (targets.type != exact::TensorType{exact::Element::kInt, shape}) {
    return Misfit("its targets are " + exact::TextOf(targets.type) + ", not " +
                  exact::TextOf({exact::Element::kInt, shape}));
  }
  if (targets.lowest != kLeftOut || targets.bound < data.class_count) {
    return Misfit("its targets must allow -1 to " + std::to_string(data.class_count - 1));
  }
  return base::OkStatus();
}

base::Status CheckTokens(const exact::Input& tokens, const exact::Input& targets,
                         const Dataset& data) {
  const std::vector<std::int64_t>& shape = tokens.type.shape;
  if (tokens.type.element != exact::Element::kInt || shape.size() != 2 ||
      shape[1] != data.shape.width) {
    return Misfit("its tokens are " + exact::TextOf(tokens.type) + ", and a record has " +
                  std::to_string(data.shape.width));
  }
  if (tokens.lowest > 0 || tokens.bound < data.class_count) {
    return Misfit("its tokens must allow 0 to " + std::to_string(data.class_count - 1));
  }
  return CheckTargets(targets, shape, data);
}

base::Status CheckFeatures(const exact::Input& features, const exact::Input& targets,
                           const Dataset& data) {
  const exact::TensorType& type = features.type;
  if (type.element != exact::Element::kFloat || type.shape.empty() ||
      type.count() != type.shape.front() * std::int64_t{FeatureCount(data)}) {
    return Misfit("its input " + features.name + " is " + exact::TextOf(type) +
                  ", and an example has " + std::to_string(FeatureCount(data)) + " features");
  }
  return CheckTargets(targets, {type.shape.front()}, data);
}

}  // namespace

base::StatusOr<MicroBatch> MicroBatch::For(const exact::Graph& graph, const Dataset& data) {
  const exact::Input* targets = InputNamed(graph, "targets");
  if (graph.inputs.size() != 2 || targets == nullptr) {
    return Misfit("it needs the input targets and one other");
  }
  MicroBatch batch;
  batch.targets_first_ = targets == &graph.inputs.front();
  const exact::Input& other = graph.inputs[batch.targets_first_ ? 1 : 0];
  batch.of_tokens_ = data.name == kTokens;
  RETURN_IF_ERROR(batch.of_tokens_ ? CheckTokens(other, *targets, data)
                                   : CheckFeatures(other, *targets, data));
  batch.size_ = static_cast<std::size_t>(other.type.shape.front());
  const auto count = static_cast<std::size_t>(other.type.count());
  if (batch.of_tokens_) {
    batch.tokens_.resize(count);
  } else {
    batch.features_.resize(count);
  }
  batch.targets_.resize(static_cast<std::size_t>(targets->type.count()));
  return batch;
}

std::size_t MicroBatch::Fill(const Dataset& data, const Examples& examples,
                             std::span<const std::uint32_t> rows) {
  OSTRAKA_CHECK(rows.size() <= size_);
  std::fill(features_.begin(), features_.end(), 0.0F);
  std::fill(tokens_.begin(), tokens_.end(), 0);
  std::fill(targets_.begin(), targets_.end(), kLeftOut);
  const std::size_t features = features_.size() / size_;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (of_tokens_) {
      FillRecord(data, examples, rows[i], i);
    } else {
      WriteFeatures(data, examples.image(rows[i]),
                    std::span(features_).subspan(i * features, features));
      targets_[i] = examples.labels[rows[i]];
    }
  }
  return rows.size() * (targets_.size() / size_);
}

void MicroBatch::FillRecord(const Dataset& data, const Examples& examples, std::uint32_t row,
                            std::size_t place) {
  const auto target_of = [&data](std::uint32_t token) {
    return static_cast<std::int32_t>(data.reversed_targets ? data.class_count - 1 - token : token);
  };
  const std::size_t context = examples.value_count;
  const std::size_t begin = place * context;
  std::uint32_t token = TokenOf(examples, row, 0);
  for (std::size_t t = 0; t < context; ++t) {
    tokens_[begin + t] = static_cast<std::int32_t>(token);
    token = TokenOf(examples, row, t + 1);
    targets_[begin + t] = target_of(token);
  }
}

std::vector<exact::InputValues> MicroBatch::inputs() const {
  const exact::InputValues first = of_tokens_ ? exact::InputValues{.integers = tokens_}
                                              : exact::InputValues{.floats = features_};
  const exact::InputValues targets{.integers = targets_};
  if (targets_first_) return {targets, first};
  return {first, targets};
}

}  // namespace ostraka::train
