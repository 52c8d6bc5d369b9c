// A search for scripts that break a run (sim/script/script.h): 40 % of the runs play a new script,
// 60 % a change of a script that reached a new situation (sim/search/distance_watch.h).
//
// Promises:
//   F1  The result is a function of the options, run by run: a longer search begins with the runs
//       of a shorter one.
//
// Memory: the scripts that reached something new, and one finding for each way to fail.
//
// Thread safety: as RunSimulation.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "node/base/status.h"
#include "sim/run/cluster.h"
#include "sim/search/distance_watch.h"

namespace ostraka::sim {

struct SearchOptions {
  std::uint64_t seed = 1;
  std::uint64_t runs = 1000;
  // If true, checkers of premises fail and end runs too. If false, a broken premise is only a
  // distance, and the run shows what it leads to.
  bool premises = false;
  // Ends at the first run that fails the checker of this name; empty: makes all runs.
  std::string until = {};
};

// The first run that failed in one way: the checker or rule by name, without numbers and ids.
struct Finding {
  std::uint64_t run = 0;  // from 1
  std::string way;
  Failure failure;
  SimOptions options;  // for --replay; attack_params["script"] is the script
};

struct SearchResult {
  std::uint64_t runs = 0;
  std::vector<Finding> findings;              // one for each way to fail, in order
  std::map<std::string, std::uint64_t> ways;  // number of runs for each way to fail
  std::size_t corpus = 0;                     // number of scripts that reached something new
  std::size_t marks = 0;                      // number of different situations that were reached
  Distances farthest;  // the largest value of each, over all runs without a cut
};

// The run for a script: 5 to 8 peers, mostly with as many Byzantine ones as the mode bears, in a
// timely network. One in eight has a cut and at most t_a Byzantine peers. It has no script yet.
SimOptions DrawStage(std::uint64_t seed);

// `progress`, if given, is called after each run with the result so far.
base::StatusOr<SearchResult> SearchFree(
    const SearchOptions& options, const std::function<void(const SearchResult&)>& progress = {});

}  // namespace ostraka::sim
