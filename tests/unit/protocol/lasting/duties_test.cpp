#include "node/protocol/lasting/duties.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/protocol/scene.h"
#include "tests/unit/protocol/states.h"

namespace ostraka::protocol::duties_test {
namespace {

using scene::PeerNumber;
using wire::CaseKind;
using wire::Verdict;

constexpr std::uint64_t kStep = 5;
constexpr std::uint32_t kSelf = 0;

class DutiesTest : public testing::Test {
 protected:
  // A member that holds step kStep, whose column 1 has a result, while `cases` are open.
  void Open(const std::vector<wire::CaseId>& ids) {
    auto head = std::make_shared<Block>(honest_.head);
    head->step = kStep;
    for (const wire::CaseId& id : ids) {
      wire::Case open;
      open.id = id;
      open.opened_step = kStep;
      head->cases.push_back(open);
    }
    const auto zeros = std::make_shared<const std::vector<float>>(160, 0.0F);
    chain_.emplace(std::move(head), SgdState(zeros, zeros));
    PastStep past;
    past.members = honest_.head.members;
    past.parameters = chain_->state().parameters;
    past.columns = honest_.columns;
    past.fates.assign(past.columns.size(), wire::ColumnFate::kApplied);
    for (const PeerId& member : past.members) past.proofs[member] = nullptr;
    if (target_proof_) past.proofs[PeerNumber(2)] = target_proof_;
    past.commits = commits_;
    chain_->Remember(kStep, std::move(past));
    duties_.emplace(PeerNumber(kSelf), std::make_shared<Manifest>(honest_.manifest), *chain_);
  }
  static wire::CaseId Id(CaseKind kind, std::uint32_t accuser, std::uint32_t target) {
    return {.kind = kind,
            .accuser = PeerNumber(accuser),
            .target = PeerNumber(target),
            .step = kStep,
            .column = 1};
  }
  wire::Proof Stated() const {
    wire::Proof proof;
    duties_->StateIn(proof);
    return proof;
  }

  scene::HonestStep honest_ = scene::MakeHonestStep();
  std::optional<Chain> chain_;
  std::optional<Duties> duties_;
  wire::SharedMessage target_proof_;  // of member 2
  std::map<PeerId, wire::Commit> commits_;
};

TEST_F(DutiesTest, MemberVotesInNoCaseThatItIsAPartyTo) {
  Open({Id(CaseKind::kGradient, kSelf, 2), Id(CaseKind::kGradient, 3, kSelf),
        Id(CaseKind::kGradient, 3, 2)});
  ASSERT_EQ(duties_->GradientCases().size(), 1u);
  EXPECT_EQ(duties_->GradientCases()[0], Id(CaseKind::kGradient, 3, 2));
}

TEST_F(DutiesTest, MemberVotesOnceAndOnlyWhenTheResultIsThere) {
  const wire::CaseId id = Id(CaseKind::kGradient, 3, 2);
  Open({id});
  duties_->BeginVote(id, true);
  EXPECT_TRUE(duties_->GradientCases().empty());
  EXPECT_TRUE(Stated().votes.empty());
  RecomputeResult result;
  result.convict = true;
  duties_->TakeVerdict(id, result);
  ASSERT_EQ(Stated().votes.size(), 1u);
  EXPECT_EQ(Stated().votes[0].verdict, Verdict::kGuilty);
}

TEST_F(DutiesTest, MemberThatHoldsNothingAbstains) {
  const wire::CaseId id = Id(CaseKind::kGradient, 3, 2);
  Open({id});
  EXPECT_FALSE(duties_->Recomputation(kStep + 1, id.target));  // that step is not held
  duties_->BeginVote(id, false);
  EXPECT_TRUE(Stated().votes.empty());
}

TEST_F(DutiesTest, OnlyTheExactProfileAsksForTheRootOfTheCommit) {
  wire::SignedEnvelope message;
  message.body = honest_.ProofOf(PeerNumber(2));
  target_proof_ = wire::Share(std::move(message));
  commits_[PeerNumber(2)].gradient_root = scene::DigestOf(77);
  commits_[PeerNumber(2)].parameters_root = scene::DigestOf(78);
  Open({Id(CaseKind::kGradient, 3, 2)});
  ASSERT_TRUE(duties_->Recomputation(kStep, PeerNumber(2)));
  EXPECT_FALSE(duties_->Recomputation(kStep, PeerNumber(2))->committed);

  honest_.manifest.compute_profile = kExact;
  honest_.manifest.eps_g = 0;
  Open({Id(CaseKind::kGradient, 3, 2)});
  const auto spec = duties_->Recomputation(kStep, PeerNumber(2));
  ASSERT_TRUE(spec && spec->committed);
  EXPECT_EQ(spec->committed->gradient_root, scene::DigestOf(77));
  EXPECT_EQ(spec->committed->parameters_root, scene::DigestOf(78));
  commits_.clear();
  Open({Id(CaseKind::kGradient, 3, 2)});
  EXPECT_FALSE(duties_->Recomputation(kStep, PeerNumber(2))) << "it cannot be judged to the bit";
}

class ExactDutiesTest : public DutiesTest {
 protected:
  // Member 2 is found guilty of step kStep by this member.
  void FindGuilty() {
    wire::SignedEnvelope message;
    message.body = honest_.ProofOf(PeerNumber(2));
    target_proof_ = wire::Share(std::move(message));
    commits_[PeerNumber(2)].gradient_root = scene::DigestOf(77);
    commits_[PeerNumber(2)].parameters_root = scene::DigestOf(78);
    honest_.manifest.compute_profile = kExact;
    honest_.manifest.eps_g = 0;
    Open({id_});
    duties_->BeginVote(id_, true);
  }
  void Remember(std::uint64_t step, bool worked, bool proved = true) {
    PastStep past;
    past.parameters = std::make_shared<const std::vector<float>>(160, static_cast<float>(step));
    past.tau = 0.5;
    past.columns = honest_.columns;
    past.fates.assign(past.columns.size(), wire::ColumnFate::kApplied);
    if (worked) past.commits[id_.target] = commits_[id_.target];
    if (proved) past.proofs[id_.target] = target_proof_;
    chain_->Remember(step, std::move(past));
  }
  static RecomputeResult Guilty() { return {.convict = true, .false_gradient = true}; }

