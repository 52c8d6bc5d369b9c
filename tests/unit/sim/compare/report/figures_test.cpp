#include "sim/compare/report/figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "sim/compare/report/looks.h"
#include "sim/page/svg.h"
#include "tests/unit/sim/compare/made_up.h"

namespace ostraka::compare::figures_test {
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
    return MadeUpScores{.validation = 0.5, .test = test};
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

// Two reports of different grids can be laid beside each other.
TEST(Figures, ARuleHasItsColourInEveryReport) {
  const auto both = Draw([](Grid& grid) { grid.rules = {"mean", "median", "krum"}; });
  const auto one = Draw([](Grid& grid) { grid.rules = {"krum"}; });
  EXPECT_EQ(LooksOf({&both->lines[2]})[0].color, LooksOf({&one->lines[0]})[0].color);
  const auto looks = LooksOf({&both->lines[0], &both->lines[1], &both->lines[2]});
  EXPECT_EQ(looks[2].color, page::StrokeOf(3).color);
  EXPECT_NE(looks[0].color, looks[1].color);
}

TEST(Figures, LinesOfOneRuleDifferByTheirDashes) {
  const auto drawn = Draw([](Grid& grid) { grid.rules = {"krum", "krum+nnm", "caf"}; });
  const auto looks = LooksOf({&drawn->lines[0], &drawn->lines[1], &drawn->lines[2]});
  EXPECT_EQ(looks[0].color, looks[1].color);
  EXPECT_NE(looks[0].dashes, looks[1].dashes);
  EXPECT_NE(looks[2].color + looks[2].dashes, looks[0].color + looks[0].dashes);
}

TEST(Figures, CloseAccuraciesHaveAZoomedAxis) {
  const auto close = Draw([](Grid& grid) { grid.rules = {"median", "krum"}; });
  EXPECT_THAT(CurvesSvg({&close->lines[0], &close->lines[1]}), HasSubstr(">84<"));
  EXPECT_THAT(CostSvg({&close->lines[0], &close->lines[1]}), HasSubstr(">84<"));
  const auto apart = Draw([](Grid& grid) { grid.rules = {"mean", "krum"}; });
  EXPECT_THAT(CostSvg({&apart->lines[0], &apart->lines[1]}), HasSubstr(">100 %<"));
  EXPECT_THAT(CostSvg({&apart->lines[0], &apart->lines[1]}), HasSubstr(">krum 87.5<"));
}

// The width of an SVG is its first number.
double WidthOf(const std::string& svg) { return std::stod(svg.substr(svg.find(" width=\"") + 8)); }

TEST(Figures, OneSettingAcrossIsOneMap) {
  const auto drawn = Draw([](Grid& grid) {
    grid.rules = {"mean", "median"};
    grid.byzantine = {1, 2};
  });
  const std::string svg = HeatMapsSvg(drawn->lines);
  EXPECT_THAT(svg, HasSubstr(">1 byz.<"));
  EXPECT_EQ(svg.find(">1 byz.<"), svg.rfind(">1 byz.<")) << "one map and not one a rule";
  EXPECT_THAT(svg, HasSubstr(">best at its worst<"));
}

TEST(Figures, AnOddNumberOfPanelsLeavesNoGap) {
  const auto drawn = Draw([](Grid& grid) {
    grid.rules = {"mean", "median"};
    grid.attacks = {"none", "alie", "sign_flip"};
  });
  const std::string svg = CurvesSvg({&drawn->lines[0], &drawn->lines[1]});
  const auto x_of = [&svg](const std::string& title) {
    const std::size_t end = svg.find(">" + title + "<");
    const std::size_t begin = svg.rfind(" x=\"", end);
    return std::stod(svg.substr(begin + 4));
  };
  EXPECT_LT(x_of("alie"), WidthOf(svg) / 2) << "below the first, which is wide";
  EXPECT_GT(x_of("sign_flip"), WidthOf(svg) / 2);
}

TEST(Figures, TicksOfBansReachTheLastDot) {
  const auto drawn = Draw([](Grid& grid) {
    grid.rules = {"btard"};
    grid.attacks = {"alie"};
  });
  for (auto& [id, record] : drawn->records) {
    if (record.result->protocol) record.result->protocol->detection_steps = 32;
  }
  const std::string svg = BansSvg(drawn->lines);
  ASSERT_THAT(svg, HasSubstr("<circle"));
  double dot = 0;
  for (std::size_t at = svg.find("cx=\""); at != std::string::npos;
       at = svg.find("cx=\"", at + 1)) {
    dot = std::max(dot, std::stod(svg.substr(at + 4)));
  }
  double grid_line = 0;
  for (std::size_t at = svg.find("x1=\""); at != std::string::npos;
       at = svg.find("x1=\"", at + 1)) {
    grid_line = std::max(grid_line, std::stod(svg.substr(at + 4)));
  }
  EXPECT_LE(dot, grid_line);
}

TEST(Figures, OneSeedHasNoBandAndStillACurve) {
  const auto drawn = Draw([](Grid& grid) { grid.seeds = {0}; });
  EXPECT_THAT(NamesOf(*drawn), testing::Contains("curves"));
}

}  // namespace
}  // namespace ostraka::compare::figures_test
