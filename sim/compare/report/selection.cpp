#include "sim/compare/report/selection.h"

#include <algorithm>
#include <iterator>
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
double ValidationWorst(Score score, const std::vector<Done>& runs) {
  double worst = BestOf(score);
  for (const std::string& attack : AttacksOf(runs)) {
    double sum = 0;
    const std::vector<Done> under = RunsUnder(runs, attack);
    for (const Done& run : under) sum += ValidationScore(score, FinalOf(*run.result));
    const double mean = sum / static_cast<double>(under.size());
    if (IsBetter(score, worst, mean)) worst = mean;
  }
  return worst;
}

// The best point of the mean test curve, over steps that all runs have.
double BestStep(Score score, const std::vector<Done>& runs) {
  std::map<std::uint64_t, std::pair<double, std::size_t>> sums;
  for (const Done& run : runs) {
    for (const Point& point : run.result->curve) {
      sums[point.step].first += TestScore(score, point);
      ++sums[point.step].second;
    }
  }
  double best = WorstOf(score);
  for (const auto& [step, sum] : sums) {
    if (sum.second < runs.size()) continue;
    const double mean = sum.first / static_cast<double>(runs.size());
    if (IsBetter(score, mean, best)) best = mean;
  }
  return best;
}

// The worst score of a run after the attack began; the end if there is no such point.
double WorstStep(Score score, const Done& run) {
  double worst = TestScore(score, FinalOf(*run.result));
  for (const Point& point : run.result->curve) {
    const double there = TestScore(score, point);
    if (point.step > run.cell->attack_from && IsBetter(score, worst, there)) worst = there;
  }
  return worst;
}

UnderAttack Summarise(Score score, const std::string& attack, std::vector<Done> runs) {
  UnderAttack under;
  under.attack = attack;
  under.runs = std::move(runs);
  for (const Done& run : under.runs) {
    under.test.push_back(TestScore(score, FinalOf(*run.result)));
    under.lowest += WorstStep(score, run) / static_cast<double>(under.runs.size());
  }
  under.interval = MeanInterval(under.test);
  under.optimistic = BestStep(score, under.runs);
  return under;
}

void SetWorst(Line& line) {
  std::vector<std::vector<double>> values;
  const bool attacked = std::any_of(line.attacks.begin(), line.attacks.end(),
                                    [](const UnderAttack& u) { return u.attack != "none"; });
  const UnderAttack* worst = nullptr;
  line.optimistic_worst = BestOf(line.score);
  for (const UnderAttack& under : line.attacks) {
    if (attacked && under.attack == "none") continue;
    values.push_back(under.test);
    if (IsBetter(line.score, line.optimistic_worst, under.optimistic)) {
      line.optimistic_worst = under.optimistic;
    }
    if (worst == nullptr || IsBetter(line.score, worst->interval.mean, under.interval.mean)) {
      worst = &under;
      line.worst_attack = under.attack;
    }
  }
  line.worst = WorstInterval(line.score, values);
}

Line LineOf(Score score, const std::vector<Candidate>& candidates, std::size_t planned) {
  const Candidate* best = nullptr;
  double best_score = 0;
  std::size_t done = 0;
  for (const Candidate& candidate : candidates) {
    done += candidate.runs.size();
    const double worst = ValidationWorst(score, candidate.runs);
    if (best != nullptr && !IsBetter(score, worst, best_score)) continue;
    best = &candidate;
    best_score = worst;
  }
  Line line;
  line.score = score;
  line.cell = best->runs.front().cell;
  line.setting = KeyOf(*line.cell, {Role::kSetting});
  line.choices = candidates.size();
  line.validation_worst = best_score;
  line.complete = done == planned;
  for (const std::string& attack : AttacksOf(best->runs)) {
    line.attacks.push_back(Summarise(score, attack, RunsUnder(best->runs, attack)));
  }
  SetWorst(line);
  return line;
}

std::string LineKey(const Cell& cell) { return KeyOf(cell, {Role::kSetting, Role::kRule}); }

// The scores of seeds that both have.
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
  const Score score = ScoreOf(plan.grid);
  for (const std::string& key : order) {
    result.push_back(LineOf(score, lines[key], planned[key]));
  }
  return result;
}

Winner BestUnder(const std::vector<const Line*>& lines, const std::string& attack) {
  Winner winner;
  const UnderAttack* best = nullptr;
  for (const Line* line : lines) {
    const UnderAttack* under = Find(*line, attack);
    if (under == nullptr ||
        (best != nullptr && !IsBetter(line->score, under->interval.mean, best->interval.mean))) {
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
    return IsBetter(a->score, b->worst.mean, a->worst.mean);
  });
  for (const Line* line : whole) {
    if (line != winner.line && Reaches(line->score, line->worst, winner.line->worst)) {
      winner.ties.push_back(line);
    }
  }
  return winner;
}

}  // namespace ostraka::compare
