#include "sim/dht/tables.h"

#include <cstdio>

namespace ostraka::sim::dhtsim {
namespace {

constexpr std::uint32_t kDead[] = {0, 30};
constexpr std::uint32_t kColluders[] = {0, 20, 40};
constexpr std::uint32_t kPrefixes[] = {4, 8, 16, 32, 64, 128};

std::string Number(double value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

}  // namespace

std::vector<DhtOptions> RowsOf(Table table, std::uint32_t nodes, std::uint32_t gets,
                               std::uint64_t seed) {
  DhtOptions base;
  base.nodes = nodes;
  base.gets = gets;
  base.seed = seed;
  base.serve_at_once = true;
  std::vector<DhtOptions> rows;
  if (table == Table::kA) {
    for (const std::uint32_t dead : kDead) {
      for (const std::uint32_t colluders : kColluders) {
        DhtOptions& row = rows.emplace_back(base);
        row.dead_percent = dead;
        row.adversary = colluders > 0 ? "colluder" : "";
        row.adversary_percent = colluders;
      }
    }
    return rows;
  }
  for (const std::uint32_t prefixes : kPrefixes) {
    DhtOptions& row = rows.emplace_back(base);
    row.adversary = "grinder";
    row.prefixes = prefixes;
    row.dead_percent = 10;
  }
  return rows;
}

std::string HeadOf(Table table) {
  return table == Table::kA
             ? "| nodes | dead | colluders | found | queries | get, ms | stores |\n"
               "|---|---|---|---|---|---|---|"
             : "| nodes | prefixes | found | surveyed | queries | get, ms | stores |\n"
               "|---|---|---|---|---|---|---|";
}

std::string LineOf(Table table, const TableRow& row) {
  const DhtResult& result = row.result;
  const double gets = result.gets > 0 ? result.gets : 1;
  std::string line = "| " + std::to_string(row.options.nodes) + " | ";
  if (table == Table::kA) {
    line += std::to_string(row.options.dead_percent) + " % | " +
            std::to_string(row.options.adversary_percent) + " % | ";
  } else {
    line += std::to_string(row.options.prefixes) + " | ";
  }
  line += Number(100.0 * result.found / gets, 1) + " % | ";
  if (table == Table::kB) line += Number(100.0 * result.surveyed / gets, 0) + " % | ";
  return line + Number(result.queries, 1) + " | " + Number(result.get_ms, 0) + " | " +
         Number(result.stored, 1) + " |";
}

}  // namespace ostraka::sim::dhtsim
