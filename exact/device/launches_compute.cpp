// Steps that compute: maps, products, sums, rows.
#include <algorithm>

#include "exact/device/launches.h"
#include "exact/kernels/kernels.h"
#include "exact/kernels/logarithm.h"

namespace ostraka::exact {
namespace {

const Step& ComputingStep(const DeviceSite& site, std::size_t s) {
  return site.plan.planned.program.steps[s];
}

// Rows that cross_entropy does not leave out.
float RowsKept(std::span<const std::int32_t> targets) {
  return static_cast<float>(
      std::count_if(targets.begin(), targets.end(), [](std::int32_t t) { return t >= 0; }));
}

struct TileKernel {
  const DeviceKernel& kernel;
  std::uint32_t side;
};

TileKernel TileFor(Tile tile, const DeviceProduct& product) {
  if (tile == Tile::kByShape) {
    const std::uint32_t least = std::min(product.rows, product.columns);
    tile = least <= 32 ? Tile::k32 : least < 256 ? Tile::k64 : Tile::k128;
  }
  if (tile == Tile::k32) return {kRunProduct32, 32};
  return tile == Tile::k64 ? TileKernel{kRunProduct64, 64} : TileKernel{kRunProduct128, 128};
}

}  // namespace

base::Status LaunchMap(const DeviceSite& site, Map map, const Tensor& a, const Tensor& b,
                       std::uint32_t operands, float scalar, const Tensor& out,
                       std::uint32_t count) {
  return site.RunOver(kRunMap, count, a, b, a, out, count, static_cast<std::uint32_t>(map),
                      operands, scalar, std::uint32_t{0});
}

base::Status LaunchProduct(const DeviceSite& site, const DeviceProduct& product) {
  const DeviceMatrix& a = product.a;
  const DeviceMatrix& b = product.b;
  const DeviceMatrix& out = product.out;
  const TileKernel tile = TileFor(site.tile, product);
  const std::uint64_t across = (std::uint64_t{product.columns} + tile.side - 1) / tile.side;
  const std::uint64_t down = (std::uint64_t{product.rows} + tile.side - 1) / tile.side;
  return site.Run(tile.kernel, across * down * product.batch, a.first, a.row, a.column, b.first,
                  b.row, b.column, out.first, out.row, product.rows, product.columns, product.depth,
                  std::uint32_t{product.accumulate}, product.inner, a.outer_stride, a.inner_stride,
                  b.outer_stride, b.inner_stride, out.outer_stride, out.inner_stride);
}

base::Status LaunchStep(const DeviceSite& site, std::size_t s, const MapStep& map) {
  const Step& step = ComputingStep(site, s);
  const std::uint32_t count = site.count_written(step);
  const std::size_t operands = step.reads.size();
  const Tensor& a = site.read(step, 0);
  return site.RunOver(kRunMap, count, a, operands > 1 ? site.read(step, 1) : a,
                      operands > 2 ? site.read(step, 2) : a, site.write(step), count,
                      static_cast<std::uint32_t>(map.map), Short(operands), map.scalar,
                      std::uint32_t{0});
}

base::Status LaunchStep(const DeviceSite& site, std::size_t s, const AddRowStep& add) {
  const Step& step = ComputingStep(site, s);
  const std::uint32_t count = site.count_written(step);
  const Tensor& a = site.read(step, 0);
  return site.RunOver(kRunMap, count, a, site.read(step, 1), a, site.write(step), count,
                      static_cast<std::uint32_t>(Map::kAdd), std::uint32_t{2}, 0.0F,
                      Short(add.width));
}

base::Status LaunchStep(const DeviceSite& site, std::size_t s, const ProductStep& product) {
  const Step& step = ComputingStep(site, s);
  const std::uint32_t rows = Short(product.rows);
  const std::uint32_t columns = Short(product.columns);
  const std::uint32_t depth = Short(product.depth);
  return LaunchProduct(site, {.batch = Short(product.batch),
                              .rows = rows,
                              .columns = columns,
                              .depth = depth,
                              .a = {.first = site.read(step, 0),
                                    .row = product.left_transposed ? 1 : depth,
                                    .column = product.left_transposed ? rows : 1,
                                    .outer_stride = Short(product.rows * product.depth)},
                              .b = {.first = site.read(step, 1),
                                    .row = product.right_transposed ? 1 : columns,
                                    .column = product.right_transposed ? depth : 1,
                                    .outer_stride = Short(product.depth * product.columns)},
                              .out = {.first = site.write(step),
                                      .row = columns,
                                      .outer_stride = Short(product.rows * product.columns)}});
}

base::Status LaunchStep(const DeviceSite& site, std::size_t s, const SumStep& sum) {
  const Step& step = ComputingStep(site, s);
  if (sum.lanes) {
    return site.RunRows(kRunSumLanes, sum.outer, site.read(step, 0), site.write(step),
                        Short(sum.outer), Short(sum.count));
  }
  return site.RunColumns(kRunSumRows, sum.outer * sum.inner, site.read(step, 0), site.write(step),
                         Short(sum.outer), Short(sum.count), Short(sum.inner));
}

base::Status LaunchStep(const DeviceSite& site, std::size_t s, const SoftmaxStep& softmax) {
  const Step& step = ComputingStep(site, s);
  return site.RunRows(kRunSoftmax, softmax.rows, site.read(step, 0), site.write(step),
                      Short(softmax.rows), Short(softmax.width));
}

base::Status LaunchStep(const DeviceSite& site, std::size_t s, const SoftmaxBackwardStep& softmax) {
  const Step& step = ComputingStep(site, s);
  return site.RunRows(kRunSoftmaxBackward, softmax.rows, site.read(step, 0), site.read(step, 1),
                      site.write(step), Short(softmax.rows), Short(softmax.width));
}

base::Status LaunchStep(const DeviceSite& site, std::size_t s, const CrossEntropyStep& loss) {
  const Step& step = ComputingStep(site, s);
  RETURN_IF_ERROR(site.RunRows(kRunCrossEntropy, loss.rows, site.read(step, 0), site.read(step, 1),
                               site.pairs, Short(loss.rows), Short(loss.width)));
  std::vector<float> pairs(2 * loss.rows);
  RETURN_IF_ERROR(
      site.device.Download(site.pairs.buffer, 0, std::as_writable_bytes(std::span(pairs))));
  const std::span<const std::int32_t> targets = site.integers(step, 1);
  std::vector<float> losses(loss.rows);
  for (std::size_t r = 0; r < loss.rows; ++r) {
    const float of_row = Logarithm(pairs[2 * r]) - pairs[2 * r + 1];
    losses[r] = targets[r] < 0 ? 0.0F : of_row != of_row ? kCanonicalNan : of_row;
  }
  const float kept = RowsKept(targets);
  const float sum = BestKernels().sum(losses.data(), losses.size());
  const float mean = kept == 0 ? 0.0F : sum / kept;
  const auto upload = [&](const Tensor& to, std::span<const float> values) {
    return site.device.Upload(to.buffer, std::uint64_t{to.at} * sizeof(float),
                              std::as_bytes(values));
  };
  RETURN_IF_ERROR(upload(site.write(step, 0), std::span(&mean, 1)));
  return upload(site.write(step, 1), losses);
}

base::Status LaunchStep(const DeviceSite& site, std::size_t s,
                        const CrossEntropyBackwardStep& loss) {
  const Step& step = ComputingStep(site, s);
  return site.RunRows(kRunCrossEntropyBackward, loss.rows, site.read(step, 0), site.read(step, 1),
                      site.read(step, 2), site.write(step), Short(loss.rows), Short(loss.width),
                      RowsKept(site.integers(step, 2)));
}

base::Status LaunchStep(const DeviceSite& site, std::size_t s, const NormStep& norm) {
  const Step& step = ComputingStep(site, s);
  const Tensor& weight = site.read(step, 1);
  return site.RunRows(kRunNorm, norm.rows, site.read(step, 0), weight,
                      norm.centered ? site.read(step, 2) : weight, site.write(step, 0),
                      site.write(step, 1), Short(norm.rows), Short(norm.width),
                      static_cast<float>(norm.width), norm.epsilon, std::uint32_t{norm.centered});
}

base::Status LaunchStep(const DeviceSite& site, std::size_t s, const NormBackwardStep& norm) {
  const Step& step = ComputingStep(site, s);
  return site.RunRows(kRunNormBackward, norm.rows, site.read(step, 0), site.read(step, 1),
                      site.read(step, 2), site.read(step, 3), site.write(step), Short(norm.rows),
                      Short(norm.width), static_cast<float>(norm.width),
                      std::uint32_t{norm.centered});
}

base::Status LaunchStep(const DeviceSite& site, std::size_t s, const NormColumnsStep& norm) {
  const Step& step = ComputingStep(site, s);
  const bool centered = step.writes.size() > 1;
  return site.RunColumns(kRunNormColumns, norm.width, site.read(step, 0), site.read(step, 1),
                         site.read(step, 2), site.write(step, 0),
                         site.write(step, centered ? 1 : 0), Short(norm.rows), Short(norm.width),
                         std::uint32_t{centered});
}

}  // namespace ostraka::exact
