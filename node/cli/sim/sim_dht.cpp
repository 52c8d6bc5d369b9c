#include "node/cli/sim/sim_dht.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "node/cli/options/choices.h"
#include "node/cli/views/node_json.h"
#include "sim/dht/adversary.h"
#include "sim/dht/tables.h"

namespace ostraka::cli {
namespace {

using nlohmann::json;
namespace dhtsim = sim::dhtsim;

struct DhtCommandOptions {
  dhtsim::DhtOptions run;
  double least_found = 0;  // percent
  std::string table;       // a, b, or empty
  bool json = false;
};

json JsonOf(const dhtsim::DhtResult& result, double seconds) {
  json object{{"ok", !result.failure.has_value()},
              {"gets", result.gets},
              {"found", result.found},
              {"surveyed", result.surveyed},
              {"queries_a_get", result.queries},
              {"get_ms", result.get_ms},
              {"get_p95_ms", result.get_p95_ms},
              {"stores_a_record", result.stored},
              {"queries_a_write", result.write_queries},
              {"honest", result.honest},
              {"servers", result.servers},
              {"table", result.table},
              {"network_estimate", result.size_estimate},
              {"bytes_per_second", result.bytes_per_second},
              {"most_queries_a_minute", result.most_queries_a_minute},
              {"bystander_bytes", result.bystander_bytes},
              {"queries", result.totals.queries},
              {"replies", result.totals.replies},
              {"verifications", result.totals.verifications},
              {"cpu_seconds", seconds},
              {"failure", nullptr}};
  if (result.failure) {
    object["failure"] = {{"checker", result.failure->checker},
                         {"message", result.failure->message}};
  }
  return object;
}

void PrintText(const dhtsim::DhtResult& result, double seconds) {
  std::printf("%u of %u records found, %.1f queries a get, %.0f ms (95 %%: %.0f ms)\n",
              result.found, result.gets, result.queries, result.get_ms, result.get_p95_ms);
  std::printf("%.1f nodes store a record, %.1f queries a write; %u gets met an attacked key\n",
              result.stored, result.write_queries, result.surveyed);
  std::printf("%u honest nodes at the end, %u servers, %.0f nodes in a table, %.0f estimated\n",
              result.honest, result.servers, result.table, result.size_estimate);
  std::printf("a node sent %.0f bytes/s, at most %llu queries in a minute\n",
              result.bytes_per_second,
              static_cast<unsigned long long>(result.most_queries_a_minute));
  std::printf("%llu queries, %llu signatures made, %llu verified, %.1f s of processor\n",
              static_cast<unsigned long long>(result.totals.queries),
              static_cast<unsigned long long>(result.totals.replies),
              static_cast<unsigned long long>(result.totals.verifications), seconds);
  if (!result.failure) return;
  std::printf("FAIL checker=%s: %s\n", result.failure->checker.c_str(),
              result.failure->message.c_str());
}

double CpuSeconds() {
  return static_cast<double>(std::clock()) / static_cast<double>(CLOCKS_PER_SEC);
}

base::StatusOr<ExitCode> PrintTable(const DhtCommandOptions& options) {
  if (options.table != "a" && options.table != "b") {
    return base::InvalidArgument("--table must be a (colluders) or b (ids made around a key)");
  }
  const auto table = options.table == "a" ? dhtsim::Table::kA : dhtsim::Table::kB;
  std::printf("%s\n", dhtsim::HeadOf(table).c_str());
  ExitCode code = kDone;
  for (const dhtsim::DhtOptions& row :
       dhtsim::RowsOf(table, options.run.nodes, options.run.gets, options.run.seed)) {
    ASSIGN_OR_RETURN(const dhtsim::DhtResult result, dhtsim::RunDht(row));
    std::printf("%s\n", dhtsim::LineOf(table, {row, result}).c_str());
    std::fflush(stdout);
    if (!result.failure) continue;
    std::printf("FAIL checker=%s: %s\n", result.failure->checker.c_str(),
                result.failure->message.c_str());
    code = kNegative;
  }
  return code;
}

base::StatusOr<ExitCode> Simulate(const DhtCommandOptions& options) {
  if (!options.table.empty()) return PrintTable(options);
  if (options.least_found < 0 || options.least_found > 100) {
    return base::InvalidArgument("--least-found must be 0 to 100");
  }
  dhtsim::DhtOptions run = options.run;
  run.least_found_permille = static_cast<std::uint32_t>(options.least_found * 10 + 0.5);
  const double begin = CpuSeconds();
  ASSIGN_OR_RETURN(const dhtsim::DhtResult result, dhtsim::RunDht(run));
  const double seconds = CpuSeconds() - begin;
  if (options.json) {
    PrintJson(JsonOf(result, seconds));
  } else {
    PrintText(result, seconds);
  }
  return result.failure ? kNegative : kDone;
}

}  // namespace

void AddSimDht(CLI::App& sim, Invocation& invocation) {
  auto* command = sim.add_subcommand("dht", "simulate nodes of the DHT under attack");
  auto options = std::make_shared<DhtCommandOptions>();
  dhtsim::DhtOptions& run = options->run;
  command->add_option("--nodes", run.nodes, "nodes, with the adversaries among them")
      ->capture_default_str();
  command->add_option("--minutes", run.minutes, "virtual minutes after the joins")
      ->capture_default_str();
  command->add_option("--join-seconds", run.join_seconds, "over which all nodes join")
      ->capture_default_str();
  command->add_option("--loss", run.loss_permille, "of 1000 datagrams, the number lost")
      ->capture_default_str();
  command->add_option("--churn", run.churn_percent, "percent of nodes replaced in an hour")
      ->capture_default_str();
  command->add_option("--burst", run.burst, "nodes that join within a minute after the others")
      ->capture_default_str();
  command->add_option("--partition", run.partition_seconds, "seconds of a cut between two halves")
      ->capture_default_str();
  command->add_option("--nat", run.nat_percent, "percent of nodes behind a NAT")
      ->capture_default_str();
  command->add_option("--dead", run.dead_percent, "percent that end before the questions")
      ->capture_default_str();
  OfferChoices(
      command->add_option("--adversary", run.adversary,
                          "colluder, grinder, poison, replay, silent, store_flood or spoof"),
      TextsOf(dhtsim::kAdversaries));
  command->add_option("--share", run.adversary_percent, "percent of nodes that are adversaries")
      ->capture_default_str();
  command->add_option("--prefixes", run.prefixes, "grinder: 8 ids around a key from each prefix")
      ->capture_default_str();
  command->add_option("--gets", run.gets, "records that are looked for")->capture_default_str();
  command->add_option("--least-found", options->least_found, "percent: fewer are a failure")
      ->capture_default_str();
  command->add_flag("--serve-at-once", run.serve_at_once, "nodes do not test their reachability");
  command->add_option("--seed", run.seed, "seed of the run")->capture_default_str();
  command->add_option("--table", options->table,
                      "print table a (colluders) or b (ids made around a key) at --nodes nodes");
  command->add_flag("--json", options->json, "print one JSON object (docs/json.md)");
  command->footer(
      "Examples: ostraka sim dht --nodes 1000 --adversary colluder --share 20 --dead 30\n"
      "          ostraka sim dht --nodes 5000 --minutes 10 --churn 50\n"
      "          ostraka sim dht --nodes 1000 --table a --gets 360");
  command->callback([options, &invocation] {
    invocation.body = [options] {
      const auto code = Simulate(*options);
      return code.ok() ? *code : Fail(code.status());
    };
  });
}

}  // namespace ostraka::cli
