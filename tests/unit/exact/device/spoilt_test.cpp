// The conformance program sees each care that is missing: a device that lacks one is refused, with
// the first case that shows it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "exact/device/conformance_program.h"
#include "tests/unit/exact/device/spoilt_kernels.h"
#include "tests/unit/exact/testing.h"

namespace ostraka::exact::spoilt_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::Spoil;

struct Row {
  const char* name;
  Spoil spoil;
  const char* seen_in;  // the first case that differs
};

class Spoilt : public ::testing::TestWithParam<Row> {};

TEST_P(Spoilt, DeviceIsRefused) {
  const auto device = MakeEmulatedDevice({.kernels = testing::SpoiltKernels(GetParam().spoil)});
  const base::Status status = CheckDevice(*device);
  EXPECT_THAT(base::MessageOf(status),
              AllOf(HasSubstr("emulated computes other bits than every machine must"),
                    HasSubstr(GetParam().seen_in)));
}

INSTANTIATE_TEST_SUITE_P(
    Care, Spoilt,
    ::testing::Values(Row{"SubnormalsAreKept", Spoil::kSubnormalsFlushed, "a chain is not padded"},
                      Row{"ChainsAreNotPadded", Spoil::kChainsPadded, "a chain is not padded"},
                      Row{"NanIsCanonical", Spoil::kNanAsItComes, ", not 0x7fc00000"},
                      Row{"DivisionRounds", Spoil::kDivisionOff, "a chain is not padded, rms_norm"},
                      Row{"RootsRound", Spoil::kRootOff, "a chain is not padded, rms_norm"},
                      Row{"FmaRoundsOnce", Spoil::kFmaInTwoRoundings, "a chain is not padded"},
                      Row{"SumsBeginWithZero", Spoil::kSumsFromTheFirst, "a "},
                      Row{"RowsArePadded", Spoil::kRowsNotPadded, "a row is padded to lanes"},
                      Row{"InfinityMovesNothing", Spoil::kInfinityKept,
                          "local steps of 1 batches, wild values"},
                      Row{"SubnormalMomentsEnd", Spoil::kMomentsSubnormal,
                          "local steps of 1 batches, tiny values"}),
    [](const auto& row) { return std::string(row.param.name); });

// The cases that were chosen for one care each show it without the drawn ones.
TEST(Chosen, CasesShowTheirCare) {
  int chosen = 0;
  for (const ConformanceCase& each : ConformanceCases()) {
    const bool of_chains = each.name.starts_with("a chain is not padded");
    const bool of_rows = each.name.starts_with("a row is padded to lanes");
    const bool of_sums = each.name.starts_with("a sum begins with +0");
    if (!of_chains && !of_rows && !of_sums) continue;
    ++chosen;
    const Spoil spoil = of_chains ? Spoil::kChainsPadded
                        : of_rows ? Spoil::kRowsNotPadded
                                  : Spoil::kSumsFromTheFirst;
    const auto device = MakeEmulatedDevice({.kernels = testing::SpoiltKernels(spoil)});
    const CaseResult wanted = ResultOf(each, BestKernels()).value();
    const CaseResult got = ResultOf(each, *device, Tile::kByShape).value();
    std::size_t signs = 0;
    for (std::size_t i = 0; i < wanted.gradient.size(); ++i) {
      EXPECT_EQ(got.gradient[i], wanted.gradient[i]) << "not a matter of signs";
      signs += std::signbit(got.gradient[i]) != std::signbit(wanted.gradient[i]) ? 1 : 0;
    }
    EXPECT_GT(signs, 0U) << each.name;
  }
  EXPECT_EQ(chosen, 8);
}

// What is not spoilt is equal: no row above fails for another reason than its own.
TEST(Chosen, NothingSpoiltIsEqual) {
  const auto device = MakeEmulatedDevice({.kernels = testing::SpoiltKernels(Spoil::kNothing)});
  const std::vector<ConformanceCase> cases = ConformanceCases();
  for (std::size_t i = 0; i < cases.size(); i += 3) {
    const CaseResult wanted = ResultOf(cases[i], BestKernels()).value();
    const CaseResult got = ResultOf(cases[i], *device, Tile::kByShape).value();
    EXPECT_EQ(testing::BitsOf(got.gradient), testing::BitsOf(wanted.gradient)) << cases[i].name;
  }
}

}  // namespace
}  // namespace ostraka::exact::spoilt_test
