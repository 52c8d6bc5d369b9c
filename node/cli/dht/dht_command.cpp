// ostraka dht: the DHT on real sockets.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "node/cli/dht/commands.h"
#include "node/cli/dht/dht_bench.h"
#include "node/cli/views/node_json.h"

namespace ostraka::cli {
namespace {

struct BenchCommandOptions {
  DhtBenchOptions bench;
  bool json = false;
};

base::StatusOr<ExitCode> Bench(const BenchCommandOptions& options) {
  ASSIGN_OR_RETURN(const DhtBenchResult result, RunDhtBench(options.bench));
  const bool all = result.found == options.bench.questions;
  if (options.json) {
    PrintJson(nlohmann::json{{"ok", all},
                             {"nodes", options.bench.nodes},
                             {"questions", options.bench.questions},
                             {"found", result.found},
                             {"join_seconds", result.join_seconds},
                             {"store_ms", result.store_ms},
                             {"store_p95_ms", result.store_p95_ms},
                             {"get_ms", result.get_ms},
                             {"get_p95_ms", result.get_p95_ms},
                             {"stores_a_record", result.stores},
                             {"queries_a_get", result.queries},
                             {"table", result.table}});
    return all ? kDone : kNegative;
  }
  std::printf("%u nodes in one process joined in %.1f s; %.0f nodes in a table\n",
              options.bench.nodes, result.join_seconds, result.table);
  std::printf("store %.2f ms (95 %%: %.2f), at %.1f nodes\n", result.store_ms, result.store_p95_ms,
              result.stores);
  std::printf("get   %.2f ms (95 %%: %.2f), %.1f queries; %u of %u found\n", result.get_ms,
              result.get_p95_ms, result.queries, result.found, options.bench.questions);
  return all ? kDone : kNegative;
}

}  // namespace

void AddDhtCommand(CLI::App& program, Invocation& invocation) {
  auto* command = program.add_subcommand("dht", "the DHT, which finds members by key (0018)");
  command->require_subcommand(1);
  command->footer("Example: ostraka dht ping 192.0.2.7:9000");
  AddDhtNetworkCommands(*command, invocation);
  auto options = std::make_shared<BenchCommandOptions>();
  auto* bench = command->add_subcommand(
      "bench", "time stores and gets of many nodes with sockets of their own on loopback");
  bench->add_option("--nodes", options->bench.nodes, "nodes in this process")
      ->capture_default_str();
  bench->add_option("--questions", options->bench.questions, "stores, and as many gets")
      ->capture_default_str();
  bench->add_flag("--json", options->json, "print one JSON object (docs/json.md)");
  bench->footer("Example: ostraka dht bench --nodes 100 --questions 50");
  bench->callback([options, &invocation] {
    invocation.body = [options] {
      const auto code = Bench(*options);
      return code.ok() ? *code : Fail(code.status());
    };
  });
}

}  // namespace ostraka::cli
