#include "node/protocol/lasting/duty_jobs.h"

#include <gtest/gtest.h>

#include "tests/unit/protocol/scene.h"
#include "tests/unit/protocol/states.h"

namespace ostraka::protocol::duty_jobs_test {
namespace {

using scene::PeerNumber;
using wire::CaseKind;
using wire::Verdict;

constexpr std::uint64_t kStep = 5;  // held; a case is about it
constexpr std::uint64_t kNow = 7;   // in progress

class DutyJobsTest : public testing::Test {
 protected:
  DutyJobsTest() {
    turn_.Begin(Time{}, out_);
    auto head = std::make_shared<Block>(honest_.head);
    head->step = kNow - 1;
    for (const std::uint32_t target : {1u, 2u}) {
      wire::Case& open = head->cases.emplace_back();
      open.id = CaseOf(target);
      open.opened_step = kNow - 1;
    }
    const auto zeros = std::make_shared<const std::vector<float>>(160, 0.0F);
    chain_.emplace(std::move(head), SgdState(zeros, zeros));
    PastStep past;
    past.members = honest_.head.members;
    past.columns = honest_.columns;
    past.parts[{1, PeerNumber(2)}] = {nullptr, crypto::MakeBlob({1})};
    chain_->Remember(kStep, std::move(past));
    duties_.emplace(PeerNumber(0), std::make_shared<Manifest>(honest_.manifest), *chain_);
    jobs_.emplace(*duties_, desk_);
  }
  static wire::CaseId CaseOf(std::uint32_t target) {
    return {.kind = CaseKind::kGradient,
            .accuser = PeerNumber(3),
            .target = PeerNumber(target),
            .step = kStep,
            .column = 0};
  }
  JobId Vote(std::uint32_t target, std::uint64_t now = kNow) {
    duties_->BeginVote(CaseOf(target), true);
    jobs_->StartVote(now, CaseOf(target), RecomputeSpec{}, kStep);
    return desk_.next() - 1;
  }
  JobId CrossCheck(std::uint64_t now) {
    jobs_->StartCrossCheck(now, CrossCheckSpec{});
    return desk_.next() - 1;
  }
  DutyJobs::Done Finish(JobId id, std::uint64_t now, const JobResult& result) {
    const auto job = desk_.Take(id);
    const auto done = jobs_->Take(id, job.value(), now, result);
    jobs_->CheckInvariants();
    return done;
  }
  static JobResult Convicts(bool guilty) {
    RecomputeResult result;
    result.convict = guilty;
    return result;
  }
  std::vector<wire::Vote> Votes() const { return Stated().votes; }
  wire::Proof Stated() const {
    wire::Proof proof;
    duties_->StateIn(proof);
    return proof;
  }

