// Searches for scripts that break a run (sim/search/search.h), with a planted bug or without:
//   free_search RUNS SEED [--bug NAME] [--until CHECKER] [--premises] [--shrink]
// It prints a row for each way to fail: the first run that failed so, the checker, the number of
// such runs, and what to replay. NAME is part of a name in tests/scenario/planted_bugs.h. Exit code
// 1: something was found.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "node/base/check.h"
#include "sim/run/shrink.h"
#include "sim/search/search.h"
#include "tests/scenario/planted_bugs.h"

namespace ostraka::sim {
namespace {

constexpr std::uint64_t kShrinkRuns = 200;

bool PlantNamed(std::string_view part) {
  for (const PlantedBug& planted : kPlantedBugs) {
    if (std::string_view(planted.name).find(part) == std::string_view::npos) continue;
    base::Plant(planted.bug);
    std::printf("planted: %s\n", planted.name);
    return true;
  }
  std::fprintf(stderr, "no planted bug has '%s' in its name\n", std::string(part).c_str());
  return false;
}

void Print(const Finding& finding, std::uint64_t count, bool shrink) {
  SimOptions options = finding.options;
  std::printf("run %llu, %llu runs: %s: %s\n  replay: %s\n",
              static_cast<unsigned long long>(finding.run), static_cast<unsigned long long>(count),
              finding.failure.checker.c_str(), finding.failure.message.c_str(),
              FormatOptions(options).c_str());
  if (!shrink) return;
  const auto smaller = Shrink(options, kShrinkRuns);
  OSTRAKA_CHECK(smaller.ok());
  std::printf("  shrunk: %s\n", FormatOptions(smaller->options).c_str());
}

int Main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr,
                 "usage: free_search RUNS SEED [--bug NAME] [--until CHECKER] [--premises] "
                 "[--shrink]\n");
    return 2;
  }
  SearchOptions search;
  search.runs = std::strtoull(argv[1], nullptr, 10);
  search.seed = std::strtoull(argv[2], nullptr, 10);
  bool shrink = false;
  for (int i = 3; i < argc; ++i) {
    const std::string_view word = argv[i];
    const bool more = i + 1 < argc;
    if (word == "--premises") {
      search.premises = true;
    } else if (word == "--shrink") {
      shrink = true;
    } else if (word == "--until" && more) {
      search.until = argv[++i];
    } else if (word != "--bug" || !more || !PlantNamed(argv[++i])) {
      std::fprintf(stderr, "what is '%s'?\n", argv[i]);
      return 2;
    }
  }
  std::size_t printed = 0;
  const auto result = SearchFree(search, [&](const SearchResult& now) {
    for (; printed < now.findings.size(); ++printed) {
      const Finding& finding = now.findings[printed];
      std::printf("run %llu finds %s\n", static_cast<unsigned long long>(finding.run),
                  finding.way.c_str());
      std::fflush(stdout);
    }
  });
  base::Status status = result.status();
  OSTRAKA_CHECK(status.ok());
  for (const Finding& finding : result->findings) {
    Print(finding, result->ways.at(finding.way), shrink);
  }
  const Distances& far = result->farthest;
  std::printf("%llu runs, %zu scripts kept, %zu places\n",
              static_cast<unsigned long long>(result->runs), result->corpus, result->marks);
  std::printf(
      "farthest: ECHOs %.2f Delta apart, openings %.2f, %u iterations, %zu values certified, "
      "names %.2f of the bound, %.0f s a step\n",
      far.echo_skew, far.opening_skew, far.iterations_apart, far.certified, far.names, far.seconds);
  return result->findings.empty() ? 0 : 1;
}

}  // namespace
}  // namespace ostraka::sim

int main(int argc, char** argv) { return ostraka::sim::Main(argc, argv); }
