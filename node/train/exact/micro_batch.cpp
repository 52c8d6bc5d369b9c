#include "node/train/exact/micro_batch.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "crypto/stream.h"
#include "node/base/check.h"
#include "node/base/little_endian.h"
#include "node/train/columns.h"
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

// The integers by which the loss selects classes; null if the loss is no cross_entropy.
const exact::Input* SelectedBy(const exact::Graph& graph) {
  if (graph.loss < graph.declared_count()) return nullptr;
  const exact::Instruction& last = graph.instructions[graph.loss - graph.declared_count()];
  return last.op == exact::Op::kCrossEntropy ? graph.InputOf(last.operands[1]) : nullptr;
}

std::string NamesOf(const std::vector<Column>& columns) {
  std::string names;
  for (const Column& column : columns) names += (names.empty() ? "" : ", ") + column.name;
  return names;
}

const Column* Named(const Dataset& data, std::string_view name) {
  const auto found = std::find_if(data.columns.begin(), data.columns.end(),
                                  [&](const Column& each) { return each.name == name; });
  return found == data.columns.end() ? nullptr : &*found;
}

// A column tokens of one more than the input takes, where no column is named targets: its first
// elements are the tokens, and its last ones the targets.
std::optional<Column> OfRecords(const exact::Input& input, const Dataset& data) {
  const Column* const records = Named(data, "tokens");
  const bool is_target = input.name == "targets";
  const exact::TensorType& type = input.type;
  if (records == nullptr || Named(data, "targets") != nullptr || type.shape.size() != 2 ||
      (!is_target && input.name != "tokens") || !records->of_integers() ||
      records->count != static_cast<std::uint64_t>(type.shape[1]) + 1) {
    return std::nullopt;
  }
  Column part = *records;
  part.shape = {type.shape[1]};
  --part.count;
  if (is_target) part.at += part.bytes;
  return part;
}

// What an input takes of a row, if it has the input's values.
base::StatusOr<Column> ColumnFor(const exact::Input& input, const Dataset& data) {
  const std::optional<Column> of_records = OfRecords(input, data);
  const Column* const found = of_records ? &*of_records : Named(data, input.name);
  if (found == nullptr) {
    return Misfit("no column is named " + input.name + "; there are " + NamesOf(data.columns));
  }
  const exact::TensorType& type = input.type;
  const bool of_integers = type.element == exact::Element::kInt;
  if (type.shape.empty() || of_integers != found->of_integers() ||
      static_cast<std::uint64_t>(type.count()) !=
          static_cast<std::uint64_t>(type.shape.front()) * found->count) {
    return Misfit("its input " + input.name + " is " + exact::TextOf(type) +
                  ", and the column is '" + TextOf(*found) + "'");
  }
  if (of_integers && (input.lowest > found->lowest || input.bound < found->bound)) {
    return Misfit("its input " + input.name + " must allow " + std::to_string(found->lowest) +
                  " to " + std::to_string(found->bound - 1));
  }
  return *found;
}

}  // namespace

base::StatusOr<MicroBatch> MicroBatch::For(const exact::Graph& graph, const Dataset& data) {
  ASSIGN_OR_RETURN(MicroBatch batch,
                   data.columns.empty() ? ForTargets(graph, data) : ForColumns(graph, data));
  batch.AddDrawn(graph);
  return batch;
}

void MicroBatch::AddDrawn(const exact::Graph& graph) {
  for (const exact::Input& input : std::span(graph.inputs).subspan(graph.given_count())) {
    const auto count = static_cast<std::size_t>(input.type.count());
    values_.push_back({.keep = input.keep, .count = count});
  }
}

base::StatusOr<MicroBatch> MicroBatch::ForTargets(const exact::Graph& graph, const Dataset& data) {
  const exact::Input* targets = InputNamed(graph, "targets");
  if (graph.given_count() != 2 || targets == nullptr) {
    return Misfit(
        "it needs the input targets and one other; data of other inputs are examples:FILE");
  }
  MicroBatch batch;
  batch.targets_ = targets == &graph.inputs.front() ? 0 : 1;
  batch.other_ = 1 - *batch.targets_;
  const exact::Input& other = graph.inputs[batch.other_];
  const bool of_tokens = data.name == kTokens;
  RETURN_IF_ERROR(of_tokens ? CheckTokens(other, *targets, data)
                            : CheckFeatures(other, *targets, data));
  batch.size_ = static_cast<std::size_t>(other.type.shape.front());
  batch.values_.resize(2);
  const auto count = static_cast<std::size_t>(other.type.count());
  if (of_tokens) {
    batch.values_[batch.other_].integers.resize(count);
  } else {
    batch.values_[batch.other_].floats.resize(count);
  }
  batch.values_[*batch.targets_].integers.resize(static_cast<std::size_t>(targets->type.count()));
  return batch;
}

base::StatusOr<MicroBatch> MicroBatch::ForColumns(const exact::Graph& graph, const Dataset& data) {
  MicroBatch batch;
  const exact::Input* const selects = SelectedBy(graph);
  for (const exact::Input& input : std::span(graph.inputs).first(graph.given_count())) {
    ASSIGN_OR_RETURN(Column column, ColumnFor(input, data));
    const auto examples = static_cast<std::size_t>(input.type.shape.front());
    if (batch.values_.empty()) batch.size_ = examples;
    if (examples != batch.size_) {
      return Misfit("its inputs have " + std::to_string(batch.size_) + " and " +
                    std::to_string(examples) + " examples");
    }
    if (&input == selects) batch.targets_ = batch.values_.size();
    Values values{.column = std::move(column)};
    const auto count = static_cast<std::size_t>(input.type.count());
    if (input.type.element == exact::Element::kInt) {
      values.integers.resize(count);
    } else {
      values.floats.resize(count);
    }
    batch.values_.push_back(std::move(values));
  }
  if (batch.values_.empty()) return Misfit("it has no inputs");
  batch.pads_ = selects != nullptr && selects->lowest == kLeftOut;
  RETURN_IF_ERROR(batch.CheckHeldOut(data));
  return batch;
}