  const wire::CaseId id_ = Id(CaseKind::kGradient, 3, 2);
};

TEST_F(ExactDutiesTest, AGuiltyVerdictIsLookedIntoInTheStepsAround) {
  FindGuilty();
  Remember(kStep - 5, true);  // too far
  Remember(kStep - 4, true, false);
  Remember(kStep + 1, false);  // it validated
  Remember(kStep + 2, true);
  EXPECT_FALSE(duties_->NextLook()) << "there is no verdict yet";
  duties_->TakeVerdict(id_, Guilty());
  EXPECT_TRUE(duties_->FoundFalseGradient(id_));
  EXPECT_TRUE(Stated().votes.empty()) << "it may become twice";
  const auto first = duties_->NextLook();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->about, id_);
  EXPECT_EQ(first->step, kStep + 2);
  EXPECT_EQ(first->spec.gradient.step, kStep + 2);
  EXPECT_EQ(first->spec.gradient.owner, id_.target);
  EXPECT_EQ(first->spec.gradient.parameters->front(), static_cast<float>(kStep + 2));
  EXPECT_EQ(first->spec.tau, 0.5);
  EXPECT_EQ(first->spec.claims.size(), honest_.columns.size()) << "false numbers count too";
  EXPECT_EQ(first->spec.committed->gradient_root, scene::DigestOf(77));
  EXPECT_EQ(first->spec.committed->parts.size(), honest_.columns.size());
  duties_->TakeLook(id_, RecomputeResult{});
  EXPECT_TRUE(Stated().votes.empty());
  const auto second = duties_->NextLook();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->step, kStep - 4);
  EXPECT_TRUE(second->spec.claims.empty()) << "its PROOF was not sealed";
  EXPECT_EQ(second->spec.committed->parts.size(), honest_.columns.size());
  duties_->TakeLook(id_, RecomputeResult{});
  EXPECT_FALSE(duties_->NextLook());
  ASSERT_EQ(Stated().votes.size(), 1u);
  EXPECT_EQ(Stated().votes[0].verdict, Verdict::kGuilty);
}

