#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "exact/graph/graph_text.h"
#include "exact/graph/operations.h"
#include "exact/graph/text_numbers.h"

namespace ostraka::exact {
namespace {

constexpr std::string_view kHeader = "ostraka-graph 1";
// A line that declares nothing has no more words than an instruction with all operands.
constexpr std::size_t kMaxWords = kMaxOperands + 16;

using Words = std::vector<std::string_view>;

// What a message quotes of a file: short, whatever the file holds.
std::string Quoted(std::string_view text) {
  constexpr std::size_t kShown = 60;
  return "'" + std::string(text.substr(0, kShown)) + (text.size() > kShown ? "...'" : "'");
}

std::optional<std::vector<std::int64_t>> ParseList(std::string_view text) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  std::vector<std::int64_t> list;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const auto number = ParseInteger(text.substr(0, comma));
    if (!number || list.size() == kMaxRank) return std::nullopt;
    list.push_back(*number);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return list;
}

base::StatusOr<TensorType> ParseType(std::string_view text) {
  TensorType type;
  const std::string_view element = text.substr(0, 3);
  if (element == "i32") {
    type.element = Element::kInt;
  } else if (element != "f32") {
    return base::InvalidArgument(Quoted(text) + " is no type: write f32[...] or i32[...]");
  }
  auto shape = ParseList(text.substr(3));
  if (!shape) {
    return base::InvalidArgument(Quoted(text) + " is no type: write at most " +
                                 std::to_string(kMaxRank) + " extents, as in f32[8,64]");
  }
  type.shape = std::move(*shape);
  return type;
}

base::StatusOr<float> ReadFloat(std::string_view text) {
  const auto value = ParseFloat(text);
  if (!value) {
    return base::InvalidArgument(Quoted(text) + " is no finite number written as 1.25e-01 is");
  }
  return *value;
}

base::StatusOr<std::int64_t> ReadInteger(std::string_view text) {
  const auto value = ParseInteger(text);
  if (!value) return base::InvalidArgument(Quoted(text) + " is no integer");
  return *value;
}

base::Status ReadAttribute(std::string_view text, Attribute attribute, Attributes& attributes) {
  switch (attribute) {
    case Attribute::kOrder: {
      auto list = ParseList(text);
      if (!list) return base::InvalidArgument(Quoted(text) + " is no list such as [1,0]");
      attributes.order = std::move(*list);
      return base::OkStatus();
    }
    case Attribute::kAxis: {
      ASSIGN_OR_RETURN(attributes.axis, ReadInteger(text));
      return base::OkStatus();
    }
    case Attribute::kBegin: {
      ASSIGN_OR_RETURN(attributes.begin, ReadInteger(text));
      return base::OkStatus();
    }
    case Attribute::kEnd: {
      ASSIGN_OR_RETURN(attributes.end, ReadInteger(text));
      return base::OkStatus();
    }
    case Attribute::kCausal: {
      ASSIGN_OR_RETURN(attributes.causal, ReadInteger(text));
      return base::OkStatus();
    }
    case Attribute::kScale: {
      ASSIGN_OR_RETURN(attributes.scale, ReadFloat(text));
      return base::OkStatus();
    }
    case Attribute::kScalar: {
      ASSIGN_OR_RETURN(attributes.scalar, ReadFloat(text));
      return base::OkStatus();
    }
    case Attribute::kEpsilon: {
      ASSIGN_OR_RETURN(attributes.epsilon, ReadFloat(text));
      return base::OkStatus();
    }
  }
  return base::OkStatus();
}

// Reads lines in order into a graph.
class Parser {
 public:
  base::Status Read(std::string_view line) {
    Words words;
    while (true) {
      const std::size_t space = std::min(line.find(' '), line.size());
      if (words.size() == kMaxWords) return base::InvalidArgument("more words than any line has");
      words.push_back(line.substr(0, space));
      if (space == line.size()) break;
      line.remove_prefix(space + 1);
    }
    const std::string_view kind = words[0];
    if (complete_) return base::InvalidArgument("nothing follows the loss");
    if (kind == "parameter") return ReadParameter(words);
    if (kind == "constant") return ReadConstant(words);
    if (kind == "input") return ReadInput(words);
    if (kind == "loss") return ReadLoss(words);
    if (kind.starts_with('%')) return ReadInstruction(words);
    return base::InvalidArgument(Quoted(kind) +
                                 " begins no line: write parameter, constant, input, % or loss");
  }

