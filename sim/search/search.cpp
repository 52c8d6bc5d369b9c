#include "sim/search/search.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "node/base/check.h"
#include "sim/engine/memo_opener.h"
#include "sim/run/seeds.h"
#include "sim/script/draw.h"

namespace ostraka::sim {
namespace {

constexpr char kScript[] = "script";
constexpr std::uint64_t kSteps = 6;  // the minimum; scripts deviate in the first three

constexpr base::Duration kBegins = base::Seconds(150);

bool OneIn(base::Rng& rng, std::uint64_t n) { return rng.Below(n) == 0; }

protocol::Thresholds ThresholdsOf(const SimOptions& options) {
  const std::uint32_t t_a = protocol::GenesisAsynchronousFaults(options.mode, options.peers);
  return protocol::ThresholdsFor(options.mode, options.peers, t_a);
}

Stage StageOf(const SimOptions& options) {
  return {options.peers - options.byzantine, options.byzantine, options.attack_from_step};
}

// Watches one run and measures its reach.
class Scout final : public StepObserver {
 public:
  Scout(const Roster& roster, const SimOptions& options)
      : watch_(roster, GenesisView(options, roster), std::make_shared<MemoOpener>()),
        reach_(roster, &watch_) {}

  void OnStep(const StepRecord& record) override {
    watch_.OnStep(record);
    reach_.OnStep(record);
  }
  // A run that has not begun by then never will, which harms nobody.
  bool WantsStop() const override {
    return watch_.begun().empty() && watch_.now() > base::Time{} + kBegins;
  }
  const DistanceWatch& reach() const { return reach_; }

 private:
  SealWatch watch_;
  DistanceWatch reach_;
};

void TakeFarther(const Distances& one, Distances& farthest) {
  farthest.echo_skew = std::max(farthest.echo_skew, one.echo_skew);
  farthest.opening_skew = std::max(farthest.opening_skew, one.opening_skew);
  farthest.iterations_apart = std::max(farthest.iterations_apart, one.iterations_apart);
  farthest.certified = std::max(farthest.certified, one.certified);
  farthest.voted = std::max(farthest.voted, one.voted);
  farthest.locked = std::max(farthest.locked, one.locked);
  farthest.names = std::max(farthest.names, one.names);
  farthest.seconds = std::max(farthest.seconds, one.seconds);
  farthest.left_out = std::max(farthest.left_out, one.left_out);
}

// One number from all distances. An iteration of skew is the maximum that counts.
double Nearness(const Distances& one) {
  return std::min(one.echo_skew, 10.0) / 5 + std::min(one.opening_skew, 10.0) / 5 +
         2.0 * std::min(one.iterations_apart, 3U) +
         static_cast<double>(one.certified + 2 * one.voted + 2 * one.locked) +
         std::min(one.names, 2.0);
}

class Search {
 public:
  explicit Search(const SearchOptions& options) : options_(options) {}

  base::StatusOr<SearchResult> Run(const std::function<void(const SearchResult&)>& progress) {
    const base::Rng rng = base::Rng(options_.seed).Fork("search");
    for (std::uint64_t run = 1; run <= options_.runs; ++run) {
      SimOptions next = Next(rng.Fork("run", run));
      next.premises = options_.premises;
      RETURN_IF_ERROR(Play(next));
      if (progress) progress(result_);
      const bool found = std::any_of(
          result_.findings.begin(), result_.findings.end(),
          [this](const Finding& finding) { return finding.failure.checker == options_.until; });
      if (found) break;
    }
    return std::move(result_);
  }

 private:
  SimOptions Next(base::Rng rng) {
    if (corpus_.empty() || rng.Below(10) < 4) {
      SimOptions fresh = DrawStage(rng.Fork("stage").Next());
      fresh.attack_params[kScript] = FormatScript(DrawScript(rng.Fork("script"), StageOf(fresh)));
      return fresh;
    }
    SimOptions changed = Chosen(rng);
    // The changed script may get a new seed, and so other leaders, roles and delays.
    if (OneIn(rng, 2)) changed.seed = rng.Fork("seed").Next();
    Script script = ScriptOf(changed);
    if (OneIn(rng, 4)) {
      Splice(ScriptOf(Chosen(rng)), rng.Fork("splice"), script);
    } else {
      script = Mutate(std::move(script), rng.Fork("mutate"), StageOf(changed));
    }
    changed.attack_params[kScript] = FormatScript(script);
    return changed;
  }

