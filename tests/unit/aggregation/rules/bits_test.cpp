// The recorded bits of every rule and pre-aggregation on seeded rows, at every instruction set of
// this machine and with 1 to 5 threads: the test finds any compiler or machine that computes other
// bits. A change of a kernel's order of operations changes these bits knowingly.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>

#include "aggregation/rules/registry.h"
#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation::bits_test {
namespace {

using testing::Matrix;

using Digests = std::map<std::string, std::uint64_t, std::less<>>;

// f = 2, and 5 for every other parameter without a default.
Arguments ArgumentsOf(const Description& about) {
  Arguments arguments = {{"f", "2"}};
  for (const ParameterInfo& parameter : about.parameters) {
    if (parameter.default_kind == Default::kRequired && parameter.name != "f") {
      arguments.emplace_back(parameter.name, "5");
    }
  }
  return arguments;
}

std::uint64_t DigestOf(const RuleInfo& info, const Rows& rows, const Executor& executor) {
  const auto rule = MakeRule(info.about.name, ArgumentsOf(info.about));
  EXPECT_TRUE(rule.ok()) << rule.status();
  std::vector<float> out(rows.dimension);
  const base::Status status = (*rule)->Aggregate(rows, executor, out);
  EXPECT_TRUE(status.ok()) << info.about.name << ": " << status;
  return testing::BitsDigest(out);
}

std::uint64_t DigestOf(const PreInfo& info, const Rows& rows, const Executor& executor) {
  const auto pre = MakePreAggregation(info.about.name, ArgumentsOf(info.about));
  EXPECT_TRUE(pre.ok()) << pre.status();
  std::vector<float> out((*pre)->OutputRows(rows.count()) * rows.dimension);
  const base::Status status = (*pre)->Apply(rows, executor, out);
  EXPECT_TRUE(status.ok()) << info.about.name << ": " << status;
  return testing::BitsDigest(out);
}

template <typename Info>
void ExpectDigests(std::span<const Info* const> infos, const Digests& expected) {
  base::Rng rng(2026);
  Matrix matrix = testing::NormalRows(rng, 11, 5003);
  testing::Multiply(matrix[3], -30);
  Rows rows = testing::RowsOf(matrix);
  rows.reference = matrix[0].data();
  EXPECT_EQ(expected.size(), infos.size());
  for (const simd::Level level : testing::SupportedLevels()) {
    const simd::ForcedLevel forced(level);
    for (const int threads : {1, 2, 5}) {
      const testing::ThreadedExecutor executor(threads);
      for (const Info* info : infos) {
        const auto known = expected.find(info->about.name);
        ASSERT_NE(known, expected.end()) << info->about.name << " has no digest here";
        EXPECT_EQ(DigestOf(*info, rows, executor), known->second)
            << info->about.name << " at " << LevelName(level) << " with " << threads << " threads, "
            << std::hex << "0x" << DigestOf(*info, rows, executor);
      }
    }
  }
}

TEST(Bits, OfRulesAreRecorded) {
  const Digests expected = {
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
  ExpectDigests(Rules(), expected);
}

TEST(Bits, OfPreAggregationsAreRecorded) {
  const Digests expected = {
      {"arc", 0xa6d9ca54dbc59d4fu},
      {"bucketing", 0xa2ae1122ee730a60u},
      {"clipping", 0x9ab39678d97afd16u},
      {"nnm", 0x3caadd80305f412du},
      {"worker_momentum", 0x3fcd346f66c1a77au},
  };
  ExpectDigests(PreAggregations(), expected);
}

}  // namespace
}  // namespace ostraka::aggregation::bits_test
