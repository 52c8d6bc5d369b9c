#include "sim/compare/report/tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/unit/sim/compare/made_up.h"

namespace ostraka::compare::tables_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class TablesTest : public testing::Test {
 protected:
  TablesTest()
      : plan_(MadeUpPlan([](Grid& grid) {
          grid.rules = {"median", "centered_clip:tau=0.1|1,eps=1e-6", "btard"};
          grid.attacks = {"none", "alie"};
          grid.byzantine = {1, 2};
        })),
        records_(MadeUpRecords(plan_,
                               [](const Cell& cell) {
                                 return MadeUpScores{
                                     .validation = 0.5,
                                     .test = cell.rule.family == "btard" ? 0.9 : 0.6};
                               })),
        done_(DoneCells(plan_, records_)),
        lines_(Select(plan_, done_)) {}

  Plan plan_;
  Records records_;
  std::vector<Done> done_;
  std::vector<Line> lines_;
  Maker maker_{"1.0", "libtorch, numerics 5"};
};

TEST_F(TablesTest, ResultsCsvHasOneRowForEachCell) {
  const std::string csv = ResultsCsv(done_, maker_);
  EXPECT_THAT(csv, StartsWith("id,data,data_hash,model,"));
  EXPECT_EQ(static_cast<std::size_t>(std::count(csv.begin(), csv.end(), '\n')),
            plan_.cells.size() + 1);
  for (const Cell& cell : plan_.cells) EXPECT_THAT(csv, HasSubstr(IdOf(cell).Short()));
  // Commas are quoted.
  EXPECT_THAT(csv, HasSubstr("\"centered_clip:tau=0.1|1,eps=1e-6\""));
  EXPECT_THAT(csv, HasSubstr("\"libtorch, numerics 5\""));
  EXPECT_THAT(csv, Not(HasSubstr("1.25")));  // no seconds in results that must repeat
  EXPECT_THAT(TimingsCsv(done_, "a processor"), HasSubstr(",1.25,1048576,1000,a processor\n"));
}

TEST_F(TablesTest, ResultsJsonListsMissingAndFailedCells) {
  Records records = records_;
  records.erase(IdOf(plan_.cells[0]));
  records[IdOf(plan_.cells[1])] = Record{{}, "out of memory", {}};
  const auto json = nlohmann::json::parse(
      ResultsJson(plan_, records, Select(plan_, DoneCells(plan_, records)), maker_));
  EXPECT_EQ(json["missing"], 1);
  EXPECT_EQ(json["failed"][0]["error"], "out of memory");
  EXPECT_EQ(json["cells"].size(), plan_.cells.size() - 2);
  EXPECT_EQ(json["selection"].size(), lines_.size());
  EXPECT_EQ(json["winners"].size(), 2u * 3);  // two settings; none, alie, worst
  EXPECT_EQ(json["winners"][2]["winner"], "btard");
}

TEST_F(TablesTest, LatexIsEscapedAndBoldWhereBest) {
  const std::string tex = LatexTable(plan_, lines_);
  EXPECT_THAT(tex, HasSubstr("centered\\_clip"));
  EXPECT_THAT(tex, HasSubstr("0.1$|$1"));
  EXPECT_THAT(tex, HasSubstr("btard & \\textbf{90.0}"));
  EXPECT_THAT(tex, HasSubstr("median & 60.0"));
  EXPECT_EQ(std::count(tex.begin(), tex.end(), '{'), std::count(tex.begin(), tex.end(), '}'));
}

TEST_F(TablesTest, MarkdownHasTheSameNumbers) {
  const std::string table = MarkdownTable(lines_);
  EXPECT_THAT(table,
              HasSubstr("**byzantine 1**\n\n| rule | none | alie | worst |\n|---|---|---|---|\n"));
  EXPECT_THAT(table, HasSubstr("\n| median | 60.0 ±0.0 | 60.0 ±0.0 | 60.0 ±0.0 |\n"));
  EXPECT_THAT(table, HasSubstr("\n| centered_clip:tau=0.1\\|1,eps=1e-6 | 60.0"));
  EXPECT_THAT(table, HasSubstr("\n| btard | **90.0** ±0.0 | **90.0** ±0.0 | **90.0** ±0.0 |\n"));
}

TEST_F(TablesTest, TextNamesSettingsByWhatDiffers) {
  const std::string text = TextTable(lines_);
  EXPECT_THAT(text, HasSubstr("test accuracy in percent: byzantine 1\n"));
  EXPECT_THAT(text, HasSubstr("best at its worst: btard\n"));
  EXPECT_EQ(SettingName(lines_, lines_.back()), "byzantine 2");
}

TEST_F(TablesTest, SelectionCsvHasTheChoice) {
  EXPECT_THAT(SelectionCsv(lines_), HasSubstr("\"centered_clip:tau=0.1,eps=1e-6\""));
}

}  // namespace
}  // namespace ostraka::compare::tables_test
