// Steps that compute: maps, products, sums, rows.
#include <algorithm>

#include "exact/run/steps.h"

namespace ostraka::exact {
namespace {

// A row that cross_entropy leaves out.
bool IsIgnored(std::int32_t target) { return target < 0; }

}  // namespace

void RunStep(const Site& site, const Step& step, const MapStep& map) {
  const float* const a = site.read(step, 0);
  const float* const b = step.reads.size() > 1 ? site.read(step, 1) : nullptr;
  const float* const c = step.reads.size() > 2 ? site.read(step, 2) : nullptr;
  float* const out = site.write(step);
  const std::size_t count = site.count_written(step);
  site.Split(count, count, [&](std::size_t begin, std::size_t end) {
    site.kernels.RunMap(map.map, {.a = a + begin,
                                  .b = b == nullptr ? nullptr : b + begin,
                                  .c = c == nullptr ? nullptr : c + begin,
                                  .scalar = map.scalar,
                                  .out = out + begin,
                                  .count = end - begin});
  });
}

void RunStep(const Site& site, const Step& step, const ProductStep& product) {
  const std::size_t left_size = product.rows * product.depth;
  const std::size_t right_size = product.depth * product.columns;
  const std::size_t out_size = product.rows * product.columns;
  for (std::size_t b = 0; b < product.batch; ++b) {
    Multiply(
        site.kernels, site.executor,
        {.rows = product.rows,
         .columns = product.columns,
         .depth = product.depth,
         .left = {site.read(step, 0) + b * left_size,
                  product.left_transposed ? product.rows : product.depth, product.left_transposed},
         .right = {site.read(step, 1) + b * right_size,
                   product.right_transposed ? product.depth : product.columns,
                   product.right_transposed},
         .out = site.write(step) + b * out_size,
         .out_stride = product.columns},
        site.products);
  }
}

void RunStep(const Site& site, const Step& step, const SumStep& sum) {
  const float* const x = site.read(step, 0);
  float* const out = site.write(step);
  const std::size_t elements = sum.outer * sum.count * sum.inner;
  if (sum.lanes) {
    return site.Split(sum.outer, elements, [&](std::size_t begin, std::size_t end) {
      for (std::size_t o = begin; o < end; ++o) {
        out[o] = site.kernels.sum(x + o * sum.count, sum.count);
      }
    });
  }
  // By columns if there is one matrix, else by matrices.
  if (sum.outer == 1) {
    return site.Split(sum.inner, elements, [&](std::size_t begin, std::size_t end) {
      site.kernels.sum_rows(x + begin, sum.count, sum.inner, end - begin, out + begin);
    });
  }
  site.Split(sum.outer, elements, [&](std::size_t begin, std::size_t end) {
    for (std::size_t o = begin; o < end; ++o) {
      site.kernels.sum_rows(x + o * sum.count * sum.inner, sum.count, sum.inner, sum.inner,
                            out + o * sum.inner);
    }
  });
}

void RunStep(const Site& site, const Step& step, const AddRowStep& add) {
  const float* const x = site.read(step, 0);
  const float* const row = site.read(step, 1);
  float* const out = site.write(step);
  site.Split(add.rows, add.rows * add.width, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      site.kernels.RunMap(Map::kAdd,
                          {x + r * add.width, row, nullptr, 0, out + r * add.width, add.width});
    }
  });
}

void RunStep(const Site& site, const Step& step, const SoftmaxStep& softmax) {
  const float* const x = site.read(step, 0);
  float* const out = site.write(step);
  const std::size_t width = softmax.width;
  site.Split(softmax.rows, softmax.rows * width, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      site.kernels.softmax(x + r * width, width, width, out + r * width);
    }
  });
}

void RunStep(const Site& site, const Step& step, const SoftmaxBackwardStep& softmax) {
  const float* const gradient = site.read(step, 0);
  const float* const y = site.read(step, 1);
  float* const out = site.write(step);
  const std::size_t width = softmax.width;
  site.Split(softmax.rows, softmax.rows * width, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      site.kernels.softmax_backward(gradient + r * width, y + r * width, width, out + r * width);
    }
  });
}

