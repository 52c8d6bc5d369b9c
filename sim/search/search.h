// A search for scripts that break a run (sim/script/script.h): 40 % of the runs play a fresh one,
// 60 % a change of one that has been where none was before (sim/search/reach.h).
//
// Promise: a function of its options alone, run by run: a search with more runs begins with the
// same ones.
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
#include "sim/search/reach.h"

namespace ostraka::sim {

struct SearchOptions {
  std::uint64_t seed = 1;
  std::uint64_t runs = 1000;
  // The checkers of premises fail runs too, and so end them. Without, a broken premise is a
  // distance only, and what it leads to is seen.
  bool premises = false;
  // Ends at the first run that fails the checker of this name; empty: goes through.
  std::string until = {};
};

// The first run that failed in one way: checkers and rules by name, without numbers and ids.
struct Finding {
  std::uint64_t run = 0;  // from 1
  std::string way;
  Failure failure;
  SimOptions options;  // what --replay reads; attack_params["script"] is the script
};

struct SearchResult {
  std::uint64_t runs = 0;
  std::vector<Finding> findings;              // one for each way, in order
  std::map<std::string, std::uint64_t> ways;  // and how many runs failed so
  std::size_t corpus = 0;                     // scripts that had been somewhere new
  std::size_t marks = 0;                      // places that any had been to
  Distances farthest;                         // each the largest of all runs without a cut
};

// A run for a script: 5 to 8 peers, as many Byzantine as are borne mostly, a timely network; one in
// eight is cut, with t_a of them at most. Without a script.
SimOptions DrawStage(std::uint64_t seed);

// `progress`, if given, is called after each run with what is known so far.
base::StatusOr<SearchResult> SearchFree(
    const SearchOptions& options, const std::function<void(const SearchResult&)>& progress = {});

}  // namespace ostraka::sim
