#include "exact/program/cost.h"

#include <algorithm>
#include <initializer_list>
#include <limits>

namespace ostraka::exact {
namespace {

std::uint64_t Times(std::initializer_list<std::uint64_t> factors) {
  std::uint64_t product = 1;
  for (const std::uint64_t factor : factors) {
    if (factor != 0 && product > std::numeric_limits<std::uint64_t>::max() / factor) {
      return std::numeric_limits<std::uint64_t>::max();
    }
    product *= factor;
  }
  return product;
}

// `products` products of queries x keys x width a head.
std::uint64_t AttentionOperations(const AttentionShape& shape, std::uint64_t products) {
  return Times({2 * products, shape.batch, shape.heads, shape.queries, shape.keys, shape.width});
}

}  // namespace

std::uint64_t OperationsOf(const Program& program, const Step& step) {
  if (const auto* product = std::get_if<ProductStep>(&step.kind)) {
    return Times({2, product->batch, product->rows, product->columns, product->depth});
  }
  if (const auto* attention = std::get_if<AttentionStep>(&step.kind)) {
    return AttentionOperations(*attention, 2);
  }
  if (const auto* attention = std::get_if<AttentionBackwardStep>(&step.kind)) {
    return AttentionOperations(*attention, 5);
  }
  std::uint64_t elements = 0;  // of buffers of at most 2^31: no overflow
  for (const BufferId id : step.reads) elements += program.buffers[id].count;
  for (const BufferId id : step.writes) elements += program.buffers[id].count;
  return elements;
}

std::size_t ScratchOfThread(const AttentionShape& shape, bool backward) {
  const std::size_t rows = std::min(shape.queries, kAttentionRows);
  return (backward ? 2 : 1) * rows * shape.keys;
}

std::size_t ScratchOf(const Step& step, std::size_t threads) {
  if (const auto* attention = std::get_if<AttentionStep>(&step.kind)) {
    return threads * ScratchOfThread(*attention, false);
  }
  if (const auto* attention = std::get_if<AttentionBackwardStep>(&step.kind)) {
    return threads * ScratchOfThread(*attention, true);
  }
  return 0;
}

}  // namespace ostraka::exact
