#include "aggregation/attacks/attacks.h"

#include <gtest/gtest.h>

#include <set>

#include "aggregation/rules/mean.h"
#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation::attacks_test {
namespace {

using testing::Matrix;
using testing::RowsOf;

const Victim kMeanVictim = [](const Rows& rows, std::span<float> out) {
  const SerialExecutor serial;
  return Mean().Aggregate(rows, serial, out);
};

// The view points into `own` and `honest`.
AttackView ViewOf(const std::vector<float>& own, const Matrix& honest, std::size_t byzantine) {
  AttackView view;
  view.own = own;
  view.honest = RowsOf(honest);
  view.byzantine_count = byzantine;
  view.seed = 1;
  view.victim = &kMeanVictim;
  return view;
}

base::StatusOr<std::vector<float>> Sent(std::string_view name, const Arguments& given,
                                        const AttackView& view) {
  const auto attack = MakeAttack(name, given);
  if (!attack.ok()) return attack.status();
  return ApplyAttack(*attack, view);
}

TEST(Attacks, TableIsSortedDistinctAndComplete) {
  std::vector<std::string_view> names;
  for (const AttackInfo* attack : Attacks()) {
    names.push_back(attack->name);
    EXPECT_EQ(FindAttack(attack->name), attack);
    EXPECT_FALSE(attack->summary.empty());
    EXPECT_FALSE(attack->definition.empty());
    EXPECT_EQ(attack->apply == nullptr, attack->knowledge == Knowledge::kWork) << attack->name;
    for (const ParameterInfo& parameter : attack->parameters) {
      EXPECT_FALSE(parameter.meaning.empty());
      EXPECT_FALSE(parameter.default_text.empty());
      EXPECT_NE(parameter.default_kind, Default::kRequired) << "an attack runs as it is";
    }
  }
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_EQ(std::set(names.begin(), names.end()).size(), names.size());
  EXPECT_EQ(FindAttack("flip_sign"), nullptr);
}

// The names that docs/design promise to users: renaming an attack breaks their scripts.
TEST(Attacks, NamesAreStable) {
  for (const std::string_view name : {"sign_flip",   "random_direction",
                                      "label_flip",  "delayed",
                                      "ipm",         "alie",
                                      "inf",         "nan",
                                      "huge",        "wrong_length",
                                      "mimic",       "gaussian",
                                      "bit_flip",    "none",
                                      "min_max",     "min_sum",
                                      "fang",        "opt_ipm",
                                      "opt_alie",    "opt_min_max",
                                      "opt_min_sum", "opt_fang"}) {
    EXPECT_NE(FindAttack(name), nullptr) << name;
  }
}

TEST(Attacks, EveryVectorAttackRunsOnItsDefaults) {
  base::Rng rng(2);
  const Matrix honest = testing::NormalRows(rng, 9, 40);
  for (const AttackInfo* attack : Attacks()) {
    AttackState state;
    AttackView view = ViewOf(honest[0], honest, 7);
    view.state = &state;
    const auto sent = Sent(attack->name, {}, view);
    if (attack->knowledge == Knowledge::kWork) {
      EXPECT_EQ(sent.status().code(), absl::StatusCode::kFailedPrecondition);
      continue;
    }
    ASSERT_TRUE(sent.ok()) << attack->name << ": " << sent.status();
    const bool finite =
        std::all_of(sent->begin(), sent->end(), [](float v) { return std::isfinite(v); });
    EXPECT_EQ(finite && sent->size() == 40u, !attack->malformed) << attack->name;
  }
}

// A colluder with another number and another own gradient sends an equal vector where that is
// promised, and a different one where the attack draws for itself.
TEST(Attacks, IdenticalAttacksSendEqualVectors) {
  base::Rng rng(3);
  const Matrix honest = testing::NormalRows(rng, 9, 40);
  for (const AttackInfo* attack : Attacks()) {
    if (attack->knowledge == Knowledge::kWork) continue;
    AttackView view = ViewOf(honest[0], honest, 3);
    const auto first = Sent(attack->name, {}, view);
    view.attacker = 1;
    const auto second = Sent(attack->name, {}, view);
    ASSERT_TRUE(first.ok() && second.ok());
    if (attack->identical) {
      EXPECT_TRUE(testing::SameBits(*first, *second)) << attack->name;
    }
    for (const std::string_view drawn : {"gaussian", "uniform", "fang", "sign_histogram"}) {
      if (attack->name == drawn) {
        EXPECT_FALSE(testing::SameBits(*first, *second)) << drawn;
      }
    }
  }
}

TEST(Attacks, NothingOverflows) {
  const float largest = std::numeric_limits<float>::max();
  const std::vector<float> own = {largest, -largest};
  for (const AttackInfo* attack : Attacks()) {
    if (attack->knowledge == Knowledge::kWork || attack->malformed) continue;
    const auto sent = Sent(attack->name, {}, ViewOf(own, {own, own, {-largest, 1}}, 2));
    ASSERT_TRUE(sent.ok()) << attack->name << ": " << sent.status();
    for (const float value : *sent) EXPECT_TRUE(std::isfinite(value)) << attack->name;
  }
}

TEST(Attacks, ParametersReachTheFormula) {
  const std::vector<float> own = {1.0f, -0.25f, 0.0f};
  const Matrix honest = {{1, -2, 0}, {3, -4, 0}};
  const AttackView view = ViewOf(own, honest, 1);
  using Vector = std::vector<float>;
  EXPECT_EQ(*Sent("none", {}, view), own);
  EXPECT_EQ(*Sent("sign_flip", {}, view), (Vector{-1000, 250, 0}));
  EXPECT_EQ(*Sent("sign_flip", {{"lambda", "2"}}, view), (Vector{-2, 0.5, 0}));
  EXPECT_EQ(*Sent("replacement", {}, view), (Vector{3, -0.75, 0})) << "three workers";
  EXPECT_EQ(*Sent("replacement", {{"gamma", "-4"}}, view), (Vector{-4, 1, 0}));
  EXPECT_EQ(*Sent("ipm", {}, view), (Vector{-1.2f, 1.8f, 0}));
  EXPECT_EQ(*Sent("ipm", {{"eps", "0.5"}}, view), (Vector{-1, 1.5, 0}));
  EXPECT_EQ(*Sent("alie", {{"z", "2"}}, view), (Vector{0, -5, 0}));
  EXPECT_EQ(*Sent("gaussian", {{"sigma", "0"}, {"mean", "3"}}, view), (Vector{3, 3, 3}));
  EXPECT_EQ(*Sent("gaussian", {{"sigma", "0"}, {"around", "own"}}, view), own);
  EXPECT_EQ(*Sent("uniform", {{"low", "2"}, {"high", "2"}}, view), (Vector{2, 2, 2}));
  EXPECT_EQ(*Sent("mimic", {{"epsilon", "1"}}, view), honest[1]);
  EXPECT_EQ(Sent("wrong_length", {}, view)->size(), 2u);
  EXPECT_EQ(*Sent("wrong_length", {{"length", "4"}}, view), (Vector{1, -0.25, 0, 0}));
  EXPECT_EQ(*Sent("huge", {}, view),
            (Vector{-std::numeric_limits<float>::max(), std::numeric_limits<float>::max(),
                    std::numeric_limits<float>::max()}));
  const auto nan = *Sent("nan", {{"coordinates", "1"}}, view);
  EXPECT_TRUE(std::isnan(nan[0]));
  EXPECT_EQ(nan[1], -0.25f);
  EXPECT_TRUE(std::isinf((*Sent("inf", {}, view))[2]));
}

TEST(Attacks, DelayedSendsAnEarlierGradient) {
  AttackState state;
  const auto attack = MakeAttack("delayed", {{"steps", "2"}});
  ASSERT_TRUE(attack.ok());
  std::vector<float> sent;
  for (int step = 0; step < 6; ++step) {
    const std::vector<float> own = {static_cast<float>(step)};
    AttackView view;
    view.own = own;
    view.state = &state;
    sent.push_back((*ApplyAttack(*attack, view))[0]);
  }
  EXPECT_EQ(sent, (std::vector<float>{0, 0, 0, 1, 2, 3}));
}

TEST(Attacks, RefuseUnusableInput) {
  const std::vector<float> own = {1, 2, 3};
  const Matrix honest = {{1, 2, 3}, {4, 5, 6}};
  const auto refused = [](const auto& result, const std::string& fragment) {
    EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_NE(base::MessageOf(result.status()).find(fragment), std::string::npos)
        << result.status();
  };
  const AttackView view = ViewOf(own, honest, 1);
  refused(Sent("sign_flop", {}, view), "did you mean 'sign_flip'?");
  refused(Sent("ipm", {{"epz", "1"}}, view), "did you mean 'eps'?");
  refused(Sent("ipm", {{"eps", "nan"}}, view), "eps=nan must be real");
  refused(Sent("ipm", {{"eps", "1e999"}}, view), "eps");
  refused(Sent("alie", {{"ddof", "2"}}, view), "ddof=2 must be integer in [0, 1]");
  refused(Sent("fang", {{"target", "median"}}, view), "one of trimmed_mean, krum");
  refused(Sent("uniform", {{"low", "2"}}, view), "low <= high");
  refused(Sent("opt_coordinate", {{"coordinate", "3"}}, view), "coordinate 3 of 3");
  AttackView bad = view;
  bad.honest = {};
  refused(Sent("alie", {}, bad), "no rows");
  EXPECT_TRUE(Sent("sign_flip", {}, bad).ok());  // it needs no other gradient
  const Matrix poisoned = {{1, 2, 3}, {4, std::nanf(""), 6}};
  bad = ViewOf(own, poisoned, 1);
  refused(Sent("alie", {}, bad), "row 1, coordinate 1 is NaN");
  bad = view;
  bad.own = std::span<const float>(own).first(2);
  refused(Sent("ipm", {}, bad), "differ in length");
  bad.own = {};
  refused(Sent("sign_flip", {}, bad), "own gradient is empty");
  EXPECT_TRUE(Sent("ipm", {}, bad).ok());  // it needs only honest gradients
  bad = view;
  bad.byzantine_count = 0;
  refused(Sent("ipm", {}, bad), "nobody attacks");
  const base::TensorLayout wrong = {{"a", {2}}};
  bad = view;
  bad.layout = &wrong;
  refused(Sent("random_direction", {}, bad), "layout");
  bad = view;
  bad.victim = nullptr;
  refused(Sent("opt_ipm", {}, bad), "needs to know the rule");
}

TEST(Attacks, ErrorOfTheVictimRuleIsReturned) {
  const Victim picky = [](const Rows&, std::span<float>) {
    return base::InvalidArgument("not these");
  };
  const std::vector<float> own;
  const Matrix honest = {{1, 2}, {3, 4}};
  AttackView view = ViewOf(own, honest, 1);
  view.victim = &picky;
  EXPECT_EQ(base::MessageOf(Sent("opt_alie", {}, view).status()), "not these");
  EXPECT_EQ(base::MessageOf(Sent("rop", {}, view).status()), "not these");
}

}  // namespace
}  // namespace ostraka::aggregation::attacks_test
