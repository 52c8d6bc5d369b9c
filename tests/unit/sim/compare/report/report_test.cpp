#include "sim/compare/report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/compare/report/tables.h"
#include "tests/unit/sim/compare/made_up.h"

namespace ostraka::compare::report_test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Report, HasTablesFiguresAndMissingCells) {
  const Plan plan = MadeUpPlan([](Grid& grid) {
    grid.name = "<b>name</b>";
    grid.rules = {"mean", "centered_clip:tau=0.1|1"};
    grid.attacks = {"none", "alie"};
  });
  Records records = MadeUpRecords(plan, [](const Cell&) { return MadeUpScores{0.5, 0.625, 0.75}; });
  records.erase(IdOf(plan.cells[0]));
  const Maker maker{"1.0+gabc", "libtorch, numerics 5"};
  const auto lines = Select(plan, DoneCells(plan, records));
  const auto figures = FiguresOf(plan, lines).value();
  const std::vector<std::string> failed;
  const std::string html = ReportHtml({plan, records, maker, lines, figures, failed, "a CPU"});
  EXPECT_THAT(html, testing::StartsWith("<!DOCTYPE html>"));
  EXPECT_THAT(html, HasSubstr("&lt;b&gt;name&lt;/b&gt;"));
  EXPECT_THAT(html, Not(HasSubstr("<b>name")));
  EXPECT_THAT(html, HasSubstr("1 cells have not been run yet"));
  EXPECT_THAT(html, HasSubstr("62.5"));
  EXPECT_THAT(html, HasSubstr("centered_clip:tau=0.1"));
  EXPECT_THAT(html, HasSubstr("1.0+gabc"));
  for (const Figure& figure : figures) EXPECT_THAT(html, HasSubstr(figure.svg));
  // Nothing is loaded from anywhere.
  EXPECT_THAT(html, Not(HasSubstr("src=")));
  EXPECT_THAT(html, Not(HasSubstr("https:")));
}

// A run that stopped half-way: every form shows the existing results under their own attack.
TEST(Report, MissingAttackLeavesItsCellEmpty) {
  const Plan plan = MadeUpPlan([](Grid& grid) {
    grid.rules = {"mean", "median"};
    grid.attacks = {"none", "alie", "sign_flip"};
  });
  Records records = MadeUpRecords(plan, [](const Cell& cell) {
    return MadeUpScores{0.5, cell.attack == "sign_flip" ? 0.375 : 0.75, 0.75};
  });
  for (const Cell& cell : plan.cells) {
    if (cell.rule.family == "median" && cell.attack == "alie") records.erase(IdOf(cell));
  }
  const auto lines = Select(plan, DoneCells(plan, records));
  const auto figures = FiguresOf(plan, lines).value();
  const Maker maker;
  const std::string html = ReportHtml({plan, records, maker, lines, figures, {}, "a CPU"});
  EXPECT_THAT(html, testing::ContainsRegex(
                        "<td>median</td>.*>75.0 <.*</td><td></td><td[^>]*>37.5 <.*</td>.*</tr>"));
  EXPECT_THAT(TextTable(lines), testing::ContainsRegex("median  75.0             37.5   37.5"));
  EXPECT_THAT(LatexTable(plan, lines), testing::ContainsRegex("median & [^&]*75.0[^&]* &  & "));
}

}  // namespace
}  // namespace ostraka::compare::report_test
