#include "aggregation/attacks.h"

#include <gtest/gtest.h>

#include "aggregation/normal_quantile.h"
#include "aggregation/projection.h"
#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation {
namespace {

using testing::Matrix;
using testing::RowsOf;

AttackView ViewOf(const std::vector<float>& own, const Matrix& honest, std::size_t byzantine) {
  return {own, RowsOf(honest), byzantine, nullptr, 1};
}

TEST(Attacks, TableIsSortedDistinctAndComplete) {
  std::vector<std::string_view> names;
  for (const AttackInfo& attack : Attacks()) {
    names.push_back(attack.name);
    EXPECT_EQ(FindAttack(attack.name), &attack);
    EXPECT_FALSE(attack.summary.empty());
    for (const AttackParameter& parameter : attack.parameters) {
      EXPECT_FALSE(parameter.meaning.empty());
    }
  }
  const std::vector<std::string_view> expected = {"alie", "ipm", "label_flip", "random_direction",
                                                  "sign_flip"};
  EXPECT_EQ(names, expected);
  EXPECT_EQ(FindAttack("flip_sign"), nullptr);
}

TEST(Attacks, EveryVectorAttackRunsOnItsDefaults) {
  base::Rng rng(2);
  const Matrix honest = testing::NormalRows(rng, 9, 40);
  for (const AttackInfo& attack : Attacks()) {
    const auto sent = ApplyAttack(attack.name, {}, ViewOf(honest[0], honest, 7));
    if (attack.flips_labels) {
      EXPECT_EQ(sent.status().code(), absl::StatusCode::kFailedPrecondition);
      continue;
    }
    ASSERT_TRUE(sent.ok()) << attack.name;
    EXPECT_EQ(sent->size(), 40u);
    EXPECT_FALSE(testing::SameBits(*sent, honest[0])) << attack.name;
  }
}

TEST(Attacks, SignFlipReversesAndLengthens) {
  const std::vector<float> own = {1.0f, -0.25f, 0.0f};
  EXPECT_EQ(SignFlip(own, 1000), (std::vector<float>{-1000.0f, 250.0f, 0.0f}));
  EXPECT_EQ(*ApplyAttack("sign_flip", {}, ViewOf(own, {own}, 1)), SignFlip(own, 1000));
  EXPECT_EQ(*ApplyAttack("sign_flip", {{"lambda", 2.0}}, ViewOf(own, {own}, 1)),
            (std::vector<float>{-2.0f, 0.5f, 0.0f}));
}

TEST(Attacks, NothingOverflows) {
  const float largest = std::numeric_limits<float>::max();
  const std::vector<float> own = {largest, -largest};
  EXPECT_EQ(SignFlip(own, 1000), (std::vector<float>{-largest, largest}));
  for (const AttackInfo& attack : Attacks()) {
    if (attack.flips_labels) continue;
    const auto sent = ApplyAttack(attack.name, {}, ViewOf(own, {own, own, own}, 2));
    ASSERT_TRUE(sent.ok());
    for (const float value : *sent) EXPECT_TRUE(std::isfinite(value)) << attack.name;
  }
}

TEST(Attacks, ColludersShareOneDirectionATensor) {
  base::Rng rng(4);
  const base::TensorLayout layout = {{"weight", {10, 7}}, {"bias", {30}}};
  const Matrix own = testing::NormalRows(rng, 2, 100);
  const std::vector<float> first = RandomDirection(own[0], layout, 1000, 9);
  const std::vector<float> second = RandomDirection(own[1], layout, 1000, 9);
  const std::vector<float> other = RandomDirection(own[0], layout, 1000, 10);
  for (const auto& [offset, length] : {std::pair{0u, 70u}, std::pair{70u, 30u}}) {
    const auto of = [&, begin = offset, size = length](const std::vector<float>& v) {
      return std::span<const float>(v).subspan(begin, size);
    };
    const auto cosine = [&](const std::vector<float>& a, const std::vector<float>& b) {
      double inner = 0;
      for (std::size_t i = 0; i < of(a).size(); ++i) inner += double{of(a)[i]} * double{of(b)[i]};
      return inner / (Norm(of(a)) * Norm(of(b)));
    };
    EXPECT_NEAR(Norm(of(first)), 1000 * Norm(of(own[0])), 1e-4 * Norm(of(first)));
    EXPECT_NEAR(cosine(first, second), 1, 1e-6);
    EXPECT_LT(std::abs(cosine(first, other)), 0.6);
    EXPECT_LT(std::abs(cosine(first, own[0])), 0.6);
  }
}

TEST(Attacks, RandomDirectionOfAZeroTensorIsZero) {
  const std::vector<float> own = {0.0f, 0.0f, 1.0f};
  const auto sent = RandomDirection(own, {{"a", {2}}, {"empty", {0}}, {"b", {}}}, 10, 3);
  EXPECT_EQ(sent[0], 0.0f);
  EXPECT_EQ(sent[1], 0.0f);
  EXPECT_FLOAT_EQ(std::abs(sent[2]), 10.0f);
}

TEST(Attacks, AlieZMatchesPublishedValues) {
  struct Row {
    std::size_t n, m;
    double z;
  };
  // From the formula of the paper; (16, 7) is BTARD's setting.
  for (const Row& row :
       {Row{10, 2, 0}, Row{11, 2, .139710299}, Row{12, 3, .139710299}, Row{20, 4, .157310685},
        Row{20, 8, .674489750}, Row{50, 12, .336038140}, Row{60, 12, .264146977},
        Row{100, 20, .285840875}, Row{16, 7, .764709674}}) {
    EXPECT_NEAR(AlieZ(row.n, row.m), row.z, 1e-9) << row.n << " " << row.m;
  }
  // A Byzantine majority needs nobody else; the formula would give infinity.
  EXPECT_EQ(AlieZ(16, 9), NormalQuantile(1 - 0.5 / 7));
  EXPECT_EQ(AlieZ(16, 12), NormalQuantile(1 - 0.5 / 4));
  EXPECT_EQ(AlieZ(2, 1), 0);
}

TEST(Attacks, AlieStaysZDeviationsBelowTheMean) {
  const Matrix honest = {{1, 10}, {3, 10}, {5, 10}, {7, 10}};
  const std::vector<float> sent = Alie(RowsOf(honest), 2);
  EXPECT_FLOAT_EQ(sent[0], static_cast<float>(4 - 2 * std::sqrt(5.0)));
  EXPECT_EQ(sent[1], 10.0f);
}

TEST(Attacks, IpmPointsAgainstTheHonestMean) {
  const Matrix honest = {{1, -2}, {3, -4}};
  EXPECT_EQ(*ApplyAttack("ipm", {}, ViewOf(honest[0], honest, 1)),
            (std::vector<float>{-1.2f, 1.8f}));
  EXPECT_EQ(*ApplyAttack("ipm", {{"eps", 0.5}}, ViewOf(honest[0], honest, 1)),
            (std::vector<float>{-1.0f, 1.5f}));
}

TEST(Attacks, RefuseWhatTheyCannotUse) {
  const std::vector<float> own = {1, 2, 3};
  const Matrix honest = {{1, 2, 3}, {4, 5, 6}};
  const auto code = [](const auto& result) { return result.status().code(); };
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  const AttackView view = ViewOf(own, honest, 1);
  EXPECT_EQ(code(ApplyAttack("no_such", {}, view)), kInvalid);
  EXPECT_EQ(code(ApplyAttack("ipm", {{"lambda", 1.0}}, view)), kInvalid);
  EXPECT_EQ(code(ApplyAttack("ipm", {{"eps", std::nan("")}}, view)), kInvalid);
  AttackView bad = view;
  bad.honest = {};
  EXPECT_EQ(code(ApplyAttack("alie", {}, bad)), kInvalid);
  EXPECT_TRUE(ApplyAttack("sign_flip", {}, bad).ok());  // it needs nobody's gradient
  bad = view;
  bad.own = std::span<const float>(own).first(2);
  EXPECT_EQ(code(ApplyAttack("ipm", {}, bad)), kInvalid);
  bad.own = {};
  EXPECT_EQ(code(ApplyAttack("sign_flip", {}, bad)), kInvalid);
  const base::TensorLayout wrong = {{"a", {2}}};
  bad = view;
  bad.layout = &wrong;
  EXPECT_EQ(code(ApplyAttack("random_direction", {}, bad)), kInvalid);
}

}  // namespace
}  // namespace ostraka::aggregation