TEST_F(ExactDutiesTest, ASecondFalseStepMakesItTwiceAndEndsTheLook) {
  FindGuilty();
  Remember(kStep + 1, true);
  Remember(kStep + 2, true);
  duties_->TakeVerdict(id_, Guilty());
  ASSERT_EQ(duties_->NextLook()->step, kStep + 1);
  duties_->TakeLook(id_, RecomputeResult{.convict = true});  // of its numbers alone
  EXPECT_FALSE(duties_->NextLook());
  ASSERT_EQ(Stated().votes.size(), 1u);
  EXPECT_EQ(Stated().votes[0].verdict, Verdict::kTwice);
}

TEST_F(ExactDutiesTest, WhatCannotBeComputedCountsAsTrue) {
  FindGuilty();
  Remember(kStep + 1, true);
  Remember(kStep + 2, true);
  duties_->TakeVerdict(id_, Guilty());
  ASSERT_TRUE(duties_->NextLook());
  duties_->TakeLook(id_, RecomputeResult{.convict = true, .unsure = true});
  ASSERT_TRUE(duties_->NextLook());
  duties_->TakeLook(id_, JobFailed{"memory ran out"});
  EXPECT_FALSE(duties_->NextLook());
  ASSERT_EQ(Stated().votes.size(), 1u);
  EXPECT_EQ(Stated().votes[0].verdict, Verdict::kGuilty);
}

// Each look takes as many gradients as a step, and the parameters before the case are forgotten.
TEST_F(ExactDutiesTest, WithLocalStepsOnlyStepsAfterItAreLookedAt) {
  FindGuilty();
  honest_.manifest.training.inner.steps = 4;
  Open({id_});
  Remember(kStep - 1, true);
  Remember(kStep + 1, true);
  duties_->BeginVote(id_, true);
  duties_->TakeVerdict(id_, Guilty());
  EXPECT_EQ(duties_->NextLook()->step, kStep + 1);
  duties_->TakeLook(id_, RecomputeResult{});
  EXPECT_FALSE(duties_->NextLook());
}

// A case must not end undecided because its voters still look at other steps.
TEST_F(ExactDutiesTest, AVerdictIsStatedInTimeEvenIfItIsStillLookedInto) {
  for (const std::uint64_t blocks : {kLookBlocks - 1, kLookBlocks}) {
    FindGuilty();
    Remember(kStep + 1, true);
    duties_->TakeVerdict(id_, Guilty());
    ASSERT_TRUE(duties_->NextLook());
    auto head = std::make_shared<Block>(chain_->head());
    head->cases[0].opened_step = kStep;
    head->step = kStep + blocks - 1;  // its PROOF is of the step after
    chain_->AdvanceHead(std::move(head));
    EXPECT_EQ(Stated().votes.size(), blocks == kLookBlocks ? 1u : 0u);
  }
}

TEST_F(ExactDutiesTest, AKeyThatIsBannedAnywayIsNotLookedInto) {
  FindGuilty();
  Remember(kStep + 1, true);
  auto head = std::make_shared<Block>(chain_->head());
  head->standings = {{.peer = id_.target, .drops = 1, .erred = true}};
  chain_->AdvanceHead(std::move(head));
  duties_->TakeVerdict(id_, Guilty());
  EXPECT_FALSE(duties_->NextLook());
  EXPECT_EQ(Stated().votes.size(), 1u);
}

TEST_F(ExactDutiesTest, NobodyElseIsLookedInto) {
  FindGuilty();
  Remember(kStep + 1, true);
  duties_->TakeVerdict(id_, RecomputeResult{});
  EXPECT_FALSE(duties_->NextLook());
  ASSERT_EQ(Stated().votes.size(), 1u);
  EXPECT_EQ(Stated().votes[0].verdict, Verdict::kInnocent);
  honest_.manifest.compute_profile = kTolerant;
  Open({id_});
  Remember(kStep + 1, true);
  duties_->BeginVote(id_, true);
  duties_->TakeVerdict(id_, Guilty());
  EXPECT_FALSE(duties_->NextLook());
}

TEST_F(DutiesTest, MemberThatCannotTellAbstains) {
  const wire::CaseId id = Id(CaseKind::kGradient, 3, 2);
  Open({id});
  duties_->BeginVote(id, true);
  duties_->TakeVerdict(id, RecomputeResult{.convict = true, .unsure = true});
  EXPECT_TRUE(Stated().votes.empty());
}

