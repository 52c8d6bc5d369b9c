// Steps that move numbers: fill, copy, gather, reduce, embedding.
#include <algorithm>
#include <cstring>

#include "exact/run/steps.h"

namespace ostraka::exact {
namespace {

// Walks the row-major indices of all axes but the last and calls body(offset), where offset is the
// sum of index * stride over them, from row `begin` to row `end`.
template <typename Body>
void ForEachRow(const std::vector<std::size_t>& extents, const std::vector<std::size_t>& strides,
                std::size_t begin, std::size_t end, const Body& body) {
  const std::size_t axes = extents.empty() ? 0 : extents.size() - 1;
  std::size_t index[kMaxRank] = {};
  std::size_t offset = 0;
  std::size_t rest = begin;
  for (std::size_t axis = axes; axis-- > 0;) {
    index[axis] = rest % extents[axis];
    rest /= extents[axis];
    offset += index[axis] * strides[axis];
  }
  for (std::size_t row = begin; row < end; ++row) {
    body(row, offset);
    for (std::size_t axis = axes; axis-- > 0;) {
      offset += strides[axis];
      if (++index[axis] < extents[axis]) break;
      offset -= index[axis] * strides[axis];
      index[axis] = 0;
    }
  }
}

std::size_t RowCount(const std::vector<std::size_t>& extents) {
  std::size_t rows = 1;
  for (std::size_t axis = 0; axis + 1 < extents.size(); ++axis) rows *= extents[axis];
  return rows;
}

}  // namespace

void RunStep(const Site& site, const Step& step, const FillStep& fill) {
  std::fill_n(site.write(step), site.count_written(step), fill.value);
}

void RunStep(const Site& site, const Step& step, const CopyStep& copy) {
  const float* const from = site.read(step, 0) + copy.from;
  float* const to = site.write(step) + copy.to;
  site.Split(copy.blocks, copy.blocks * copy.length, [&](std::size_t begin, std::size_t end) {
    for (std::size_t b = begin; b < end; ++b) {
      std::memcpy(to + b * copy.to_stride, from + b * copy.from_stride,
                  copy.length * sizeof(float));
    }
  });
}

void RunStep(const Site& site, const Step& step, const GatherStep& gather) {
  const float* const from = site.read(step, 0);
  float* const to = site.write(step);
  const std::size_t width = gather.extents.empty() ? 1 : gather.extents.back();
  const std::size_t stride = gather.extents.empty() ? 1 : gather.strides.back();
  const std::size_t rows = RowCount(gather.extents);
  site.Split(rows, rows * width, [&](std::size_t begin, std::size_t end) {
    ForEachRow(gather.extents, gather.strides, begin, end,
               [&](std::size_t row, std::size_t offset) {
                 float* const out = to + row * width;
                 const float* const in = from + offset;
                 if (stride == 1) {
                   std::memcpy(out, in, width * sizeof(float));
                 } else {
                   for (std::size_t i = 0; i < width; ++i) out[i] = in[i * stride];
                 }
               });
  });
}

// One thread: rows of the operand meet in one output.
void RunStep(const Site& site, const Step& step, const ReduceStep& reduce) {
  const float* const from = site.read(step, 0);
  float* const to = site.write(step);
  const std::size_t width = reduce.extents.empty() ? 1 : reduce.extents.back();
  const std::size_t stride = reduce.extents.empty() ? 1 : reduce.strides.back();
  std::fill_n(to, site.count_written(step), 0.0F);
  ForEachRow(reduce.extents, reduce.strides, 0, RowCount(reduce.extents),
             [&](std::size_t row, std::size_t offset) {
               const float* const in = from + row * width;
               float* const out = to + offset;
               if (stride == 1) {
                 site.kernels.RunMap(Map::kAdd, {out, in, nullptr, 0, out, width});
               } else {
                 for (std::size_t i = 0; i < width; ++i) {
                   float& sum = out[i * stride];
                   sum += in[i];
                   if (sum != sum) sum = kCanonicalNan;
                 }
               }
             });
}

void RunStep(const Site& site, const Step& step, const EmbeddingStep& embedding) {
  const float* const table = site.read(step, 0);
  const std::int32_t* const rows = site.read_integers(step, 1);
  float* const to = site.write(step);
  const std::size_t width = embedding.width;
  site.Split(embedding.rows, embedding.rows * width, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      std::memcpy(to + r * width, table + static_cast<std::size_t>(rows[r]) * width,
                  width * sizeof(float));
    }
  });
}

// One thread: a table's row may be used many times.
void RunStep(const Site& site, const Step& step, const EmbeddingBackwardStep& embedding) {
  const float* const gradient = site.read(step, 0);
  const std::int32_t* const rows = site.read_integers(step, 1);
  float* const table = site.write(step);
  const std::size_t width = embedding.width;
  std::fill_n(table, site.count_written(step), 0.0F);
  for (std::size_t r = 0; r < embedding.rows; ++r) {
    float* const out = table + static_cast<std::size_t>(rows[r]) * width;
    site.kernels.RunMap(Map::kAdd, {out, gradient + r * width, nullptr, 0, out, width});
  }
}

}  // namespace ostraka::exact
