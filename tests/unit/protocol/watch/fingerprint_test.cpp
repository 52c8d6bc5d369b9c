#include "tests/unit/protocol/fingerprint.h"

#include "node/protocol/watch/echo_lags.h"
#include "node/protocol/watch/echo_watch.h"
#include "node/protocol/watch/fork_trial.h"
#include "node/protocol/watch/fork_watch.h"
#include "node/protocol/watch/late_watch.h"

namespace ostraka::protocol {

struct FingerprintProbe {
  static void OfEchoLags() {
    EchoLags lags;
    EXPECT_FEEDS(lags, kept_);
    EXPECT_FEEDS(lags, kept_[0]);
  }
  static void OfEchoWatch() {
    EchoWatch watch({});
    EXPECT_FEEDS(watch, options_.delta);
    EXPECT_FEEDS(watch, options_.deadline);
    EXPECT_FEEDS(watch, options_.due);
    EXPECT_FEEDS(watch, options_.due[0].index);
    EXPECT_FEEDS(watch, options_.due[0].excused_by);
    EXPECT_FEEDS(watch, seen_);
    EXPECT_FEEDS(watch, seen_.begin()->second.vector);
    EXPECT_FEEDS(watch, seen_.begin()->second.at);
    EXPECT_FEEDS(watch, seen_.begin()->second.blind);
    EXPECT_FEEDS(watch, seen_.begin()->second.early);
    EXPECT_FEEDS(watch, seen_.begin()->second.first_asked);
    EXPECT_FEEDS(watch, seen_.begin()->second.asked_again);
    EXPECT_FEEDS(watch, gate_);
    EXPECT_FEEDS(watch, stood_still_);
    EXPECT_FEEDS(watch, own_);
    EXPECT_FEEDS(watch, own_->vector);
    EXPECT_FEEDS(watch, own_->present);
    EXPECT_FEEDS(watch, own_->equivocated);
    EXPECT_FEEDS(watch, own_at_);
  }
  static void OfForkTrial() {
    ForkTrial trial({}, {});
    EXPECT_FEEDS(trial, fork_.seal.step);
    EXPECT_FEEDS(trial, fork_.seal.phase);
    EXPECT_FEEDS(trial, fork_.seal.draw);
    EXPECT_FEEDS(trial, fork_.parent);
    EXPECT_FEEDS(trial, fork_.unmuted);
    EXPECT_FEEDS(trial, fork_.ours);
    EXPECT_FEEDS(trial, fork_.theirs);
    EXPECT_FEEDS(trial, fork_.others);
    EXPECT_FEEDS_AFTER(trial, trial.messages_.Add(Lock(1)));
    EXPECT_FEEDS(trial, culprits_);
    EXPECT_FEEDS(trial, culprits_.begin()->second.file);
    EXPECT_FEEDS(trial, culprits_.begin()->second.reason);
  }
  static void OfDecision() {
    Decision decision;
    EXPECT_FEEDS(decision, parent);
    EXPECT_FEEDS(decision, value);
    EXPECT_FEEDS(decision, unmuted);
    EXPECT_FEEDS(decision, quorum);
    EXPECT_FEEDS(decision, certificate);
    EXPECT_FEEDS_AFTER(decision, decision.messages.Add(Lock(1)));
  }
  static void OfForkWatch() {
    ForkWatch watch;
    EXPECT_FEEDS_AFTER(watch, watch.Remember({}, {}));
    Decision other;
    other.quorum = 1;
    EXPECT_FEEDS_AFTER(watch, watch.Remember({}, other));
    ForkWatch::Watched& watched = watch.seals_.begin()->second;
    EXPECT_FEEDS_AFTER(watch, Alter(watched.decided));
    EXPECT_FEEDS_AFTER(watch, watched.decision.messages.Add(Lock(1)));
    EXPECT_FEEDS_AFTER(watch, Alter(watched.rivals));
    EXPECT_FEEDS_AFTER(watch, Alter(watched.said));
    EXPECT_FEEDS(watch, asked_);
    EXPECT_FEEDS(watch, message_bytes_);
  }
  static void OfLateWatch() {
    LateWatch watch({});
    EXPECT_FEEDS(watch, options_.opened);
    EXPECT_FEEDS(watch, options_.delta);
    EXPECT_FEEDS(watch, options_.patience);
    EXPECT_FEEDS(watch, options_.deadline);
    EXPECT_FEEDS(watch, options_.members);
    EXPECT_FEEDS(watch, options_.quorum);
    EXPECT_FEEDS(watch, options_.fault_bound);
    EXPECT_FEEDS(watch, options_.owns_column);
    EXPECT_FEEDS(watch, due_);
    EXPECT_FEEDS(watch, due_.begin()->second.author);
    EXPECT_FEEDS(watch, due_.begin()->second.extra);
    EXPECT_FEEDS(watch, lacking_);
    EXPECT_FEEDS(watch, held_);
    EXPECT_FEEDS(watch, results_ended_);
    EXPECT_FEEDS(watch, stopped_);
    EXPECT_FEEDS(watch, slowly_decided_);
    EXPECT_FEEDS(watch, stood_still_);
  }
  static wire::SignedEnvelope Lock(std::uint8_t number) {
    wire::SignedEnvelope message;
    message.envelope.slot.type = wire::MessageType::kLock;
    message.envelope.slot.iteration = 1;
    message.digest.bytes[0] = number;
    message.frame = std::make_shared<const base::Bytes>(base::Bytes{number});
    return message;
  }
};

TEST(Fingerprint, FeedsEveryFieldOfEchoLags) { FingerprintProbe::OfEchoLags(); }
TEST(Fingerprint, FeedsEveryFieldOfTheEchoWatch) { FingerprintProbe::OfEchoWatch(); }
TEST(Fingerprint, FeedsEveryFieldOfTheForkTrial) { FingerprintProbe::OfForkTrial(); }
TEST(Fingerprint, FeedsEveryFieldOfADecision) { FingerprintProbe::OfDecision(); }
TEST(Fingerprint, FeedsEveryFieldOfTheForkWatch) { FingerprintProbe::OfForkWatch(); }
TEST(Fingerprint, FeedsEveryFieldOfTheLateWatch) { FingerprintProbe::OfLateWatch(); }

}  // namespace ostraka::protocol
