// Attention, a cut of the queries at a time (docs/numerics.md 5), of all members of the batch and
// all groups at once. Heads of one group follow each other: the chains of its key's and value's
// gradients go from one head to the next, and within a head from one cut to the next.
#include <algorithm>

#include "exact/device/launches.h"

namespace ostraka::exact {
namespace {

using std::uint32_t;
using std::uint64_t;

// What all launches of one step of attention share.
struct Extents {
  explicit Extents(const AttentionShape& shape)
      : batch(Short(shape.batch * shape.groups)),
        groups(Short(shape.groups)),
        heads_of_group(Short(shape.heads / shape.groups)),
        queries(Short(shape.queries)),
        keys(Short(shape.keys)),
        width(Short(shape.width)),
        query_row(Short(shape.heads * shape.width)),
        key_row(Short(shape.groups * shape.width)) {}

  uint32_t batch;  // members of a launch: z is batch * groups + group
  uint32_t groups;
  uint32_t heads_of_group;
  uint32_t queries;
  uint32_t keys;
  uint32_t width;
  uint32_t query_row;  // from one position to the next, of all heads
  uint32_t key_row;

  // Of head `h` of each group, from query `begin` on: [queries, width].
  DeviceMatrix OfQueries(const Tensor& tensor, uint32_t h, uint32_t begin) const {
    return {.first = tensor + (uint64_t{begin} * query_row + uint64_t{h} * width),
            .row = query_row,
            .outer_stride = queries * query_row,
            .inner_stride = heads_of_group * width};
  }
  // [keys, width]
  DeviceMatrix OfKeys(const Tensor& tensor) const {
    return {.first = tensor, .row = key_row, .outer_stride = keys * key_row, .inner_stride = width};
  }
  // Scores [batch, groups, heads of a group here, cut, keys] of head `h`: [cut, keys].
  DeviceMatrix OfScores(const Tensor& tensor, uint32_t h, uint32_t heads_here, uint32_t cut) const {
    const uint64_t of_head = uint64_t{cut} * keys;
    return {.first = tensor + h * of_head,
            .row = keys,
            .outer_stride = Short(of_head * heads_here * groups),
            .inner_stride = Short(of_head * heads_here)};
  }
};

DeviceMatrix Transposed(DeviceMatrix matrix) {
  std::swap(matrix.row, matrix.column);
  return matrix;
}

// Keys that some row of a cut sees.
uint32_t VisibleTo(const AttentionShape& shape, uint32_t begin, uint32_t cut) {
  return shape.causal ? begin + cut : Short(shape.keys);
}

// scores = query key^T over the visible keys.
base::Status LaunchScores(const DeviceSite& site, const Extents& extents, uint32_t cut,
                          uint32_t visible, const DeviceMatrix& query, const DeviceMatrix& key,
                          const DeviceMatrix& scores) {
  return LaunchProduct(site, {.batch = extents.batch,
                              .inner = extents.groups,
                              .rows = cut,
                              .columns = visible,
                              .depth = extents.width,
                              .a = query,
                              .b = Transposed(key),
                              .out = scores});
}

// out = weights of_keys, over all keys.
base::Status LaunchWeighted(const DeviceSite& site, const Extents& extents, uint32_t cut,
                            const DeviceMatrix& weights, const DeviceMatrix& of_keys,
                            const DeviceMatrix& out) {
  return LaunchProduct(site, {.batch = extents.batch,
                              .inner = extents.groups,
                              .rows = cut,
                              .columns = extents.width,
                              .depth = extents.keys,
                              .a = weights,
                              .b = of_keys,
                              .out = out});
}

// out = weights^T of_queries, or goes on with it.
base::Status LaunchOverQueries(const DeviceSite& site, const Extents& extents, uint32_t cut,
                               const DeviceMatrix& weights, const DeviceMatrix& of_queries,
                               const DeviceMatrix& out, bool continues) {
  return LaunchProduct(site, {.batch = extents.batch,
                              .inner = extents.groups,
                              .rows = extents.keys,
                              .columns = extents.width,
                              .depth = cut,
                              .a = Transposed(weights),
                              .b = of_queries,
                              .out = out,
                              .accumulate = continues});
}

base::Status LaunchProbabilities(const DeviceSite& site, const AttentionShape& shape,
                                 const Tensor& mask, uint32_t rows, uint32_t cut, uint32_t begin) {
  return site.RunRows(kRunAttentionRows, rows, site.scores, mask, rows, cut, begin,
                      Short(shape.keys), std::uint32_t{shape.causal}, std::uint32_t{shape.has_mask},
                      shape.scale);
}

// One cut of one head of each group.
struct HeadCut {
  uint32_t head;
  uint32_t begin;
  uint32_t cut;
};

base::Status LaunchHeadCut(const DeviceSite& site, const Step& step, const AttentionShape& shape,
                           const HeadCut& at) {
  const Extents extents(shape);
  const Tensor& mask = site.read(step, shape.has_mask ? 4 : 1);
  const uint32_t visible = VisibleTo(shape, at.begin, at.cut);
  const uint32_t rows = extents.batch * at.cut;
  const bool continues = at.head > 0 || at.begin > 0;
  const DeviceMatrix gradient = extents.OfQueries(site.read(step, 0), at.head, at.begin);
  const DeviceMatrix query = extents.OfQueries(site.read(step, 1), at.head, at.begin);
  const DeviceMatrix key = extents.OfKeys(site.read(step, 2));
  const DeviceMatrix probabilities = extents.OfScores(site.scores, 0, 1, at.cut);
  const DeviceMatrix gradients = extents.OfScores(site.score_gradients, 0, 1, at.cut);
  RETURN_IF_ERROR(LaunchScores(site, extents, at.cut, visible, query, key, probabilities));
  RETURN_IF_ERROR(LaunchProbabilities(site, shape, mask, rows, at.cut, at.begin));
  RETURN_IF_ERROR(LaunchOverQueries(site, extents, at.cut, probabilities, gradient,
                                    extents.OfKeys(site.write(step, 2)), continues));
  RETURN_IF_ERROR(LaunchScores(site, extents, at.cut, visible, gradient,
                               extents.OfKeys(site.read(step, 3)), gradients));
  RETURN_IF_ERROR(site.RunRows(kRunAttentionRowsBackward, rows, site.score_gradients, site.scores,
                               rows, at.cut, at.begin, extents.keys, std::uint32_t{shape.causal},
                               shape.scale));
  RETURN_IF_ERROR(LaunchWeighted(site, extents, at.cut, gradients, key,
                                 extents.OfQueries(site.write(step, 0), at.head, at.begin)));
  return LaunchOverQueries(site, extents, at.cut, gradients, query,
                           extents.OfKeys(site.write(step, 1)), continues);
}

}  // namespace

base::Status LaunchStep(const DeviceSite& site, std::size_t s, const AttentionStep& attention) {
  const AttentionShape& shape = attention;
  const Step& step = site.plan.planned.program.steps[s];
  const Extents extents(shape);
  const Tensor& mask = site.read(step, shape.has_mask ? 3 : 0);
  const uint32_t most = CutOf(site.plan, shape, false);
  for (uint32_t begin = 0; begin < extents.queries; begin += most) {
    const uint32_t cut = std::min(most, extents.queries - begin);
    const uint32_t visible = VisibleTo(shape, begin, cut);
    const auto scores_of = [&](uint32_t h) {
      return extents.OfScores(site.scores, h, extents.heads_of_group, cut);
    };
    for (uint32_t h = 0; h < extents.heads_of_group; ++h) {
      RETURN_IF_ERROR(LaunchScores(site, extents, cut, visible,
                                   extents.OfQueries(site.read(step, 0), h, begin),
                                   extents.OfKeys(site.read(step, 1)), scores_of(h)));
    }
    RETURN_IF_ERROR(LaunchProbabilities(site, shape, mask,
                                        extents.batch * extents.heads_of_group * cut, cut, begin));
    for (uint32_t h = 0; h < extents.heads_of_group; ++h) {
      RETURN_IF_ERROR(LaunchWeighted(site, extents, cut, scores_of(h),
                                     extents.OfKeys(site.read(step, 2)),
                                     extents.OfQueries(site.write(step), h, begin)));
    }
  }
  return base::OkStatus();
}

base::Status LaunchStep(const DeviceSite& site, std::size_t s,
                        const AttentionBackwardStep& attention) {
  const AttentionShape& shape = attention;
  const Step& step = site.plan.planned.program.steps[s];
  const Extents extents(shape);
  const uint32_t most = CutOf(site.plan, shape, true);
  for (uint32_t head = 0; head < extents.heads_of_group; ++head) {
    for (uint32_t begin = 0; begin < extents.queries; begin += most) {
      const uint32_t cut = std::min(most, extents.queries - begin);
      RETURN_IF_ERROR(LaunchHeadCut(site, step, shape, {head, begin, cut}));
    }
  }
  return base::OkStatus();
}

}  // namespace ostraka::exact
