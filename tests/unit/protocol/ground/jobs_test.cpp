#include "node/protocol/ground/jobs.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "aggregation/optim/sgd.h"
#include "crypto/merkle.h"
#include "crypto/parameters_root.h"
#include "node/base/rng.h"
#include "node/protocol/ground/numbers.h"
#include "tests/unit/protocol/scene.h"
#include "tests/unit/protocol/states.h"

namespace ostraka::protocol::jobs_test {
namespace {

using scene::DigestOf;
using scene::PeerNumber;

SharedVector Vector(std::vector<float> values) {
  return std::make_shared<const std::vector<float>>(std::move(values));
}

SharedBlob BlobOf(const std::vector<float>& values) {
  const base::ByteView bytes = base::AsBytes(std::span(values));
  return crypto::MakeBlob({bytes.begin(), bytes.end()});
}

std::vector<float> RandomFloats(std::uint64_t seed, std::size_t count) {
  base::Rng rng(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(rng.Normal());
  return values;
}

base::StatusOr<std::vector<float>> NoGradient(const GradientSpec&) {
  ADD_FAILURE() << "this job needs no gradient";
  return base::Internal("none");
}

template <typename Result, typename Spec>
Result RunAs(const Spec& spec, const GradientFunction& gradients = NoGradient) {
  const JobResult result = RunJob(spec, gradients, aggregation::SerialExecutor());
  if (const auto* failed = std::get_if<JobFailed>(&result)) ADD_FAILURE() << failed->reason;
  return std::get<Result>(result);
}

std::string FailureOf(const JobSpec& spec, const GradientFunction& gradients = NoGradient) {
  const JobResult result = RunJob(spec, gradients, aggregation::SerialExecutor());
  const auto* failed = std::get_if<JobFailed>(&result);
  return failed == nullptr ? "" : failed->reason;
}

// --- gradients -----------------------------------------------------------------------------------

GradientSpec GradientSpecOf(std::size_t dimension) {
  return {4, PeerNumber(1), Vector(std::vector<float>(dimension, 0.5F)), DigestOf(3)};
}

TEST(GradientJobTest, ReturnsWhatTheTrainerComputed) {
  const auto result = RunAs<GradientResult>(
      GradientSpecOf(3), [](const GradientSpec& spec) -> base::StatusOr<std::vector<float>> {
        EXPECT_EQ(spec.batch_seed, DigestOf(3));
        return std::vector<float>{1, (*spec.parameters)[1], 3};
      });
  EXPECT_EQ(*result.gradient, (std::vector<float>{1, 0.5F, 3}));
}

TEST(GradientJobTest, NonFiniteValuesAreZeroByRule) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const auto result = RunAs<GradientResult>(
      GradientSpecOf(4), [](const GradientSpec&) -> base::StatusOr<std::vector<float>> {
        return std::vector<float>{kNan, 1, -kInf, kInf};
      });
  EXPECT_EQ(*result.gradient, (std::vector<float>{0, 1, 0, 0}));
}

TEST(GradientJobTest, FailsOnAWrongLengthOrAFailingTrainer) {
  for (const std::size_t length : {0u, 2u, 4u}) {
    EXPECT_NE(FailureOf(GradientSpecOf(3),
                        [length](const GradientSpec&) -> base::StatusOr<std::vector<float>> {
                          return std::vector<float>(length);
                        }),
              "");
  }
  EXPECT_EQ(FailureOf(GradientSpecOf(3),
                      [](const GradientSpec&) -> base::StatusOr<std::vector<float>> {
                        return base::Internal("out of memory");
                      }),
            "out of memory");
}

// --- pack, aggregate -----------------------------------------------------------------------------

TEST(PackJobTest, CutsAndHashes) {
  const PackSpec spec{Vector({1, 2, 3, 4, 5}), {{0, 2}, {2, 5}}, true};
  const auto packed = RunAs<PackResult>(spec);
  ASSERT_EQ(packed.parts.size(), 2u);
  EXPECT_EQ(packed.parts[0]->data, BlobOf({1, 2})->data);
  EXPECT_EQ(packed.parts[1]->data, BlobOf({3, 4, 5})->data);
  for (const SharedBlob& part : packed.parts) {
    EXPECT_EQ(part->root, crypto::MerkleRootOfData(part->data));
  }
}

TEST(PackJobTest, UnprotectedRunsHashNothing) {
  const auto packed = RunAs<PackResult>(PackSpec{Vector({1, 2}), {{0, 2}}, false});
  EXPECT_TRUE(packed.parts[0]->root.is_zero());
}

TEST(AggregateJobTest, ClipsOutliersWhereTheMeanDoesNot) {
  AggregateSpec spec;
  spec.size = 2;
  for (const float value : {1.0F, 1.0F, 1.0F, 1.0F, 1000.0F}) {
    spec.parts.push_back(BlobOf({value, -value}));
  }
  spec.tau = 0.01;
  spec.eps = 1e-6;
  const auto clipped = RunAs<AggregateResult>(spec).result;
  EXPECT_NEAR(Values(Codec::kRaw, *clipped, 2).span()[0], 1.0, 0.01);
  EXPECT_EQ(clipped->root, crypto::MerkleRootOfData(clipped->data));

  spec.clip = false;
  spec.hash = false;
  const auto mean = RunAs<AggregateResult>(spec).result;
  EXPECT_FLOAT_EQ(Values(Codec::kRaw, *mean, 2).span()[0], 1004.0F / 5);
  EXPECT_TRUE(mean->root.is_zero());
}

TEST(AggregateJobTest, FailsInOneLineOnBadOptions) {
  AggregateSpec spec;
  spec.parts = {BlobOf({1, 2})};
  spec.size = 2;
  spec.tau = 0;
  spec.eps = 1e-6;
  EXPECT_NE(FailureOf(spec), "");
}

// --- prove, V1 -----------------------------------------------------------------------------------

TEST(ProveJobTest, StatesTheNumbersOfEachColumnInOrder) {
  const auto first = RandomFloats(1, 6);
  const auto second = RandomFloats(2, 5);
  ProveSpec spec;
  spec.parts = {BlobOf(first), BlobOf(second)};
  spec.columns = {{0, {0, 6}, BlobOf(RandomFloats(3, 6)), DigestOf(1)},
                  {1, {6, 11}, nullptr, DigestOf(2)}};
  spec.tau = 1;
  const auto proof = RunAs<ProveResult>(spec);
  ASSERT_EQ(proof.columns.size(), 2u);
  EXPECT_TRUE(SameBits(proof.columns[0], NumbersOf(first, spec.columns[0], 1)));
  EXPECT_FALSE(proof.columns[0].missing);
  EXPECT_TRUE(proof.columns[1].missing);
}

TEST(CrossCheckJobTest, NamesExactlyThoseWhoLied) {
  CrossCheckSpec spec;
  spec.column = {2, {0, 40}, BlobOf(RandomFloats(9, 40)), DigestOf(5)};
  spec.tau = 0.5;
  for (std::uint32_t i = 0; i < 4; ++i) {
    const auto part = RandomFloats(i, 40);
    spec.claims.push_back({PeerNumber(i), BlobOf(part), NumbersOf(part, spec.column, 0.5)});
  }
  EXPECT_TRUE(RunAs<CrossCheckResult>(spec).liars.empty());
  auto& s = spec.claims[3].numbers.s[1];
  s = std::nextafter(s, 1.0);
  spec.claims[1].numbers.norm *= 2;
  EXPECT_EQ(RunAs<CrossCheckResult>(spec).liars,
            (std::vector<PeerId>{PeerNumber(1), PeerNumber(3)}));
}

// By no fault of the sender: a bit flipped in what this machine holds.
TEST(CrossCheckJobTest, WhoHoldsADamagedPartOrResultNamesNobody) {
  CrossCheckSpec spec;
  spec.column = {2, {0, 40}, BlobOf(RandomFloats(9, 40)), DigestOf(5)};
  spec.tau = 0.5;
  const auto part = RandomFloats(1, 40);
  const auto damaged = [](const SharedBlob& blob) {
    crypto::Blob copy = *blob;
    copy.data[13] ^= 4;
    return std::make_shared<const crypto::Blob>(std::move(copy));
  };
  spec.claims.push_back({PeerNumber(1), BlobOf(part), NumbersOf(part, spec.column, 0.5)});
  CrossCheckSpec of_part = spec;
  of_part.claims[0].part = damaged(spec.claims[0].part);
  EXPECT_TRUE(RunAs<CrossCheckResult>(of_part).liars.empty());
  CrossCheckSpec of_result = spec;
  of_result.column.result = damaged(spec.column.result);
  EXPECT_TRUE(RunAs<CrossCheckResult>(of_result).liars.empty());
}

// --- recomputation -------------------------------------------------------------------------------

class RecomputeJobTest : public testing::Test {
 protected:
  static constexpr std::size_t kDimension = 200;
  static constexpr double kTau = 1e9;  // nothing is clipped: numbers are linear in the gradient

