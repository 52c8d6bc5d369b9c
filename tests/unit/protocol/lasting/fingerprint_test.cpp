#include "tests/unit/protocol/fingerprint.h"

#include "node/protocol/lasting/chain.h"
#include "node/protocol/lasting/charges.h"
#include "node/protocol/lasting/duties.h"
#include "node/protocol/lasting/duty_jobs.h"
#include "node/protocol/lasting/followers.h"
#include "node/protocol/lasting/genesis_seal.h"
#include "node/protocol/lasting/past_seals.h"
#include "node/protocol/lasting/replay.h"
#include "node/protocol/lasting/reports.h"
#include "node/protocol/lasting/slowness_notice.h"
#include "node/protocol/lasting/stage.h"
#include "node/protocol/lasting/stay.h"
#include "node/protocol/lasting/vote_record.h"
#include "tests/unit/protocol/keys.h"

namespace ostraka::protocol {

struct FingerprintProbe {
  static void OfChain() {
    const auto zeros = std::make_shared<const std::vector<float>>(4, 0.0F);
    Chain chain(std::make_shared<Block>(), ModelState{zeros, {{"velocity", zeros}}});
    Block next;
    next.step = 1;
    EXPECT_FEEDS_AFTER(chain, chain.head_ = std::make_shared<Block>(next));
    EXPECT_FEEDS_AFTER(chain, chain.state_.parameters = nullptr);
    EXPECT_FEEDS_AFTER(chain, chain.state_.slots[0].values = nullptr);
    EXPECT_FEEDS_AFTER(chain, chain.recent_.Add(next));
    EXPECT_FEEDS(chain, results_);
    EXPECT_FEEDS(chain, results_.begin()->second);
    EXPECT_FEEDS(chain, past_);
    EXPECT_FEEDS(chain, served_);
    EXPECT_FEEDS(chain, served_.begin()->second.leaves);
  }
  static void OfCharges() {
    const auto manifest = std::make_shared<Manifest>();
    manifest->members = {{.id = {}}};
    const Turn turn;
    Journal journal(scene::KeyNumber(1), turn);
    Charges charges({}, manifest, journal);
    EXPECT_FEEDS(charges, handovers_.view_.members);
    EXPECT_FEEDS(charges, handovers_.view_.since);
    EXPECT_FEEDS_AFTER(charges, ++charges.handovers_.view_.faults);
    EXPECT_FEEDS(charges, shown_);
    EXPECT_FEEDS(charges, votes_.cases_);
    EXPECT_FEEDS(charges, votes_.cases_.begin()->second);
    EXPECT_FEEDS(charges, votes_.cases_.begin()->second.begin()->second.verdict);
    EXPECT_FEEDS_AFTER(
        charges, charges.votes_.cases_.begin()->second.begin()->second.proof = wire::Share({}));
    EXPECT_FEEDS(charges, verdicts_);
  }
  static void OfDuties() {
    const Chain chain(std::make_shared<Block>(),
                      {std::make_shared<const std::vector<float>>(), {}});
    Duties duties({}, nullptr, chain);
    EXPECT_FEEDS(duties, verdicts_);
    EXPECT_FEEDS(duties, verdicts_.begin()->second.verdict);
    EXPECT_FEEDS(duties, verdicts_.begin()->second.false_gradient);
    EXPECT_FEEDS(duties, verdicts_.begin()->second.to_look_at);
    EXPECT_FEEDS(duties, verdicts_.begin()->second.looking);
    EXPECT_FEEDS(duties, namings_);
    EXPECT_FEEDS(duties, namings_[0].target);
    EXPECT_FEEDS(duties, namings_[0].step);
    EXPECT_FEEDS(duties, namings_[0].column);
    EXPECT_FEEDS(duties, cross_checking_);
    EXPECT_FEEDS(duties, exhibit_attempts_);
  }
  static void OfDutyJobs() {
    const Chain chain(std::make_shared<Block>(),
                      {std::make_shared<const std::vector<float>>(), {}});
    Duties duties({}, nullptr, chain);
    const Turn turn;
    JobDesk desk(turn);
    DutyJobs jobs(duties, desk);
    EXPECT_FEEDS(jobs, votes_);
    wire::CaseId& about = jobs.votes_.begin()->second.about;
    EXPECT_FEEDS_AFTER(jobs, Alter(about.kind));
    EXPECT_FEEDS_AFTER(jobs, Alter(about.accuser));
    EXPECT_FEEDS_AFTER(jobs, Alter(about.target));
    EXPECT_FEEDS_AFTER(jobs, Alter(about.step));
    EXPECT_FEEDS_AFTER(jobs, Alter(about.column));
    EXPECT_FEEDS(jobs, votes_.begin()->second.asked_in);
    EXPECT_FEEDS(jobs, cross_check_);
    EXPECT_FEEDS(jobs, look_);
    EXPECT_FEEDS(jobs, look_->id);
    EXPECT_FEEDS_AFTER(jobs, Alter(jobs.look_->about.step));
    EXPECT_FEEDS(jobs, look_->asked_in);
    EXPECT_FEEDS(jobs, recomputing_in_);
    EXPECT_FEEDS(jobs, recomputations_);
  }
  static void OfFollowers() {
    Followers followers;
    EXPECT_FEEDS(followers, asked_);
    EXPECT_FEEDS(followers, asked_.begin()->second.at);
    EXPECT_FEEDS(followers, asked_.begin()->second.step);
    EXPECT_FEEDS(followers, asked_.begin()->second.has);
    EXPECT_FEEDS(followers, asked_.begin()->second.probe);
    EXPECT_FEEDS(followers, asked_.begin()->second.probed);
    EXPECT_FEEDS(followers, asked_.begin()->second.is_near);
    EXPECT_FEEDS(followers, asked_.begin()->second.is_cut_off);
    EXPECT_FEEDS(followers, looked_at_by_);
    EXPECT_FEEDS(followers, rejoins_);
    EXPECT_FEEDS(followers, rejoins_.begin()->second.asked_in);
    EXPECT_FEEDS(followers, rejoins_.begin()->second.block);
    EXPECT_FEEDS_AFTER(followers, followers.rejoins_.begin()->second.voucher = Voucher{});
    EXPECT_FEEDS(followers, guests_);
  }
  static void OfGenesisSeal() {
    const Inbox inbox;
    GenesisSeal genesis({}, {}, std::make_shared<Block>(), inbox);
    EXPECT_FEEDS_AFTER(genesis, genesis.head_ = nullptr);
    EXPECT_FEEDS(genesis, waiting_);
    EXPECT_FEEDS(genesis, echo_);
    EXPECT_FEEDS(genesis, echo_->vector);
    EXPECT_FEEDS_AFTER(genesis, genesis.echo_->block = std::make_shared<Block>());
    EXPECT_FEEDS(genesis, echo_->digest);
  }
  static void OfSlownessNotice() {
    SlownessNotice pace;
    EXPECT_FEEDS(pace, told_);
  }
  static void OfPastSeals() {
    PastSeals seals;
    EXPECT_FEEDS(seals, seals_);
    EXPECT_FEEDS(seals, seals_.begin()->second.vector);
    EXPECT_FEEDS(seals, seals_.begin()->second.vector[0].state);
    EXPECT_FEEDS(seals, seals_.begin()->second.vector[0].digest);
    EXPECT_FEEDS(seals, seals_.begin()->second.certificate);
  }
  static void OfReplay() {
    Replay replay;
    EXPECT_FEEDS(replay, waiting_);
    EXPECT_FEEDS_AFTER(replay, replay.waiting_[0].block = std::make_shared<Block>());
    EXPECT_FEEDS(replay, waiting_[0].results);
    EXPECT_FEEDS(replay, job_);
  }
  static void OfReports() {
    Reports reports({});
    EXPECT_FEEDS_AFTER(reports, reports.echoes_.emplace(EchoWatch::Options{}));
    EXPECT_FEEDS_AFTER(reports, reports.lateness_.emplace(LateWatch::Options{}));
    EXPECT_FEEDS(reports, asked_at_);
    EXPECT_FEEDS_AFTER(reports, Alter(reports.lags_.kept_));
    EXPECT_FEEDS(reports, unheard_);
    EXPECT_FEEDS(reports, silent_);
    EXPECT_FEEDS(reports, hasty_);
    EXPECT_FEEDS(reports, unshown_);
    EXPECT_FEEDS(reports, late_);
    EXPECT_FEEDS(reports, late_.begin()->second.own);
    EXPECT_FEEDS(reports, late_.begin()->second.aggregate);
  }
  static void OfStage() {
    StageNow stage;
    EXPECT_FEEDS(stage, stage_);
  }
  static void OfStay() {
    Stay stay;
    EXPECT_FEEDS(stay, linked_);
    EXPECT_FEEDS(stay, ends_);
    EXPECT_FEEDS(stay, linger_);
    EXPECT_FEEDS(stay, until_);
  }
};

TEST(Fingerprint, FeedsEveryFieldOfTheChain) { FingerprintProbe::OfChain(); }
TEST(Fingerprint, FeedsEveryFieldOfChargesAndTheVoteRecord) { FingerprintProbe::OfCharges(); }
TEST(Fingerprint, FeedsEveryFieldOfDuties) { FingerprintProbe::OfDuties(); }
TEST(Fingerprint, FeedsEveryFieldOfDutyJobs) { FingerprintProbe::OfDutyJobs(); }
TEST(Fingerprint, FeedsEveryFieldOfFollowers) { FingerprintProbe::OfFollowers(); }
TEST(Fingerprint, FeedsEveryFieldOfTheGenesisSeal) { FingerprintProbe::OfGenesisSeal(); }
TEST(Fingerprint, FeedsEveryFieldOfTheSlownessNotice) { FingerprintProbe::OfSlownessNotice(); }
TEST(Fingerprint, FeedsEveryFieldOfPastSeals) { FingerprintProbe::OfPastSeals(); }
TEST(Fingerprint, FeedsEveryFieldOfAReplay) { FingerprintProbe::OfReplay(); }
TEST(Fingerprint, FeedsEveryFieldOfReports) { FingerprintProbe::OfReports(); }
TEST(Fingerprint, FeedsTheStage) { FingerprintProbe::OfStage(); }
TEST(Fingerprint, FeedsEveryFieldOfAStay) { FingerprintProbe::OfStay(); }

}  // namespace ostraka::protocol
