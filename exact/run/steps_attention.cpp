// Attention, head by head and kAttentionRows queries at a time (docs/numerics.md 5). Cutting the
// queries changes no bit: rows of scores are independent, and the chains of the key's and value's
// gradients go on from one cut to the next.
#include <algorithm>
#include <cstddef>

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
  for (size_t begin = 0; begin < shape.queries; begin += kAttentionRows) {
    const Cut cut = CutAt(shape, begin);
    const size_t first = head.offset + begin * head.stride;
    const bool continues = !first_of_group || begin > 0;
    const Matrix gradient = {tensors.gradient + first, head.stride, false};
    Probabilities(desk, shape, cut, query, key, tensors.mask, probabilities);
    desk.kernels.multiply({.rows = shape.keys,
                           .columns = shape.width,
                           .depth = cut.rows,
                           .left = {probabilities, shape.keys, true},
                           .right = gradient,
                           .out = tensors.value_gradient + group.offset,
                           .out_stride = group.stride,
                           .accumulate = continues},
                          desk.products);
    desk.kernels.multiply({.rows = cut.rows,
                           .columns = cut.visible,
                           .depth = shape.width,
                           .left = gradient,
                           .right = {tensors.value + group.offset, group.stride, true},
                           .out = gradients,
                           .out_stride = shape.keys},
                          desk.products);
    ScoreGradients(desk, shape, cut, probabilities, gradients);
    desk.kernels.multiply({.rows = cut.rows,
                           .columns = shape.width,
                           .depth = shape.keys,
                           .left = {gradients, shape.keys, false},
                           .right = key,
                           .out = tensors.query_gradient + first,
                           .out_stride = head.stride},
                          desk.products);
    desk.kernels.multiply({.rows = shape.keys,
                           .columns = shape.width,
                           .depth = cut.rows,
                           .left = {gradients, shape.keys, true},
                           .right = {tensors.query + first, head.stride, false},
                           .out = tensors.key_gradient + group.offset,
                           .out_stride = group.stride,
                           .accumulate = continues},
                          desk.products);
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
      for (size_t begin = 0; begin < shape.queries; begin += kAttentionRows) {
        const Cut cut = CutAt(shape, begin);
        Probabilities(desk, shape, cut, query, key, mask, probabilities);
        site.kernels.multiply({.rows = cut.rows,
                               .columns = shape.width,
                               .depth = shape.keys,
                               .left = {probabilities, shape.keys, false},
                               .right = {site.read(step, 2) + group.offset, group.stride, false},
                               .out = site.write(step) + head.offset + begin * head.stride,
                               .out_stride = head.stride},
                              desk.products);
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