// The mean over the rows that count; +0 if none does.
void RunStep(const Site& site, const Step& step, const CrossEntropyStep& loss) {
  const float* const logits = site.read(step, 0);
  const std::int32_t* const targets = site.read_integers(step, 1);
  float* const losses = site.write(step, 1);
  const std::size_t width = loss.width;
  site.Split(loss.rows, loss.rows * width, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      losses[r] = IsIgnored(targets[r])
                      ? 0.0F
                      : site.kernels.cross_entropy(logits + r * width, width,
                                                   static_cast<std::size_t>(targets[r]));
    }
  });
  const auto ignored =
      static_cast<std::size_t>(std::count_if(targets, targets + loss.rows, IsIgnored));
  const std::size_t kept = loss.rows - ignored;
  const float sum = site.kernels.sum(losses, loss.rows);
  *site.write(step) = kept == 0 ? 0.0F : sum / static_cast<float>(kept);
}

void RunStep(const Site& site, const Step& step, const CrossEntropyBackwardStep& loss) {
  const float gradient = *site.read(step, 0);
  const float* const logits = site.read(step, 1);
  const std::int32_t* const targets = site.read_integers(step, 2);
  float* const out = site.write(step);
  const std::size_t width = loss.width;
  const auto ignored =
      static_cast<std::size_t>(std::count_if(targets, targets + loss.rows, IsIgnored));
  const std::size_t kept = loss.rows - ignored;
  const float scale = kept == 0 ? 0.0F : gradient / static_cast<float>(kept);
  site.Split(loss.rows, loss.rows * width, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      if (IsIgnored(targets[r])) {
        std::fill_n(out + r * width, width, 0.0F);
      } else {
        site.kernels.cross_entropy_backward(logits + r * width, width,
                                            static_cast<std::size_t>(targets[r]), scale,
                                            out + r * width);
      }
    }
  });
}

void RunStep(const Site& site, const Step& step, const NormStep& norm) {
  const float* const x = site.read(step, 0);
  float* const out = site.write(step, 0);
  float* const statistics = site.write(step, 1);
  NormRow row = {.weight = site.read(step, 1),
                 .bias = norm.centered ? site.read(step, 2) : nullptr,
                 .count = norm.width,
                 .epsilon = norm.epsilon};
  const auto kernel = norm.centered ? site.kernels.layer_norm : site.kernels.rms_norm;
  site.Split(norm.rows, norm.rows * norm.width, [&](std::size_t begin, std::size_t end) {
    NormRow own = row;
    for (std::size_t r = begin; r < end; ++r) {
      own.x = x + r * norm.width;
      own.out = out + r * norm.width;
      const RowStatistics of_row = kernel(own);
      statistics[2 * r] = of_row.mean;
      statistics[2 * r + 1] = of_row.inverse_deviation;
    }
  });
}

void RunStep(const Site& site, const Step& step, const NormBackwardStep& norm) {
  const float* const gradient = site.read(step, 0);
  const float* const x = site.read(step, 1);
  const float* const statistics = site.read(step, 3);
  float* const out = site.write(step);
  const NormRow row = {.weight = site.read(step, 2), .count = norm.width};
  const auto kernel =
      norm.centered ? site.kernels.layer_norm_backward : site.kernels.rms_norm_backward;
  site.Split(norm.rows, norm.rows * norm.width, [&](std::size_t begin, std::size_t end) {
    NormRow own = row;
    for (std::size_t r = begin; r < end; ++r) {
      own.x = x + r * norm.width;
      own.out = out + r * norm.width;
      kernel(own, gradient + r * norm.width, {statistics[2 * r], statistics[2 * r + 1]});
    }
  });
}

void RunStep(const Site& site, const Step& step, const NormColumnsStep& norm) {
  NormColumns columns = {.gradient = site.read(step, 0),
                         .x = site.read(step, 1),
                         .statistics = site.read(step, 2),
                         .row_count = norm.rows,
                         .width = norm.width,
                         .weight_gradient = site.write(step, 0),
                         .bias_gradient = step.writes.size() > 1 ? site.write(step, 1) : nullptr};
  site.Split(norm.width, norm.rows * norm.width, [&](std::size_t begin, std::size_t end) {
    NormColumns own = columns;
    own.begin = begin;
    own.end = end;
    site.kernels.norm_columns(own);
  });
}

}  // namespace ostraka::exact
