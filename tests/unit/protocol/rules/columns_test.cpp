// One test for each way to void a column, each by the least change to one honest sealed step.
#include "node/protocol/rules/columns.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "node/protocol/ground/numbers.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::columns_test {
namespace {

using scene::DigestOf;
using scene::HonestStep;
using scene::MakeHonestStep;
using scene::PeerNumber;
using scene::PeersUpTo;

constexpr std::size_t kColumn = 2;  // the one that each test changes

// The fate of kColumn, after a check that every other column is still applied.
ColumnFate FateOf(const HonestStep& step) {
  const std::vector<ColumnFate> fates = step.Fates();
  EXPECT_EQ(fates.size(), step.sealed.roles.parts.size());
  for (std::size_t j = 0; j < fates.size(); ++j) {
    if (j != kColumn) {
      EXPECT_EQ(fates[j], ColumnFate::kApplied) << j;
    }
  }
  return fates[kColumn];
}

TEST(ColumnTest, AnHonestStepIsApplied) {
  EXPECT_EQ(FateOf(MakeHonestStep()), ColumnFate::kApplied);
  EXPECT_EQ(FateOf(MakeHonestStep({.n = 3})), ColumnFate::kApplied);
  EXPECT_EQ(FateOf(MakeHonestStep({.n = 16, .dimension = 5000, .tau = 0.1})), ColumnFate::kApplied);
}

// --- no aggregate --------------------------------------------------------------------------------

TEST(ColumnTest, NoAggregateVoids) {
  HonestStep step = MakeHonestStep();
  step.sealed.aggregates[kColumn].reset();
  EXPECT_EQ(FateOf(step), ColumnFate::kNoAggregate);
}

TEST(ColumnTest, AnAggregateWithoutAResultVoids) {
  HonestStep step = MakeHonestStep();
  step.AggregateOf(kColumn).result_root = {};
  EXPECT_FALSE(step.sealed.GivesResult(kColumn));
  EXPECT_EQ(FateOf(step), ColumnFate::kNoAggregate);
}

TEST(ColumnTest, AnAggregateOfAnotherPartVoids) {
  HonestStep step = MakeHonestStep();
  step.AggregateOf(kColumn).part_index = 3;
  EXPECT_EQ(FateOf(step), ColumnFate::kNoAggregate);
}

// --- senders -------------------------------------------------------------------------------------

TEST(ColumnTest, ABitBeyondTheViewVoids) {
  // Seven members: bit 7 of the only byte is nobody's.
  HonestStep step = MakeHonestStep({.n = 7});
  step.AggregateOf(kColumn).included[0] |= 0x80;
  EXPECT_EQ(FateOf(step), ColumnFate::kBadSenders);
}

TEST(ColumnTest, ABitmapOfAnotherLengthVoids) {
  for (const std::size_t length : {0u, 2u}) {
    HonestStep step = MakeHonestStep();
    step.AggregateOf(kColumn).included.resize(length);
    EXPECT_EQ(FateOf(step), ColumnFate::kBadSenders);
  }
}

TEST(ColumnTest, ASenderWithoutASealedCommitVoids) {
  HonestStep step = MakeHonestStep();
  // Every other column leaves the absent one out; only this one names it.
  const PeerId absent = step.sealed.roles.workers[4];
  std::vector<PeerId> others = step.sealed.roles.workers;
  std::erase(others, absent);
  for (std::size_t j = 0; j < step.sealed.aggregates.size(); ++j) {
    if (j != kColumn) step.SetSenders(j, others);
  }
  step.sealed.commit_digests.erase(absent);
  std::vector<ColumnFate> fates = JudgeWithoutAggregates(step.sealed, step.head);
  EXPECT_EQ(fates[kColumn], ColumnFate::kBadSenders);
  for (std::size_t j = 0; j < fates.size(); ++j) {
    if (j != kColumn) {
      EXPECT_EQ(fates[j], ColumnFate::kApplied) << j;
    }
  }
}

TEST(ColumnTest, ASenderWithoutTheRoleOfAWorkerVoids) {
  const PeerId validator = PeerNumber(5);
  HonestStep step = MakeHonestStep({.drawn = {{validator, PeerNumber(6), 3}}});
  ASSERT_FALSE(step.sealed.roles.IsWorker(validator));
  ASSERT_EQ(FateOf(step), ColumnFate::kApplied);
  step.SetSenders(kColumn, PeersUpTo(8));
  EXPECT_EQ(FateOf(step), ColumnFate::kBadSenders);
}

TEST(ColumnTest, AWrongRootOfTheCommitsVoids) {
  HonestStep step = MakeHonestStep();
  step.AggregateOf(kColumn).commits_root = DigestOf(1);
  EXPECT_EQ(FateOf(step), ColumnFate::kBadSenders);
}

TEST(ColumnTest, ACommitOtherThanTheSealedOneVoids) {
  HonestStep step = MakeHonestStep();
  // The aggregator took a part under a COMMIT that is not the one that seal A fixed.
  const PeerId& worker = step.sealed.roles.workers[1];
  const Digest sealed = step.sealed.commit_digests[worker];
  step.sealed.commit_digests[worker] = DigestOf(1);
  step.SetSenders(kColumn, step.sealed.roles.workers);
  step.sealed.commit_digests[worker] = sealed;
  EXPECT_EQ(FateOf(step), ColumnFate::kBadSenders);
}

// --- how many ------------------------------------------------------------------------------------

class SenderCountTest : public testing::TestWithParam<std::uint32_t> {};

// A column of 2b senders could be b liars and b honest; 2b + 1 has an honest majority.
TEST_P(SenderCountTest, TwoBAreTooFewAndOneMoreIsEnough) {
  HonestStep step = MakeHonestStep({.n = GetParam()});
  const std::uint32_t b = FaultsAmongWorkers(step.head, 0);
  ASSERT_GT(b, 0u);
  std::vector<PeerId> senders = step.sealed.roles.workers;
  senders.resize(2 * b + 1);
  step.SetSenders(kColumn, senders);
  EXPECT_EQ(JudgeWithoutAggregates(step.sealed, step.head)[kColumn], ColumnFate::kApplied);
  senders.pop_back();
  step.SetSenders(kColumn, senders);
  EXPECT_EQ(FateOf(step), ColumnFate::kTooFewSenders);
}
INSTANTIATE_TEST_SUITE_P(Views, SenderCountTest, testing::Values(4, 5, 8, 9, 16));

TEST(ColumnTest, AKnownFaultLowersTheNumberAsked) {
  HonestStep step = MakeHonestStep();  // t_s = 3: 7 senders are asked
  std::vector<PeerId> senders = step.sealed.roles.workers;
  senders.resize(5);
  step.SetSenders(kColumn, senders);
  EXPECT_EQ(FateOf(step), ColumnFate::kTooFewSenders);
  std::vector<PeerId> outside = step.sealed.roles.workers;
  outside.erase(outside.begin(), outside.begin() + 5);
  step.sealed.faulty_in_a = {outside[0]};  // b = 2
  EXPECT_EQ(JudgeWithoutAggregates(step.sealed, step.head)[kColumn], ColumnFate::kApplied);
}

// Whoever sends its part and withholds its AGG is at fault, and among the senders all the same:
// were it taken off b, three liars of five would have a majority.
TEST(ColumnTest, AKnownFaultAmongTheSendersLowersNothing) {
  HonestStep step = MakeHonestStep();
  std::vector<PeerId> senders = step.sealed.roles.workers;
  senders.resize(5);
  step.SetSenders(kColumn, senders);
  step.sealed.faulty_in_a = {senders[4]};
  EXPECT_EQ(FateOf(step), ColumnFate::kTooFewSenders);
}

TEST(ColumnTest, AQuarantinedPairLowersTheNumberAsked) {
  HonestStep step = MakeHonestStep({.cases = {scene::GradientCase(0, 7, 2, 3)}});
  ASSERT_EQ(step.sealed.roles.workers.size(), 6u);  // b = 2: 5 are asked
  std::vector<PeerId> senders = step.sealed.roles.workers;
  senders.resize(5);
  step.SetSenders(kColumn, senders);
  EXPECT_EQ(JudgeWithoutAggregates(step.sealed, step.head)[kColumn], ColumnFate::kApplied);
  senders.resize(4);
  step.SetSenders(kColumn, senders);
  EXPECT_EQ(JudgeWithoutAggregates(step.sealed, step.head)[kColumn], ColumnFate::kTooFewSenders);
}

TEST(ColumnTest, KnownFaultsNeverLowerItBelowTheAsynchronousBound) {
  HonestStep step = MakeHonestStep();
  std::vector<PeerId> senders = step.sealed.roles.workers;
  step.sealed.faulty_in_a = {senders.begin() + 2, senders.end()};  // b = t_a = 1
  senders.resize(2);
  step.SetSenders(kColumn, senders);
  EXPECT_EQ(FateOf(step), ColumnFate::kTooFewSenders);
}

// --- numbers -------------------------------------------------------------------------------------

TEST(ColumnTest, ASenderWithoutAProofVoids) {
  HonestStep step = MakeHonestStep();
  const PeerId worker = step.sealed.roles.workers[3];
  std::vector<PeerId> others = step.sealed.roles.workers;
  std::erase(others, worker);
  for (std::size_t j = 0; j < step.sealed.aggregates.size(); ++j) {
    if (j != kColumn) step.SetSenders(j, others);
  }
  step.sealed.proofs.erase(worker);
  EXPECT_EQ(JudgeWithoutAggregates(step.sealed, step.head)[kColumn], ColumnFate::kMissingNumbers);
}

TEST(ColumnTest, ASenderThatStatesMissingVoids) {
  HonestStep step = MakeHonestStep();
  step.ProofOf(step.sealed.roles.workers[3]).columns[kColumn] = {
      .missing = true, .s = {}, .norm = 0};
  EXPECT_EQ(FateOf(step), ColumnFate::kMissingNumbers);
}

TEST(ColumnTest, AProofOfAnotherNumberOfColumnsCountsAsNone) {
  for (const int change : {-1, +1}) {
    HonestStep step = MakeHonestStep();
    auto& columns = step.ProofOf(step.sealed.roles.workers[3]).columns;
    columns.resize(columns.size() + static_cast<std::size_t>(change));
    for (const ColumnFate fate : step.Fates()) EXPECT_EQ(fate, ColumnFate::kMissingNumbers);
  }
}

TEST(ColumnTest, AProofOfAPeerThatIsNoSenderDoesNotMatter) {
  HonestStep step = MakeHonestStep({.n = 9});  // t_s = 3: 7 of 9 are asked
  const PeerId worker = step.sealed.roles.workers[3];
  std::vector<PeerId> others = step.sealed.roles.workers;
  std::erase(others, worker);
  step.SetSenders(kColumn, others);
  step.ProofOf(worker).columns[kColumn].missing = true;
  EXPECT_EQ(JudgeWithoutAggregates(step.sealed, step.head)[kColumn], ColumnFate::kApplied);
}

// Numbers that no honest peer can state are evidence, and an applied column rests on none of them:
// a NaN among the norms would go into the next step's tau, and from there into every aggregation.
TEST(ColumnTest, ImpossibleNumbersVoid) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  for (const double bad : {kNan, kInf, -1.0}) {
    HonestStep step = MakeHonestStep();
    step.ProofOf(step.sealed.roles.workers[3]).columns[kColumn].norm = bad;
    EXPECT_NE(FateOf(step), ColumnFate::kApplied) << bad;
  }
}

