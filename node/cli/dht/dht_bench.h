// Many real nodes of the DHT in one process: each has its own socket on loopback and its own
// tables, and one thread runs all of them. So a figure holds the work of all nodes that take part.
//
// Thread safety: a free function; runs on the caller's thread.
#pragma once

#include <cstdint>

#include "node/base/status.h"

namespace ostraka::cli {

struct DhtBenchOptions {
  std::uint32_t nodes = 1000;
  std::uint32_t questions = 200;  // writes, and as many reads, one after another
};

struct DhtBenchResult {
  std::uint32_t found = 0;
  double join_seconds = 0;  // of all nodes
  double store_ms = 0;      // mean
  double store_p95_ms = 0;
  double get_ms = 0;
  double get_p95_ms = 0;
  double stores = 0;   // nodes that store a record, mean
  double queries = 0;  // of a get, mean
  double table = 0;    // nodes in a table, mean
};

// Unavailable: too few descriptors for the sockets, or a node that does not join within a minute.
base::StatusOr<DhtBenchResult> RunDhtBench(const DhtBenchOptions& options);

}  // namespace ostraka::cli