  // One of three drawn candidates: every other time the one with the largest reach, else the
  // newest.
  const SimOptions& Chosen(base::Rng& rng) const {
    const bool nearest = OneIn(rng, 2);
    std::size_t best = rng.Below(corpus_.size());
    for (int i = 0; i < 2; ++i) {
      const std::size_t other = rng.Below(corpus_.size());
      if (nearest ? corpus_[other].nearness > corpus_[best].nearness : other > best) best = other;
    }
    return corpus_[best].options;
  }

  static Script ScriptOf(const SimOptions& options) {
    auto script = ParseScript(options.attack_params.at(kScript));
    OSTRAKA_CHECK(script.ok());
    return std::move(script).value();
  }

  // Adds deviations of another script, as many as fit.
  static void Splice(const Script& other, base::Rng rng, Script& script) {
    for (const Deviation& one : other.deviations) {
      if (script.deviations.size() >= kMostDeviations || OneIn(rng, 3)) continue;
      const std::uint64_t place = rng.Below(script.deviations.size() + 1);
      script.deviations.insert(script.deviations.begin() + static_cast<std::ptrdiff_t>(place), one);
    }
  }

  base::Status Play(const SimOptions& options) {
    ++result_.runs;
    ASSIGN_OR_RETURN(const Roster roster, RosterOf(options));
    Scout scout(roster, options);
    ASSIGN_OR_RETURN(const SimResult run, RunSimulation(options, {}, &scout));
    if (options.cut == "none") TakeFarther(scout.reach().distances(), result_.farthest);
    bool is_new = false;
    // A situation that a cut causes does not count as new for a timely network.
    const std::string network = options.cut == "none" ? "" : "cut ";
    for (const std::string& mark : scout.reach().Marks()) {
      is_new |= marks_.insert(network + mark).second;
    }
    if (is_new) corpus_.push_back({options, Nearness(scout.reach().distances())});
    result_.corpus = corpus_.size();
    result_.marks = marks_.size();
    if (run.ok) return base::OkStatus();
    const std::string way = run.failure->checker + ": " + WithoutNumbers(run.failure->message);
    if (++result_.ways[way] == 1) {
      result_.findings.push_back({result_.runs, way, *run.failure, options});
    }
    return base::OkStatus();
  }

  SearchOptions options_;
  SearchResult result_;
  struct Kept {
    SimOptions options;
    double nearness = 0;
  };
  std::vector<Kept> corpus_;  // in the order in which they were found
  std::set<std::string> marks_;
};

}  // namespace

SimOptions DrawStage(std::uint64_t seed) {
  base::Rng rng = base::Rng(seed).Fork("stage");
  SimOptions options;
  options.seed = seed;
  options.peers = static_cast<std::uint32_t>(5 + rng.Below(4));
  options.steps = kSteps;
  options.dimension = 2 * options.peers + 16;
  options.batch_size = 4;
  options.attack = "free";
  options.attack_from_step = OneIn(rng, 2) ? 0 : 1;
  options.await_removal = false;
  // With a retransmission, less than a quarter of the smallest Delta.
  constexpr std::int64_t kDelays[] = {5, 20, 50};
  options.delay_min = base::Milliseconds(OneIn(rng, 2) ? 0 : 5);
  options.delay_max = options.delay_min + base::Milliseconds(kDelays[rng.Below(3)]);
  options.jitter = base::Milliseconds(static_cast<std::int64_t>(rng.Below(6)));
  // Long, since a run that waits for deadlines again and again has not halted.
  options.time_limit = base::Seconds(900);
  const protocol::Thresholds thresholds = ThresholdsOf(options);
  options.byzantine = thresholds.t_s;
  if (OneIn(rng, 3)) options.byzantine = static_cast<std::uint32_t>(1 + rng.Below(thresholds.t_s));
  const std::uint32_t t_a = protocol::GenesisAsynchronousFaults(options.mode, options.peers);
  if (OneIn(rng, 8) && t_a > 0) {
    constexpr const char* kCuts[] = {"halves", "one_way", "flapping", "flaky"};
    options.byzantine = t_a;
    options.cut = kCuts[rng.Below(std::size(kCuts))];
    options.cut_at = base::Milliseconds(static_cast<std::int64_t>(200 + rng.Below(5'000)));
    options.cut_for = base::Milliseconds(static_cast<std::int64_t>(200 + rng.Below(60'000)));
  }
  return options;
}

base::StatusOr<SearchResult> SearchFree(const SearchOptions& options,
                                        const std::function<void(const SearchResult&)>& progress) {
  return Search(options).Run(progress);
}

}  // namespace ostraka::sim
