#include "node/protocol/lasting/followers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::followers_test {
namespace {

using base::Seconds;
using scene::DigestOf;
using scene::PeersUpTo;

bool NobodyMustBeNear(const PeerId&) { return false; }
bool RefusesNobody(const Voucher&) { return false; }

class FollowersTest : public testing::Test {
 protected:
  FollowersTest() {
    std::sort(peers_.begin(), peers_.end());
    members_ = {peers_[0], peers_[1], peers_[2]};
    away_ = peers_[4];
  }
  static base::Time At(std::int64_t seconds) { return base::Time{} + Seconds(seconds); }

  static std::map<PeerId, Digest> Commits(const std::vector<PeerId>& members) {
    std::map<PeerId, Digest> commits;
    for (const PeerId& member : members) commits[member] = DigestOf(7);
    return commits;
  }

  std::vector<PeerId> peers_ = PeersUpTo(6);
  std::vector<PeerId> members_;
  PeerId away_;
  Followers followers_;
};

TEST_F(FollowersTest, AudienceIsTheMembersThoseThatLeftAndThoseThatFollow) {
  followers_.Note(away_, At(0), 3, 3);
  followers_.Note(members_[1], At(0), 3, 3);
  followers_.Note(peers_[3], At(0), 3, 3);
  wire::Block head;
  head.members = members_;
  head.left = {peers_[3]};
  std::vector<PeerId> expected = members_;
  expected.push_back(peers_[3]);
  expected.push_back(away_);
  EXPECT_EQ(followers_.Audience(head), expected);
}

TEST_F(FollowersTest, FollowerThatAsksForNothingIsForgotten) {
  followers_.Note(away_, At(0), 3, 3);
  followers_.OnAsked(away_, At(50));
  followers_.OnAsked(peers_[5], At(50));  // does not follow by asking
  followers_.Expire(Commits(members_), 9, At(110), Seconds(60));
  EXPECT_TRUE(followers_.Contains(away_));
  EXPECT_FALSE(followers_.Contains(peers_[5]));
  followers_.Expire(Commits(members_), 9, At(111), Seconds(60));
  EXPECT_FALSE(followers_.Contains(away_));
}

TEST_F(FollowersTest, AdmittedFollowerIsAwayNoMore) {
  followers_.OnRejoin(away_, {3, DigestOf(1), {}}, At(0), 3);
  EXPECT_TRUE(followers_.HasRejoin(away_, 3));
  wire::Block head;
  head.members = {peers_[0], peers_[1], peers_[2], away_};
  followers_.OnHead(head, RefusesNobody);
  followers_.Expire(Commits({away_}), 5, At(1), Seconds(60));
  EXPECT_FALSE(followers_.HasRejoin(away_, 3));
  EXPECT_EQ(followers_.size(), 0u);
  followers_.CheckInvariants(6);
}

// It signed the COMMITs of step 3 or 4 before its store was gone, and follows until a block drops
// it. It asks to follow once, and then for heads.
TEST_F(FollowersTest, MemberThatLostItsStoreFollowsBeyondItsDrop) {
  const PeerId& lost = members_[1];
  followers_.Note(lost, At(0), 3, 3);
  followers_.Expire(Commits(members_), 3, At(1), Seconds(60));
  followers_.Expire(Commits(members_), 4, At(1), Seconds(60));
  followers_.Expire(Commits({members_[0], members_[2]}), 5, At(2), Seconds(60));
  EXPECT_TRUE(followers_.Contains(lost));
  followers_.OnAsked(lost, At(50));
  followers_.Expire({}, 6, At(110), Seconds(60));
  EXPECT_TRUE(followers_.Contains(lost));
  followers_.Expire({}, 7, At(111), Seconds(60));
  EXPECT_FALSE(followers_.Contains(lost));
}

TEST_F(FollowersTest, MemberThatCommitsTwoStepsLaterIsAtWorkAgain) {
  followers_.Note(members_[1], At(0), 3, 3);
  followers_.Expire(Commits(members_), 5, At(1), Seconds(60));
  EXPECT_FALSE(followers_.Contains(members_[1]));
}

TEST_F(FollowersTest, BannedKeyIsForgottenAndADroppedOneIsNot) {
  followers_.OnRejoin(away_, {3, DigestOf(1), {}}, At(0), 3);
  followers_.Note(members_[1], At(0), 3, 3);
  followers_.Note(peers_[5], At(0), 3, 3);
  wire::Block head;
  head.members = {members_[0], members_[2]};
  head.standings = {{.peer = members_[1], .banned = true},
                    {.peer = away_, .banned = true},
                    {.peer = peers_[5], .drops = 1}};
  followers_.OnHead(head, RefusesNobody);
  EXPECT_EQ(followers_.all(), std::vector<PeerId>{peers_[5]});
  EXPECT_FALSE(followers_.HasRejoin(away_, 3));
}

// A carrier can keep it, and show it again.
TEST_F(FollowersTest, AnOlderRejoinNeverTakesThePlaceOfANewerOne) {
  followers_.OnRejoin(away_, {5, DigestOf(1), {}}, At(0), 5);
  EXPECT_TRUE(followers_.HasRejoin(away_, 4));
  EXPECT_TRUE(followers_.HasRejoin(away_, 5));
  EXPECT_FALSE(followers_.HasRejoin(away_, 6));
  EXPECT_DEATH(followers_.OnRejoin(away_, {4, DigestOf(2), {}}, At(1), 6), "CHECK failed");
}

TEST_F(FollowersTest, WhatAnotherOneSaysThatAFollowerHasIsNotBelieved) {
  followers_.Note(away_, At(0), 9, std::nullopt);
  EXPECT_TRUE(followers_.Contains(away_));
  EXPECT_FALSE(followers_.Has(away_, 1));
  followers_.Note(away_, At(1), 9, 7);
  followers_.Note(away_, At(2), 9, std::nullopt);
  EXPECT_TRUE(followers_.Has(away_, 7)) << "it stays what it was";
}

TEST_F(FollowersTest, FollowerHasWhatItSaidLast) {
  EXPECT_FALSE(followers_.Has(away_, 0));
  followers_.Note(away_, At(0), 9, 10);
  EXPECT_TRUE(followers_.Has(away_, 10));
  EXPECT_FALSE(followers_.Has(away_, 11));
  followers_.Note(away_, At(1), 9, 4);  // it has lost its store
  EXPECT_FALSE(followers_.Has(away_, 10));
}

TEST_F(FollowersTest, RejoinThatNamesAnOldOrUnknownBlockIsNotConfirmed) {
  wire::Block head;
  head.members = members_;
  RecentBlocks recent(64);
  std::vector<Digest> digests;
  for (std::uint64_t step = 0; step < 12; ++step) {
    head.step = step;
    digests.push_back(recent.Add(head).digest);
  }
  std::uint64_t asked_in = 0;
  const auto confirmed = [&](const Digest& named) {
    followers_.OnRejoin(away_, {++asked_in, named, {}}, At(0), 3);
    return followers_.ToConfirm(recent, NobodyMustBeNear).size();
  };
  EXPECT_EQ(confirmed(digests[11]), 1u);
  EXPECT_EQ(confirmed(digests[12 - Followers::kRejoinBlocks]), 1u);
  EXPECT_EQ(confirmed(digests[11 - Followers::kRejoinBlocks]), 0u);
  EXPECT_EQ(confirmed(DigestOf(9)), 0u);
}

// Attack: a newcomer whose line is too long for the seals.
TEST_F(FollowersTest, WhoMustBeNearIsConfirmedOnceItHasAnsweredWithinHalfADelta) {
  wire::Block head;
  RecentBlocks recent(64);
  const Digest first = recent.Add(head).digest;
  ++head.step;
  const Digest second = recent.Add(head).digest;
  followers_.OnRejoin(away_, {1, first, {}}, At(0), 3);
  const base::Duration delta = Seconds(8);
  const auto confirmed = [&](bool must_be_near) {
    return followers_.ToConfirm(recent, [=](const PeerId&) { return must_be_near; }).size();
  };
  EXPECT_EQ(confirmed(false), 1u) << "it has a seat";
  followers_.OnBlockOf(away_, first, At(0), delta);
  EXPECT_EQ(confirmed(true), 0u) << "nobody asked it";
  EXPECT_TRUE(followers_.AsksHowFar(away_, first, At(0), delta));
  EXPECT_FALSE(followers_.AsksHowFar(away_, first, At(4), delta)) << "once for a block";
  EXPECT_FALSE(followers_.AsksHowFar(away_, second, At(4), delta)) << "an answer may be on its way";
  EXPECT_TRUE(followers_.AsksHowFar(away_, second, At(5), delta));
  followers_.OnBlockOf(away_, first, At(6), delta);
  EXPECT_EQ(confirmed(true), 0u) << "it took 6 s";
  followers_.OnBlockOf(away_, second, At(10), delta);
  EXPECT_EQ(confirmed(true), 0u) << "it took 5 s";
  EXPECT_TRUE(followers_.AsksHowFar(away_, first, At(14), delta));
  followers_.OnBlockOf(away_, first, At(18), delta);
  EXPECT_EQ(confirmed(true), 1u);
  EXPECT_FALSE(followers_.AsksHowFar(away_, second, At(60), delta)) << "it is near";
  followers_.OnBlockOf(scene::PeerNumber(77), first, At(60), delta);
  EXPECT_EQ(followers_.size(), 1u) << "no follower";
}

// --- guests -------------------------------------------------------------------------------------

class GuestsTest : public testing::Test {
 protected:
  static base::Time At(std::int64_t seconds) { return base::Time{} + Seconds(seconds); }
  static std::optional<Voucher> By(std::uint64_t invite, std::uint32_t uses = 100) {
    return Voucher{DigestOf(invite), scene::PeerNumber(0), uses, 1000};
  }
  static std::optional<Voucher> Of(std::uint32_t moderator, std::uint64_t invite) {
    return Voucher{DigestOf(invite), scene::PeerNumber(moderator), 1, 1000};
  }
  Followers::Refuses RefusesRevoked() const {
    return [this](const Voucher& voucher) { return revoked_.contains(voucher.moderator); };
  }
  bool Comes(std::uint32_t number, const std::optional<Voucher>& voucher, std::int64_t second = 0) {
    const PeerId peer = scene::PeerNumber(number);
    if (!followers_.Welcome(peer, voucher, At(second), RefusesRevoked())) return false;
    followers_.OnRejoin(peer, {++asked_in_, DigestOf(1), voucher}, At(second), 3);
    followers_.CheckInvariants(0);
    return true;
  }
  bool IsGuest(std::uint32_t number) const { return followers_.IsGuest(scene::PeerNumber(number)); }
  void Asks(std::uint32_t number, std::int64_t second) {
    followers_.OnAsked(scene::PeerNumber(number), At(second));
  }
  std::set<PeerId> revoked_;  // moderators
  static constexpr auto kMost = static_cast<std::uint32_t>(Followers::kMostGuests);

