// The operations of ostraka ops/2 as a table: names, operands, attributes.
//
// Thread safety: immutable table and pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "exact/graph/graph.h"

namespace ostraka::exact {

enum class Attribute : std::uint8_t {
  kOrder,
  kAxis,
  kBegin,
  kEnd,
  kCausal,
  kScale,
  kScalar,
  kEpsilon,
};

struct Operation {
  Op op = Op::kReshape;
  std::string_view name;
  std::size_t min_operands = 1;
  std::size_t max_operands = 1;
  std::span<const Attribute> attributes;  // all are stated, in this order
};

std::string_view NameOf(Attribute attribute);
const Operation& OperationOf(Op op);
// Null for an unknown name.
const Operation* FindOperation(std::string_view name);
// "reshape, permute, ...": for messages.
std::string AllOperationNames();

}  // namespace ostraka::exact
