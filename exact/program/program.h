// A graph with its reverse mode, as a straight line of steps over buffers: what a gradient
// computes, in order, and where each number lies.
//
// Buffers are written by one or more steps, all before the first that reads them, and never changed
// after. Steps read the operands that their kind's comment names, in that order.
//
// Thread safety: plain values and pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "exact/graph/graph.h"
#include "exact/kernels/kernels.h"

namespace ostraka::exact {

using BufferId = std::uint32_t;

enum class Place : std::uint8_t {
  kParameter,  // the flat parameter vector
  kConstant,   // the graph's constant `index`
  kInput,      // the micro-batch's input `index`
  kGradient,   // the flat gradient
  kArena,      // memory that plan.h hands out
};

struct Buffer {
  Place place = Place::kArena;
  std::size_t index = 0;   // kConstant, kInput
  std::size_t offset = 0;  // in elements; kParameter, kGradient, kArena
  std::size_t count = 0;   // elements of four bytes
};

// out = value.
struct FillStep {
  float value = 0;
};
// Copies block b from a[from + b * from_stride] to out[to + b * to_stride].
struct CopyStep {
  std::size_t blocks = 1;
  std::size_t length = 0;
  std::size_t from = 0;
  std::size_t from_stride = 0;
  std::size_t to = 0;
  std::size_t to_stride = 0;
};
// out[i] = a[sum of index * stride] over the row-major indices i of `extents`: permute and expand.
struct GatherStep {
  std::vector<std::size_t> extents;
  std::vector<std::size_t> strides;
};
// out = +0, then out[sum of index * stride] += a[i] in ascending order of i: the inverse of expand.
struct ReduceStep {
  std::vector<std::size_t> extents;
  std::vector<std::size_t> strides;
};
// One to three operands.
struct MapStep {
  Map map = Map::kAdd;
  float scalar = 0;
};
// out = a b for each matrix of a batch.
struct ProductStep {
  std::size_t batch = 1;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t depth = 0;
  bool left_transposed = false;
  bool right_transposed = false;
};
// Sums [outer, count, inner] over its middle axis: along the row in lanes if `lanes` (inner is 1),
// else rows ascending.
struct SumStep {
  std::size_t outer = 1;
  std::size_t count = 0;
  std::size_t inner = 1;
  bool lanes = false;
};
// Adds the vector b to each row of a.
struct AddRowStep {
  std::size_t rows = 0;
  std::size_t width = 0;
};
// a: table, b: integers.
struct EmbeddingStep {
  std::size_t rows = 0;
  std::size_t width = 0;
};
// a: gradient of the rows, b: integers. The table's gradient.
struct EmbeddingBackwardStep {
  std::size_t rows = 0;
  std::size_t width = 0;
};
struct SoftmaxStep {
  std::size_t rows = 0;
  std::size_t width = 0;
};
// a: gradient, b: softmax.
struct SoftmaxBackwardStep {
  std::size_t rows = 0;
  std::size_t width = 0;
};
// a: logits, b: integers. Writes the loss and each row's loss.
struct CrossEntropyStep {
  std::size_t rows = 0;
  std::size_t width = 0;
};
// a: gradient of the loss, b: logits, c: integers.
struct CrossEntropyBackwardStep {
  std::size_t rows = 0;
  std::size_t width = 0;
};
// a: x, b: weight, and of layer_norm c: bias. Writes the rows and their statistics.
struct NormStep {
  std::size_t rows = 0;
  std::size_t width = 0;
  float epsilon = 0;
  bool centered = false;
};
// a: gradient, b: x, c: weight, d: statistics. The gradient of x.
struct NormBackwardStep {
  std::size_t rows = 0;
  std::size_t width = 0;
  bool centered = false;
};
// a: gradient, b: x, c: statistics. Writes the weight's gradient, and of layer_norm the bias's.
struct NormColumnsStep {
  std::size_t rows = 0;
  std::size_t width = 0;
};
struct AttentionShape {
  std::size_t batch = 0;
  std::size_t queries = 0;
  std::size_t keys = 0;
  std::size_t heads = 0;
  std::size_t groups = 0;  // heads of key and value
  std::size_t width = 0;
  float scale = 0;
  bool causal = false;
  bool has_mask = false;
};
// a: query, b: key, c: value, d: mask if there is one.
struct AttentionStep : AttentionShape {};
// a: gradient, b: query, c: key, d: value, e: mask. Writes the gradients of query, key and value.
struct AttentionBackwardStep : AttentionShape {};

using StepKind =
    std::variant<FillStep, CopyStep, GatherStep, ReduceStep, MapStep, ProductStep, SumStep,
                 AddRowStep, EmbeddingStep, EmbeddingBackwardStep, SoftmaxStep, SoftmaxBackwardStep,
                 CrossEntropyStep, CrossEntropyBackwardStep, NormStep, NormBackwardStep,
                 NormColumnsStep, AttentionStep, AttentionBackwardStep>;

struct Step {
  StepKind kind;
  std::vector<BufferId> reads;
  std::vector<BufferId> writes;
};

// Rows of queries that attention computes at once: bounds its memory to this many rows of scores.
inline constexpr std::size_t kAttentionRows = 128;

struct Program {
  std::vector<Buffer> buffers;
  std::vector<Step> steps;
  std::size_t forward_steps = 0;  // the first of them give the loss
  BufferId loss = 0;
  // If the loss is a cross_entropy, what it is taken of: kept to the end, for accuracies.
  std::optional<BufferId> logits;
  std::size_t parameter_count = 0;
  std::size_t constant_count = 0;
  std::vector<Input> inputs;
  std::vector<std::size_t> constant_elements;
};

}  // namespace ostraka::exact
