// wrong_aggregate, near_tolerance, false_proof, false_accuse and spoilt_part: what they change in a
// result, and what they leave unchanged.
#include "sim/adversary/lying.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/sim/adversary/wrapped.h"

namespace ostraka::sim::lying_test {
namespace {

TEST(WrongAggregate, ShiftsEveryCoordinateAndKeepsTheRootConsistent) {
  Wrapped wrapped("wrong_aggregate", 1, {{"scale", "2"}});
  const protocol::AggregateResult truth{BlobOfFloats({3, -3, 3, 3})};
  protocol::AggregateSpec spec;
  spec.size = 4;
  wrapped.Enter(0);
  EXPECT_EQ(std::get<protocol::AggregateResult>(wrapped.RunInside(spec, truth)).result,
            truth.result);
  wrapped.Enter(1);
  const auto lie = std::get<protocol::AggregateResult>(wrapped.RunInside(spec, truth));
  EXPECT_EQ(FloatsOf(*lie.result), (std::vector<float>{9, 3, 9, 9}));
  EXPECT_EQ(lie.result->root, crypto::MerkleRootOfData(lie.result->data));
  EXPECT_EQ(wrapped.coven().deeds().at(wrapped.self()).count, 1U);
}

TEST(WrongAggregate, LeavesTheRootZeroWhereNothingIsHashed) {
  Wrapped wrapped("wrong_aggregate", 0);
  wrapped.Enter(0);
  protocol::AggregateSpec spec;
  spec.size = 2;
  spec.hash = false;
  const auto lie = std::get<protocol::AggregateResult>(
      wrapped.RunInside(spec, protocol::AggregateResult{BlobOfFloats({0, 0})}));
  EXPECT_EQ(FloatsOf(*lie.result), (std::vector<float>{1, 1}));
  EXPECT_TRUE(lie.result->root.is_zero());
}

TEST(NearTolerance, ShiftsByAMultipleOfTheSumChecksLimit) {
  Wrapped wrapped("near_tolerance", 0, {{"times", "2"}});
  wrapped.Enter(0);
  protocol::AggregateSpec spec;
  spec.size = 4;
  spec.eps = 0.5;
  const auto lie = std::get<protocol::AggregateResult>(
      wrapped.RunInside(spec, protocol::AggregateResult{BlobOfFloats({0, 0, 0, 0})}));
  EXPECT_EQ(FloatsOf(*lie.result), (std::vector<float>{4, 4, 4, 4})) << "2 x 8 eps / sqrt(4)";
}

TEST(FalseProof, TurnsSignsAndLeavesNorms) {
  Wrapped wrapped("false_proof", 0);
  wrapped.Enter(0);
  const protocol::ProveResult truth{{{false, {1, -2, 0, 4}, 5}, {true, {0, 0, 0, 0}, 0}}};
  const auto lie = std::get<protocol::ProveResult>(wrapped.RunInside(protocol::ProveSpec{}, truth));
  ASSERT_EQ(lie.columns.size(), 2U);
  EXPECT_EQ(lie.columns[0].s, (std::array<double, 4>{-1, 2, 0, -4}));
  EXPECT_EQ(lie.columns[0].norm, 5);
  EXPECT_TRUE(lie.columns[1].missing);
  EXPECT_EQ(wrapped.coven().deeds().size(), 1U);
}

TEST(FalseProof, WithoutAnySignToTurnIsNoMisdeed) {
  Wrapped wrapped("false_proof", 0);
  wrapped.Enter(0);
  wrapped.RunInside(protocol::ProveSpec{}, protocol::ProveResult{{{true, {}, 0}}});
  EXPECT_TRUE(wrapped.coven().deeds().empty());
}

TEST(SpoiltPart, GoesToOneHonestOwnerWithTheTruePartsNumbers) {
  Wrapped wrapped("spoilt_part", 1);
  protocol::PackResult truth;
  for (int i = 0; i < 6; ++i) truth.parts.push_back(BlobOfFloats({1, 2, 3}));
  const auto packed = [&] {
    return std::get<protocol::PackResult>(wrapped.RunInside(protocol::PackSpec{}, truth)).parts;
  };
  wrapped.Enter(0, true);
  EXPECT_EQ(packed(), truth.parts) << "honest before its step";
  wrapped.Enter(1, true);
  const std::vector<protocol::SharedBlob> parts = packed();
  std::size_t spoilt = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] == truth.parts[i]) continue;
    ++spoilt;
    EXPECT_GE(i, 2U) << "its own or its mate's";
    for (const float value : FloatsOf(*parts[i])) EXPECT_TRUE(std::isnan(value));
    EXPECT_EQ(parts[i]->data.size(), truth.parts[i]->data.size());
    EXPECT_EQ(parts[i]->root, crypto::MerkleRootOfData(parts[i]->data));
  }
  EXPECT_EQ(spoilt, 1U);
  protocol::ProveSpec prove;
  prove.parts = parts;
  const auto actions = wrapped.Say(
      {protocol::StartJob{9, std::make_shared<const protocol::JobSpec>(std::move(prove))}});
  ASSERT_EQ(actions.size(), 1U);
  EXPECT_EQ(std::get<protocol::ProveSpec>(*std::get<protocol::StartJob>(actions[0]).spec).parts,
            truth.parts);
  EXPECT_EQ(wrapped.coven().deeds().at(wrapped.self()).count, 1U);
}

TEST(SpoiltPart, MayBeShort) {
  Wrapped wrapped("spoilt_part", 0, {{"short", "1"}});
  wrapped.Enter(0, true);
  protocol::PackResult truth;
  for (int i = 0; i < 6; ++i) truth.parts.push_back(BlobOfFloats({1, 2, 3}));
  std::size_t floats = 0;
  const auto packed =
      std::get<protocol::PackResult>(wrapped.RunInside(protocol::PackSpec{}, truth));
  for (const auto& part : packed.parts) floats += FloatsOf(*part).size();
  EXPECT_EQ(floats, 17U);
}

TEST(FalseAccuse, AccusesTheHonestAndOnlyThem) {
  Wrapped wrapped("false_accuse", 0);
  wrapped.Enter(0);
  const auto judged = [&](const base::PeerId& target, const protocol::RecomputeResult& truth) {
    protocol::RecomputeSpec spec;
    spec.gradient.owner = target;
    return std::get<protocol::RecomputeResult>(wrapped.RunInside(spec, truth));
  };
  const protocol::RecomputeResult innocent;
  const protocol::RecomputeResult guilty{.accuse = true, .convict = true, .worst_ratio = 3};
  EXPECT_FALSE(judged(wrapped.mate(), innocent).accuse);
  EXPECT_FALSE(judged(wrapped.mate(), guilty).convict);
  EXPECT_EQ(judged(wrapped.member(4), guilty).worst_ratio, 3) << "true as it is";
  EXPECT_TRUE(wrapped.coven().deeds().empty());
  EXPECT_TRUE(judged(wrapped.member(4), innocent).accuse);
  EXPECT_TRUE(judged(wrapped.member(4), innocent).convict);
  EXPECT_EQ(wrapped.coven().deeds().at(wrapped.self()).count, 2U);
}

}  // namespace
}  // namespace ostraka::sim::lying_test
