#include "sim/attacks/results/gradient.h"

#include <gtest/gtest.h>

#include <cmath>

#include "node/protocol/ground/roles.h"
#include "sim/attacks/results/other_work.h"
#include "tests/unit/sim/adversary/wrapped.h"

namespace ostraka::sim::gradient_test {
namespace {

protocol::GradientSpec GradientOf(const base::PeerId& owner, std::uint64_t step) {
  protocol::GradientSpec spec;
  spec.step = step;
  spec.owner = owner;
  spec.parameters = Floats({0, 0, 0, 0});
  return spec;
}
const std::vector<float> kTrue = {1, -2, 3, 4};

std::vector<float> SentInsteadOf(Wrapped& wrapped, const base::PeerId& owner, std::uint64_t step) {
  const auto result =
      wrapped.RunInside(GradientOf(owner, step), protocol::GradientResult{Floats(kTrue)});
  return *std::get<protocol::GradientResult>(result).gradient;
}

TEST(SignFlip, ReplacesTheOwnGradientFromItsStepOn) {
  Wrapped wrapped("sign_flip", 5, {{"lambda", "10"}});
  wrapped.Enter(4);
  EXPECT_EQ(SentInsteadOf(wrapped, wrapped.self(), 4), kTrue);
  EXPECT_TRUE(wrapped.coven().deeds().empty());
  wrapped.Enter(5);
  EXPECT_EQ(SentInsteadOf(wrapped, wrapped.self(), 5), (std::vector<float>{-10, 20, -30, -40}));
  EXPECT_EQ(wrapped.coven().deeds().at(wrapped.self()).count, 1U);
}

TEST(SignFlip, LeavesOtherResultsAlone) {
  Wrapped wrapped("sign_flip", 0);
  wrapped.Enter(0);
  EXPECT_EQ(SentInsteadOf(wrapped, wrapped.member(3), 0), kTrue) << "not its own";
  const auto failed = wrapped.RunInside(GradientOf(wrapped.self(), 0), protocol::JobFailed{"disk"});
  EXPECT_EQ(std::get<protocol::JobFailed>(failed).reason, "disk");
  EXPECT_TRUE(wrapped.coven().deeds().empty());
}

TEST(RandomDirection, IsOneFalseVectorForTheWholeCoven) {
  Wrapped one("random_direction", 0);
  Wrapped two("random_direction", 0);
  one.Enter(0);
  two.Enter(0);
  const auto sent = SentInsteadOf(one, one.self(), 0);
  EXPECT_EQ(sent, SentInsteadOf(two, two.self(), 0));
  EXPECT_NE(sent, kTrue);
}

// Drives an omniscient attack by hand: member i's gradient is (i, i, i, i).
class Omniscient {
 public:
  explicit Omniscient(std::string attack, AttackParams params)
      : wrapped(std::move(attack), 0, std::move(params)) {
    wrapped.Enter(0);
    wrapped.Say({protocol::StartJob{
        1, std::make_shared<const protocol::JobSpec>(GradientOf(wrapped.self(), 0))}});
    seen_before = wrapped.seen().size();
    const auto actions = wrapped.Step(protocol::JobDone{
        1, std::make_shared<const protocol::JobResult>(protocol::GradientResult{Floats(kTrue)})});
    for (const protocol::Action& action : actions) {
      spying.push_back(std::get<protocol::StartJob>(action));
    }
  }

  const protocol::GradientSpec& Spec(std::size_t i) const {
    return std::get<protocol::GradientSpec>(*spying[i].spec);
  }
  void Answer(std::size_t i, const protocol::JobResult& result) {
    wrapped.Step(
        protocol::JobDone{spying[i].id, std::make_shared<const protocol::JobResult>(result)});
  }
  bool Delivered() const { return wrapped.seen().size() > seen_before; }
  const std::vector<float>& Sent() const {
    const auto& done = std::get<protocol::JobDone>(wrapped.seen().back().input);
    EXPECT_EQ(done.id, 1U);
    return *std::get<protocol::GradientResult>(*done.result).gradient;
  }

