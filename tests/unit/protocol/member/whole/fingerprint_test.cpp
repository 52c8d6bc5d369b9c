#include "tests/unit/protocol/fingerprint.h"

#include "tests/unit/protocol/member/whole/fingerprint_probe.h"
#include "tests/unit/protocol/member/whole/four_peers.h"

namespace ostraka::protocol {

// One field of each part: that HashInto reaches the part. The part's room tests its other fields.
void FingerprintProbe::OfParts(PeerMachine& machine) {
  Components& parts = machine.components_;
  EXPECT_FEEDS_AFTER(machine, Alter(parts.stage.stage_));
  EXPECT_FEEDS_AFTER(machine, Alter(parts.journal.next_store_));
  EXPECT_FEEDS_AFTER(machine, Alter(parts.voice.step_));
  EXPECT_FEEDS_AFTER(machine, Alter(parts.jobs.next_));
  EXPECT_FEEDS_AFTER(machine, parts.chain.served_.clear());
  EXPECT_FEEDS_AFTER(machine, Alter(parts.inbox.wanted_));
  EXPECT_FEEDS_AFTER(machine, parts.own_pace.Note(base::Seconds(1), 1));
  EXPECT_FEEDS_AFTER(machine, Alter(parts.genesis.waiting_));
  EXPECT_FEEDS_AFTER(machine, Alter(parts.ration.used_));
  EXPECT_FEEDS_AFTER(machine, Alter(parts.charges.shown_));
  EXPECT_FEEDS_AFTER(machine, Alter(parts.reports.hasty_));
  EXPECT_FEEDS_AFTER(machine, Alter(parts.duties.exhibit_attempts_));
  EXPECT_FEEDS_AFTER(machine, Alter(parts.duty_jobs.votes_));
  EXPECT_FEEDS_AFTER(machine, Alter(parts.followers.asked_));
  EXPECT_FEEDS_AFTER(machine, Alter(parts.past_seals.seals_));
  EXPECT_FEEDS_AFTER(machine, Alter(parts.fork_watch.message_bytes_));
  EXPECT_FEEDS_AFTER(machine, Alter(parts.pace.told_));
}
void FingerprintProbe::OfMember(PeerMachine& machine) {
  EXPECT_FEEDS(machine, forks_.found_);
  EXPECT_FEEDS_AFTER(machine, machine.forks_.trial_.emplace(Fork{}, PeerId{}));
  Follower& follower = machine.follower_;
  EXPECT_FEEDS_AFTER(machine, machine.components_.secrets->Begin(crypto::Hash("test/seed", {})));
  EXPECT_FEEDS_AFTER(machine, follower.catch_up_.emplace(PeerId{}, base::TensorLayout{},
                                                         Codec::kRaw, std::make_shared<Block>(),
                                                         ModelState{}, false, Duration{}));
  EXPECT_FEEDS_AFTER(machine, Alter(follower.replay_.job_));
  EXPECT_FEEDS_AFTER(machine, Alter(follower.said_barred_));
  EXPECT_FEEDS_AFTER(machine, Alter(follower.unconfirmed_since_));
  EXPECT_FEEDS_AFTER(machine, Alter(follower.said_unconfirmed_));
  EXPECT_FEEDS_AFTER(machine, Alter(follower.judged_));
  EXPECT_FEEDS_AFTER(machine, Alter(follower.left_step_));
  EXPECT_FEEDS_AFTER(machine, Alter(follower.must_rejoin_));
  EXPECT_FEEDS_AFTER(machine, Alter(follower.asks_since_));
  EXPECT_FEEDS_AFTER(machine, follower.Trust(std::make_shared<Block>()));
  EXPECT_FEEDS(machine, beginning_.replay_.job_);
  EXPECT_FEEDS(machine, beginning_.replays_);
  EXPECT_FEEDS(machine, beginning_.root_);
  EXPECT_FEEDS(machine, ending_.stay_.ends_);
  EXPECT_FEEDS(machine, ending_.last_block_);
  EXPECT_FEEDS(machine, intake_.gate_.ahead_);
  EXPECT_FEEDS(machine, intake_.gate_.next_);
  EXPECT_FEEDS(machine, intake_.gate_.refused_early_);
  EXPECT_FEEDS(machine, resends_);
  ASSERT_NE(machine.step_.last(), nullptr);
  EXPECT_FEEDS_AFTER(machine, machine.step_.last()->ended_ = Time{1});
  EXPECT_FEEDS_AFTER(machine, machine.step_.Drop());
}

class MemberFingerprint : public testing::Test {
 protected:
  MemberFingerprint() : cluster_(scene::Steps(6)) {
    cluster_.Start();
    cluster_.RunToEnd();
  }
  PeerMachine& machine() { return static_cast<PeerMachine&>(*cluster_.node(0).machine); }

  scene::Cluster cluster_;
};

TEST_F(MemberFingerprint, ReachesEveryPart) { FingerprintProbe::OfParts(machine()); }
TEST_F(MemberFingerprint, FeedsEveryFieldOfTheMember) { FingerprintProbe::OfMember(machine()); }
TEST_F(MemberFingerprint, IsMadeByHashInto) {
  EXPECT_EQ(machine().Fingerprint(), FingerprintOf(machine()));
}

}  // namespace ostraka::protocol