  scene::HonestStep honest_ = scene::MakeHonestStep();
  Outbox out_;
  Turn turn_;
  JobDesk desk_{turn_};
  std::optional<Chain> chain_;
  std::optional<Duties> duties_;
  std::optional<DutyJobs> jobs_;
};

TEST_F(DutyJobsTest, VerdictGoesToTheCaseThatItsJobWasAskedFor) {
  const JobId first = Vote(1);
  const JobId second = Vote(2);
  EXPECT_TRUE(jobs_->Owns(first) && jobs_->Owns(second));
  EXPECT_FALSE(Finish(second, kNow, Convicts(true)).failed);
  ASSERT_EQ(Votes().size(), 1u);
  EXPECT_EQ(Votes()[0].about, CaseOf(2));
  EXPECT_EQ(Votes()[0].verdict, Verdict::kGuilty);
  Finish(first, kNow, Convicts(false));
  ASSERT_EQ(Votes().size(), 2u);
  EXPECT_EQ(Votes()[0].about, CaseOf(1));
  EXPECT_EQ(Votes()[0].verdict, Verdict::kInnocent);
  EXPECT_FALSE(jobs_->Owns(first) || jobs_->Owns(second));
}

TEST_F(DutyJobsTest, ProofWaitsForTheVotesOfItsStepAlone) {
  const JobId first = Vote(1, kNow - 1);
  EXPECT_EQ(jobs_->Pending(kNow), 0u);
  const JobId second = Vote(2);
  CrossCheck(kNow);
  EXPECT_EQ(jobs_->Pending(kNow), 1u);
  EXPECT_EQ(jobs_->Pending(kNow - 1), 1u);
  Finish(second, kNow, Convicts(true));
  EXPECT_EQ(jobs_->Pending(kNow), 0u);
  EXPECT_TRUE(jobs_->Owns(first)) << "a vote of an earlier step is still wanted";
  Finish(first, kNow, Convicts(true));
  EXPECT_EQ(Votes().size(), 2u);
}

TEST_F(DutyJobsTest, AStepRecomputesTwoGradientsAtMost) {
  EXPECT_TRUE(jobs_->HasRoom(kNow));
  const JobId first = Vote(1);
  EXPECT_TRUE(jobs_->HasRoom(kNow));
  const JobId second = Vote(2);
  EXPECT_FALSE(jobs_->HasRoom(kNow));
  Finish(first, kNow, Convicts(true));
  EXPECT_FALSE(jobs_->HasRoom(kNow)) << "it was asked for in this step";
  EXPECT_TRUE(jobs_->HasRoom(kNow + 1)) << "one of the step before is not done";
  Finish(second, kNow + 1, Convicts(true));
  EXPECT_TRUE(jobs_->HasRoom(kNow + 1));
}

TEST_F(DutyJobsTest, AVoteOfAnEarlierStepTakesRoom) {
  Vote(1, kNow - 1);
  EXPECT_TRUE(jobs_->HasRoom(kNow));
  Vote(2);
  EXPECT_FALSE(jobs_->HasRoom(kNow));
}

TEST_F(DutyJobsTest, WorkForACaseThatHasEndedIsStopped) {
  const JobId first = Vote(1);
  const JobId second = Vote(2);
  Block block = chain_->head();
  block.cases.pop_back();
  out_.actions().clear();
  jobs_->OnBlock(block);
  ASSERT_EQ(out_.actions().size(), 1u);
  EXPECT_EQ(std::get<StopJob>(out_.actions()[0]).id, second);
  EXPECT_TRUE(jobs_->Owns(first));
  EXPECT_FALSE(jobs_->Owns(second));
  EXPECT_FALSE(desk_.Take(second)) << "its result is not wanted";
}

TEST_F(DutyJobsTest, LooksRunOneAtATimeAndTwoInAStep) {
  honest_.manifest.compute_profile = kExact;
  honest_.manifest.eps_g = 0;
  duties_.emplace(PeerNumber(0), std::make_shared<Manifest>(honest_.manifest), *chain_);
  jobs_.emplace(*duties_, desk_);
  PastStep past;
  past.parameters = chain_->state().parameters;
  past.columns = honest_.columns;
  for (const std::uint32_t target : {1u, 2u}) {
    past.commits[PeerNumber(target)].gradient_root = scene::DigestOf(1);
    past.commits[PeerNumber(target)].parameters_root = scene::DigestOf(2);
  }
  chain_->Remember(kStep - 1, past);
  chain_->Remember(kStep + 1, past);
  const JobId first = Vote(1);
  const JobId second = Vote(2);
  Finish(first, kNow, Convicts(true));
  Finish(second, kNow, Convicts(true));
  EXPECT_EQ(desk_.open(), 0u) << "two recomputations were asked for in this step";
  EXPECT_EQ(jobs_->Pending(kNow), 0u);
  EXPECT_TRUE(Votes().empty()) << "they are looked into first";
  std::vector<std::size_t> looks;
  for (std::uint64_t now = kNow + 1; now < kNow + 4; ++now) {
    jobs_->StartLook(now);
    std::size_t& count = looks.emplace_back();
    EXPECT_EQ(jobs_->Pending(now), desk_.open()) << "a PROOF waits for the looks of its step";
    while (desk_.open() > 0) {
      EXPECT_EQ(desk_.open(), 1u) << "one at a time";
      const bool last = looks.size() == 2;
      Finish(desk_.next() - 1, now, last ? JobResult{Convicts(true)} : JobFailed{"no memory"});
      ++count;
    }
  }
  EXPECT_EQ(looks, (std::vector<std::size_t>{2, 1, 0}))
      << "two of the first case, and one of the second, which is found twice";
  ASSERT_EQ(Votes().size(), 2u);
  EXPECT_EQ(Votes()[0].verdict, Verdict::kGuilty);
  EXPECT_EQ(Votes()[1].verdict, Verdict::kTwice);
}

TEST_F(DutyJobsTest, VoteWhoseJobFailsEndsTheMemberInItsOwnStepOnly) {
  const JobId first = Vote(1, kNow - 1);
  const JobId second = Vote(2);
  EXPECT_FALSE(Finish(first, kNow, JobFailed{"memory ran out"}).failed);
  EXPECT_TRUE(Finish(second, kNow, JobFailed{"memory ran out"}).failed);
  EXPECT_TRUE(Votes().empty()) << "a job that failed says nothing of the case";
}

TEST_F(DutyJobsTest, LiarsThatV1FindsAreReportedAndNamed) {
  const JobId id = CrossCheck(kStep);
  EXPECT_TRUE(jobs_->Owns(id));
  EXPECT_TRUE(duties_->AwaitsCrossCheck());
  const auto done = Finish(id, kStep + 1, CrossCheckResult{{PeerNumber(2)}});
  EXPECT_FALSE(done.failed);
  EXPECT_EQ(done.liars, std::vector<PeerId>{PeerNumber(2)});
  EXPECT_FALSE(duties_->AwaitsCrossCheck());
  ASSERT_TRUE(Stated().naming);
  EXPECT_EQ(Stated().naming->target, PeerNumber(2));
  EXPECT_EQ(Stated().naming->step, kStep);
}

TEST_F(DutyJobsTest, V1ThatComesTooLateNamesNobody) {
  const JobId id = CrossCheck(kStep);
  duties_->ForgetCrossCheck();
  const auto done = Finish(id, kStep + 2, CrossCheckResult{{PeerNumber(2)}});
  EXPECT_FALSE(done.failed);
  EXPECT_TRUE(done.liars.empty());
  EXPECT_FALSE(Stated().naming);
}

TEST_F(DutyJobsTest, V1ThatFailsEndsTheMember) {
  const JobId id = CrossCheck(kStep);
  EXPECT_TRUE(Finish(id, kStep + 1, JobFailed{"memory ran out"}).failed);
}

TEST_F(DutyJobsTest, NothingIsWantedAfterTheStepIsLeft) {
  const JobId vote = Vote(1);
  const JobId check = CrossCheck(kStep);
  jobs_->Clear();
  EXPECT_FALSE(jobs_->Owns(vote) || jobs_->Owns(check));
  EXPECT_EQ(jobs_->Pending(kNow), 0u);
}

TEST_F(DutyJobsTest, JobOfAnotherClassIsNotOwned) {
  Vote(1);
  const JobId foreign = desk_.Start({}, PackSpec{});
  EXPECT_FALSE(jobs_->Owns(foreign));
}

}  // namespace
}  // namespace ostraka::protocol::duty_jobs_test
