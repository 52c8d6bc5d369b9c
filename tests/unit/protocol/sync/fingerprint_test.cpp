#include "tests/unit/protocol/fingerprint.h"

#include "node/protocol/sync/catch_up.h"
#include "node/protocol/sync/past_step.h"
#include "node/protocol/sync/recent_blocks.h"

namespace ostraka::protocol {

struct FingerprintProbe {
  static SharedBlock BlockOf(std::uint64_t step) {
    auto block = std::make_shared<Block>();
    block->step = step;
    return block;
  }
  static void OfCatchUp() {
    CatchUp catch_up({}, {}, Codec::kRaw, BlockOf(1), {}, false, {});
    EXPECT_FEEDS_AFTER(catch_up, catch_up.view_ = BlockOf(2));
    EXPECT_FEEDS_AFTER(catch_up,
                       catch_up.state_.parameters = std::make_shared<std::vector<float>>());
    EXPECT_FEEDS(catch_up, trust_state_);
    EXPECT_FEEDS_AFTER(catch_up, catch_up.head_ = BlockOf(3));
    EXPECT_FEEDS(catch_up, confirmed_);
    EXPECT_FEEDS_AFTER(catch_up, catch_up.histories_.OnAttest({}, 1, {}));
    EXPECT_FEEDS_AFTER(catch_up, catch_up.unproven_.held_[{}]);
    EXPECT_FEEDS(catch_up, chain_);
    EXPECT_FEEDS(catch_up, reported_);
    EXPECT_FEEDS(catch_up, kept_);
    EXPECT_FEEDS(catch_up, kept_->step);
    EXPECT_FEEDS(catch_up, kept_->parts);
    EXPECT_FEEDS_AFTER(catch_up,
                       catch_up.fetch_.emplace(1, Digest{}, base::TensorLayout{}, SlotNames{}));
    EXPECT_FEEDS(catch_up, fresh_.parts);
    EXPECT_FEEDS(catch_up, given_up_);
    EXPECT_FEEDS_AFTER(catch_up, catch_up.fetched_.emplace(BlockOf(5), ModelState{}));
    EXPECT_FEEDS(catch_up, results_);
    EXPECT_FEEDS(catch_up, liars_);
    EXPECT_FEEDS(catch_up, requests_.turn_);
  }
  static void OfHistories() {
    Histories histories{{}};
    EXPECT_FEEDS(histories, attestations_.parents_);
    EXPECT_FEEDS(histories, attestations_.parents_.begin()->second);
    EXPECT_FEEDS_AFTER(histories, histories.KeepLandmark(BlockOf(1), BlockOf(1)));
    Landmark& landmark = histories.landmarks_.front();
    EXPECT_FEEDS_AFTER(histories, landmark.answers_[{}]);
    EXPECT_FEEDS_AFTER(histories, landmark.asked_[{}]);
    EXPECT_FEEDS_AFTER(histories, landmark.asked_[{}].first.ns = 1);
    EXPECT_FEEDS_AFTER(histories, landmark.asked_[{}].last.ns = 1);
    EXPECT_FEEDS_AFTER(histories, landmark.asked_[{}].times = 1);
    EXPECT_FEEDS_AFTER(histories, landmark.begun_ = base::Time{7});
    EXPECT_FEEDS_AFTER(histories, landmark.since_ = base::Time{7});
    EXPECT_FEEDS_AFTER(histories, landmark.wake_ = base::Time{7});
    EXPECT_FEEDS(histories, found_);
    EXPECT_FEEDS(histories, found_->height);
    EXPECT_FEEDS(histories, found_->one.block);
    EXPECT_FEEDS(histories, found_->one.is_known);
    EXPECT_FEEDS(histories, found_->other.shown_by);
  }
  static void OfUnprovenBlocks() {
    UnprovenBlocks unproven;
    EXPECT_FEEDS(unproven, held_);
    EXPECT_FEEDS(unproven, held_.begin()->second.height);
    EXPECT_FEEDS(unproven, held_.begin()->second.encoded);
    EXPECT_FEEDS(unproven, held_.begin()->second.from);
  }
  static void OfStateFetch() {
    StateFetch fetch(1, {}, {{"w", {3}}}, {});
    EXPECT_FEEDS_AFTER(fetch, fetch.leaves_.emplace_back());
    EXPECT_FEEDS_AFTER(fetch, fetch.have_[0] = true);
    EXPECT_FEEDS(fetch, left_);
  }
  static void OfRequests() {
    Requests requests{{}};
    EXPECT_FEEDS(requests, open_);
    EXPECT_FEEDS(requests, open_.begin()->second.asked);
    EXPECT_FEEDS(requests, open_.begin()->second.heard);
    EXPECT_FEEDS(requests, open_.begin()->second.patience);
    EXPECT_FEEDS(requests, open_.begin()->second.turn);
    EXPECT_FEEDS(requests, open_.begin()->second.order);
    EXPECT_FEEDS(requests, open_.begin()->second.to);
    EXPECT_FEEDS(requests, open_.begin()->second.handed_over);
    EXPECT_FEEDS(requests, open_.begin()->second.refuted);
    EXPECT_FEEDS(requests, open_.begin()->second.passed_over);
    EXPECT_FEEDS(requests, open_.begin()->second.at_work);
    EXPECT_FEEDS_AFTER(requests, requests.owed_.emplace_back());
    EXPECT_FEEDS(requests, owed_[0].key.index);
    EXPECT_FEEDS(requests, owed_[0].by);
    EXPECT_FEEDS(requests, owed_[0].order);
    EXPECT_FEEDS(requests, owed_[0].heard);
    EXPECT_FEEDS(requests, owed_[0].wait);
    EXPECT_FEEDS_AFTER(requests, requests.owed_[0].then = Requests::Owed::Then::kBlamed);
    EXPECT_FEEDS(requests, owed_[0].at_work);
    EXPECT_FEEDS(requests, owed_[0].shunned_until);
    EXPECT_FEEDS(requests, hand_overs_left_);
    EXPECT_FEEDS(requests, all_are_busy_);
    EXPECT_FEEDS(requests, usual_);
    EXPECT_FEEDS(requests, answered_);
    EXPECT_FEEDS(requests, turn_);
    EXPECT_FEEDS(requests, order_);
    EXPECT_FEEDS(requests, last_);
    EXPECT_FEEDS(requests, shunned_);
    EXPECT_FEEDS(requests, wake_);
  }
  static void OfRecentBlocks() {
    RecentBlocks recent(4);
    EXPECT_FEEDS(recent, kept_);
    EXPECT_FEEDS(recent, kept_.begin()->second.genesis);
    EXPECT_FEEDS(recent, kept_.begin()->second.step);
    EXPECT_FEEDS(recent, kept_.begin()->second.digest);
    EXPECT_FEEDS(recent, kept_.begin()->second.encoded);
  }
};

TEST(Fingerprint, FeedsEveryFieldOfCatchUp) { FingerprintProbe::OfCatchUp(); }
TEST(Fingerprint, FeedsEveryFieldOfHistories) { FingerprintProbe::OfHistories(); }
TEST(Fingerprint, FeedsEveryFieldOfUnprovenBlocks) { FingerprintProbe::OfUnprovenBlocks(); }
TEST(Fingerprint, FeedsEveryFieldOfStateFetch) { FingerprintProbe::OfStateFetch(); }
TEST(Fingerprint, FeedsEveryFieldOfRequests) { FingerprintProbe::OfRequests(); }
TEST(Fingerprint, FeedsEveryFieldOfRecentBlocks) { FingerprintProbe::OfRecentBlocks(); }

TEST(Fingerprint, FeedsWhatAPastStepHasOfItsOwn) {
  PastStep past;
  EXPECT_FEEDS(past, columns);
  EXPECT_FEEDS(past, parts);
  EXPECT_FEEDS_AFTER(past, past.columns[0].result = crypto::MakeBlob({1}));
}

// A block differs from another by any of the fields that its digest covers and that are fed.
TEST(Fingerprint, FeedsABlock) {
  Block block;
  EXPECT_FEEDS(block, step);
  EXPECT_FEEDS(block, genesis);
  EXPECT_FEEDS(block, decision);
  EXPECT_FEEDS(block, previous);
  EXPECT_FEEDS(block, randomness);
  EXPECT_FEEDS(block, members);
  EXPECT_FEEDS(block, thresholds.n);
  EXPECT_FEEDS(block, thresholds.t_s);
  EXPECT_FEEDS(block, thresholds.t_a);
  EXPECT_FEEDS(block, state_root);
  EXPECT_FEEDS(block, result_roots);
}

}  // namespace ostraka::protocol
