#include "sim/compare/cells/partition.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "aggregation/rules/pipeline.h"
#include "node/base/check.h"
#include "node/base/suggest.h"

namespace ostraka::compare {
namespace {

using aggregation::Default;
using aggregation::ParameterInfo;
using aggregation::Parameters;
using aggregation::ValueType;

constexpr ParameterInfo kAlpha[] = {{.name = "alpha",
                                     .type = ValueType::kReal,
                                     .meaning = "concentration; small: few workers share a class",
                                     .default_kind = Default::kRequired,
                                     .low = 1e-3,
                                     .high = 1e6}};
constexpr ParameterInfo kSimilarity[] = {{.name = "similarity",
                                          .type = ValueType::kReal,
                                          .meaning = "share of the rows that is split iid",
                                          .default_kind = Default::kRequired,
                                          .high = 1}};
constexpr ParameterInfo kEach[] = {{.name = "each",
                                    .type = ValueType::kInteger,
                                    .meaning = "shards a worker",
                                    .default_kind = Default::kValue,
                                    .default_text = "2",
                                    .low = 1,
                                    .high = 1000}};
constexpr ParameterInfo kClasses[] = {{.name = "classes",
                                       .type = ValueType::kInteger,
                                       .meaning = "classes a worker",
                                       .default_kind = Default::kValue,
                                       .default_text = "2",
                                       .low = 1,
                                       .high = 255}};

constexpr PartitionInfo kPartitions[] = {
    {"shared", "everybody draws from all rows", {}},
    {"iid", "shuffled and split evenly", {}},
    {"dirichlet", "shares of each class drawn from Dir(alpha)", kAlpha},
    {"gamma", "a share iid, the rest sorted by label", kSimilarity},
    {"extreme", "sorted by label and split evenly", {}},
    {"shards", "shards of the rows sorted by label, dealt at random", kEach},
    {"pathological", "a few classes a worker", kClasses},
};

// A text is divided into this many stretches; its rows are in text order.
constexpr std::uint32_t kTenths = 10;

struct Choice {
  const PartitionInfo* info = nullptr;
  Parameters parameters;
};

base::StatusOr<Choice> Parse(std::string_view text) {
  ASSIGN_OR_RETURN(const auto element, aggregation::ParseElement(text));
  std::vector<std::string> names;
  for (const PartitionInfo& info : kPartitions) {
    names.emplace_back(info.name);
    if (info.name != element.name) continue;
    Choice choice{&info, {}};
    ASSIGN_OR_RETURN(choice.parameters,
                     aggregation::ParseParameters("partition " + element.name, info.parameters,
                                                  element.arguments));
    return choice;
  }
  return base::InvalidArgument("unknown partition '" + element.name + "'" +
                               base::SuggestionFor(element.name, names));
}

using Rows = std::vector<std::uint32_t>;

void Shuffle(Rows& rows, base::Rng rng) {
  for (std::size_t i = rows.size(); i > 1; --i) std::swap(rows[i - 1], rows[rng.Below(i)]);
}

Rows AllRows(std::size_t count) {
  Rows rows(count);
  std::iota(rows.begin(), rows.end(), 0U);
  return rows;
}

void SortByClass(Rows& rows, const Classes& classes) {
  const std::vector<std::uint8_t>& of = classes.of_rows;
  std::stable_sort(rows.begin(), rows.end(),
                   [&of](std::uint32_t a, std::uint32_t b) { return of[a] < of[b]; });
}

// Adds slice w of `rows`, cut evenly, to worker w.
void DealEvenly(const Rows& rows, RowsOfWorkers& workers) {
  for (std::size_t w = 0; w < workers.size(); ++w) {
    const auto begin = static_cast<std::ptrdiff_t>(rows.size() * w / workers.size());
    const auto end = static_cast<std::ptrdiff_t>(rows.size() * (w + 1) / workers.size());
    workers[w].insert(workers[w].end(), rows.begin() + begin, rows.begin() + end);
  }
}

// A gamma variate of any shape: Marsaglia and Tsang (2000), boosted below 1.
double DrawGamma(double shape, base::Rng& rng) {
  const auto unit = [&rng] { return 1 - rng.Unit(); };  // in (0, 1]
  if (shape < 1) return DrawGamma(shape + 1, rng) * std::pow(unit(), 1 / shape);
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = rng.Normal();
    const double v = std::pow(1 + c * x, 3);
    if (v > 0 && std::log(unit()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
  }
}

std::vector<double> DrawDirichlet(double alpha, std::size_t count, base::Rng& rng) {
  std::vector<double> shares(count);
  double sum = 0;
  for (double& share : shares) sum += share = DrawGamma(alpha, rng);
  // A tiny alpha can underflow every share. Then one worker gets all, which is the limit for alpha
  // -> 0.
  if (sum <= 0) return sum = 1, shares[rng.Below(count)] = 1, shares;
  for (double& share : shares) share /= sum;
  return shares;
}

std::vector<Rows> RowsByClass(const Classes& classes) {
  std::vector<Rows> rows(classes.count);
  for (std::uint32_t row = 0; row < classes.of_rows.size(); ++row) {
    rows[classes.of_rows[row]].push_back(row);
  }
  return rows;
}

// REQUIRES: at least as many rows as workers.
void FillEmpty(RowsOfWorkers& workers) {
  const auto by_size = [](const Rows& a, const Rows& b) { return a.size() < b.size(); };
  for (Rows& rows : workers) {
    if (!rows.empty()) continue;
    Rows& largest = *std::max_element(workers.begin(), workers.end(), by_size);
    rows.push_back(largest.back());
    largest.pop_back();
  }
}

void DealDirichlet(double alpha, std::vector<Rows> classes, base::Rng rng, RowsOfWorkers& workers) {
  for (Rows& rows : classes) {
    Shuffle(rows, rng.Fork("class", rng.Next()));
    const std::vector<double> shares = DrawDirichlet(alpha, workers.size(), rng);
    double reached = 0;
    std::size_t begin = 0;
    for (std::size_t w = 0; w < workers.size(); ++w) {
      reached += shares[w];
      const bool last = w + 1 == workers.size();
      const auto cut = static_cast<std::size_t>(reached * static_cast<double>(rows.size()));
      const std::size_t end = last ? rows.size() : std::clamp(cut, begin, rows.size());
      for (; begin < end; ++begin) workers[w].push_back(rows[begin]);
    }
  }
}

void DealShards(std::size_t each, Rows sorted, base::Rng rng, RowsOfWorkers& workers) {
  RowsOfWorkers shards(workers.size() * each);
  DealEvenly(sorted, shards);
  Rows order = AllRows(shards.size());
  Shuffle(order, rng);
  for (std::size_t i = 0; i < order.size(); ++i) {
    Rows& rows = workers[i / each];
    const Rows& shard = shards[order[i]];
    rows.insert(rows.end(), shard.begin(), shard.end());
  }
}

// Worker w holds classes w K, w K + 1, ... modulo their number, in a random order of the classes;
// the rows of a class are split evenly among its holders.
base::Status DealPathological(std::size_t each, std::vector<Rows> classes, base::Rng rng,
                              RowsOfWorkers& workers) {
  std::erase_if(classes, [](const Rows& rows) { return rows.empty(); });
  if (each > classes.size() || workers.size() * each < classes.size()) {
    return base::FailedPrecondition(
        "partition pathological: " + std::to_string(workers.size()) + " workers with " +
        std::to_string(each) + " classes each cannot hold the " + std::to_string(classes.size()) +
        " classes of the data: take another number of classes");
  }
  Rows order = AllRows(classes.size());
  Shuffle(order, rng.Fork("order"));
  std::vector<std::vector<std::size_t>> holders(classes.size());
  for (std::size_t w = 0; w < workers.size(); ++w) {
    for (std::size_t k = 0; k < each; ++k) {
      holders[order[(w * each + k) % classes.size()]].push_back(w);
    }
  }
  for (std::size_t c = 0; c < classes.size(); ++c) {
    Shuffle(classes[c], rng.Fork("class", c));
    RowsOfWorkers shares(holders[c].size());
    DealEvenly(classes[c], shares);
    for (std::size_t h = 0; h < holders[c].size(); ++h) {
      Rows& rows = workers[holders[c][h]];
      rows.insert(rows.end(), shares[h].begin(), shares[h].end());
    }
  }
  return base::OkStatus();
}

void DealGamma(double similarity, const Classes& classes, base::Rng rng, RowsOfWorkers& workers) {
  Rows all = AllRows(classes.of_rows.size());
  Shuffle(all, rng);
  const double kept = similarity * static_cast<double>(all.size());
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(kept);
  DealEvenly(Rows(all.begin(), middle), workers);
  Rows rest(middle, all.end());
  std::sort(rest.begin(), rest.end());
  SortByClass(rest, classes);
  DealEvenly(rest, workers);
}

}  // namespace

std::span<const PartitionInfo> KnownPartitions() { return kPartitions; }

base::Status CheckPartition(std::string_view text) { return Parse(text).status(); }

Classes ClassesOf(const train::Dataset& data) {
  if (data.max_value != train::kSymbols) return {data.training.labels, data.class_count};
  Classes classes{std::vector<std::uint8_t>(data.training.size()), kTenths, "tenth"};
  for (std::size_t row = 0; row < classes.of_rows.size(); ++row) {
    classes.of_rows[row] = static_cast<std::uint8_t>(row * kTenths / classes.of_rows.size());
  }
  return classes;
}

base::StatusOr<RowsOfWorkers> Partition(std::string_view text, const Classes& classes,
                                        std::size_t workers, const base::Rng& rng) {
  OSTRAKA_CHECK(workers > 0);
  ASSIGN_OR_RETURN(const Choice choice, Parse(text));
  const std::size_t row_count = classes.of_rows.size();
  if (row_count < workers) {
    return base::FailedPrecondition("partition " + std::string(text) + ": " +
                                    std::to_string(row_count) + " rows for " +
                                    std::to_string(workers) + " workers");
  }
  RowsOfWorkers result(workers);
  const std::string_view name = choice.info->name;
  const Parameters& parameters = choice.parameters;
  Rows all = AllRows(row_count);
  if (name == "shared") {
    result.assign(workers, all);
  } else if (name == "iid") {
    Shuffle(all, rng);
    DealEvenly(all, result);
  } else if (name == "dirichlet") {
    DealDirichlet(parameters.Real("alpha"), RowsByClass(classes), rng, result);
  } else if (name == "gamma") {
    DealGamma(parameters.Real("similarity"), classes, rng, result);
  } else if (name == "pathological") {
    RETURN_IF_ERROR(
        DealPathological(parameters.Integer("classes"), RowsByClass(classes), rng, result));
  } else {
    SortByClass(all, classes);
    if (name == "extreme") DealEvenly(all, result);
    if (name == "shards") DealShards(parameters.Integer("each"), all, rng, result);
  }
  FillEmpty(result);
  for (Rows& rows : result) std::sort(rows.begin(), rows.end());
  return result;
}

std::vector<std::vector<std::size_t>> CountClasses(const RowsOfWorkers& rows,
                                                   const Classes& classes) {
  std::vector<std::vector<std::size_t>> counts;
  for (const Rows& own : rows) {
    auto& count = counts.emplace_back(classes.count);
    for (const std::uint32_t row : own) ++count[classes.of_rows[row]];
  }
  return counts;
}

}  // namespace ostraka::compare
