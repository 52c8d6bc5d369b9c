// One run of the DHT: a network joins, something goes wrong, and nodes look for records of others.
//
// Order: nodes join over `join_seconds`; `minutes` pass, with churn, a burst or a partition; a
// share dies; `gets` nodes publish anew, and as many others look for what they published. With an
// adversary of ground ids, all publish and look for one run.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "node/base/status.h"
#include "sim/dht/checks.h"

namespace ostraka::sim::dhtsim {

struct DhtOptions {
  std::uint64_t seed = 1;
  std::uint32_t nodes = 200;
  std::uint32_t minutes = 2;  // after the joins
  std::uint32_t join_seconds = 60;
  std::uint32_t loss_permille = 10;
  std::uint32_t churn_percent = 0;      // nodes that end an hour, each replaced by a new one
  std::uint32_t burst = 0;              // nodes that join within a minute, after the others
  std::uint32_t partition_seconds = 0;  // a cut between two halves, in mid-run
  std::uint32_t nat_percent = 0;
  std::uint32_t dead_percent = 0;       // of honest nodes, which end at once before the questions
  std::string adversary = {};           // empty: none
  std::uint32_t adversary_percent = 0;  // of the nodes
  std::uint32_t prefixes = 0;           // grinder: 8 ids around the key from each
  std::uint32_t gets = 100;
  std::uint32_t least_found_permille = 0;  // checker found
  bool serve_at_once = false;  // no tests of reachability: nodes that know that they are reachable
};

struct DhtResult {
  std::uint32_t gets = 0;
  std::uint32_t found = 0;
  std::uint32_t surveyed = 0;
  double queries = 0;  // of a get, mean
  double get_ms = 0;   // virtual, median
  double get_p95_ms = 0;
  double stored = 0;  // nodes that store a record, mean
  double write_queries = 0;
  std::uint32_t honest = 0;     // up at the end
  std::uint32_t servers = 0;    // of them
  double table = 0;             // nodes in a table, mean
  double size_estimate = 0;     // median of the nodes' estimates
  double bytes_per_second = 0;  // that an honest node sends, mean over the run
  std::uint64_t most_queries_a_minute = 0;
  std::uint64_t bystander_bytes = 0;  // that honest nodes sent where no node is
  SwarmTotals totals;
  std::optional<CheckFailure> failure;
};

// InvalidArgument: options out of range, or an unknown adversary.
base::StatusOr<DhtResult> RunDht(const DhtOptions& options);

}  // namespace ostraka::sim::dhtsim