  RecomputeJobTest() : gradient_(RandomFloats(1, kDimension)) {
    spec_.gradient = GradientSpecOf(kDimension);
    spec_.tau = kTau;
    spec_.eps_g = 1e-12;  // eps_g tau = 1e-3
    for (const PartRange& range : CutParts(kDimension, 2)) {
      const auto index = static_cast<std::uint32_t>(spec_.claims.size());
      const Column column{index, range, BlobOf(RandomFloats(7 + index, range.size())),
                          DigestOf(index)};
      const auto part = std::span(gradient_).subspan(range.begin, range.size());
      spec_.claims.push_back({column, NumbersOf(part, column, kTau)});
    }
  }

  RecomputeResult Recompute() {
    return RunAs<RecomputeResult>(
        spec_, [this](const GradientSpec& spec) -> base::StatusOr<std::vector<float>> {
          EXPECT_EQ(spec.batch_seed, spec_.gradient.batch_seed);
          return gradient_;
        });
  }

  std::vector<float> gradient_;
  RecomputeSpec spec_;
};

TEST_F(RecomputeJobTest, AnHonestClaimDoesNotDeviate) {
  const RecomputeResult result = Recompute();
  EXPECT_EQ(result.worst_ratio, 0);
  EXPECT_FALSE(result.accuse);
  EXPECT_FALSE(result.convict);
}

// Accuse above the threshold, convict above half of it, both strictly.
TEST_F(RecomputeJobTest, ThresholdsAreStrictAndConvictionNeedsHalf) {
  struct Row {
    double shift;  // of the norm, in units of eps_g tau
    bool accuse, convict;
  };
  const double honest = spec_.claims[1].numbers.norm;
  for (const Row& row : {Row{0.49, false, false}, Row{0.51, false, true}, Row{0.99, false, true},
                         Row{1.01, true, true}}) {
    spec_.claims[1].numbers.norm = honest + row.shift * 1e-3;
    const RecomputeResult result = Recompute();
    EXPECT_NEAR(result.worst_ratio, row.shift, 1e-6);
    EXPECT_EQ(result.accuse, row.accuse) << row.shift;
    EXPECT_EQ(result.convict, row.convict) << row.shift;
  }
}

// Powers of two, so that the ratio is exactly 1 and exactly 1/2.
TEST_F(RecomputeJobTest, ExactlyAtTheThresholdIsNotBeyondIt) {
  gradient_.assign(kDimension, 0.0F);
  spec_.tau = 1;
  spec_.eps_g = 0x1p-10;
  for (auto& claim : spec_.claims) {
    claim.column.result = BlobOf(std::vector<float>(claim.column.range.size(), 0.0F));
    claim.numbers = {};
  }
  spec_.claims[0].numbers.norm = 0x1p-10;
  RecomputeResult result = Recompute();
  EXPECT_EQ(result.worst_ratio, 1.0);
  EXPECT_FALSE(result.accuse);
  EXPECT_TRUE(result.convict);
  spec_.claims[0].numbers.norm = 0x1p-11;
  result = Recompute();
  EXPECT_EQ(result.worst_ratio, 0.5);
  EXPECT_FALSE(result.convict);
}

TEST_F(RecomputeJobTest, ANanAccuses) {
  spec_.claims[0].numbers.s[3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(Recompute().accuse);
}

TEST_F(RecomputeJobTest, AnotherGradientAccuses) {
  for (float& value : gradient_) value = -value;
  EXPECT_TRUE(Recompute().accuse);
}

// In profile exact/1 the target's COMMIT names a root over every bit of its gradient.
class ExactRecomputeTest : public RecomputeJobTest {
 protected:
  ExactRecomputeTest() {
    spec_.eps_g = 0;
    Commit(gradient_);
  }
  // As a worker does that sends `gradient`.
  void Commit(const std::vector<float>& gradient) {
    std::vector<Digest> roots;
    for (auto& claim : spec_.claims) {
      const auto& range = claim.column.range;
      const auto part = std::span(gradient).subspan(range.begin, range.size());
      roots.push_back(BlobOf({part.begin(), part.end()})->root);
      claim.numbers = NumbersOf(part, claim.column, kTau);
    }
    spec_.committed = {crypto::MerkleRoot(roots),
                       crypto::ParametersRoot(*spec_.gradient.parameters)};
    for (const auto& claim : spec_.claims) spec_.committed->parts.push_back(claim.column.range);
  }
  void ExpectGuilty(bool guilty) {
    const RecomputeResult result = Recompute();
    EXPECT_EQ(result.accuse, guilty);
    EXPECT_EQ(result.convict, guilty);
    EXPECT_EQ(result.worst_ratio > 0, guilty);
  }
};

TEST_F(ExactRecomputeTest, AnHonestGradientIsInnocent) { ExpectGuilty(false); }

TEST_F(ExactRecomputeTest, OneFlippedBitAnywhereIsGuilty) {
  for (const std::size_t at : {std::size_t{0}, std::size_t{77}, kDimension - 1}) {
    for (const std::uint32_t bit : {0U, 13U, 31U}) {
      std::vector<float> lie = gradient_;
      lie[at] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(lie[at]) ^ (1U << bit));
      Commit(lie);
      ExpectGuilty(true);
    }
  }
}

// A number so small that no sum of the part shows its lowest bit.
TEST_F(ExactRecomputeTest, ABitThatNoNumberShowsIsGuilty) {
  gradient_[5] = 0x1p-120F;
  Commit(gradient_);
  ExpectGuilty(false);
  std::vector<float> lie = gradient_;
  lie[5] = 0x1.000002p-120F;
  const std::vector<RecomputeSpec::Claim> honest = spec_.claims;
  Commit(lie);
  ASSERT_EQ(spec_.claims[0].numbers.size, honest[0].numbers.size);
  ExpectGuilty(true);
}

// The target has other parameters than this machine, and computed from those: its root says so.
TEST_F(ExactRecomputeTest, GradientsAtOtherParametersAreNotJudged) {
  for (float& value : gradient_) value = -value;
  spec_.committed->parameters_root = DigestOf(1);
  const RecomputeResult result = Recompute();
  EXPECT_TRUE(result.unsure);
  EXPECT_FALSE(result.accuse);
  EXPECT_FALSE(result.convict);
}

// A bit of the first computation is wrong, by no fault of the target.
TEST_F(ExactRecomputeTest, WhoComputesDifferentlyTheSecondTimeAccusesNobody) {
  std::vector<float> slip = gradient_;
  slip[50] = std::nextafter(slip[50], 1e9F);
  int computed = 0;
  const auto slipping = [&](const GradientSpec& spec) -> base::StatusOr<std::vector<float>> {
    EXPECT_EQ(spec.again, computed > 0);
    return computed++ == 0 ? slip : gradient_;
  };
  const auto result = RunAs<RecomputeResult>(spec_, slipping);
  EXPECT_TRUE(result.unsure);
  EXPECT_FALSE(result.accuse);
  EXPECT_FALSE(result.convict);
  EXPECT_EQ(computed, 2);
}

TEST_F(ExactRecomputeTest, ATrueGradientIsComputedOnce) {
  int computed = 0;
  const auto counting = [&](const GradientSpec&) -> base::StatusOr<std::vector<float>> {
    ++computed;
    return gradient_;
  };
  EXPECT_FALSE(RunAs<RecomputeResult>(spec_, counting).unsure);
  EXPECT_EQ(computed, 1);
}

// What is asked of the target's other steps, where its PROOF may not be sealed.
TEST_F(ExactRecomputeTest, WithoutStatedNumbersTheGradientAloneCounts) {
  spec_.claims.clear();
  ExpectGuilty(false);
  spec_.committed->gradient_root = DigestOf(1);
  ExpectGuilty(true);
  EXPECT_TRUE(Recompute().false_gradient);
}

// Evidence can be made of a false gradient only.
TEST_F(ExactRecomputeTest, FalseNumbersOfATrueGradientAreToldFromAFalseOne) {
  spec_.claims[0].numbers.norm = std::nextafter(spec_.claims[0].numbers.norm, 1e9);
  ExpectGuilty(true);
  EXPECT_FALSE(Recompute().false_gradient);
  std::vector<float> lie = gradient_;
  lie[3] += 1;
  Commit(lie);
  EXPECT_TRUE(Recompute().false_gradient);
}

// By no fault of the target: its numbers are held against a result of which a bit has flipped here.
TEST_F(ExactRecomputeTest, WhoHoldsADamagedResultAccusesNobody) {
  const SharedBlob& sealed = spec_.claims[1].column.result;
  crypto::Blob damaged = *sealed;
  damaged.data[9] ^= 1;
  const auto held = std::make_shared<const crypto::Blob>(std::move(damaged));
  spec_.claims[1].column.result = held;
  const RecomputeResult result = Recompute();
  EXPECT_TRUE(result.unsure);
  EXPECT_FALSE(result.accuse);
  EXPECT_FALSE(result.convict);
}

TEST_F(ExactRecomputeTest, VoidColumnsAreJudgedByTheRootAndTheSize) {
  std::vector<float> lie = gradient_;
  lie[3] += 1;
  Commit(lie);
  for (auto& claim : spec_.claims) claim.column.result = nullptr;
  ExpectGuilty(true);
  Commit(gradient_);
  ExpectGuilty(false);
  spec_.claims[1].numbers.size = std::nextafter(spec_.claims[1].numbers.size, 1e9);
  ExpectGuilty(true);
}

TEST_F(ExactRecomputeTest, TrueNumbersOfAnotherCommitmentAreGuilty) {
  const auto honest = spec_.committed;
  std::vector<float> lie = gradient_;
  lie[3] += 1;
  Commit(lie);
  spec_.committed = honest;  // committed to the truth, proved a lie
  ExpectGuilty(true);
}

TEST_F(RecomputeJobTest, FailsWithTheTrainer) {
  EXPECT_EQ(FailureOf(spec_,
                      [](const GradientSpec&) -> base::StatusOr<std::vector<float>> {
                        return base::Internal("no data");
                      }),
            "no data");
}

// --- update, root --------------------------------------------------------------------------------

TEST(UpdateJobTest, MovesAppliedCoordinatesOnly) {
  UpdateSpec spec;
  spec.state = SgdState(Vector({1, 1, 1, 1}), Vector({2, 2, 2, 2}));
  spec.columns = {{{1, 3}, BlobOf({4, 8})}};
  spec.step = {.rate = 0.5F, .momentum = 0.25F};
  const ModelState state = RunAs<UpdateResult>(spec).state;
  // v' = 0.25 * 2 + g; x' = 1 - 0.5 v'.
  EXPECT_EQ(*VelocityOf(state), (std::vector<float>{2, 4.5F, 8.5F, 2}));
  EXPECT_EQ(*state.parameters, (std::vector<float>{1, -1.25F, -3.25F, 1}));
  EXPECT_EQ(*spec.state.parameters, (std::vector<float>{1, 1, 1, 1})) << "the old state was moved";
}

TEST(UpdateJobTest, ClipsByTheNormOverAllAppliedColumns) {
  UpdateSpec spec;
  spec.state = SgdState(Vector({1, 1, 1, 1}), Vector({0, 0, 0, 0}));
  spec.columns = {{{0, 1}, BlobOf({3})}, {{2, 4}, BlobOf({0, 4})}};
  spec.step = {.rate = 1, .clip_norm = 2.5};  // the norm is 5
  const ModelState state = RunAs<UpdateResult>(spec).state;
  EXPECT_EQ(*VelocityOf(state), (std::vector<float>{1.5F, 0, 0, 2}));
  EXPECT_EQ(*state.parameters, (std::vector<float>{-0.5F, 1, 1, -1}));
  spec.step.clip_norm = 5;
  EXPECT_EQ(*VelocityOf(RunAs<UpdateResult>(spec).state), (std::vector<float>{3, 0, 0, 4}));
}

TEST(UpdateJobTest, OfAdamWLeavesBothMomentsOfVoidColumns) {
  UpdateSpec spec;
  spec.state = {Vector({1, 1, 1}),
                {{"first_moment", Vector({2, 2, 2})}, {"second_moment", Vector({4, 4, 4})}}};
  spec.columns = {{{1, 2}, BlobOf({1})}};
  spec.step = {.optimizer = aggregation::Optimizer::kAdamW,
               .rate = 0.5F,
               .decay = 0.5F,
               .clip_norm = 1,
               .beta1 = 0.5,
               .beta2 = 0.75,
               .epsilon = 1e-8,
               .updates = 1};
  const ModelState state = RunAs<UpdateResult>(spec).state;
  EXPECT_EQ(SlotNamesOf(state), (SlotNames{"first_moment", "second_moment"}));
  EXPECT_EQ(*state.slots[0].values, (std::vector<float>{2, 1.5F, 2}));
  EXPECT_EQ(*state.slots[1].values, (std::vector<float>{4, 3.25F, 4}));
  EXPECT_EQ(state.parameters->at(0), 1.0F);
  EXPECT_EQ(state.parameters->at(2), 1.0F);
  // m / (1 - 0.5) = 3, v / (1 - 0.75) = 13.
  EXPECT_NEAR(state.parameters->at(1), 1 - 0.5 * (3 / std::sqrt(13.0) + 0.5), 1e-6);
}

TEST(UpdateJobTest, OfLambMovesEachTensorByItsAppliedLength) {
  UpdateSpec spec;
  spec.state = {Vector({4, 1, 3}),
                {{"first_moment", Vector({0, 0, 0})}, {"second_moment", Vector({0, 0, 0})}}};
  spec.layout = {{"a", {2}}, {"b", {1}}};
  spec.columns = {{{0, 1}, BlobOf({2})}, {{2, 3}, BlobOf({-5})}};
  spec.step = {.optimizer = aggregation::Optimizer::kLamb,
               .rate = 0.25F,
               .clip_norm = 1e6,
               .beta1 = 0.5,
               .beta2 = 0.75,
               .epsilon = 1e-8,
               .updates = 1};
  const ModelState state = RunAs<UpdateResult>(spec).state;
  EXPECT_FLOAT_EQ(state.parameters->at(0), 3);  // 4 - 0.25 * 4
  EXPECT_EQ(state.parameters->at(1), 1.0F);
  EXPECT_FLOAT_EQ(state.parameters->at(2), 3.75F);
}

TEST(UpdateJobTest, WithoutColumnsNothingMoves) {
  const ModelState state = SgdState(Vector({1, 2}), Vector({3, 4}));
  const auto after = RunAs<UpdateResult>(UpdateSpec{state, {}, {}, {.rate = 1, .momentum = 0.5F}});
  EXPECT_EQ(*after.state.parameters, *state.parameters);
  EXPECT_EQ(*VelocityOf(after.state), *VelocityOf(state));
}

TEST(RootJobTest, IsTheStateRoot) {
  const ModelState state = SgdState(Vector({1, 2}), Vector({3, 4}));
  const base::TensorLayout layout = {{"w", {2}}};
  EXPECT_EQ(RunAs<RootResult>(RootSpec{state, layout}).root, StateRoot(state, layout));
}

TEST(ParametersRootJobTest, IsTheRootOfEachBitOfTheParametersAlone) {
  const auto root = [](std::vector<float> values) {
    return RunAs<ParametersRootResult>(
               ParametersRootSpec{std::make_shared<const std::vector<float>>(std::move(values))})
        .root;
  };
  EXPECT_EQ(root({1, 2}), crypto::ParametersRoot(std::vector<float>{1, 2}));
  EXPECT_NE(root({1, 2}), root({2, 1}));
  EXPECT_NE(root({0.0F}), root({-0.0F}));
  EXPECT_NE(root({1}), root({1, 0}));
}

TEST(NeedsGradientTest, IsTrueOfGradientAndRecomputationOnly) {
  EXPECT_TRUE(NeedsGradient(GradientSpec{}));
  EXPECT_TRUE(NeedsGradient(RecomputeSpec{}));
  for (const JobSpec& spec : {JobSpec(PackSpec{}), JobSpec(AggregateSpec{}), JobSpec(ProveSpec{}),
                              JobSpec(CrossCheckSpec{}), JobSpec(UpdateSpec{}), JobSpec(RootSpec{}),
                              JobSpec(ParametersRootSpec{})}) {
    EXPECT_FALSE(NeedsGradient(spec)) << spec.index();
  }
}

}  // namespace
}  // namespace ostraka::protocol::jobs_test
