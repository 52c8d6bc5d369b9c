#include "sim/compare/cells/partition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace ostraka::compare::partition_test {
namespace {

using testing::Each;
using testing::HasSubstr;

constexpr std::uint32_t kClasses = 10;

std::vector<std::uint8_t> Labels(std::size_t count, std::uint64_t seed = 1) {
  base::Rng rng(seed);
  std::vector<std::uint8_t> labels(count);
  for (auto& label : labels) label = static_cast<std::uint8_t>(rng.Below(kClasses));
  return labels;
}

RowsOfWorkers Make(const std::string& text, const std::vector<std::uint8_t>& labels,
                   std::size_t workers, std::uint64_t seed = 1) {
  auto rows = Partition(text, {labels, kClasses}, workers, base::Rng(seed));
  EXPECT_TRUE(rows.ok()) << rows.status().ToString();
  return rows.value_or(RowsOfWorkers());
}

const std::vector<std::string> kDisjoint = {
    "iid",     "dirichlet:alpha=0.01", "dirichlet:alpha=1",      "dirichlet:alpha=1000",
    "extreme", "gamma:similarity=0",   "gamma:similarity=0.5",   "gamma:similarity=1",
    "shards",  "shards:each=5",        "pathological:classes=3", "pathological:classes=10"};

// ByzFL's Dirichlet breaks this in six draws of ten.
TEST(Partition, EveryRowHasOneWorkerAndNoWorkerIsEmpty) {
  rc::check([] {
    const std::string text = *rc::gen::elementOf(kDisjoint);
    const auto workers = *rc::gen::inRange<std::size_t>(10, 40);
    const auto labels = Labels(workers + *rc::gen::inRange<std::size_t>(30, 500),
                               *rc::gen::arbitrary<std::uint64_t>());
    const auto rows = Partition(text, {labels, kClasses}, workers,
                                base::Rng(*rc::gen::arbitrary<std::uint64_t>()));
    RC_ASSERT(rows.ok());
    RC_ASSERT(rows->size() == workers);
    std::vector<std::uint32_t> all;
    for (const auto& own : *rows) {
      RC_ASSERT(!own.empty());
      RC_ASSERT(std::is_sorted(own.begin(), own.end()));
      all.insert(all.end(), own.begin(), own.end());
    }
    std::sort(all.begin(), all.end());
    std::vector<std::uint32_t> expected(labels.size());
    std::iota(expected.begin(), expected.end(), 0U);
    RC_ASSERT(all == expected);
  });
}

TEST(Partition, AsManyRowsAsWorkersIsOneEach) {
  const std::vector<std::uint8_t> labels = Labels(16);
  for (const std::string text :
       {"iid", "dirichlet:alpha=0.001", "gamma:similarity=0.5", "shards"}) {
    for (const auto& own : Make(text, labels, 16)) EXPECT_EQ(own.size(), 1u) << text;
  }
}

TEST(Partition, SharedGivesAllRowsToEveryWorker) {
  const RowsOfWorkers rows = Make("shared", Labels(50), 3);
  for (const auto& own : rows) EXPECT_EQ(own.size(), 50u);
}

// The definition, computed slowly.
TEST(Partition, ExtremeIsTheSortedRowsInSlices) {
  const std::vector<std::uint8_t> labels = Labels(103);
  std::vector<std::pair<std::uint8_t, std::uint32_t>> sorted;
  for (std::uint32_t row = 0; row < labels.size(); ++row) sorted.emplace_back(labels[row], row);
  std::sort(sorted.begin(), sorted.end());
  const RowsOfWorkers rows = Make("extreme", labels, 10);
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    std::size_t holder = 0;
    while (i >= sorted.size() * (holder + 1) / 10) ++holder;
    EXPECT_THAT(rows[holder], testing::Contains(sorted[i].second)) << i;
  }
}

TEST(Partition, GammaGoesFromExtremeToIid) {
  const std::vector<std::uint8_t> labels = Labels(1000);
  EXPECT_EQ(Make("gamma:similarity=0", labels, 10), Make("extreme", labels, 10));
  EXPECT_EQ(Make("gamma:similarity=1", labels, 10), Make("iid", labels, 10));
  // A worker's largest class: the whole worker, a bit more than half of it, and about a tenth.
  const auto largest = [&](const std::string& text) {
    std::size_t sum = 0;
    for (const auto& counts : CountClasses(Make(text, labels, 10), {labels, kClasses})) {
      sum += *std::max_element(counts.begin(), counts.end());
    }
    return static_cast<double>(sum) / 1000;
  };
  EXPECT_GT(largest("gamma:similarity=0"), 0.8);
  EXPECT_NEAR(largest("gamma:similarity=0.5"), 0.55, 0.12);
  EXPECT_LT(largest("gamma:similarity=1"), 0.25);
}

