#include "tests/unit/protocol/fingerprint.h"

#include "node/protocol/step/step.h"
#include "tests/unit/protocol/scene.h"
#include "tests/unit/protocol/step/step_fixture.h"

namespace ostraka::protocol {

struct FingerprintProbe {
  struct World {
    StepWorld made{nullptr, 4};
    crypto::PlainVerifier verifier;
    Step step{made, made, made.stage, verifier, std::nullopt};
  };

  static void OfStep(Step& step) {
    EXPECT_FEEDS(step, before_ended_);
    EXPECT_FEEDS(step, ended_);
    EXPECT_FEEDS(step, pull_.at_);
  }
  static void OfFacts(Step& step) {
    EXPECT_FEEDS(step, facts_.parent_a);
    EXPECT_FEEDS(step, facts_.parent_b);
    EXPECT_FEEDS(step, facts_.parent_c);
    EXPECT_FEEDS_AFTER(step, step.facts_.my_column = 17);
    EXPECT_FEEDS(step, facts_.muted);
    EXPECT_FEEDS(step, facts_.reading.coin_count);
    EXPECT_FEEDS(step, facts_.reading.absent);
    EXPECT_FEEDS(step, facts_.reading.two_commits);
    EXPECT_FEEDS(step, facts_.reading.draw);
    EXPECT_FEEDS(step, facts_.reading.coins);
    EXPECT_FEEDS(step, facts_.reading.false_revealers);
    EXPECT_FEEDS(step, facts_.reading.randomness);
    EXPECT_FEEDS(step, facts_.reading.commits);
    EXPECT_FEEDS(step, facts_.reading.proofs);
    EXPECT_FEEDS(step, facts_.reading.faults);
    EXPECT_FEEDS(step, facts_.reading.faults.begin()->second.kind);
    EXPECT_FEEDS_AFTER(step, step.facts_.reading.faults.begin()->second.reason.count += 1);
    EXPECT_FEEDS(step, facts_.reading.unreadable);
    EXPECT_FEEDS(step, facts_.reading.false_reveals);
    EXPECT_FEEDS(step, facts_.reading.sealed.step);
    EXPECT_FEEDS(step, facts_.reading.sealed.tau);
    EXPECT_FEEDS(step, facts_.reading.sealed.commit_digests);
    EXPECT_FEEDS_AFTER(step, step.facts_.reading.sealed.aggregates.push_back(std::nullopt));
    EXPECT_FEEDS_AFTER(step, step.facts_.reading.sealed.aggregates.back().emplace());
    wire::Aggregate& aggregate = *step.facts_.reading.sealed.aggregates.back();
    EXPECT_FEEDS_AFTER(step, Alter(aggregate.part_index));
    EXPECT_FEEDS_AFTER(step, Alter(aggregate.result_root));
    EXPECT_FEEDS_AFTER(step, Alter(aggregate.included));
    EXPECT_FEEDS_AFTER(step, Alter(aggregate.leaves_root));
    EXPECT_FEEDS_AFTER(step, Alter(aggregate.commits_root));
    EXPECT_FEEDS_AFTER(step, Alter(aggregate.slowest));
    EXPECT_FEEDS(step, facts_.reading.sealed.faulty_in_a);
    EXPECT_FEEDS(step, facts_.reading.sealed.parameters_root);
    EXPECT_FEEDS(step, facts_.reading.sealed.astray);
  }
  static void OfPairs(Step& step) {
    EXPECT_FEEDS(step, pairs_.pairs_);
    EXPECT_FEEDS(step, pairs_.pairs_[0].index);
    EXPECT_FEEDS(step, pairs_.pairs_[0].worker);
    EXPECT_FEEDS(step, pairs_.pairs_[0].aggregator);
    EXPECT_FEEDS(step, pairs_.pairs_[0].column);
    EXPECT_FEEDS(step, pairs_.forward_until_);
    EXPECT_FEEDS(step, pairs_.forwarded_parts_);
    EXPECT_FEEDS(step, pairs_.forwarded_results_);
    EXPECT_FEEDS(step, pairs_.spoilt_);
  }
  static void OfOwnGradient(Step& step) {
    EXPECT_FEEDS(step, gradient_.job_);
    EXPECT_FEEDS(step, gradient_.root_job_);
    EXPECT_FEEDS(step, gradient_.timed_);
    EXPECT_FEEDS(step, gradient_.parameters_root_);
    EXPECT_FEEDS(step, gradient_.parts_);
    EXPECT_FEEDS(step, gradient_.parts_lost_);
  }
  static void OfOwnColumn(Step& step) {
    EXPECT_FEEDS(step, column_.held_);
    OwnColumn::Held& held = step.column_.held_.begin()->second;
    EXPECT_FEEDS_AFTER(step, held.blob = crypto::MakeBlob({1}));
    EXPECT_FEEDS_AFTER(step, Alter(held.commit));
    EXPECT_FEEDS_AFTER(step, held.frame = std::make_shared<const base::Bytes>(base::Bytes{1}));
    EXPECT_FEEDS(step, column_.refused_);
    EXPECT_FEEDS_AFTER(step, step.column_.to_judge_.insert(scene::PeerNumber(99)));
    EXPECT_FEEDS(step, column_.closed_);
    EXPECT_FEEDS(step, column_.started_);
    EXPECT_FEEDS(step, column_.job_);
    EXPECT_FEEDS(step, column_.parameters_root_);
  }
  static void OfResults(Step& step) {
    EXPECT_FEEDS(step, results_.results_);
    EXPECT_FEEDS_AFTER(step, step.results_.results_[0] = crypto::MakeBlob({1}));
    EXPECT_FEEDS(step, results_.closed_);
    EXPECT_FEEDS(step, results_.expired_);
  }
  static void OfSealing(Step& step) {
    Sealing& sealing = step.sealing_;
    EXPECT_FEEDS_AFTER(step, sealing.entries_.emplace(wire::Phase::kA, 0, step.facts_, step.core_,
                                                      step.member_.charges));
    EXPECT_FEEDS_AFTER(step, Alter(sealing.entries_->phase_));
    EXPECT_FEEDS_AFTER(step, Alter(sealing.entries_->draw_));
    SealOptions options;
    options.members = scene::PeersUpTo(4);
    options.thresholds = {4, 1, 1};
    options.entries = 8;
    EXPECT_FEEDS_AFTER(step, sealing.seal_ = std::make_unique<Seal>(options, &*sealing.entries_));
    EXPECT_FEEDS_AFTER(step, Alter(sealing.slot_.run_id));
    EXPECT_FEEDS_AFTER(step, Alter(sealing.slot_.incarnation));
    EXPECT_FEEDS_AFTER(step, Alter(sealing.slot_.step));
    EXPECT_FEEDS_AFTER(step, Alter(sealing.slot_.phase));
    EXPECT_FEEDS_AFTER(step, Alter(sealing.slot_.type));
    EXPECT_FEEDS_AFTER(step, Alter(sealing.slot_.draw));
    EXPECT_FEEDS_AFTER(step, Alter(sealing.slot_.iteration));
    EXPECT_FEEDS_AFTER(step, Alter(sealing.overdue_));
    EXPECT_FEEDS_AFTER(step, sealing.transcript_ = Words());
    EXPECT_FEEDS_AFTER(step, Alter(sealing.odd_));
  }
  static SealTranscript Words() {
    wire::SignedEnvelope message;
    message.envelope.slot.type = wire::MessageType::kLock;
    message.envelope.slot.iteration = 1;
    message.frame = std::make_shared<const base::Bytes>(base::Bytes{1});
    SealTranscript words;
    words.Add(message);
    return words;
  }
  static void OfProving(Step& step) {
    EXPECT_FEEDS(step, proving_.prove_);
    EXPECT_FEEDS(step, proving_.accuse_);
    EXPECT_FEEDS(step, proving_.root_);
    EXPECT_FEEDS(step, proving_.target_);
    EXPECT_FEEDS(step, proving_.target_->target);
    EXPECT_FEEDS(step, proving_.target_->step);
    EXPECT_FEEDS(step, proving_.started_);
    EXPECT_FEEDS(step, proving_.waited_);
    EXPECT_FEEDS(step, proving_.numbers_);
    EXPECT_FEEDS_AFTER(step, step.proving_.numbers_->emplace_back());
    wire::ColumnNumbers& numbers = step.proving_.numbers_->front();
    EXPECT_FEEDS_AFTER(step, Alter(numbers.missing));
    EXPECT_FEEDS_AFTER(step, Alter(numbers.s[3]));
    EXPECT_FEEDS_AFTER(step, Alter(numbers.norm));
    EXPECT_FEEDS_AFTER(step, Alter(numbers.size));
    EXPECT_FEEDS(step, proving_.accusation_);
    EXPECT_FEEDS(step, proving_.state_root_);
    EXPECT_FEEDS(step, proving_.said_);
  }
  static void OfSettling(Step& step) {
    EXPECT_FEEDS(step, settling_.decision_c_);
    EXPECT_FEEDS(step, settling_.fates_);
    EXPECT_FEEDS(step, settling_.update_);
  }
};

class StepFingerprint : public testing::Test {
 protected:
  FingerprintProbe::World world_;
  Step& step_ = world_.step;
};

TEST_F(StepFingerprint, FeedsEveryFieldOfTheStep) { FingerprintProbe::OfStep(step_); }
TEST_F(StepFingerprint, FeedsEveryFactAndReading) { FingerprintProbe::OfFacts(step_); }
TEST_F(StepFingerprint, FeedsEveryFieldOfDisputedPairs) { FingerprintProbe::OfPairs(step_); }
TEST_F(StepFingerprint, FeedsEveryFieldOfTheOwnGradient) { FingerprintProbe::OfOwnGradient(step_); }
TEST_F(StepFingerprint, FeedsEveryFieldOfTheOwnColumn) { FingerprintProbe::OfOwnColumn(step_); }
TEST_F(StepFingerprint, FeedsEveryFieldOfResults) { FingerprintProbe::OfResults(step_); }
TEST_F(StepFingerprint, FeedsEveryFieldOfSealing) { FingerprintProbe::OfSealing(step_); }
TEST_F(StepFingerprint, FeedsEveryFieldOfProving) { FingerprintProbe::OfProving(step_); }
TEST_F(StepFingerprint, FeedsEveryFieldOfSettling) { FingerprintProbe::OfSettling(step_); }

}  // namespace ostraka::protocol