// So that an evaluation is the mean over something.
base::Status MicroBatch::CheckHeldOut(const Dataset& data) {
  for (const Examples* part : {&data.validation, &data.test}) {
    const std::string of = part == &data.test ? "test" : "validation";
    if (!pads_ && part->size() < size_) {
      return Misfit("it takes " + std::to_string(size_) + " examples at once, and there are " +
                    std::to_string(part->size()) + " for " + of);
    }
    if (!targets_) continue;
    std::size_t counted = 0;
    for (std::uint32_t row = 0; row < part->size() && counted == 0; ++row) {
      counted = Fill(data, *part, std::vector<std::uint32_t>(pads_ ? 1 : size_, row));
    }
    if (counted == 0) return Misfit("no row for " + of + " has a target that is not -1");
  }
  return base::OkStatus();
}

std::size_t MicroBatch::Fill(const Dataset& data, const Examples& examples,
                             std::span<const std::uint32_t> rows) {
  OSTRAKA_CHECK(rows.size() <= size_ && (pads_ || rows.size() == size_));
  for (Values& values : values_) {
    std::fill(values.floats.begin(), values.floats.end(), 0.0F);
    std::fill(values.integers.begin(), values.integers.end(), 0);
    if (values.keep > 0) values.floats.assign(values.count, 1.0F);
  }
  if (targets_ && rows.size() < size_) {
    std::vector<std::int32_t>& targets = values_[*targets_].integers;
    std::fill(targets.begin(), targets.end(), kLeftOut);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!data.columns.empty()) {
      FillColumns(data, examples, rows[i], i);
    } else if (data.name == kTokens) {
      FillRecord(data, examples, rows[i], i);
    } else {
      std::vector<float>& floats = values_[other_].floats;
      const std::size_t features = floats.size() / size_;
      WriteFeatures(data, examples.image(rows[i]),
                    std::span(floats).subspan(i * features, features));
      values_[*targets_].integers[i] = examples.labels[rows[i]];
    }
  }
  if (!targets_) return rows.size();
  const std::span<const std::int32_t> all = targets();
  return all.size() - static_cast<std::size_t>(std::count(all.begin(), all.end(), kLeftOut));
}

void MicroBatch::FillRecord(const Dataset& data, const Examples& examples, std::uint32_t row,
                            std::size_t place) {
  const auto target_of = [&data](std::uint32_t token) {
    return static_cast<std::int32_t>(data.reversed_targets ? data.class_count - 1 - token : token);
  };
  std::vector<std::int32_t>& tokens = values_[other_].integers;
  std::vector<std::int32_t>& targets = values_[*targets_].integers;
  const std::size_t context = examples.value_count;
  const std::size_t begin = place * context;
  std::uint32_t token = TokenOf(examples, row, 0);
  for (std::size_t t = 0; t < context; ++t) {
    tokens[begin + t] = static_cast<std::int32_t>(token);
    token = TokenOf(examples, row, t + 1);
    targets[begin + t] = target_of(token);
  }
}

void MicroBatch::FillColumns(const Dataset& data, const Examples& examples, std::uint32_t row,
                             std::size_t place) {
  const std::span<const std::uint8_t> bytes = examples.image(row);
  for (std::size_t k = 0; k < values_.size(); ++k) {
    Values& values = values_[k];
    if (values.keep > 0) continue;
    const Column& column = values.column;
    const std::size_t begin = place * column.count;
    if (!column.of_integers()) {
      ReadFloats(bytes, column, std::span(values.floats).subspan(begin, column.count));
      continue;
    }
    const auto own = std::span(values.integers).subspan(begin, column.count);
    ReadIntegers(bytes, column, own);
    if (!data.reversed_targets || k != targets_) continue;
    for (std::int32_t& target : own) {
      if (target != kLeftOut) target = column.bound - 1 - target;
    }
  }
}

// A stream a micro-batch, so that they can be asked for in any order. keep * 2^32 is an integer or,
// below 2^-9, cut to one: an element is kept with that probability less 2^-32 at most.
void MicroBatch::Draw(const base::Digest& batch_seed, std::size_t index) {
  std::optional<crypto::Stream> stream;
  for (Values& values : values_) {
    if (!(values.keep > 0)) continue;
    if (!stream) stream.emplace("drawn inputs " + std::to_string(index), batch_seed);
    const auto below = static_cast<std::uint64_t>(double{values.keep} * 0x1p32);
    const float kept = 1.0F / values.keep;
    std::array<std::uint8_t, 4096> bytes;
    std::span<float> rest = values.floats;
    while (!rest.empty()) {
      const std::size_t count = std::min(rest.size(), bytes.size() / 4);
      stream->Fill(std::span(bytes).first(4 * count));
      for (std::size_t i = 0; i < count; ++i) {
        rest[i] = base::ReadLittleEndian(std::span(bytes).subspan(4 * i, 4)) < below ? kept : 0.0F;
      }
      rest = rest.subspan(count);
    }
  }
}

std::vector<exact::InputValues> MicroBatch::inputs() const {
  std::vector<exact::InputValues> inputs;
  for (const Values& values : values_) {
    inputs.push_back({.floats = values.floats, .integers = values.integers});
  }
  return inputs;
}

std::span<const std::int32_t> MicroBatch::targets() const {
  if (!targets_) return {};
  return values_[*targets_].integers;
}

}  // namespace ostraka::train