  base::StatusOr<Graph> Finish() {
    if (!complete_) return base::InvalidArgument("the file ends without a loss");
    return std::move(graph_);
  }

 private:
  // Sections come in this order, so that numbers of values do not depend on lines that follow.
  enum class Section { kParameters, kConstants, kInputs, kInstructions };

  base::Status Declare(Section section, std::string_view name) {
    if (section < section_)
      return base::InvalidArgument("parameters, constants, inputs, instructions: in this order");
    section_ = section;
    const auto id = static_cast<ValueId>(graph_.value_count());
    if (!names_.emplace(name, id).second)
      return base::InvalidArgument(Quoted(name) + " is declared twice");
    return base::OkStatus();
  }

  base::Status ReadParameter(const Words& words) {
    if (words.size() < 4) return base::InvalidArgument("write: parameter NAME TYPE INITIAL");
    RETURN_IF_ERROR(Declare(Section::kParameters, words[1]));
    Parameter parameter{.name = std::string(words[1])};
    ASSIGN_OR_RETURN(parameter.type, ParseType(words[2]));
    const std::string_view initial = words[3];
    const bool has_scale = initial == "normal" || initial == "uniform";
    if (!has_scale && initial != "zeros" && initial != "ones") {
      return base::InvalidArgument(Quoted(initial) +
                                   " is no initial value: write zeros, ones, normal or uniform");
    }
    if (words.size() != (has_scale ? 5U : 4U))
      return base::InvalidArgument("too many or too few words");
    parameter.initial = initial == "zeros"    ? Initial::kZeros
                        : initial == "ones"   ? Initial::kOnes
                        : initial == "normal" ? Initial::kNormal
                                              : Initial::kUniform;
    if (has_scale) {
      ASSIGN_OR_RETURN(parameter.scale, ReadFloat(words[4]));
    }
    graph_.parameters.push_back(std::move(parameter));
    return base::OkStatus();
  }

  base::Status ReadConstant(const Words& words) {
    if (words.size() != 4) return base::InvalidArgument("write: constant NAME TYPE HASH");
    RETURN_IF_ERROR(Declare(Section::kConstants, words[1]));
    Constant constant{.name = std::string(words[1])};
    ASSIGN_OR_RETURN(constant.type, ParseType(words[2]));
    const auto hash = base::Digest::FromHexDigits(words[3]);
    if (!hash)
      return base::InvalidArgument(Quoted(words[3]) + " is no hash of 64 hexadecimal digits");
    constant.hash = *hash;
    graph_.constants.push_back(std::move(constant));
    return base::OkStatus();
  }

  base::Status ReadInput(const Words& words) {
    if (words.size() < 3)
      return base::InvalidArgument(
          "write: input NAME TYPE, and of integers LOWEST BOUND, of what is drawn keep "
          "PROBABILITY");
    RETURN_IF_ERROR(Declare(Section::kInputs, words[1]));
    Input input{.name = std::string(words[1])};
    ASSIGN_OR_RETURN(input.type, ParseType(words[2]));
    const bool of_integers = input.type.element == Element::kInt;
    const bool is_drawn = !of_integers && words.size() == 5 && words[3] == "keep";
    if (words.size() != (of_integers || is_drawn ? 5U : 3U)) {
      return base::InvalidArgument(
          "an input of integers has a lowest value and a bound, one that is drawn has keep "
          "PROBABILITY, and another one of floats has neither");
    }
    if (is_drawn) {
      ASSIGN_OR_RETURN(input.keep, ReadFloat(words[4]));
      if (!input.is_drawn()) return base::InvalidArgument("keep is more than 0 and less than 1");
    }
    if (of_integers) {
      ASSIGN_OR_RETURN(input.lowest, ReadInteger(words[3]));
      ASSIGN_OR_RETURN(input.bound, ReadInteger(words[4]));
    }
    graph_.inputs.push_back(std::move(input));
    return base::OkStatus();
  }

  base::StatusOr<ValueId> Resolve(std::string_view name) const {
    if (name.starts_with('%')) {
      const auto number = ParseInteger(name.substr(1));
      if (number && *number >= 1 &&
          *number <= static_cast<std::int64_t>(graph_.instructions.size())) {
        return static_cast<ValueId>(graph_.declared_count() + static_cast<std::size_t>(*number) -
                                    1);
      }
    } else if (const auto found = names_.find(name); found != names_.end()) {
      return found->second;
    }
    return base::InvalidArgument(Quoted(name) + " is no value above this line");
  }

