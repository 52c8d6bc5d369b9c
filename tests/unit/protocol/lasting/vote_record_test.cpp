#include "node/protocol/lasting/vote_record.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "node/wire/codec.h"
#include "tests/unit/protocol/keys.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::vote_record_test {
namespace {

using scene::DigestOf;
using scene::KeyNumber;
using wire::CaseId;
using wire::Verdict;

constexpr std::uint32_t kAccuser = 0;
constexpr std::uint32_t kTarget = 1;

PeerId IdOf(std::uint32_t number) { return KeyNumber(number)->id(); }

class VoteRecordTest : public ::testing::Test {
 protected:
  VoteRecordTest() {
    run_.run_id = DigestOf(99);
    for (std::uint32_t i = 0; i < 6; ++i) run_.members.push_back(IdOf(i));
    std::sort(run_.members.begin(), run_.members.end());
    run_.faults = 2;
  }

  static CaseId Id(std::uint64_t step) {
    return {.accuser = IdOf(kAccuser), .target = IdOf(kTarget), .step = step};
  }
  static wire::Case Open(std::uint64_t step) {
    wire::Case open;
    open.id = Id(step);
    return open;
  }
  void Vote(std::uint32_t voter, std::uint64_t step, const CaseId& about, Verdict verdict) {
    wire::Proof proof;
    proof.votes = {{about, verdict}};
    const wire::Slot slot{run_.run_id, 0, step, wire::Phase::kC, wire::MessageType::kProof, 0, 0};
    auto signed_proof =
        wire::Seal({slot, DigestOf(1), IdOf(voter), wire::Encode(proof)}, *KeyNumber(voter));
    votes_.Note(IdOf(voter), wire::Share(std::move(signed_proof)), proof, {Open(5), Open(6)});
  }

  evidence::KnownRun run_;
  VoteRecord votes_;
};

TEST_F(VoteRecordTest, VotesOfSeveralStepsProveTheVerdict) {
  Vote(2, 7, Id(5), Verdict::kGuilty);
  Vote(3, 7, Id(5), Verdict::kGuilty);
  EXPECT_FALSE(votes_.ProofAgainst(IdOf(kTarget), run_).ok()) << "two can be at fault";
  Vote(4, 8, Id(5), Verdict::kGuilty);
  const auto file = votes_.ProofAgainst(IdOf(kTarget), run_);
  ASSERT_TRUE(file.ok()) << file.status();
  const auto finding = evidence::VerifyInRun(*file, run_);
  EXPECT_EQ(finding.outcome, evidence::Outcome::kProven) << finding.reason;
  EXPECT_EQ(finding.kind, evidence::EvidenceKind::kVerdict);
  EXPECT_EQ(finding.accused, IdOf(kTarget));
  EXPECT_EQ(finding.slot.step, 8u);
  EXPECT_FALSE(votes_.ProofAgainst(IdOf(kAccuser), run_).ok());
}

TEST_F(VoteRecordTest, TheAccuserLosesByInnocent) {
  for (std::uint32_t i = 2; i < 5; ++i) Vote(i, 7, Id(5), Verdict::kInnocent);
  EXPECT_TRUE(votes_.ProofAgainst(IdOf(kAccuser), run_).ok());
  EXPECT_FALSE(votes_.ProofAgainst(IdOf(kTarget), run_).ok());
}

// Profile exact/1: a majority that found one false gradient has suspended and not banned.
TEST_F(VoteRecordTest, VotesThatOnlySuspendProveNoBan) {
  run_.suspending = {wire::CaseKind::kGradient};
  for (std::uint32_t i = 2; i < 5; ++i) Vote(i, 7, Id(5), Verdict::kGuilty);
  EXPECT_FALSE(votes_.ProofAgainst(IdOf(kTarget), run_).ok());
  Vote(2, 8, Id(6), Verdict::kGuilty);
  for (std::uint32_t i = 3; i < 6; ++i) Vote(i, 8, Id(6), Verdict::kTwice);
  const auto file = votes_.ProofAgainst(IdOf(kTarget), run_);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(evidence::VerifyInRun(*file, run_).outcome, evidence::Outcome::kProven);
}

TEST_F(VoteRecordTest, VotesInTwoCasesDoNotAddUp) {
  Vote(2, 7, Id(5), Verdict::kGuilty);
  Vote(3, 7, Id(5), Verdict::kGuilty);
  Vote(4, 7, Id(6), Verdict::kGuilty);
  EXPECT_FALSE(votes_.ProofAgainst(IdOf(kTarget), run_).ok());
}

TEST_F(VoteRecordTest, TheFirstVoteCountsAndTheLosersOwnDoesNot) {
  Vote(2, 7, Id(5), Verdict::kInnocent);
  Vote(2, 8, Id(5), Verdict::kGuilty);
  Vote(3, 8, Id(5), Verdict::kGuilty);
  Vote(4, 8, Id(5), Verdict::kGuilty);
  Vote(kTarget, 8, Id(5), Verdict::kGuilty);
  EXPECT_FALSE(votes_.ProofAgainst(IdOf(kTarget), run_).ok());
  Vote(5, 8, Id(5), Verdict::kGuilty);
  EXPECT_TRUE(votes_.ProofAgainst(IdOf(kTarget), run_).ok());
}

TEST_F(VoteRecordTest, KeepsNothingOfCasesThatAreNotOpen) {
  Vote(2, 7, Id(4), Verdict::kGuilty);
  EXPECT_EQ(votes_.case_count(), 0u);
  Vote(2, 7, Id(5), Verdict::kGuilty);
  Vote(2, 7, Id(6), Verdict::kGuilty);
  votes_.ForgetAllBut({Open(6)});
  EXPECT_EQ(votes_.case_count(), 1u);
}

}  // namespace
}  // namespace ostraka::protocol::vote_record_test