  Wrapped wrapped;
  std::vector<protocol::StartJob> spying;
  std::size_t seen_before = 0;
};

protocol::JobResult Constant(float value) {
  return protocol::GradientResult{Floats(std::vector<float>(4, value))};
}

TEST(Omniscient, ComputesTheGradientOfEveryHonestWorkerFromPublicSeeds) {
  Omniscient ipm("ipm", {{"eps", "0.5"}});
  ASSERT_EQ(ipm.spying.size(), 4U) << "six workers, two of them colluders";
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_GE(ipm.spying[i].id, kFirstReservedJob);
    const base::PeerId& worker = ipm.wrapped.member(i + 2);
    EXPECT_EQ(ipm.Spec(i).owner, worker);
    base::Digest randomness;
    randomness.bytes.fill(3);
    EXPECT_EQ(ipm.Spec(i).batch_seed,
              protocol::BatchSeed(ipm.wrapped.manifest().run_id, "toy", randomness, 0, worker));
  }
}

TEST(Omniscient, WaitsForAllAndThenSendsTheFormula) {
  Omniscient ipm("ipm", {{"eps", "0.5"}});
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_FALSE(ipm.Delivered());
    ipm.Answer(3 - i, Constant(static_cast<float>(i + 1)));  // mean 2.5, in any order
  }
  ASSERT_TRUE(ipm.Delivered());
  EXPECT_EQ(ipm.Sent(), std::vector<float>(4, -1.25F));
  EXPECT_EQ(ipm.wrapped.coven().deeds().at(ipm.wrapped.self()).count, 1U);
}

TEST(Omniscient, GoesOnWithoutAFailedGradient) {
  Omniscient ipm("ipm", {{"eps", "1"}});
  ipm.Answer(0, protocol::JobFailed{"no memory"});
  for (std::size_t i = 1; i < 4; ++i) ipm.Answer(i, Constant(6));
  ASSERT_TRUE(ipm.Delivered());
  EXPECT_EQ(ipm.Sent(), std::vector<float>(4, -6.0F));
}

TEST(Omniscient, StaysHonestIfAllFailed) {
  Omniscient ipm("ipm", {});
  for (std::size_t i = 0; i < 4; ++i) ipm.Answer(i, protocol::JobFailed{"no memory"});
  ASSERT_TRUE(ipm.Delivered());
  EXPECT_EQ(ipm.Sent(), kTrue);
  EXPECT_TRUE(ipm.wrapped.coven().deeds().empty());
}

TEST(Omniscient, AlieShiftsTheHonestMeanByItsDeviations) {
  Omniscient alie("alie", {{"z", "2"}});
  for (std::size_t i = 0; i < 4; ++i) alie.Answer(i, Constant(i < 2 ? 1 : 5));
  ASSERT_TRUE(alie.Delivered());
  EXPECT_EQ(alie.Sent(), std::vector<float>(4, 3.0F - 2 * 2.0F));
}

// The trainer over flipped labels that an attacker brings along: it answers 9 for its own batch.
protocol::GradientFunction Flipped(std::vector<protocol::GradientSpec>& asked) {
  return [&asked](const protocol::GradientSpec& spec) -> base::StatusOr<std::vector<float>> {
    asked.push_back(spec);
    return std::vector<float>(spec.parameters->size(), 9.0F);
  };
}

TEST(AttacksOnWork, SendsTheGradientOfItsOwnTrainerFromItsStepOn) {
  std::vector<protocol::GradientSpec> asked;
  Wrapped wrapped("label_flip", 2, {}, Flipped(asked));
  wrapped.Enter(1);
  EXPECT_EQ(SentInsteadOf(wrapped, wrapped.self(), 1), kTrue);
  wrapped.Enter(2);
  EXPECT_EQ(SentInsteadOf(wrapped, wrapped.member(3), 2), kTrue) << "a job about another's batch";
  EXPECT_TRUE(asked.empty());
  EXPECT_EQ(SentInsteadOf(wrapped, wrapped.self(), 2), std::vector<float>(4, 9.0F));
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(asked[0].owner, wrapped.self());
  EXPECT_EQ(asked[0].step, 2U);
  EXPECT_EQ(wrapped.coven().deeds().at(wrapped.self()).count, 1U);
}

// What a driver runs, and may share with others, is the honest job: so no memo can mix the two.
TEST(AttacksOnWork, LeavesTheJobAsItIs) {
  std::vector<protocol::GradientSpec> asked;
  Wrapped wrapped("label_flip", 0, {}, Flipped(asked));
  wrapped.Enter(0);
  const auto spec = std::make_shared<const protocol::JobSpec>(GradientOf(wrapped.self(), 0));
  const auto actions = wrapped.Say({protocol::StartJob{1, spec}});
  EXPECT_EQ(std::get<protocol::StartJob>(actions.at(0)).spec, spec);
}

