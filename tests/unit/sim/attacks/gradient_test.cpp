#include "sim/attacks/results/gradient.h"

#include <gtest/gtest.h>

#include "node/protocol/ground/roles.h"
#include "tests/unit/sim/adversary/wrapped.h"

namespace ostraka::sim {
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
    EXPECT_FALSE(ipm.Spec(i).flip_labels);
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

TEST(LabelFlip, AsksItsOwnTrainerForFlippedLabels) {
  Wrapped wrapped("label_flip", 2);
  const auto started = [&](const base::PeerId& owner, std::uint64_t step) {
    wrapped.Enter(step);
    const auto actions = wrapped.Say({protocol::StartJob{
        step, std::make_shared<const protocol::JobSpec>(GradientOf(owner, step))}});
    return std::get<protocol::GradientSpec>(*std::get<protocol::StartJob>(actions.at(0)).spec);
  };
  EXPECT_FALSE(started(wrapped.self(), 1).flip_labels);
  EXPECT_FALSE(started(wrapped.member(3), 2).flip_labels);
  const protocol::GradientSpec flipped = started(wrapped.self(), 3);
  EXPECT_TRUE(flipped.flip_labels);
  EXPECT_EQ(flipped.owner, wrapped.self());
  EXPECT_EQ(wrapped.coven().deeds().at(wrapped.self()).count, 1U);
}

// Whole runs show the other colluders (tests/scenario).
TEST(Sybil, TheFirstOfTheCovenComputesItsOwnGradient) {
  Wrapped wrapped("sybil", 2);
  wrapped.Enter(3);
  const protocol::StartJob own{
      3, std::make_shared<const protocol::JobSpec>(GradientOf(wrapped.self(), 3))};
  EXPECT_EQ(std::get<protocol::StartJob>(wrapped.Say({own}).at(0)).spec, own.spec);
  EXPECT_TRUE(wrapped.coven().deeds().empty());
}

}  // namespace
}  // namespace ostraka::sim
