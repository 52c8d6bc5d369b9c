// ostraka model show: what a graph file holds, and what a gradient of it costs.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "exact/graph/check.h"
#include "exact/graph/graph_text.h"
#include "exact/graph/operations.h"
#include "exact/graph/text_numbers.h"
#include "exact/program/differentiate.h"
#include "exact/program/plan.h"
#include "exact/program/recompute.h"
#include "node/cli/model/commands.h"
#include "node/cli/terminal/byte_count.h"
#include "node/cli/views/node_json.h"
#include "node/train/exact/graph_file.h"

namespace ostraka::cli {
namespace {

using nlohmann::json;

struct ShowOptions {
  std::string file;
  std::string max_memory = "8G";
  std::uint64_t max_operations = exact::PlanLimits{}.max_operations;
  std::size_t threads = 1;
  bool recompute = false;
  bool json = false;
};

std::map<std::string, std::size_t> CountOperations(const exact::Graph& graph) {
  std::map<std::string, std::size_t> counts;
  for (const exact::Instruction& instruction : graph.instructions) {
    ++counts[std::string(exact::OperationOf(instruction.op).name)];
  }
  return counts;
}

json ListOf(const std::string& name, const exact::TensorType& type) {
  return {{"name", name}, {"type", exact::TextOf(type)}};
}

json JsonOf(const exact::Graph& graph, const exact::PlannedProgram& plan, const std::string& id) {
  json parameters = json::array();
  json constants = json::array();
  json inputs = json::array();
  for (const auto& each : graph.parameters) parameters.push_back(ListOf(each.name, each.type));
  for (const auto& each : graph.constants) {
    constants.push_back(ListOf(each.name, each.type));
    constants.back()["hash"] = each.hash.Hex();
  }
  for (const auto& each : graph.inputs) {
    inputs.push_back(ListOf(each.name, each.type));
    if (each.is_drawn()) inputs.back()["keep"] = each.keep;
  }
  return {{"graph", id},
          {"parameter_count", plan.program.parameter_count},
          {"parameters", parameters},
          {"constants", constants},
          {"inputs", inputs},
          {"operations", CountOperations(graph)},
          {"loss", graph.NameOf(graph.loss)},
          {"flops", plan.operations},
          {"peak_bytes", plan.peak_bytes},
          {"threads", plan.threads}};
}

void Print(const exact::Graph& graph, const exact::PlannedProgram& plan, const std::string& id) {
  std::printf("graph %s\n", id.c_str());
  std::printf("%zu parameters in %zu tensors\n", plan.program.parameter_count,
              graph.parameters.size());
  for (const exact::Parameter& each : graph.parameters) {
    std::printf("  %s %s\n", each.name.c_str(), exact::TextOf(each.type).c_str());
  }
  for (const exact::Constant& each : graph.constants) {
    std::printf("constant %s %s %s\n", each.name.c_str(), exact::TextOf(each.type).c_str(),
                each.hash.Short().c_str());
  }
  for (const exact::Input& each : graph.inputs) {
    std::printf("input %s %s%s\n", each.name.c_str(), exact::TextOf(each.type).c_str(),
                each.is_drawn() ? (" keep " + exact::FloatText(each.keep)).c_str() : "");
  }
  std::printf("%zu instructions:", graph.instructions.size());
  for (const auto& [name, count] : CountOperations(graph)) {
    std::printf(" %zu %s", count, name.c_str());
  }
  std::printf("\none gradient: %.3f GFLOP, %.1f MiB at its peak on %zu thread%s\n",
              static_cast<double>(plan.operations) * 1e-9,
              static_cast<double>(plan.peak_bytes) / (1 << 20), plan.threads,
              plan.threads == 1 ? "" : "s");
}

base::Status Show(const ShowOptions& options) {
  ASSIGN_OR_RETURN(const std::uint64_t max_bytes, ParseByteCount(options.max_memory));
  ASSIGN_OR_RETURN(const std::string text, train::ReadGraphFile(options.file));
  const auto named = [&](const base::Status& status) {
    return base::MakeStatus(status.code(), options.file + ": " + base::MessageOf(status));
  };
  const auto graph = exact::ParseGraph(text);
  if (!graph.ok()) return named(graph.status());
  if (const base::Status checked = exact::CheckGraph(*graph); !checked.ok()) return named(checked);
  const auto plan_of = options.recompute ? exact::PlanLeastMemory : exact::PlanMemory;
  const auto plan =
      plan_of(exact::Differentiate(*graph),
              {.max_bytes = max_bytes, .max_operations = options.max_operations}, options.threads);
  if (!plan.ok()) return named(plan.status());
  const std::string id = exact::GraphId(text).Hex();
  if (options.json) {
    PrintJson(JsonOf(*graph, *plan, id));
  } else {
    Print(*graph, *plan, id);
  }
  return base::OkStatus();
}

}  // namespace

void AddModelShowCommand(CLI::App& model, Invocation& invocation) {
  auto* command =
      model.add_subcommand("show", "what a graph file holds, and what a gradient costs");
  auto options = std::make_shared<ShowOptions>();
  command->add_option("file", options->file, "the graph file")->required();
  command->add_option("--max-memory", options->max_memory, "refuse a gradient that takes more")
      ->capture_default_str();
  command
      ->add_option("--max-flops", options->max_operations,
                   "refuse a gradient that takes more floating-point operations")
      ->capture_default_str();
  command->add_option("--threads", options->threads, "threads of a gradient")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_flag("--recompute", options->recompute,
                    "of a gradient that computes parts twice where that takes less memory");
  command->add_flag("--json", options->json, "print one JSON object (docs/json.md)");
  command->footer("Example: ostraka model show gpt.graph");
  command->callback([options, &invocation] {
    invocation.body = [options] {
      const base::Status status = Show(*options);
      return status.ok() ? kDone : Fail(status);
    };
  });
}

}  // namespace ostraka::cli
