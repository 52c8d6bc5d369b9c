#include "sim/dht/run.h"

#include <gtest/gtest.h>

#include "sim/dht/tables.h"

namespace ostraka::sim::dhtsim::run_test {
namespace {

TEST(DhtRunTest, EqualOptionsGiveEqualRuns) {
  DhtOptions options;
  options.nodes = 40;
  options.minutes = 1;
  options.gets = 10;
  options.churn_percent = 50;
  const auto a = RunDht(options);
  const auto b = RunDht(options);
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(a->totals.events, b->totals.events);
  EXPECT_EQ(a->totals.bytes, b->totals.bytes);
  EXPECT_EQ(a->found, 10U);
  EXPECT_EQ(a->gets, 10U);
  options.seed = 2;
  EXPECT_NE(RunDht(options)->totals.events, a->totals.events);
}

TEST(DhtRunTest, TooFewFoundIsAFailure) {
  DhtOptions options;
  options.nodes = 30;
  options.minutes = 1;
  options.gets = 20;
  options.loss_permille = 900;
  options.least_found_permille = 1000;
  const auto result = RunDht(options);
  ASSERT_TRUE(result.ok());
  ASSERT_TRUE(result->failure.has_value());
  EXPECT_EQ(result->failure->checker, "found");
}

TEST(DhtRunTest, WrongOptionsAreRefusedInOneLine) {
  const auto reason = [](DhtOptions options) {
    return std::string(RunDht(options).status().message());
  };
  EXPECT_NE(reason({.nodes = 2}), "");
  EXPECT_NE(reason({.churn_percent = 96}), "");
  EXPECT_NE(reason({.prefixes = 4}), "") << "without the adversary";
  EXPECT_NE(reason({.adversary = "grinder"}), "") << "without prefixes";
  EXPECT_NE(reason({.adversary = "colluder"}), "") << "without a share";
  EXPECT_NE(reason({.adversary_percent = 20}), "") << "without an adversary";
  EXPECT_NE(reason({.adversary = "colludr"}).find("colluder"), std::string::npos);
  EXPECT_NE(reason({.adversary = "colludr", .adversary_percent = 50}).find("colluder"),
            std::string::npos);
}

TEST(DhtTablesTest, RowsAreThoseOfTheDesignAndLinesHaveAllColumns) {
  EXPECT_EQ(RowsOf(Table::kA, 1000, 360, 1).size(), 6U);
  EXPECT_EQ(RowsOf(Table::kB, 1000, 100, 1).size(), 6U);
  TableRow row;
  row.options = RowsOf(Table::kA, 1000, 360, 1)[4];
  row.result.gets = 360;
  row.result.found = 359;
  row.result.queries = 36.04;
  EXPECT_EQ(LineOf(Table::kA, row), "| 1000 | 30 % | 20 % | 99.7 % | 36.0 | 0 | 0.0 |");
  const auto columns = [](const std::string& line) {
    return std::count(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(line.find('\n')),
                      '|');
  };
  EXPECT_EQ(columns(HeadOf(Table::kA)), columns(LineOf(Table::kA, row) + "\n"));
  row.options = RowsOf(Table::kB, 1000, 360, 1)[2];
  EXPECT_EQ(columns(HeadOf(Table::kB)), columns(LineOf(Table::kB, row) + "\n"));
}

}  // namespace
}  // namespace ostraka::sim::dhtsim::run_test
