#include "node/cli/sim/sim_search.h"

#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "node/cli/sim/bundle.h"
#include "node/cli/terminal/invocation.h"
#include "node/cli/views/node_json.h"

namespace ostraka::cli {
namespace {

using nlohmann::json;

json JsonOf(const sim::Distances& far) {
  return {{"echo_skew", far.echo_skew},
          {"opening_skew", far.opening_skew},
          {"iterations_apart", far.iterations_apart},
          {"certified", far.certified},
          {"voted", far.voted},
          {"locked", far.locked},
          {"names", far.names},
          {"step_seconds", far.seconds},
          {"left_out", far.left_out}};
}

json JsonOf(const sim::SearchOptions& options, const sim::SearchResult& result) {
  json out = {{"ok", result.findings.empty()}, {"seed", options.seed},
              {"runs", result.runs},           {"scripts", result.corpus},
              {"places", result.marks},        {"farthest", JsonOf(result.farthest)},
              {"findings", json::array()}};
  for (const sim::Finding& finding : result.findings) {
    json found = {{"run", finding.run},
                  {"checker", finding.failure.checker},
                  {"message", finding.failure.message},
                  {"runs", result.ways.at(finding.way)},
                  {"script", finding.options.attack_params.at("script")}};
    found.update(ReplayOf(finding.options));
    out["findings"].push_back(std::move(found));
  }
  return out;
}

void PrintText(const json& out) {
  for (const json& finding : out["findings"]) {
    std::printf(
        "FAIL run=%llu checker=%s: %s\n"
        "  script: %s\n"
        "  runs that failed like this: %llu\n"
        "%s",
        static_cast<unsigned long long>(finding["run"].get<std::uint64_t>()),
        finding["checker"].get<std::string>().c_str(),
        PrintableLine(finding["message"].get<std::string>()).c_str(),
        finding["script"].get<std::string>().c_str(),
        static_cast<unsigned long long>(finding["runs"].get<std::uint64_t>()),
        ReplayText(finding).c_str());
  }
  const json& far = out["farthest"];
  std::printf("%llu runs, %llu scripts kept, %llu situations\n",
              static_cast<unsigned long long>(out["runs"].get<std::uint64_t>()),
              static_cast<unsigned long long>(out["scripts"].get<std::uint64_t>()),
              static_cast<unsigned long long>(out["places"].get<std::uint64_t>()));
  std::printf(
      "maxima without a cut: ECHOs %.2f Delta apart, openings %.2f, iterations %u; %u values "
      "certified in a seal; names %.2f of the fault bound; %.0f s a step\n",
      far["echo_skew"].get<double>(), far["opening_skew"].get<double>(),
      far["iterations_apart"].get<unsigned>(), far["certified"].get<unsigned>(),
      far["names"].get<double>(), far["step_seconds"].get<double>());
}

}  // namespace

base::StatusOr<bool> SearchScripts(const sim::SearchOptions& options, bool as_json) {
  const bool terminal = isatty(STDERR_FILENO) != 0;
  ASSIGN_OR_RETURN(
      const sim::SearchResult result, sim::SearchFree(options, [&](const sim::SearchResult& now) {
        if (!terminal) return;
        std::fprintf(stderr, "\r\x1b[K%llu of %llu runs", static_cast<unsigned long long>(now.runs),
                     static_cast<unsigned long long>(options.runs));
      }));
  if (terminal) std::fprintf(stderr, "\r\x1b[K");
  const json out = JsonOf(options, result);
  as_json ? PrintJson(out) : PrintText(out);
  return result.findings.empty();
}

}  // namespace ostraka::cli
