#include "sim/compare/report/figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "sim/page/svg.h"
#include "tests/unit/sim/compare/made_up.h"

namespace ostraka::compare {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

struct Drawn {
  Plan plan;
  Records records;
  std::vector<Line> lines;
};

std::unique_ptr<Drawn> Draw(const std::function<void(Grid&)>& change) {
  auto drawn = std::make_unique<Drawn>();
  drawn->plan = MadeUpPlan(change);
  drawn->records = MadeUpRecords(drawn->plan, [](const Cell& cell) {
    const double test = cell.rule.family == "mean" ? 0.123 : 0.875;
    return Scores{.validation = 0.5, .test = test};
  });
  drawn->lines = Select(drawn->plan, DoneCells(drawn->plan, drawn->records));
  return drawn;
}

std::set<std::string> NamesOf(const Drawn& drawn) {
  const auto figures = FiguresOf(drawn.plan, drawn.lines);
  EXPECT_TRUE(figures.ok()) << figures.status().ToString();
  std::set<std::string> names;
  for (const Figure& figure : figures.value_or(std::vector<Figure>())) {
    EXPECT_TRUE(names.insert(figure.name).second) << figure.name;
    EXPECT_THAT(figure.svg, testing::StartsWith("<svg"));
    EXPECT_THAT(figure.svg, testing::EndsWith("</svg>\n"));
    EXPECT_THAT(figure.svg, Not(HasSubstr("nan")));
    EXPECT_THAT(figure.svg, Not(HasSubstr("inf")));
    EXPECT_FALSE(figure.caption.empty());
  }
  return names;
}

TEST(Figures, OfAGridWithEverything) {
  const auto drawn = Draw([](Grid& grid) {
    grid.rules = {"mean", "median", "btard"};
    grid.attacks = {"none", "alie"};
    grid.byzantine = {1, 2};
    grid.partition = {"shared", "extreme"};
  });
  const auto names = NamesOf(*drawn);
  for (const char* name :
       {"table-partition-shared-byzantine-1", "curves-partition-extreme-byzantine-2", "map", "bans",
        "partition-digits-extreme-9-workers"}) {
    EXPECT_TRUE(names.contains(name)) << name << ": " << testing::PrintToString(names);
  }
}

TEST(Figures, NothingIsDrawnWithoutResults) {
  const auto drawn = Draw([](Grid&) {});
  const auto names = NamesOf(*drawn);  // one setting, no protocol, shared data
  EXPECT_EQ(names, (std::set<std::string>{"table", "curves", "cost"}));
  EXPECT_THAT(BansSvg(drawn->lines), IsEmpty());
  EXPECT_THAT(HeatMapsSvg(drawn->lines), IsEmpty());
  const auto none = FiguresOf(drawn->plan, {});
  EXPECT_TRUE(none->empty());
}

TEST(Figures, NumbersAreThoseOfTheLines) {
  const auto drawn = Draw([](Grid& grid) {
    grid.rules = {"mean", "median"};
    grid.byzantine = {1, 2};
  });
  EXPECT_THAT(HeatMapsSvg(drawn->lines), HasSubstr(">12.3<"));
  EXPECT_THAT(HeatMapsSvg(drawn->lines), HasSubstr(">median<"));
  EXPECT_THAT(TableSvg({&drawn->lines[0], &drawn->lines[1]}), HasSubstr(">87.5<"));
}

// A curve keeps its rule's colour under an attack under which another rule was not run.
TEST(Figures, ARuleHasOneColourInEveryPanel) {
  const auto drawn = Draw([](Grid& grid) {
    grid.rules = {"mean", "median"};
    grid.attacks = {"alie", "sign_flip"};
  });
  std::vector<Line> lines = drawn->lines;
  const auto curves_of_second = [&lines] {
    const std::string svg = CurvesSvg({&lines[0], &lines[1]});
    std::size_t count = 0;
    const std::string stroke = "stroke=\"" + page::StrokeOf(1).color + "\" stroke-width=\"1.80\"";
    for (std::size_t at = svg.find(stroke); at != std::string::npos;
         at = svg.find(stroke, at + 1)) {
      ++count;
    }
    return count;
  };
  EXPECT_EQ(curves_of_second(), 2u);
  lines[0].attacks.pop_back();
  EXPECT_EQ(curves_of_second(), 2u);
}

TEST(Figures, OneSeedHasNoBandAndStillACurve) {
  const auto drawn = Draw([](Grid& grid) { grid.seeds = {0}; });
  EXPECT_THAT(NamesOf(*drawn), testing::Contains("curves"));
}

}  // namespace
}  // namespace ostraka::compare