  Followers followers_;
  std::uint64_t asked_in_ = 0;
};

TEST_F(GuestsTest, FollowFromTheirRejoinOn) {
  EXPECT_FALSE(IsGuest(1));
  ASSERT_TRUE(Comes(1, By(1)));
  EXPECT_TRUE(IsGuest(1));
  EXPECT_TRUE(followers_.Contains(scene::PeerNumber(1)));
  EXPECT_TRUE(Comes(1, By(1))) << "its next REJOIN";
  EXPECT_EQ(followers_.size(), 1u);
}

TEST_F(GuestsTest, OneInviteBringsNoMoreThanItHasUses) {
  EXPECT_TRUE(Comes(1, By(1, 2)));
  EXPECT_TRUE(Comes(2, By(1, 2)));
  EXPECT_FALSE(Comes(3, By(1, 2)));
  EXPECT_TRUE(Comes(3, By(2, 1)));
  EXPECT_FALSE(Comes(3, By(1, 2))) << "nor by showing another one first";
  EXPECT_TRUE(IsGuest(3)) << "it stays what it was";
  EXPECT_TRUE(Comes(4, std::nullopt)) << "whom the manifest names needs none";
}

TEST_F(GuestsTest, ThereAreNoMoreThanPlacesAndWhoAsksForNothingGivesItsUp) {
  for (std::uint32_t i = 0; i < kMost; ++i) ASSERT_TRUE(Comes(i, By(1)));
  EXPECT_FALSE(Comes(kMost, By(1)));
  for (std::uint32_t i = 1; i < kMost; ++i) Asks(i, 60);
  EXPECT_FALSE(Comes(kMost, By(1), 120));
  EXPECT_TRUE(Comes(kMost, By(1), 121));
  EXPECT_FALSE(IsGuest(0));
  EXPECT_FALSE(followers_.Contains(scene::PeerNumber(0)));
  EXPECT_FALSE(followers_.HasRejoin(scene::PeerNumber(0), 1));
}

// The first process of a volunteer was killed, and the second one made another key.
TEST_F(GuestsTest, OneWhoseLinkWentDownGivesItsPlaceUpUnlessItAsksAgain) {
  EXPECT_TRUE(Comes(1, By(1, 1)));
  followers_.OnLinkDown(scene::PeerNumber(1));
  Asks(1, 1);
  EXPECT_FALSE(Comes(2, By(1, 1), 2));
  followers_.OnLinkDown(scene::PeerNumber(1));
  EXPECT_TRUE(Comes(2, By(1, 1), 3));
  EXPECT_FALSE(IsGuest(1));
  followers_.OnLinkDown(scene::PeerNumber(1));
  EXPECT_FALSE(followers_.Contains(scene::PeerNumber(1)));
}

// [Any stranger with any invite made each short loss of a link cost a newcomer its candidacy.]
TEST_F(GuestsTest, OneWhoseLinkWentDownKeepsItsPlaceWhileNobodyNeedsIt) {
  for (std::uint32_t i = 1; i < kMost; ++i) ASSERT_TRUE(Comes(i, By(i, 1)));
  followers_.OnLinkDown(scene::PeerNumber(1));
  EXPECT_TRUE(Comes(100, By(100, 1)));
  EXPECT_TRUE(IsGuest(1));
  EXPECT_TRUE(Comes(101, By(101, 1)));
  EXPECT_FALSE(IsGuest(1));
}

// Attack: the holders of one public link take all places.
TEST_F(GuestsTest, TheInviteWithTheMostGuestsGivesPlacesToOthers) {
  for (std::uint32_t i = 0; i < kMost; ++i) ASSERT_TRUE(Comes(i, By(1), i));
  ASSERT_TRUE(Comes(100, By(2), 40));
  EXPECT_FALSE(IsGuest(0)) << "which asked least recently";
  EXPECT_TRUE(IsGuest(1));
  ASSERT_TRUE(Comes(101, std::nullopt, 41));
  EXPECT_FALSE(IsGuest(1));
  std::uint32_t next = 200;
  while (Comes(next, By(2), 42)) ++next;
  EXPECT_EQ(next, 200 + kMost / 2 - 2) << "until both have about the same number";
  EXPECT_TRUE(IsGuest(101));
}

TEST_F(GuestsTest, ManyInvitesOfOneModeratorDoNotKeepOthersOut) {
  for (std::uint32_t i = 0; i < kMost; ++i) ASSERT_TRUE(Comes(100 + i, Of(1, 100 + i)));
  for (std::uint32_t i = 0; i < kMost / 2; ++i) {
    Asks(100, 1 + i);
    EXPECT_TRUE(Comes(200 + i, Of(2, 200 + i), 1)) << i;
  }
  EXPECT_FALSE(Comes(300, Of(2, 300), 1)) << "half of the places each";
  EXPECT_TRUE(IsGuest(100)) << "one that asks stays";
}

TEST_F(GuestsTest, WhomTheRunRefusesGivesItsPlaceFirst) {
  for (std::uint32_t i = 0; i < kMost; ++i) ASSERT_TRUE(Comes(100 + i, Of(i % 2, 100 + i)));
  EXPECT_FALSE(Comes(300, Of(1, 300))) << "as many as the others";
  revoked_.insert(scene::PeerNumber(0));
  EXPECT_FALSE(Comes(301, Of(0, 301))) << "is refused itself";
  for (std::uint32_t i = 0; i < kMost / 2; ++i) EXPECT_TRUE(Comes(400 + i, Of(1, 400 + i))) << i;
  EXPECT_FALSE(Comes(500, Of(1, 500)));
  EXPECT_TRUE(IsGuest(101)) << "it is not refused";
}

// F5. The revocation is of a moderator's invites; one that the run refuses for another reason, as
// for want of a seat, is not asked about here.
TEST_F(GuestsTest, WhomTheRunRefusesForGoodIsAGuestNoMore) {
  ASSERT_TRUE(Comes(1, Of(0, 1)));
  ASSERT_TRUE(Comes(2, Of(1, 2)));
  ASSERT_TRUE(Comes(3, std::nullopt));
  wire::Block head;
  followers_.OnHead(head, RefusesRevoked());
  EXPECT_TRUE(IsGuest(1));
  revoked_.insert(scene::PeerNumber(0));
  followers_.OnHead(head, RefusesRevoked());
  EXPECT_FALSE(IsGuest(1));
  EXPECT_FALSE(followers_.Contains(scene::PeerNumber(1)));
  EXPECT_TRUE(IsGuest(2));
  EXPECT_TRUE(IsGuest(3)) << "the manifest names it";
  followers_.CheckInvariants(0);
}

// Attack: keys of the run that had left or were banned, and did not follow, had the whole share of
// members that come back. A key that sent a thousand forgeries a second kept such a member away.
TEST_F(FollowersTest, WhoFollowsHasItsShareWhateverOtherKeysOfTheRunDo) {
  followers_.Note(away_, At(0), 3, 3);
  using What = GuestRation::What;
  GuestRation ration({1000, 1000, 1000});
  std::size_t heard = 0;
  for (std::int64_t ms = 1; ms <= 10'000; ++ms) {
    const base::Time now = At(100) + base::Milliseconds(ms);
    for (const PeerId& flooder : {peers_[3], peers_[5]}) {
      const GuestShare share = followers_.ShareOf(flooder, 3);
      while (ration.Has(now, flooder, share, What::kOddMessages)) {
        ration.Count(now, flooder, share, What::kOddMessages, 1);
      }
    }
    if (ms % 100 != 0) continue;
    const GuestShare share = followers_.ShareOf(away_, 3);
    if (!ration.Has(now, away_, share, What::kOddMessages)) continue;
    ration.Count(now, away_, share, What::kOddMessages, 1);
    ++heard;
  }
  EXPECT_GE(heard, 95u) << "of a hundred";
}

// Attack: a node that follows looked at the vouchers of all guests for each message of one.
TEST_F(GuestsTest, AHeadEndsThoseItRefusesOnce) {
  ASSERT_TRUE(Comes(1, Of(0, 1)));
  std::size_t looks = 0;
  const auto refuses = [&looks](const Voucher&) {
    ++looks;
    return false;
  };
  wire::Block head;
  head.decision = DigestOf(1);
  for (int i = 0; i < 100; ++i) followers_.EndRefused(head, refuses);
  EXPECT_EQ(looks, 1u);
  head.decision = DigestOf(2);
  followers_.EndRefused(head, [](const Voucher&) { return true; });
  EXPECT_FALSE(IsGuest(1)) << "a new head may refuse it";
}

// The share of a key times all that share as it does is never more than the whole.
TEST_F(GuestsTest, SharesAreOfModeratorsThenInvitesThenKeys) {
  const auto share_of = [&](std::uint32_t number) {
    const GuestShare share = followers_.ShareOf(scene::PeerNumber(number), 0);
    return std::array<std::uint64_t, 3>{share.moderators, share.invites, share.keys};
  };
  using Shares = std::array<std::uint64_t, 3>;
  for (std::uint32_t i = 0; i < 10; ++i)
    ASSERT_TRUE(Comes(100 + i, Voucher{DigestOf(1), scene::PeerNumber(1), 100, 1000}));
  EXPECT_EQ(share_of(100), (Shares{1, 1, 10}));
  ASSERT_TRUE(Comes(200, Of(1, 2)));
  EXPECT_EQ(share_of(100), (Shares{1, 2, 10}));
  EXPECT_EQ(share_of(200), (Shares{1, 2, 1}));
  ASSERT_TRUE(Comes(300, Of(2, 3)));
  EXPECT_EQ(share_of(200), (Shares{2, 2, 1}));
  EXPECT_EQ(share_of(300), (Shares{2, 1, 1}));
  ASSERT_TRUE(Comes(400, std::nullopt));
  ASSERT_TRUE(Comes(401, std::nullopt));
  followers_.Note(scene::PeerNumber(500), At(0), 3, 3);  // dropped, say, and follows
  EXPECT_EQ(share_of(400), (Shares{3, 3, 1}));
  EXPECT_EQ(share_of(500), (Shares{3, 3, 1}));
  EXPECT_EQ(share_of(300), (Shares{3, 1, 1}));
  double all = 0;
  for (const std::uint32_t number :
       {100u, 101u, 102u, 103u, 104u, 105u, 106u, 107u, 108u, 109u, 200u, 300u, 400u, 401u, 500u}) {
    const auto [moderators, invites, keys] = share_of(number);
    all += 1.0 / static_cast<double>(moderators * invites * keys);
  }
  EXPECT_DOUBLE_EQ(all, 1);
  // One that is none yet is counted with the others.
  const GuestShare eleventh = followers_.ShareBy(scene::PeerNumber(600), Of(1, 1));
  EXPECT_EQ(eleventh.keys, 11U);
  EXPECT_EQ(followers_.ShareBy(scene::PeerNumber(600), Of(9, 9)).moderators, 4U);
  EXPECT_EQ(followers_.ShareBy(scene::PeerNumber(600), Of(1, 9)).invites, 3U);
}

TEST_F(GuestsTest, AMemberAndABannedKeyAreGuestsNoMore) {
  for (const std::uint32_t number : {1u, 2u, 3u}) ASSERT_TRUE(Comes(number, By(1)));
  wire::Block head;
  head.members = {scene::PeerNumber(1)};
  head.standings = {{.peer = scene::PeerNumber(2), .banned = true}};
  followers_.OnHead(head, RefusesNobody);
  EXPECT_FALSE(IsGuest(1));
  EXPECT_FALSE(IsGuest(2));
  EXPECT_TRUE(IsGuest(3));
  followers_.CheckInvariants(2);
}

TEST_F(GuestsTest, WhatTheyShowIsPassedOnWithTheirKeys) {
  wire::Block head;
  RecentBlocks recent(64);
  const Digest digest = recent.Add(head).digest;
  for (const std::uint32_t number : {1u, 2u}) {
    const auto voucher = number == 1 ? By(5) : std::nullopt;
    ASSERT_TRUE(followers_.Welcome(scene::PeerNumber(number), voucher, At(0), RefusesRevoked()));
    followers_.OnRejoin(scene::PeerNumber(number), {1, digest, voucher}, At(0), 3);
  }
  EXPECT_EQ(followers_.ToConfirm(recent, NobodyMustBeNear),
            (Asking{{scene::PeerNumber(1), By(5)}, {scene::PeerNumber(2), std::nullopt}}));
}

}  // namespace
}  // namespace ostraka::protocol::followers_test
