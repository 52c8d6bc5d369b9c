// Files of kind gradient, by a reader that computes: here the "model" is a table of roots.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "node/base/rng.h"
#include "node/wire/evidence_codec.h"
#include "tests/unit/evidence/scene.h"
#include "tests/unit/wire/samples.h"

namespace ostraka::evidence::gradient_test {
namespace {

const Digest kTrue = wire::Filled(0x41);
const Digest kFalse = wire::Filled(0x31);
const Digest kParameters = wire::Filled(0x32);

class GradientEvidenceTest : public testing::Test {
 protected:
  Finding Judge(const Bytes& file) {
    return VerifyByComputing(file, {RunOfJudges(1)}, [this](const GradientClaim& claim) {
      ++asked_;
      last_ = claim;
      return honest_;
    });
  }

  base::StatusOr<std::optional<Digest>> honest_ = std::optional(kTrue);
  std::optional<GradientClaim> last_;
  int asked_ = 0;
};

TEST_F(GradientEvidenceTest, FalseGradientIsProvenAndATrueOneIsNot) {
  const Finding finding = Judge(GradientFile(kFalse, kParameters));
  EXPECT_EQ(finding.outcome, Outcome::kProven) << finding.reason;
  EXPECT_EQ(finding.kind, EvidenceKind::kGradient);
  EXPECT_EQ(finding.accused, CheaterKey().id());
  ASSERT_TRUE(last_);
  EXPECT_EQ(last_->worker, CheaterKey().id());
  EXPECT_EQ(last_->step, 9u);
  EXPECT_EQ(last_->parameters_root, kParameters);
  EXPECT_EQ(wire::BlockDigest(last_->before), wire::BlockDigest(BlockBeforeGradient()));
  EXPECT_EQ(Judge(GradientFile(kTrue, kParameters)).outcome, Outcome::kNotProven);
}

TEST_F(GradientEvidenceTest, WhatCannotBeComputedIsMissing) {
  honest_ = base::FailedPrecondition("no parameters of step 9");
  const Finding finding = Judge(GradientFile(kFalse, kParameters));
  EXPECT_EQ(finding.outcome, Outcome::kMissingData);
  EXPECT_EQ(finding.reason, "no parameters of step 9");
  EXPECT_EQ(Verify(GradientFile(kFalse, kParameters)).outcome, Outcome::kMissingData);
  EXPECT_EQ(VerifyInRun(GradientFile(kFalse, kParameters), RunOfJudges(1)).outcome,
            Outcome::kMissingData);
}

TEST_F(GradientEvidenceTest, NoGradientIsDueFromWhoDoesNotWork) {
  honest_ = std::optional<Digest>();
  EXPECT_EQ(Judge(GradientFile(kFalse, kParameters)).outcome, Outcome::kNotProven);
}

TEST_F(GradientEvidenceTest, AnotherRunIsNotComputed) {
  KnownRun other = RunOfJudges(1);
  other.run_id = wire::Filled(9);
  const Finding finding =
      VerifyByComputing(GradientFile(kFalse, kParameters), {other},
                        [](const GradientClaim&) -> base::StatusOr<std::optional<Digest>> {
                          ADD_FAILURE() << "computed for another run";
                          return std::optional(kTrue);
                        });
  EXPECT_EQ(finding.outcome, Outcome::kNotProven);
}

TEST_F(GradientEvidenceTest, OtherKindsAreJudgedAsEver) {
  for (const NamedFile& file : AllFiles()) {
    if (file.name.find("gradient") != std::string::npos) continue;
    EXPECT_EQ(Judge(file.bytes).outcome, VerifyInRun(file.bytes, RunOfJudges(1)).outcome)
        << file.name;
  }
  EXPECT_EQ(asked_, 0);
}

// Whatever one bit of a file says, it proves nothing, and nothing is computed for it.
TEST_F(GradientEvidenceTest, NoFlippedBitIsProven) {
  const Bytes file = GradientFile(kFalse, kParameters);
  for (std::size_t bit = 0; bit < 8 * file.size(); ++bit) {
    Bytes damaged = file;
    damaged[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
    const Outcome outcome = Judge(damaged).outcome;
    EXPECT_TRUE(outcome == Outcome::kNotProven || outcome == Outcome::kMalformed) << bit;
  }
  EXPECT_EQ(asked_, 0);
}

TEST(MakeFalseGradient, RefusesWhatNamesNoGradientOrAnotherBlock) {
  const Bytes block = wire::EncodeBlock(BlockBeforeGradient());
  EXPECT_TRUE(MakeFalseGradient(GradientCommitFrame(kFalse, kParameters), block).ok());
  EXPECT_FALSE(MakeFalseGradient(GradientCommitFrame(std::nullopt, kParameters), block).ok());
  EXPECT_FALSE(MakeFalseGradient(GradientCommitFrame(kFalse, std::nullopt), block).ok());
  wire::Block other = BlockBeforeGradient();
  other.decision = wire::Filled(1);
  EXPECT_FALSE(
      MakeFalseGradient(GradientCommitFrame(kFalse, kParameters), wire::EncodeBlock(other)).ok());
  EXPECT_FALSE(MakeFalseGradient(block, block).ok());
}

}  // namespace
}  // namespace ostraka::evidence::gradient_test