  base::Status ReadInstruction(const Words& words) {
    section_ = Section::kInstructions;
    const std::string name = "%" + std::to_string(graph_.instructions.size() + 1);
    if (words[0] != name) return base::InvalidArgument("the next instruction is " + name);
    if (words.size() < 4 || words[2] != "=")
      return base::InvalidArgument("write: %N TYPE = OPERATION OPERAND...");
    const Operation* operation = FindOperation(words[3]);
    if (operation == nullptr) {
      return base::InvalidArgument(
          Quoted(words[3]) + " is no operation of ostraka ops/2; there are " + AllOperationNames());
    }
    Instruction instruction{.op = operation->op};
    ASSIGN_OR_RETURN(instruction.type, ParseType(words[1]));
    const std::size_t attributes = operation->attributes.size();
    if (words.size() < 4 + attributes + operation->min_operands ||
        words.size() > 4 + attributes + operation->max_operands) {
      return base::InvalidArgument(std::string(operation->name) +
                                   " has another number of operands or attributes");
    }
    const std::size_t first_attribute = words.size() - attributes;
    for (std::size_t i = 4; i < first_attribute; ++i) {
      ASSIGN_OR_RETURN(const ValueId operand, Resolve(words[i]));
      instruction.operands.push_back(operand);
    }
    for (std::size_t i = 0; i < attributes; ++i) {
      const Attribute attribute = operation->attributes[i];
      const std::string prefix = std::string(NameOf(attribute)) + "=";
      const std::string_view word = words[first_attribute + i];
      if (!word.starts_with(prefix))
        return base::InvalidArgument("expected " + prefix + ", not " + Quoted(word));
      RETURN_IF_ERROR(ReadAttribute(word.substr(prefix.size()), attribute, instruction.attributes));
    }
    graph_.instructions.push_back(std::move(instruction));
    return base::OkStatus();
  }

  base::Status ReadLoss(const Words& words) {
    if (words.size() != 2) return base::InvalidArgument("write: loss OPERAND");
    ASSIGN_OR_RETURN(graph_.loss, Resolve(words[1]));
    complete_ = true;
    return base::OkStatus();
  }

  Graph graph_;
  std::map<std::string, ValueId, std::less<>> names_;
  Section section_ = Section::kParameters;
  bool complete_ = false;
};

// The first line in which two texts differ.
base::Status NotCanonical(std::string_view text, std::string_view canonical) {
  std::size_t line = 1;
  while (true) {
    const std::string_view mine = text.substr(0, text.find('\n'));
    const std::string_view right = canonical.substr(0, canonical.find('\n'));
    if (mine != right || mine.size() == text.size() || right.size() == canonical.size()) {
      return base::InvalidArgument("line " + std::to_string(line) +
                                   ": not the canonical text; write " + Quoted(right));
    }
    text.remove_prefix(mine.size() + 1);
    canonical.remove_prefix(right.size() + 1);
    ++line;
  }
}

}  // namespace

std::optional<float> ParseFloat(std::string_view text) {
  float value = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value, std::chars_format::scientific);
  if (read.ec != std::errc() || read.ptr != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<std::int64_t> ParseInteger(std::string_view text) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return value;
}

base::StatusOr<Graph> ParseGraph(std::string_view text) {
  if (text.size() > kMaxGraphBytes) {
    return base::InvalidArgument("a graph file has at most " + std::to_string(kMaxGraphBytes) +
                                 " bytes");
  }
  const std::string_view whole = text;
  Parser parser;
  for (std::size_t line = 1; !text.empty(); ++line) {
    if (line > kMaxGraphLines) {
      return base::InvalidArgument("a graph file has at most " + std::to_string(kMaxGraphLines) +
                                   " lines");
    }
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) {
      return base::InvalidArgument("line " + std::to_string(line) + ": does not end in a newline");
    }
    const std::string_view content = text.substr(0, end);
    const base::Status status =
        line > 1 ? parser.Read(content)
        : content == kHeader
            ? base::OkStatus()
            : base::InvalidArgument("a graph file begins with '" + std::string(kHeader) + "'");
    if (!status.ok()) {
      return base::InvalidArgument("line " + std::to_string(line) + ": " + base::MessageOf(status));
    }
    text.remove_prefix(end + 1);
  }
  ASSIGN_OR_RETURN(Graph graph, parser.Finish());
  const std::string canonical = PrintGraph(graph);
  if (canonical != whole) return NotCanonical(whole, canonical);
  return graph;
}

}  // namespace ostraka::exact
