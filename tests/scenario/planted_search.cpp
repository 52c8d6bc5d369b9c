// Searches for seeds whose swarms find a planted bug:
//   planted_search FIRST LAST [--only WORD]... [NAME...]
// It runs the swarms of seeds FIRST..LAST with each bug (or with bugs whose name contains a NAME)
// until the bug's own checker fails, and prints a row of the table in docs/simulation.md for each.
// --only skips swarms whose options (sim/setup/options.h) lack the word, as in cut=halves. Exit
// code 1: a bug was not found.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "node/base/check.h"
#include "sim/run/cluster.h"
#include "tests/scenario/planted_bugs.h"

namespace ostraka::sim {
namespace {

struct Arguments {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::vector<std::string_view> only;
  std::vector<std::string_view> names;
};

bool Names(const Arguments& arguments, const PlantedBug& planted) {
  const std::string_view name = planted.name;
  return arguments.names.empty() ||
         std::any_of(arguments.names.begin(), arguments.names.end(),
                     [&](std::string_view part) { return name.find(part) != name.npos; });
}

bool Wants(const Arguments& arguments, const SimOptions& options) {
  const std::string words = " " + FormatOptions(options) + " ";
  return std::all_of(arguments.only.begin(), arguments.only.end(), [&](std::string_view word) {
    return words.find(" " + std::string(word) + " ") != words.npos;
  });
}

bool Search(const PlantedBug& planted, const Arguments& arguments) {
  std::map<std::string, std::vector<std::uint64_t>> found;  // seeds, by the checker that failed
  std::uint64_t runs = 0;
  base::Plant(planted.bug);
  for (std::uint64_t seed = arguments.first;
       seed <= arguments.last && !found.contains(planted.checker); ++seed) {
    const SimOptions options = PlantedSwarm(seed);
    if (!Wants(arguments, options)) continue;
    ++runs;
    const auto result = RunSimulation(options);
    OSTRAKA_CHECK(result.ok());
    if (result->failure) found[result->failure->checker].push_back(seed);
  }
  base::Plant(base::Bug::kNone);
  const auto own = found.find(planted.checker);
  const bool is_found = own != found.end();
  std::printf("| %s | `%s` | %s | %llu |", planted.name, planted.checker,
              is_found ? std::to_string(own->second.front()).c_str() : "-",
              static_cast<unsigned long long>(runs));
  for (const auto& [checker, seeds] : found) {
    if (checker == planted.checker) continue;
    std::printf(" %s: %zu, first %llu;", checker.c_str(), seeds.size(),
                static_cast<unsigned long long>(seeds.front()));
  }
  std::printf(" |\n");
  std::fflush(stdout);
  return is_found;
}

int Main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: planted_search FIRST LAST [--only WORD]... [NAME...]\n");
    return 2;
  }
  Arguments arguments;
  arguments.first = std::strtoull(argv[1], nullptr, 10);
  arguments.last = std::strtoull(argv[2], nullptr, 10);
  for (int i = 3; i < argc; ++i) {
    const bool only = std::string_view(argv[i]) == "--only" && i + 1 < argc;
    (only ? arguments.only : arguments.names).push_back(argv[only ? ++i : i]);
  }
  bool all = true;
  std::printf(
      "| bug | checker | seed | runs | others that failed first |\n|---|---|---|---|---|\n");
  for (const PlantedBug& planted : kPlantedBugs) {
    if (Names(arguments, planted)) all = Search(planted, arguments) && all;
  }
  if (Names(arguments, kCanary)) all = Search(kCanary, arguments) && all;
  return all ? 0 : 1;
}

}  // namespace
}  // namespace ostraka::sim

int main(int argc, char** argv) { return ostraka::sim::Main(argc, argv); }
