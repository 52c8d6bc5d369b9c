// A model as data: the forward pass from a micro-batch to the loss, over the operations of ostraka
// ops/2 (docs/graph.md), with static shapes. A graph has no operation that reads, writes, loops or
// draws, so it carries no code; what is drawn (dropout) is an input.
//
// Tensors are row-major without gaps. Values are numbered: first the declared ones (parameters,
// constants, inputs, in that order), then one for each instruction.
//
// Thread safety: plain values and pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "node/base/ids.h"
#include "node/base/status.h"

namespace ostraka::exact {

enum class Element : std::uint8_t { kFloat, kInt };  // f32, i32

struct TensorType {
  Element element = Element::kFloat;
  std::vector<std::int64_t> shape = {};  // empty: a scalar

  std::int64_t count() const {
    std::int64_t product = 1;
    for (const std::int64_t extent : shape) product *= extent;
    return product;
  }
  bool operator==(const TensorType&) const = default;
};

// As a graph file has it: "f32[8,64]".
std::string TextOf(const TensorType& type);

enum class Op : std::uint8_t {
  // Shapes.
  kReshape,
  kPermute,
  kExpand,
  kCat,
  kSlice,
  kStopGradient,
  // Products.
  kMatmul,
  kLinear,
  kAttention,
  kEmbedding,
  // Elementwise.
  kAdd,
  kSub,
  kMul,
  kDiv,
  kAddScalar,
  kMulScalar,
  kDivScalar,
  kRsqrt,
  kTanh,
  kSigmoid,
  kSilu,
  kGelu,
  kGeluTanh,
  kRelu,
  // Reductions.
  kSum,
  kMean,
  kSoftmax,
  kCrossEntropy,
  kLayerNorm,
  kRmsNorm,
  kCount,
};

// What an instruction states besides its operands. An operation uses those that its row in
// operations.h names; the others stay zero.
struct Attributes {
  std::vector<std::int64_t> order = {};  // permute: the operand's axes, in the result's order
  std::int64_t axis = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t causal = 0;  // 0 or 1
  float scale = 0;
  float scalar = 0;
  float epsilon = 0;
  bool operator==(const Attributes&) const = default;
};

using ValueId = std::uint32_t;

struct Instruction {
  Op op = Op::kReshape;
  std::vector<ValueId> operands = {};
  Attributes attributes = {};
  TensorType type = {};
  bool operator==(const Instruction&) const = default;
};

enum class Initial : std::uint8_t { kZeros, kOnes, kNormal, kUniform };

struct Parameter {
  std::string name;
  TensorType type = {};  // of floats
  Initial initial = Initial::kZeros;
  float scale = 0;  // normal: the deviation; uniform: the bound
  bool operator==(const Parameter&) const = default;
};

// A frozen tensor, kept outside of the graph file.
struct Constant {
  std::string name;
  TensorType type = {};    // of floats
  base::Digest hash = {};  // crypto::Hash(kDomainConstant, the floats, little-endian)
  bool operator==(const Constant&) const = default;
};

// A tensor of a micro-batch. Integers are in [lowest, bound). A drawn input has floats, each 1 /
// keep with the probability keep, and else 0: dropout, multiplied in by the graph.
struct Input {
  std::string name;
  TensorType type = {};
  std::int64_t lowest = 0;
  std::int64_t bound = 0;
  float keep = 0;  // in (0, 1); 0: the data have it

  bool is_drawn() const { return keep != 0; }
  bool operator==(const Input&) const = default;
};

struct Graph {
  std::vector<Parameter> parameters;
  std::vector<Constant> constants;
  std::vector<Input> inputs;  // those that are drawn come last
  std::vector<Instruction> instructions;
  ValueId loss = 0;

  std::size_t declared_count() const {
    return parameters.size() + constants.size() + inputs.size();
  }
  std::size_t value_count() const { return declared_count() + instructions.size(); }
  // REQUIRES: value < value_count().
  const TensorType& type_of(ValueId value) const;
  // As a graph file has it: a declared name, or "%12". REQUIRES: value < value_count().
  std::string NameOf(ValueId value) const;
  // REQUIRES: value < value_count().
  bool IsParameter(ValueId value) const { return value < parameters.size(); }
  const Input* InputOf(ValueId value) const;
  // Of inputs that the data have.
  std::size_t given_count() const;
  bool operator==(const Graph&) const = default;
};

inline constexpr std::size_t kMaxGraphBytes = std::size_t{4} << 20;
inline constexpr std::size_t kMaxGraphLines = std::size_t{1} << 16;
inline constexpr std::size_t kMaxRank = 8;
inline constexpr std::size_t kMaxOperands = 64;
inline constexpr std::size_t kMaxNameBytes = 128;
inline constexpr std::int64_t kMaxElements = (std::int64_t{1} << 31) - 1;  // of one tensor

}  // namespace ostraka::exact
