// ostraka bench aggregation: the speed of rules relative to the speed of memory.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "node/cli/arrays/aggregation_bench.h"
#include "node/cli/arrays/commands.h"
#include "node/cli/arrays/rule_options.h"
#include "node/cli/options/choices.h"
#include "node/cli/views/node_json.h"
#include "node/os/thread_executor.h"

namespace ostraka::cli {
namespace {

struct BenchOptions {
  AggregationBenchOptions bench;
  std::size_t rows = 16;
  std::size_t dimension = 0;
  bool smoke = false;
  bool json = false;
};

// The shapes in docs/benchmarks.md, unless the user gives one.
std::vector<AggregationBenchOptions::Shape> ShapesOf(const BenchOptions& options) {
  if (options.smoke) return {{7, 1000}};
  if (options.dimension > 0) return {{options.rows, options.dimension}};
  return {{16, 1'000'000}, {16, 10'000'000}, {64, 1'000'000}};
}

void PrintLine(const BenchResult& result) {
  if (!result.skipped.empty()) {
    std::printf("%-46s %s\n", result.name.c_str(), result.skipped.c_str());
  } else {
    std::printf("%-46s %10.3f ms %10.3f ms %6.2f\n", result.name.c_str(), result.seconds * 1e3,
                result.floor_seconds * 1e3, result.seconds / result.floor_seconds);
  }
  std::fflush(stdout);
}

base::Status Run(BenchOptions options) {
  options.bench.shapes = ShapesOf(options);
  if (options.smoke) options.bench.runs = 1;
  nlohmann::json results = nlohmann::json::array();
  if (!options.json) {
    std::printf("%-46s %13s %13s %6s\n", "rule/rows/dimension/threads", "fastest", "floor",
                "ratio");
  }
  RETURN_IF_ERROR(RunAggregationBench(options.bench, [&](const BenchResult& result) {
    if (!options.json) return PrintLine(result);
    std::fprintf(stderr, "%s\n", result.name.c_str());
    if (!result.skipped.empty()) {
      results.push_back({{"name", result.name}, {"skipped", result.skipped}});
      return;
    }
    results.push_back({{"name", result.name},
                       {"seconds", result.seconds},
                       {"floor_seconds", result.floor_seconds},
                       {"ratio", result.seconds / result.floor_seconds}});
  }));
  if (options.json) PrintJson({{"results", results}});
  return base::OkStatus();
}

}  // namespace

void AddBenchCommand(CLI::App& program, Invocation& invocation) {
  auto* command = program.add_subcommand("bench", "repeat the measurements of docs/benchmarks.md");
  command->require_subcommand(1);
  command->footer("Example: ostraka bench aggregation --rule krum --rule median");

  auto options = std::make_shared<BenchOptions>();
  options->bench.threads = os::AvailableThreads();
  auto* aggregation = command->add_subcommand(
      "aggregation", "time rules, relative to the memory traffic that they cannot avoid");
  std::vector<std::string> names = RuleNames();
  for (std::string& name : PreAggregationNames()) names.push_back(std::move(name));
  OfferChoices(aggregation->add_option("--rule", options->bench.rules,
                                       "a rule or pre-aggregation; may be repeated (default: the "
                                       "twelve in docs/benchmarks.md)"),
               names);
  aggregation->add_option("--rows", options->rows, "n, with --dimension")->capture_default_str();
  aggregation->add_option("--dimension", options->dimension,
                          "d (default: 16 x 1e6, 16 x 1e7 and 64 x 1e6 one after another)");
  aggregation
      ->add_option("--threads", options->bench.threads, "threads, for the rule and for reading")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  aggregation
      ->add_option("--runs", options->bench.runs, "number of runs, of which the fastest counts")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  aggregation->add_flag("--smoke", options->smoke, "one run on a tiny input, to see that it works");
  aggregation->add_flag("--json", options->json, "print one JSON object (docs/json.md)");
  aggregation->footer("Example: ostraka bench aggregation --rows 16 --dimension 1000000 --runs 50");
  aggregation->callback([options, &invocation] {
    invocation.body = [options] {
      const base::Status status = Run(*options);
      return status.ok() ? kDone : Fail(status);
    };
  });
}

}  // namespace ostraka::cli
