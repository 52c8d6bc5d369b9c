#include "sim/compare/cells/model.h"

#include <algorithm>
#include <vector>

#include "aggregation/shared/parameters.h"
#include "exact/graph/graph_text.h"
#include "exact/models/models.h"
#include "node/base/check.h"
#include "node/base/suggest.h"
#include "node/train/data_source.h"
#include "node/train/exact/constants_file.h"
#include "node/train/exact/graph_file.h"

namespace ostraka::compare {
namespace {

using aggregation::Default;
using aggregation::ParameterInfo;
using aggregation::ValueType;

constexpr double kMostOfASize = 1 << 20;

constexpr ParameterInfo SizeParameter(std::string_view name, std::string_view meaning,
                                      std::string_view text) {
  return {.name = name,
          .type = ValueType::kInteger,
          .meaning = meaning,
          .default_kind = Default::kValue,
          .default_text = text,
          .low = 1,
          .high = kMostOfASize};
}

constexpr ParameterInfo kSizes[] = {SizeParameter("layers", "layers", "2"),
                                    SizeParameter("width", "width of a layer", "64"),
                                    SizeParameter("heads", "heads of attention", "4"),
                                    SizeParameter("context", "tokens that it reads", "32")};
constexpr std::string_view kWithoutSizes[] = {"softmax", "mlp", "cnn"};
constexpr std::string_view kGraphs[] = {"gpt", "llama", "albert"};

template <typename Names>
bool IsIn(const Names& names, std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

struct ParsedModel {
  std::string name;
  aggregation::Parameters sizes;  // of a graph
};

base::StatusOr<ParsedModel> ParseModel(std::string_view text) {
  ASSIGN_OR_RETURN(auto element, aggregation::ParseElement(text));
  std::vector<std::string> names(std::begin(kWithoutSizes), std::end(kWithoutSizes));
  names.insert(names.end(), std::begin(kGraphs), std::end(kGraphs));
  if (!IsIn(names, element.name)) {
    return base::InvalidArgument("unknown model '" + element.name + "'" +
                                 base::SuggestionFor(element.name, names));
  }
  ParsedModel parsed{element.name, {}};
  std::span<const ParameterInfo> infos;
  if (IsIn(kGraphs, element.name)) infos = kSizes;
  ASSIGN_OR_RETURN(parsed.sizes,
                   aggregation::ParseParameters("model " + element.name, infos, element.arguments));
  return parsed;
}

ParsedModel KnownModel(std::string_view text) {
  auto parsed = ParseModel(text);
  OSTRAKA_CHECK(parsed.ok());
  return *std::move(parsed);
}

base::StatusOr<exact::Model> ModelMadeOf(const Cell& cell) {
  const ParsedModel parsed = KnownModel(cell.model);
  const auto size = [&](const char* name) {
    return static_cast<std::int64_t>(parsed.sizes.Integer(name));
  };
  return exact::MakeModel({.model = parsed.name,
                           .batch = static_cast<std::int64_t>(cell.batch_size),
                           .layers = size("layers"),
                           .width = size("width"),
                           .heads = size("heads"),
                           .context = size("context")});
}

}  // namespace

base::Status CheckModel(std::string_view text) { return ParseModel(text).status(); }

bool IsGraph(std::string_view model) { return IsIn(kGraphs, KnownModel(model).name); }

std::uint32_t ContextOf(std::string_view model) {
  return static_cast<std::uint32_t>(KnownModel(model).sizes.Integer("context"));
}

base::StatusOr<train::TrainerOptions> TrainerOptionsOf(const Cell& cell) {
  train::TrainerOptions options;
  options.data = cell.data;
  options.data_hash = cell.data_hash;
  options.batch_size = cell.batch_size;
  options.hidden = cell.hidden;
  options.exact = cell.is_exact();
  if (!IsGraph(cell.model)) {
    options.model = cell.model;
    return options;
  }
  options.model = train::kGraphModel;
  ASSIGN_OR_RETURN(const exact::Model made, ModelMadeOf(cell));
  options.graph = exact::PrintGraph(made.graph);
  if (!made.constants.empty()) options.constants = train::ConstantsBytes(made.constants);
  return options;
}

std::string ManifestModelOf(const Cell& cell) {
  if (!IsGraph(cell.model)) return cell.model;
  const auto made = ModelMadeOf(cell);
  OSTRAKA_CHECK(made.ok());
  return train::TextOf({.name = std::string(train::kGraphModel),
                        .graph = exact::GraphId(exact::PrintGraph(made->graph))});
}

}  // namespace ostraka::compare
