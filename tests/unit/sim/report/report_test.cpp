#include "sim/report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace ostraka::sim::report_test {
namespace {

using testing::HasSubstr;
using testing::Not;

SimOptions Attacked() {
  SimOptions options;
  options.peers = 8;
  options.byzantine = 3;
  options.attack = "equivocate";
  options.attack_from_step = 3;
  options.dimension = 64;
  options.steps = 12;
  return options;
}

base::StatusOr<Report> Make(const SimOptions& options,
                            std::optional<std::uint64_t> step = std::nullopt) {
  return MakeReport(options, step, [](const std::string&) {});
}

TEST(ReportTest, ShowsRemovalsLossAndAStep) {
  const auto report = Make(Attacked());
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_TRUE(report->run.result.ok);
  EXPECT_EQ(report->run.result.byzantine_removed, 3U);
  for (const char* text : {"<h2>Bans, drops and returns</h2>", "banned by evidence",
                           "two different COMMITs", "<h2>Loss</h2>", "with protection",
                           "<h2>Step 3</h2>", "seal a decided", "attack=equivocate"}) {
    EXPECT_THAT(report->html, HasSubstr(text));
  }
}

// Three are banned in step 3 of at least 200.
TEST(ReportTest, ZoomsToTheStepsInWhichMembersLeaveOrReturn) {
  SimOptions options = Attacked();
  options.steps = 200;
  const std::string html = Make(options)->html;
  EXPECT_THAT(html, HasSubstr("Shown are steps 0 to 6 of 200;"));
  EXPECT_THAT(html,
              HasSubstr("banned: 3 Byzantine, 0 honest &middot; dropped: 0 Byzantine, 0 honest"));
  options.attack = "none";
  options.byzantine = 0;
  options.crashes = 3;
  options.lose_disk = true;
  options.steps = 60;
  const std::string returned = Make(options)->html;
  EXPECT_THAT(returned, HasSubstr("8 peers, none of them Byzantine &middot; "));
  EXPECT_THAT(returned, HasSubstr(">returned</td>"));
  EXPECT_THAT(returned, HasSubstr(" dropped</title>")) << "a mark in the chart";
}

TEST(ReportTest, NamesPeersByNumberInReasons) {
  SimOptions options = Attacked();
  options.attack = "sign_flip";
  options.steps = 40;
  const std::string html = Make(options)->html;
  EXPECT_THAT(html, HasSubstr("accused by peer "));
  EXPECT_THAT(html, Not(testing::ContainsRegex("accused by [0-9a-f]{16}")));
}

TEST(ReportTest, ProtectedRunEqualsTheRunWithoutAReport) {
  const auto report = Make(Attacked());
  const auto alone = RunSimulation(Attacked());
  ASSERT_TRUE(report.ok() && alone.ok());
  EXPECT_EQ(report->run.result.trace_digest, alone->trace_digest);
  EXPECT_EQ(Make(Attacked())->html, report->html) << "a function of the options";
}

TEST(ReportTest, NotesThatTheUnprotectedRunHadNoFaults) {
  SimOptions options = Attacked();
  options.attack = "none";
  options.byzantine = 0;
  EXPECT_THAT(Make(options)->html, Not(HasSubstr("no crash and no cut")));
  options.crashes = 1;
  EXPECT_THAT(Make(options)->html, HasSubstr("no crash and no cut"));
}

TEST(ReportTest, RefusesAnUnprotectedRun) {
  SimOptions options = Attacked();
  options.unprotected = true;
  EXPECT_THAT(base::MessageOf(Make(options).status()), HasSubstr("--unprotected"));
  const auto later = Make(Attacked(), 4000);
  EXPECT_EQ(later.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(base::MessageOf(later.status()), HasSubstr("never came to step 4000"));
}

// An attack may do this to an unprotected model.
TEST(ReportTest, DrawsNonFiniteLosses) {
  ReportInput input;
  input.roster = RosterOf(Attacked()).value();
  for (std::uint64_t step = 0; step < 6; ++step) {
    input.history.rows.push_back({step, 5, 3, 0.5});
    input.unprotected.rows.push_back(
        {step, 5, 3, step < 3 ? std::pow(10.0, 3.0 * double(step)) : std::nan("")});
  }
  const std::string html = ReportHtml(input);
  EXPECT_THAT(html, HasSubstr("without, then not a number"));
  EXPECT_THAT(html, Not(HasSubstr("nan")));
  EXPECT_THAT(html, Not(HasSubstr("inf")));
  input.unprotected.rows.assign(3, {0, 5, 3, std::nan("")});
  EXPECT_THAT(ReportHtml(input), Not(HasSubstr("nan")));
}

}  // namespace
}  // namespace ostraka::sim::report_test