// --- V2 ------------------------------------------------------------------------------------------

TEST(ColumnTest, V2VoidsWhenTheNumbersDoNotSumToZero) {
  for (std::size_t k = 0; k < wire::kDirections; ++k) {
    HonestStep step = MakeHonestStep();
    step.ProofOf(step.sealed.roles.workers[3]).columns[kColumn].s[k] += 0.01;
    EXPECT_EQ(FateOf(step), ColumnFate::kSumCheck) << k;
  }
}

TEST(ColumnTest, V2ComparesTheSumWithTheToleranceOfTheProtocol) {
  const HonestStep honest = MakeHonestStep();
  const double tolerance = SumTolerance(8, honest.manifest.eps, honest.results[kColumn],
                                        honest.sealed.roles.parts[kColumn].size());
  for (const double sign : {-1.0, 1.0}) {
    for (std::size_t k = 0; k < wire::kDirections; ++k) {
      HonestStep step = honest;
      double sum = 0;
      for (const auto& [worker, proof] : step.sealed.proofs) sum += proof.columns[kColumn].s[k];
      double& s = step.ProofOf(step.sealed.roles.workers[0]).columns[kColumn].s[k];
      const double before = s;
      s = before - sum + sign * 0.999 * tolerance;
      EXPECT_EQ(FateOf(step), ColumnFate::kApplied);
      s = before - sum + sign * 1.001 * tolerance;
      EXPECT_EQ(FateOf(step), ColumnFate::kSumCheck);
    }
  }
}

