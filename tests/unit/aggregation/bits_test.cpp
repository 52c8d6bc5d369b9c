// The bits of every rule on seeded rows, written down: another compiler, machine or instruction set
// that computes others is caught here. A change of a kernel's order changes them knowingly.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "aggregation/registry.h"
#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation {
namespace {

using testing::Matrix;

std::uint64_t DigestOf(const RuleInfo& info, const Matrix& rows) {
  Arguments arguments = {{"f", "2"}};
  for (const ParameterInfo& parameter : info.about.parameters) {
    if (parameter.default_kind == Default::kRequired && parameter.name != "f") {
      arguments.emplace_back(parameter.name, "5");
    }
  }
  const auto rule = MakeRule(info.about.name, arguments);
  EXPECT_TRUE(rule.ok()) << rule.status();
  Rows view = testing::RowsOf(rows);
  view.reference = rows[0].data();
  std::vector<float> out(view.dimension);
  const testing::ThreadedExecutor threads(2);
  const base::Status status = (*rule)->Aggregate(view, threads, out);
  EXPECT_TRUE(status.ok()) << info.about.name << ": " << status;
  return testing::BitsDigest(out);
}

TEST(Bits, AreTheOnesWrittenDownHere) {
  const std::map<std::string, std::uint64_t> expected = {
      {"aksel", 0xb9b39a4fe8e7016du},
      {"bulyan", 0x53b9ee111b22047au},
      {"caf", 0x5e4a5f5308ce5183u},
      {"centered_clip", 0xbfdc5e3ea87f724au},
      {"cge", 0x4132c6f2e4eb6454u},
      {"clipped_clustering", 0x2e0a617261e456e4u},
      {"dnc", 0xe00d55a35858a057u},
      {"flame", 0x5fe06d8181c7217du},
      {"fltrust", 0x4794a47f9df4c4cfu},
      {"foolsgold", 0xa1c3c95b38269654u},
      {"geometric_median", 0xf52c7dc528cdafaeu},
      {"krum", 0xda518a18e999c058u},
      {"mda", 0xa9d6489bf7b94145u},
      {"meamed", 0x81955124ecd2495eu},
      {"mean", 0x5742f06bc03a0964u},
      {"median", 0xf4836a525888a111u},
      {"monna", 0xa9d6489bf7b94145u},
      {"multi_krum", 0x76d84173a32913ceu},
      {"norm_clipping", 0x214edd87ca2baba5u},
      {"phocas", 0x7934c9ddfe7a3360u},
      {"safeguard", 0x5742f06bc03a0964u},
      {"self_centered_clip", 0xb9fb2709ad6cbfb8u},
      {"sign_majority", 0xde066f0fb1169188u},
      {"signguard", 0x23c29878c2bb0f2fu},
      {"smea", 0x4132c6f2e4eb6454u},
      {"trimmed_mean", 0x2c163c9fbd1ecf25u},
  };
  base::Rng rng(2026);
  Matrix rows = testing::NormalRows(rng, 11, 5003);
  testing::Multiply(rows[3], -30);
  for (const RuleInfo* info : Rules()) {
    const auto known = expected.find(std::string(info->about.name));
    ASSERT_NE(known, expected.end()) << info->about.name << " has no digest here";
    EXPECT_EQ(DigestOf(*info, rows), known->second) << info->about.name;
  }
  EXPECT_EQ(expected.size(), Rules().size());
}

}  // namespace
}  // namespace ostraka::aggregation
