#include "node/protocol/lasting/reports.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "node/wire/bitmap.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::reports_test {
namespace {

using base::Milliseconds;
using scene::DigestOf;
using scene::PeersUpTo;

constexpr base::Duration kDelta = base::Seconds(1);

class ReportsTest : public testing::Test {
 protected:
  ReportsTest() { std::sort(members_.begin(), members_.end()); }

  static base::Time At(std::int64_t ms) { return base::Time{} + Milliseconds(ms); }
  LateWatch::Options Options() const {
    LateWatch::Options options;
    options.opened = At(0);
    options.delta = kDelta;
    options.patience = kDelta;
    options.deadline = base::Seconds(60);
    options.members = members_.size();
    options.quorum = 3;
    options.fault_bound = 1;
    return options;
  }
  // A seal in which all COMMITs come at once but those of members 0 and 1, which come late.
  void LateSeal() {
    LateWatch& watch = reports_.WatchLateness(Options());
    for (std::size_t i = 0; i < members_.size(); ++i) watch.Expect({DueMessage::kCommit, i}, i);
    for (std::size_t i = 2; i < members_.size(); ++i) watch.Held({DueMessage::kCommit, i}, At(10));
    watch.Held({DueMessage::kCommit, 0}, At(30'000));
    watch.Held({DueMessage::kCommit, 1}, At(30'000));
    reports_.TakeSeal(members_, DigestOf(1), false, At(31'000), [](const Digest&) { return true; });
  }
  wire::Proof Stated() {
    wire::Proof proof;
    reports_.StateIn(proof, members_, 77);
    return proof;
  }

  std::vector<PeerId> members_ = PeersUpTo(5);
  Reports reports_{members_[0]};
};

TEST_F(ReportsTest, ProofStatesSilentMembersOnceAndOnlyMembers) {
  const PeerId stranger = PeersUpTo(9).back();
  reports_.OnSilent({members_[1], members_[3], stranger});
  EXPECT_EQ(Stated().silent, wire::BitmapOf({}, members_)) << "the seal is not decided";
  reports_.TakeSeal(members_, DigestOf(1), true, At(2), [](const Digest&) { return true; });
  reports_.OnRemoval(members_[3]);
  EXPECT_EQ(Stated().silent, wire::BitmapOf({members_[1]}, members_));
  EXPECT_EQ(Stated().silent, wire::BitmapOf({}, members_));
}

TEST_F(ReportsTest, LatenessIsStatedOnceAndNeverOfThisMember) {
  LateSeal();
  const std::vector<std::uint64_t> late = Stated().late_ms;
  ASSERT_EQ(late.size(), 2 * members_.size());
  EXPECT_EQ(late[0], 0u);  // this member
  EXPECT_GT(late[1], 20'000u);
  EXPECT_EQ(std::count(late.begin(), late.end(), 0u), 9);
  EXPECT_TRUE(Stated().late_ms.empty());
}

// What was measured in a cut would be stated after the return, when the network is timely.
TEST_F(ReportsTest, MemberThatLeavesForgetsWhatItMeasured) {
  reports_.OnSilent({members_[1]});
  LateSeal();
  reports_.OnSilent({members_[2]});  // of a seal that it leaves
  reports_.WatchLateness(Options());
  reports_.Clear();
  EXPECT_EQ(reports_.lateness(), nullptr);
  reports_.TakeSeal(members_, DigestOf(1), true, At(2), [](const Digest&) { return true; });
  const wire::Proof proof = Stated();
  EXPECT_EQ(proof.silent, wire::BitmapOf({}, members_));
  EXPECT_TRUE(proof.late_ms.empty());
}

TEST_F(ReportsTest, LatenessOfTwoSealsAddsUp) {
  LateSeal();
  const std::uint64_t once = Stated().late_ms.at(1);
  LateSeal();
  LateSeal();
  EXPECT_EQ(Stated().late_ms.at(1), 2 * once);
}

TEST_F(ReportsTest, OverdueMessagesAreAskedForOnceADelta) {
  EXPECT_FALSE(reports_.AskAt(kDelta));
  LateWatch& watch = reports_.WatchLateness(Options());
  for (std::size_t i = 0; i < members_.size(); ++i) watch.Expect({DueMessage::kCommit, i}, i);
  for (std::size_t i = 1; i < members_.size(); ++i) watch.Held({DueMessage::kCommit, i}, At(10));
  const auto ask = reports_.AskAt(kDelta);
  ASSERT_TRUE(ask);
  EXPECT_EQ(reports_.TakeOverdue(*ask, kDelta).size(), 1u);
  EXPECT_EQ(reports_.AskAt(kDelta), *ask + kDelta);
  EXPECT_TRUE(reports_.TakeOverdue(*ask + Milliseconds(999), kDelta).empty());
  EXPECT_EQ(reports_.TakeOverdue(*ask + kDelta, kDelta).size(), 1u);
}

TEST_F(ReportsTest, WithoutAMeasuredLagTheUsualOneIsStated) {
  EXPECT_EQ(Stated().lag_us, 77u);
  std::map<PeerId, base::Duration> lags;
  for (const PeerId& member : members_) lags[member] = Milliseconds(5);
  reports_.NoteLags(lags, 3, kDelta);
  EXPECT_EQ(Stated().lag_us, 5'000u);
}

TEST_F(ReportsTest, NothingIsMeasuredWhileNoSealIsWatched) {
  reports_.OnEcho(members_[1], wire::Echo{}, At(1));
  reports_.OnAsked(members_[1], At(1));
  reports_.OnGate(At(1));
  reports_.OnTimer(At(0), At(100'000));
  reports_.TakeSeal(members_, DigestOf(1), true, At(2), [](const Digest&) { return false; });
  EXPECT_EQ(Stated().hasty, wire::BitmapOf({}, members_));
  EXPECT_FALSE(reports_.SlowestSender());
  EXPECT_EQ(reports_.lateness(), nullptr);
}

}  // namespace
}  // namespace ostraka::protocol::reports_test