TEST(ColumnTest, V2TakesANanForAFailure) {
  HonestStep step = MakeHonestStep();
  std::vector<ColumnFate> fates(step.sealed.roles.parts.size(), ColumnFate::kApplied);
  step.ProofOf(step.sealed.roles.workers[3]).columns[kColumn].s[0] =
      std::numeric_limits<double>::quiet_NaN();
  JudgeAggregates(step.sealed, step.head, step.manifest, step.results, fates);
  EXPECT_EQ(fates[kColumn], ColumnFate::kSumCheck);
}

TEST(ColumnTest, V2LeavesVoidColumnsAsTheyAre) {
  HonestStep step = MakeHonestStep();
  step.ProofOf(step.sealed.roles.workers[3]).columns[kColumn].s[0] += 1;
  std::vector<ColumnFate> fates = JudgeWithoutAggregates(step.sealed, step.head);
  fates[kColumn] = ColumnFate::kNormCheck;
  JudgeAggregates(step.sealed, step.head, step.manifest, step.results, fates);
  EXPECT_EQ(fates[kColumn], ColumnFate::kNormCheck);
}

TEST(ColumnTest, WithoutClippingThereIsNoSumToCheck) {
  HonestStep step = MakeHonestStep();
  step.manifest.clip = false;
  step.ProofOf(step.sealed.roles.workers[3]).columns[kColumn].s[0] += 0.01;
  EXPECT_EQ(FateOf(step), ColumnFate::kApplied);
}

