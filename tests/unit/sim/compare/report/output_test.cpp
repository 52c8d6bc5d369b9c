#include "sim/compare/report/output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/unit/sim/compare/made_up.h"

namespace ostraka::compare::output_test {
namespace {

TEST(Output, WritesAllFilesAndReportsFailures) {
  std::string folder = (std::filesystem::temp_directory_path() / "output-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const Plan plan = MadeUpPlan([](Grid& grid) {
    grid.rules = {"mean", "btard"};
    grid.attacks = {"none", "alie"};
  });
  Records records = MadeUpRecords(plan, [](const Cell&) { return MadeUpScores{0.5, 0.5, 0.5}; });
  records[IdOf(plan.cells[0])] = Record{{}, "out of memory", {}};
  const auto summary = WriteOutputs(plan, records, {"1", "p"}, folder);
  ASSERT_TRUE(summary.ok()) << summary.status().ToString();
  EXPECT_EQ(summary->done, plan.cells.size() - 1);
  EXPECT_THAT(summary->failed, testing::ElementsAre(testing::HasSubstr("out of memory")));
  for (const char* name : {"results.csv", "results.json", "timings.csv", "selection.csv",
                           "table.tex", "table.md", "report.html", "figures/table.svg"}) {
    EXPECT_TRUE(std::filesystem::exists(folder + "/" + name)) << name;
  }
  std::filesystem::remove_all(folder);
  EXPECT_EQ(WriteOutputs(plan, records, {"1", "p"}, folder).status().code(),
            absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace ostraka::compare::output_test
