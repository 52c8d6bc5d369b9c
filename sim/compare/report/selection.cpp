#include "sim/compare/report/selection.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>

#include "node/base/check.h"

namespace ostraka::compare {
namespace {

// Cells that differ only in attack and seed.
struct Candidate {
  std::string choice;
  std::vector<Done> runs;  // in the plan's order: by attack, then by seed
};

std::vector<std::string> AttacksOf(const std::vector<Done>& runs) {
  std::vector<std::string> attacks;
  for (const Done& run : runs) {
    if (std::find(attacks.begin(), attacks.end(), run.cell->attack) == attacks.end()) {
      attacks.push_back(run.cell->attack);
    }
  }
  return attacks;
}

std::vector<Done> RunsUnder(const std::vector<Done>& runs, const std::string& attack) {
  std::vector<Done> found;
  for (const Done& run : runs) {
    if (run.cell->attack == attack) found.push_back(run);
  }
  return found;
}

// The value that selection uses.
double ValidationWorst(const std::vector<Done>& runs) {
  double worst = std::numeric_limits<double>::infinity();
  for (const std::string& attack : AttacksOf(runs)) {
    double sum = 0;
    const std::vector<Done> under = RunsUnder(runs, attack);
    for (const Done& run : under) sum += FinalOf(*run.result).validation_accuracy;
    worst = std::min(worst, sum / static_cast<double>(under.size()));
  }
  return worst;
}

// The best point of the mean test curve, over steps that all runs have.
double BestStep(const std::vector<Done>& runs) {
  std::map<std::uint64_t, std::pair<double, std::size_t>> sums;
  for (const Done& run : runs) {
    for (const Point& point : run.result->curve) {
      sums[point.step].first += point.test_accuracy;
      ++sums[point.step].second;
    }
  }
  double best = 0;
  for (const auto& [step, sum] : sums) {
    if (sum.second == runs.size()) {
      best = std::max(best, sum.first / static_cast<double>(runs.size()));
    }
  }
  return best;
}

UnderAttack Summarise(const std::string& attack, std::vector<Done> runs) {
  UnderAttack under;
  under.attack = attack;
  under.runs = std::move(runs);
  for (const Done& run : under.runs) {
    under.test.push_back(FinalOf(*run.result).test_accuracy);
    under.lowest += WorstTestAccuracyFrom(*run.result, run.cell->attack_from) /
                    static_cast<double>(under.runs.size());
  }
  under.interval = MeanInterval(under.test);
  under.optimistic = BestStep(under.runs);
  return under;
}

void SetWorst(Line& line) {
  std::vector<std::vector<double>> values;
  const bool attacked = std::any_of(line.attacks.begin(), line.attacks.end(),
                                    [](const UnderAttack& u) { return u.attack != "none"; });
  double worst = std::numeric_limits<double>::infinity();
  line.optimistic_worst = worst;
  for (const UnderAttack& under : line.attacks) {
    if (attacked && under.attack == "none") continue;
    values.push_back(under.test);
    line.optimistic_worst = std::min(line.optimistic_worst, under.optimistic);
    if (under.interval.mean < worst) {
      worst = under.interval.mean;
      line.worst_attack = under.attack;
    }
  }
  line.worst = WorstInterval(values);
}

Line LineOf(const std::vector<Candidate>& candidates, std::size_t planned) {
  const Candidate* best = nullptr;
  double best_score = 0;
  std::size_t done = 0;
  for (const Candidate& candidate : candidates) {
    done += candidate.runs.size();
    const double score = ValidationWorst(candidate.runs);
    if (best != nullptr && score <= best_score) continue;
    best = &candidate;
    best_score = score;
  }
  Line line;
  line.cell = best->runs.front().cell;
  line.setting = KeyOf(*line.cell, {Role::kSetting});
  line.choices = candidates.size();
  line.validation_worst = best_score;
  line.complete = done == planned;
  for (const std::string& attack : AttacksOf(best->runs)) {
    line.attacks.push_back(Summarise(attack, RunsUnder(best->runs, attack)));
  }
  SetWorst(line);
  return line;
}

std::string LineKey(const Cell& cell) { return KeyOf(cell, {Role::kSetting, Role::kRule}); }

// The accuracies of seeds that both have.
std::pair<std::vector<double>, std::vector<double>> Pair(const UnderAttack& a,
                                                         const UnderAttack& b) {
  std::map<std::uint64_t, double> of_b;
  for (std::size_t i = 0; i < b.runs.size(); ++i) of_b[b.runs[i].cell->seed] = b.test[i];
  std::pair<std::vector<double>, std::vector<double>> pair;
  for (std::size_t i = 0; i < a.runs.size(); ++i) {
    const auto other = of_b.find(a.runs[i].cell->seed);
    if (other == of_b.end()) continue;
    pair.first.push_back(a.test[i]);
    pair.second.push_back(other->second);
  }
  return pair;
}

}  // namespace

const UnderAttack* Find(const Line& line, const std::string& attack) {
  for (const UnderAttack& under : line.attacks) {
    if (under.attack == attack) return &under;
  }
  return nullptr;
}

std::vector<std::string> AttacksOf(const std::vector<const Line*>& lines) {
  std::vector<std::string> attacks;
  for (const Line* line : lines) {
    for (const UnderAttack& under : line->attacks) {
      if (std::find(attacks.begin(), attacks.end(), under.attack) == attacks.end()) {
        attacks.push_back(under.attack);
      }
    }
  }
  return attacks;
}

bool Winner::Has(const Line* other) const {
  return other == line || std::find(ties.begin(), ties.end(), other) != ties.end();
}

std::vector<Done> DoneCells(const Plan& plan, const Records& records) {
  std::vector<Done> done;
  for (const Cell& cell : plan.cells) {
    const auto record = records.find(IdOf(cell));
    if (record == records.end() || !record->second.result) continue;
    done.push_back({&cell, &*record->second.result, &record->second.cost});
  }
  return done;
}

std::vector<Line> Select(const Plan& plan, const std::vector<Done>& done) {
  std::map<std::string, std::size_t> planned;
  for (const Cell& cell : plan.cells) ++planned[LineKey(cell)];
  std::vector<std::string> order;
  std::map<std::string, std::vector<Candidate>> lines;
  for (const Done& run : done) {
    const std::string key = LineKey(*run.cell);
    if (!lines.contains(key)) order.push_back(key);
    std::vector<Candidate>& candidates = lines[key];
    const std::string choice = KeyOf(*run.cell, {Role::kChoice});
    auto candidate = std::find_if(candidates.begin(), candidates.end(),
                                  [&](const Candidate& known) { return known.choice == choice; });
    if (candidate == candidates.end()) {
      candidate = candidates.insert(candidates.end(), Candidate{choice, {}});
    }
    candidate->runs.push_back(run);
  }
  std::vector<Line> result;
  for (const std::string& key : order) result.push_back(LineOf(lines[key], planned[key]));
  return result;
}

Winner BestUnder(const std::vector<const Line*>& lines, const std::string& attack) {
  Winner winner;
  const UnderAttack* best = nullptr;
  for (const Line* line : lines) {
    const UnderAttack* under = Find(*line, attack);
    if (under == nullptr || (best != nullptr && under->interval.mean <= best->interval.mean)) {
      continue;
    }
    best = under;
    winner.line = line;
  }
  OSTRAKA_CHECK(best != nullptr);
  for (const Line* line : lines) {
    const UnderAttack* under = Find(*line, attack);
    if (line == winner.line || under == nullptr) continue;
    const auto [a, b] = Pair(*best, *under);
    if (!TellApart(a, b)) winner.ties.push_back(line);
  }
  return winner;
}

Winner BestAtWorst(const std::vector<const Line*>& lines) {
  OSTRAKA_CHECK(!lines.empty());
  std::vector<const Line*> whole;
  std::copy_if(lines.begin(), lines.end(), std::back_inserter(whole),
               [](const Line* line) { return line->complete; });
  if (whole.empty()) whole = lines;
  Winner winner;
  winner.line = *std::max_element(whole.begin(), whole.end(), [](const Line* a, const Line* b) {
    return a->worst.mean < b->worst.mean;
  });
  for (const Line* line : whole) {
    if (line != winner.line && line->worst.high >= winner.line->worst.low) {
      winner.ties.push_back(line);
    }
  }
  return winner;
}

}  // namespace ostraka::compare
