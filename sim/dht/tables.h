// Many runs of the DHT as a table, for docs/measurements/dht.md.
//
//   A  colluders spread over the network, and dead nodes: how many gets find their record
//   B  ids made around one run's key, 8 from each of P prefixes
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/dht/run.h"

namespace ostraka::sim::dhtsim {

struct TableRow {
  DhtOptions options;
  DhtResult result;
};
enum class Table : std::uint8_t { kA, kB };

// The options of the table's rows at `nodes` nodes, with `gets` questions a row.
std::vector<DhtOptions> RowsOf(Table table, std::uint32_t nodes, std::uint32_t gets,
                               std::uint64_t seed);
// One line of Markdown for a row; the heads of the columns.
std::string HeadOf(Table table);
std::string LineOf(Table table, const TableRow& row);

}  // namespace ostraka::sim::dhtsim