TEST(AttacksOnWork, IsTreatedAsAnyGradientIs) {
  Wrapped infinite("label_flip", 0, {}, [](const protocol::GradientSpec&) {
    return std::vector<float>{1, HUGE_VALF, 2, 3};
  });
  infinite.Enter(0);
  EXPECT_EQ(SentInsteadOf(infinite, infinite.self(), 0), (std::vector<float>{1, 0, 2, 3}));
  Wrapped failing("label_flip", 0, {}, [](const protocol::GradientSpec&) {
    return base::StatusOr<std::vector<float>>(base::Internal("no memory"));
  });
  failing.Enter(0);
  EXPECT_EQ(SentInsteadOf(failing, failing.self(), 0), kTrue) << "it is honest if it cannot attack";
  EXPECT_TRUE(failing.coven().deeds().empty());
}

TEST(AttacksOnWork, NeedsATrainerOfItsOwn) {
  EXPECT_TRUE(IsOnWork("label_flip"));
  EXPECT_TRUE(IsOnWork("ascent"));
  EXPECT_TRUE(IsOnWork("skip_inner"));
  EXPECT_FALSE(IsOnWork("sign_flip"));
  EXPECT_FALSE(IsOnWork("silent"));
  AdversaryOptions options;
  options.name = "label_flip";
  const auto made = MakeAdversary(std::move(options), std::make_unique<ScriptedMachine>());
  EXPECT_EQ(made.status().code(), absl::StatusCode::kFailedPrecondition);
}

// A trainer whose gradient is a function of the parameters and the seed's first byte.
class Sloped final : public train::Trainer {
 public:
  const base::TensorLayout& layout() const override { return layout_; }
  std::vector<float> InitialParameters(const base::Digest&) const override { return {0, 0}; }
  base::StatusOr<std::vector<float>> Gradient(std::span<const float> parameters,
                                              const base::Digest& seed) override {
    ++calls;
    return std::vector<float>{parameters[0] + 1, static_cast<float>(seed.bytes[0])};
  }
  base::StatusOr<train::Evaluation> Evaluate(std::span<const float>) override {
    return train::Evaluation();
  }
  int calls = 0;

 private:
  base::TensorLayout layout_ = {{"x", {2}}};
};

TEST(OtherWork, IsUphillOrOneStepShort) {
  Sloped trainer;
  const std::vector<float> at = {2, 3};
  base::Digest seed;
  seed.bytes[0] = 5;
  EXPECT_EQ(OtherWork("ascent", trainer, {at, seed})->values, (std::vector<float>{-3, -5}));
  EXPECT_EQ(OtherWork("skip_inner", trainer, {at, seed})->values, (std::vector<float>{3, 5}));
  const aggregation::LocalSteps steps = {.count = 4,
                                         .rate = 0.01,
                                         .warmup = 1,
                                         .clip_norm = 1,
                                         .beta1 = 0.9,
                                         .beta2 = 0.95,
                                         .epsilon = 1e-8};
  const std::vector<float> honest = train::WorkOf(trainer, {at, seed, 1, steps})->values;
  const std::vector<float> uphill = OtherWork("ascent", trainer, {at, seed, 1, steps})->values;
  EXPECT_GT(honest[0], 0);
  EXPECT_LT(uphill[0], 0);
  aggregation::LocalSteps fewer = steps;
  fewer.count = 3;
  trainer.calls = 0;
  EXPECT_EQ(OtherWork("skip_inner", trainer, {at, seed, 1, steps})->values,
            train::WorkOf(trainer, {at, seed, 1, fewer})->values);
  EXPECT_EQ(trainer.calls, 6);
}

TEST(FlippedLabels, AreTheOppositeClassAndTheOppositeOptimum) {
  std::vector<std::uint8_t> labels = {0, 3, 9};
  FlipLabels(labels, 10);
  EXPECT_EQ(labels, (std::vector<std::uint8_t>{9, 6, 0}));
  train::ToyProblem problem{{1, 0.5F}, {1, -0.5F}};
  FlipLabels(problem);
  EXPECT_EQ(problem.target, (std::vector<float>{-1, 0.5F}));
  EXPECT_EQ(problem.root_curvature, (std::vector<float>{1, 0.5F}));
}

// The others are seen in a whole run (tests/scenario).
TEST(Sybil, TheFirstOfTheCovenComputesItsOwnGradient) {
  Wrapped wrapped("sybil", 2);
  wrapped.Enter(3);
  const protocol::StartJob own{
      3, std::make_shared<const protocol::JobSpec>(GradientOf(wrapped.self(), 3))};
  EXPECT_EQ(std::get<protocol::StartJob>(wrapped.Say({own}).at(0)).spec, own.spec);
  EXPECT_TRUE(wrapped.coven().deeds().empty());
}

}  // namespace
}  // namespace ostraka::sim::gradient_test