// --- V3 ------------------------------------------------------------------------------------------

TEST(ColumnTest, V3VoidsWhenMoreThanHalfOfTheNormsAreTooLarge) {
  HonestStep step = MakeHonestStep();
  step.manifest.delta_max = 1e6;
  ASSERT_EQ(FateOf(step), ColumnFate::kApplied);
  const auto& workers = step.sealed.roles.workers;
  ASSERT_EQ(workers.size(), 8u);
  for (std::size_t i = 0; i < 8; ++i) {
    step.ProofOf(workers[i]).columns[kColumn].norm = 1e6 + 1;
    EXPECT_EQ(FateOf(step), i + 1 > 4 ? ColumnFate::kNormCheck : ColumnFate::kApplied) << i;
  }
  for (const PeerId& worker : workers) step.ProofOf(worker).columns[kColumn].norm = 1e6;
  EXPECT_EQ(FateOf(step), ColumnFate::kApplied) << "exactly at the bound";
}

TEST(ColumnTest, V3IsOffByDefault) {
  HonestStep step = MakeHonestStep();
  ASSERT_EQ(step.manifest.delta_max, 0);
  for (const PeerId& worker : step.sealed.roles.workers) {
    step.ProofOf(worker).columns[kColumn].norm = 1e30;
  }
  EXPECT_EQ(FateOf(step), ColumnFate::kApplied);
}

}  // namespace
}  // namespace ostraka::protocol::columns_test
