// Attention, head by head and kAttentionRows queries at a time (docs/numerics.md 5). Cutting the
// queries changes no bit: rows of scores are independent, and the chains of the key's and value's
// gradients go on from one cut to the next.
//
// Of a causal mask, products leave out the keys that no row of a cut sees: their factor is +0, and
// fma(+0, x, sum) is the sum, unless x is not finite or the sum is -0. Both are looked for, and
// where one is found the product is taken whole.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "exact/program/cost.h"
#include "exact/run/steps.h"

namespace ostraka::exact {
namespace {

using std::size_t;

// The matrix of one head in a tensor [batch, positions, heads, width].
struct HeadView {
  size_t offset = 0;
  size_t stride = 0;
};
HeadView HeadOf(size_t batch, size_t positions, size_t heads, size_t width, size_t head) {
  return {.offset = (batch * positions * heads + head) * width, .stride = heads * width};
}

// One cut of queries of one head.
struct Cut {
  size_t begin = 0;
  size_t rows = 0;
  size_t visible = 0;  // keys that some row of it sees
};
Cut CutAt(const AttentionShape& shape, size_t begin) {
  const size_t rows = std::min(kAttentionRows, shape.queries - begin);
  return {.begin = begin, .rows = rows, .visible = shape.causal ? begin + rows : shape.keys};
}

bool IsFinite(float value) {
  return (std::bit_cast<std::uint32_t>(value) & 0x7f800000U) != 0x7f800000U;
}
bool IsNegativeZero(float value) { return std::bit_cast<std::uint32_t>(value) == 0x80000000U; }

// Whether a number of `rows` rows of `width` is so.
template <typename Is>
bool AnyOf(const float* data, size_t stride, size_t rows, size_t width, const Is& is) {
  std::uint32_t any = 0;
  for (size_t r = 0; r < rows && any == 0; ++r) {
    const float* const row = data + r * stride;
    for (size_t i = 0; i < width; ++i) any |= is(row[i]) ? 1U : 0U;
  }
  return any != 0;
}

// The first row after which all are finite.
size_t FiniteFrom(const Matrix& rows, size_t count, size_t width) {
  const auto is_wild = [](float value) { return !IsFinite(value); };
  while (count > 0 && !AnyOf(rows.data + (count - 1) * rows.stride, 0, 1, width, is_wild)) --count;
  return count;
}

size_t VisibleTo(const AttentionShape& shape, size_t query) {
  return shape.causal ? query + 1 : shape.keys;
}

// What a thread computes with.
struct Desk {
  const Kernels& kernels;
  float* products;
};

// probabilities[row][key] of a cut, the masked ones +0. `query` and `key` are heads' matrices.
void Probabilities(const Desk& desk, const AttentionShape& shape, const Cut& cut,
                   const Matrix& query, const Matrix& key, const float* mask,
                   float* probabilities) {
  desk.kernels.multiply({.rows = cut.rows,
                         .columns = cut.visible,
                         .depth = shape.width,
                         .left = {query.data + cut.begin * query.stride, query.stride, false},
                         .right = {key.data, key.stride, true},
                         .out = probabilities,
                         .out_stride = shape.keys},
                        desk.products);
  for (size_t r = 0; r < cut.rows; ++r) {
    float* const row = probabilities + r * shape.keys;
    const size_t visible = VisibleTo(shape, cut.begin + r);
    desk.kernels.RunMap(Map::kMulScalar, {row, nullptr, nullptr, shape.scale, row, visible});
    if (mask != nullptr) {
      const float* const of_query = mask + (cut.begin + r) * shape.keys;
      desk.kernels.RunMap(Map::kAdd, {row, of_query, nullptr, 0, row, visible});
    }
    desk.kernels.softmax(row, visible, shape.keys, row);
  }
}

// Turns gradients of probabilities into gradients of the products of query and key.
void ScoreGradients(const Desk& desk, const AttentionShape& shape, const Cut& cut,
                    const float* probabilities, float* gradients) {
  for (size_t r = 0; r < cut.rows; ++r) {
    float* const row = gradients + r * shape.keys;
    const size_t visible = VisibleTo(shape, cut.begin + r);
    desk.kernels.softmax_backward(row, probabilities + r * shape.keys, visible, row);
    desk.kernels.RunMap(Map::kMulScalar, {row, nullptr, nullptr, shape.scale, row, visible});
    std::fill(row + visible, row + shape.keys, 0.0F);
  }
}

// out = factors * right, where the factors of a cut's rows are +0 from its visible keys on.
// `finite`: FiniteFrom of `right`, a row a key.
void MultiplyByKeys(const Desk& desk, const AttentionShape& shape, const Cut& cut,
                    const float* factors, const Matrix& right, size_t finite, float* out,
                    size_t out_stride) {
  Product product = {.rows = cut.rows,
                     .columns = shape.width,
                     .depth = finite <= cut.visible ? cut.visible : shape.keys,
                     .left = {factors, shape.keys, false},
                     .right = right,
                     .out = out,
                     .out_stride = out_stride};
  desk.kernels.multiply(product, desk.products);
  if (product.depth == shape.keys ||
      !AnyOf(out, out_stride, cut.rows, shape.width, IsNegativeZero)) {
    return;
  }
  product.depth = shape.keys;
  desk.kernels.multiply(product, desk.products);
}

// out += the transposed factors * right, a row a key. `right` has a row for each of the cut. The
// first cut of the first head of a group begins with +0; later cuts of that head find +0 in the
// rows that none of its queries saw yet.
void AddToKeys(const Desk& desk, const AttentionShape& shape, const Cut& cut, const float* factors,
               const Matrix& right, bool first_of_group, float* out, size_t out_stride) {
  const auto is_wild = [](float value) { return !IsFinite(value); };
  const bool continues = !first_of_group || cut.begin > 0;
  const size_t hidden = shape.keys - cut.visible;
  float* const rest = out + cut.visible * out_stride;
  const bool whole =
      hidden == 0 || AnyOf(right.data, right.stride, cut.rows, shape.width, is_wild) ||
      (!first_of_group && AnyOf(rest, out_stride, hidden, shape.width, IsNegativeZero));
  desk.kernels.multiply({.rows = whole ? shape.keys : cut.visible,
                         .columns = shape.width,
                         .depth = cut.rows,
                         .left = {factors, shape.keys, true},
                         .right = right,
                         .out = out,
                         .out_stride = out_stride,
                         .accumulate = continues},
                        desk.products);
  if (whole || continues) return;
  for (size_t r = 0; r < hidden; ++r) std::fill_n(rest + r * out_stride, shape.width, 0.0F);
}

// The tensors of AttentionBackwardStep.
struct BackwardTensors {
  const float* gradient;
  const float* query;
  const float* key;
  const float* value;
  const float* mask;
  float* query_gradient;
  float* key_gradient;
  float* value_gradient;
};

void BackwardHead(const Desk& desk, const AttentionShape& shape, const BackwardTensors& tensors,
                  const HeadView& head, const HeadView& group, bool first_of_group,
                  float* probabilities) {
  float* const gradients = probabilities + std::min(shape.queries, kAttentionRows) * shape.keys;
  const Matrix query = {tensors.query + head.offset, head.stride, false};
  const Matrix key = {tensors.key + group.offset, group.stride, false};
  const size_t finite = FiniteFrom(key, shape.keys, shape.width);
  for (size_t begin = 0; begin < shape.queries; begin += kAttentionRows) {
    const Cut cut = CutAt(shape, begin);
    const size_t first = head.offset + begin * head.stride;
    const Matrix gradient = {tensors.gradient + first, head.stride, false};
    Probabilities(desk, shape, cut, query, key, tensors.mask, probabilities);
    AddToKeys(desk, shape, cut, probabilities, gradient, first_of_group,
              tensors.value_gradient + group.offset, group.stride);
    desk.kernels.multiply({.rows = cut.rows,
                           .columns = cut.visible,
                           .depth = shape.width,
                           .left = gradient,
                           .right = {tensors.value + group.offset, group.stride, true},
                           .out = gradients,
                           .out_stride = shape.keys},
                          desk.products);
    ScoreGradients(desk, shape, cut, probabilities, gradients);
    MultiplyByKeys(desk, shape, cut, gradients, key, finite, tensors.query_gradient + first,
                   head.stride);
    AddToKeys(desk, shape, cut, gradients, {tensors.query + first, head.stride, false},
              first_of_group, tensors.key_gradient + group.offset, group.stride);
  }
}

}  // namespace

void RunAttention(const Site& site, const Step& step, const AttentionStep& attention,
                  float* scratch) {
  const AttentionShape& shape = attention;
  const float* const mask = shape.has_mask ? site.read(step, 3) : nullptr;
  const size_t heads = shape.batch * shape.heads;
  const size_t pieces = std::min(site.plan.threads, heads);
  site.executor.ParallelFor(pieces, [&](size_t piece) {
    float* const probabilities = scratch + piece * ScratchOfThread(shape, false);
    const Desk desk = {site.kernels, site.products.of(piece)};
    for (size_t i = heads * piece / pieces; i < heads * (piece + 1) / pieces; ++i) {
      const size_t batch = i / shape.heads;
      const size_t own = i % shape.heads;
      const HeadView head = HeadOf(batch, shape.queries, shape.heads, shape.width, own);
      const HeadView group =
          HeadOf(batch, shape.keys, shape.groups, shape.width, own / (shape.heads / shape.groups));
      const Matrix query = {site.read(step, 0) + head.offset, head.stride, false};
      const Matrix key = {site.read(step, 1) + group.offset, group.stride, false};
      const Matrix value = {site.read(step, 2) + group.offset, group.stride, false};
      const size_t finite = FiniteFrom(value, shape.keys, shape.width);
      for (size_t begin = 0; begin < shape.queries; begin += kAttentionRows) {
        const Cut cut = CutAt(shape, begin);
        Probabilities(desk, shape, cut, query, key, mask, probabilities);
        MultiplyByKeys(desk, shape, cut, probabilities, value, finite,
                       site.write(step) + head.offset + begin * head.stride, head.stride);
      }
    }
  });
}

void RunAttentionBackward(const Site& site, const Step& step,
                          const AttentionBackwardStep& attention, float* scratch) {
  const AttentionShape& shape = attention;
  const BackwardTensors tensors = {.gradient = site.read(step, 0),
                                   .query = site.read(step, 1),
                                   .key = site.read(step, 2),
                                   .value = site.read(step, 3),
                                   .mask = shape.has_mask ? site.read(step, 4) : nullptr,
                                   .query_gradient = site.write(step, 0),
                                   .key_gradient = site.write(step, 1),
                                   .value_gradient = site.write(step, 2)};
  const size_t groups = shape.batch * shape.groups;
  const size_t pieces = std::min(site.plan.threads, groups);
  const size_t heads_of_group = shape.heads / shape.groups;
  // By groups, because the heads of a group share the gradients of its key and value.
  site.executor.ParallelFor(pieces, [&](size_t piece) {
    const Desk desk = {site.kernels, site.products.of(piece)};
    for (size_t i = groups * piece / pieces; i < groups * (piece + 1) / pieces; ++i) {
      const size_t batch = i / shape.groups;
      const size_t own = i % shape.groups;
      const HeadView group = HeadOf(batch, shape.keys, shape.groups, shape.width, own);
      for (size_t h = 0; h < heads_of_group; ++h) {
        const HeadView head =
            HeadOf(batch, shape.queries, shape.heads, shape.width, own * heads_of_group + h);
        BackwardHead(desk, shape, tensors, head, group, h == 0,
                     scratch + piece * ScratchOfThread(shape, true));
      }
    }
  });
}

}  // namespace ostraka::exact