TEST_F(DutiesTest, VoteInAClosedCaseIsForgotten) {
  const wire::CaseId id = Id(CaseKind::kGradient, 3, 2);
  Open({id});
  duties_->BeginVote(id, true);
  duties_->OnBlock(Block{});
  RecomputeResult result;
  result.convict = true;
  duties_->TakeVerdict(id, result);  // nothing
  EXPECT_TRUE(Stated().votes.empty());
}

TEST_F(DutiesTest, MissingExhibitIsAskedOfTheDebtorAndOfMoreMembersEachTime) {
  Open({Id(CaseKind::kNumbers, 3, 2)});
  EXPECT_TRUE(duties_->AwaitsExhibits());
  std::size_t asked = 0;
  std::set<PeerId> all;
  for (int attempt = 0; attempt < 8; ++attempt) {
    const std::vector<Duties::Ask> asks = duties_->AskForExhibits();
    ASSERT_EQ(asks.size(), 1u);
    EXPECT_TRUE(asks[0].sources.contains(PeerNumber(3)));  // the accuser owes it
    EXPECT_EQ(asks[0].exhibit.author, PeerNumber(2));
    asked = std::max(asked, asks[0].sources.size());
    all.insert(asks[0].sources.begin(), asks[0].sources.end());
  }
  EXPECT_GT(asked, 2u);
  EXPECT_EQ(all.size(), honest_.head.members.size());
}

TEST_F(DutiesTest, CoverCaseIsAboutThePartOfItsAccuser) {
  Open({Id(CaseKind::kCover, 3, 2)});
  const std::vector<Duties::Ask> asks = duties_->AskForExhibits();
  ASSERT_EQ(asks.size(), 1u);
  EXPECT_EQ(asks[0].exhibit.author, PeerNumber(3));
  EXPECT_TRUE(asks[0].sources.contains(PeerNumber(2)));
}

TEST_F(DutiesTest, ExhibitThatIsHeldIsNotAskedFor) {
  Open({Id(CaseKind::kNumbers, 3, 2)});
  chain_->KeepPart(kStep, {1, PeerNumber(2)}, {});
  EXPECT_FALSE(duties_->AwaitsExhibits());
  EXPECT_TRUE(duties_->AskForExhibits().empty());
}

TEST_F(DutiesTest, OwnerNamesALiarThatCanStillAnswer) {
  Open({});
  chain_->KeepPart(kStep, {1, PeerNumber(77)}, {});  // no member any more
  chain_->KeepPart(kStep, {1, PeerNumber(2)}, {});
  duties_->BeginCrossCheck(kStep);
  EXPECT_TRUE(duties_->AwaitsCrossCheck());
  EXPECT_TRUE(duties_->OnCrossChecked(kStep, {PeerNumber(77), PeerNumber(2)}));
  EXPECT_FALSE(duties_->AwaitsCrossCheck());
  ASSERT_TRUE(Stated().naming);
  EXPECT_EQ(Stated().naming->target, PeerNumber(2));
  EXPECT_EQ(Stated().naming->column, 1u);
}

TEST_F(DutiesTest, OwnerNamesFirstWhoLeaves) {
  Open({});
  auto head = std::make_shared<Block>(chain_->head());
  head->leaving = {PeerNumber(4)};
  chain_->AdvanceHead(head);
  for (const std::uint32_t liar : {2, 3, 4}) chain_->KeepPart(kStep, {1, PeerNumber(liar)}, {});
  duties_->BeginCrossCheck(kStep);
  EXPECT_TRUE(duties_->OnCrossChecked(kStep, {PeerNumber(2), PeerNumber(3), PeerNumber(4)}));
  ASSERT_TRUE(Stated().naming);
  EXPECT_EQ(Stated().naming->target, PeerNumber(4));
}

TEST_F(DutiesTest, CrossCheckOfAStepThatHasPassedNamesNobody) {
  Open({});
  chain_->KeepPart(kStep, {1, PeerNumber(2)}, {});
  duties_->BeginCrossCheck(kStep + 1);
  EXPECT_FALSE(duties_->OnCrossChecked(kStep, {PeerNumber(2)}));
  EXPECT_FALSE(Stated().naming);
  EXPECT_TRUE(duties_->AwaitsCrossCheck());
  duties_->Clear();
  EXPECT_FALSE(duties_->AwaitsCrossCheck());
}

}  // namespace
}  // namespace ostraka::protocol::duties_test