TEST(Partition, DirichletGetsEvenWithItsConcentration) {
  const std::vector<std::uint8_t> labels = Labels(2000);
  const auto spread = [&](const std::string& text) {
    double sum = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      for (const auto& counts : CountClasses(Make(text, labels, 10, seed), {labels, kClasses})) {
        for (const std::size_t count : counts) {
          const double share = static_cast<double>(count) / 200;
          sum += (share - 0.1) * (share - 0.1) / 2000;
        }
      }
    }
    return sum;
  };
  // Var p = m (1 - m) / (n alpha + 1) with m = 1/n: 0.09 / (10 alpha + 1).
  EXPECT_NEAR(spread("dirichlet:alpha=0.1"), 0.09 / 2, 0.006);
  EXPECT_NEAR(spread("dirichlet:alpha=1"), 0.09 / 11, 0.0015);
  EXPECT_NEAR(spread("dirichlet:alpha=100"), 0.09 / 1001, 0.0002);
}

TEST(Partition, ShardsAndPathologicalLimitTheClasses) {
  std::vector<std::uint8_t> labels(1000);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::uint8_t>(i % 10);
  const auto most = [&](const std::string& text) {
    std::ptrdiff_t classes = 0;
    for (const auto& counts : CountClasses(Make(text, labels, 10), {labels, kClasses})) {
      classes = std::max(classes, std::count_if(counts.begin(), counts.end(),
                                                [](std::size_t count) { return count > 0; }));
    }
    return classes;
  };
  EXPECT_LE(most("shards:each=2"), 2);
  EXPECT_EQ(most("pathological:classes=2"), 2);
  EXPECT_EQ(most("pathological:classes=1"), 1);
}

// The holder of the beginning of a text holds the symbols that occur there.
TEST(Partition, ATextsClassesAreItsTenths) {
  train::Dataset data;
  data.class_count = 60;
  data.max_value = 16;
  data.training.labels = Labels(95);
  EXPECT_EQ(ClassesOf(data).of_rows, data.training.labels);
  EXPECT_EQ(ClassesOf(data).count, 60u);
  data.max_value = train::kSymbols;
  const Classes tenths = ClassesOf(data);
  EXPECT_EQ(tenths.count, 10u);
  EXPECT_TRUE(std::is_sorted(tenths.of_rows.begin(), tenths.of_rows.end()));
  for (std::uint8_t tenth = 0; tenth < 10; ++tenth) {
    EXPECT_NEAR(std::count(tenths.of_rows.begin(), tenths.of_rows.end(), tenth), 9.5, 0.5);
  }
}

TEST(Partition, SeedDeterminesThePartition) {
  const std::vector<std::uint8_t> labels = Labels(300);
  for (const std::string text : {"iid", "dirichlet:alpha=1", "shards", "pathological"}) {
    EXPECT_EQ(Make(text, labels, 10, 5), Make(text, labels, 10, 5)) << text;
    EXPECT_NE(Make(text, labels, 10, 5), Make(text, labels, 10, 6)) << text;
  }
}

TEST(Partition, ErrorsNameTheProblem) {
  const auto error = [](const std::string& text, std::size_t rows, std::size_t workers) {
    return base::MessageOf(
        Partition(text, {Labels(rows), kClasses}, workers, base::Rng(1)).status());
  };
  EXPECT_THAT(error("dirichelt:alpha=1", 50, 3), HasSubstr("did you mean 'dirichlet'?"));
  EXPECT_THAT(error("dirichlet", 50, 3), HasSubstr("alpha"));
  EXPECT_THAT(error("iid", 5, 6), HasSubstr("5 rows for 6 workers"));
  EXPECT_THAT(error("pathological:classes=1", 50, 3), HasSubstr("cannot hold the 10 classes"));
  EXPECT_THAT(error("pathological:classes=11", 50, 3), HasSubstr("cannot hold"));
}

}  // namespace
}  // namespace ostraka::compare::partition_test
