#include "sim/compare/cells/study.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace ostraka::compare::study_test {
namespace {

TEST(Study, IsLengthsAndAngles) {
  const float honest_a[] = {1, 1};
  const float honest_b[] = {1, -1};
  const float bad[] = {-3, 0};
  const float aggregate[] = {0, 2};
  const float* honest[] = {honest_a, honest_b};
  const float* attack[] = {bad};
  Study study;
  AddStep(0.5, honest, attack, aggregate, 0.25, study);
  EXPECT_EQ(study.rate[0], 0.5);
  EXPECT_EQ(study.honest_norm[0], 1);    // the mean is (1, 0)
  EXPECT_EQ(study.honest_spread[0], 1);  // both are 1 away
  EXPECT_EQ(study.attack_norm[0], 3);
  EXPECT_EQ(study.aggregate_norm[0], 2);
  EXPECT_EQ(study.cos_honest_attack[0], -1);
  EXPECT_EQ(study.cos_honest_aggregate[0], 0);
  EXPECT_EQ(study.cos_attack_aggregate[0], 0);
  EXPECT_DOUBLE_EQ(study.aggregate_error[0], std::sqrt(5));
  EXPECT_EQ(study.byzantine_selected[0], 0.25);
}

TEST(Study, MissingValuesAreNaN) {
  const float row[] = {0, 0};
  const float* honest[] = {row};
  Study study;
  AddStep(1, honest, {}, row, std::nullopt, study);
  for (const double value : {study.attack_norm[0], study.cos_honest_attack[0],
                             study.cos_honest_aggregate[0], study.byzantine_selected[0]}) {
    EXPECT_TRUE(std::isnan(value));
  }
}

TEST(Study, TheArchiveHasAnArrayForEachColumn) {
  const base::Bytes npz = NpzOf(Study());
  const std::string text(npz.begin(), npz.end());
  for (const char* name :
       {"rate.npy", "honest_norm.npy", "cos_honest_aggregate.npy", "byzantine_selected.npy"}) {
    EXPECT_NE(text.find(name), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace ostraka::compare::study_test
