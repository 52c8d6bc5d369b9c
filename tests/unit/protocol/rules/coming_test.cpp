// Who comes in: what is refused, what is counted, and who gets a slot.
#include "node/protocol/rules/coming.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "node/protocol/rules/judgement.h"
#include "node/wire/codec.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::coming_test {
namespace {

using scene::DigestOf;
using scene::ManifestOf;
using scene::PeerNumber;
using scene::ViewBefore;
using testing::HasSubstr;

constexpr std::uint64_t kStep = 50;
constexpr std::uint32_t kModerator = 90;  // no member
constexpr std::uint64_t kEnds = 5000;

// Eight members, t_s = 3, so four confirm; ten seats; invites. Keys from 20 on are strangers.
class ComingTest : public testing::Test {
 protected:
  ComingTest() : manifest_(ManifestOf(8)) {
    manifest_.probation = 3;
    manifest_.training.steps = 100'000;
    manifest_.join = {.policy = JoinPolicy::kInvite,
                      .allow = {PeerNumber(20), PeerNumber(21)},
                      .moderators = {PeerNumber(kModerator), PeerNumber(kModerator + 1)},
                      .quota = 4,
                      .seats = 10};
    view_ = ViewBefore(manifest_, kStep);
  }

  static Voucher By(std::uint64_t invite, std::uint32_t uses = 1) {
    return {DigestOf(invite), PeerNumber(kModerator), uses, kEnds};
  }
  static Arrival Guest(std::uint32_t number, std::optional<Voucher> voucher = By(1, 100)) {
    return {PeerNumber(number), std::move(voucher)};
  }
  std::string Refusal(const Arrival& arrival, std::uint64_t step = kStep) const {
    EXPECT_EQ(MayCome(view_, manifest_, arrival, step),
              !RefusalOf(view_, manifest_, arrival, step).has_value());
    return RefusalOf(view_, manifest_, arrival, step).value_or("");
  }
  void Drops(std::uint32_t number, std::uint64_t step) {
    std::erase(view_.members, PeerNumber(number));
    view_.standings.push_back({.peer = PeerNumber(number), .drops = 1, .last_drop_step = step});
  }
  void Leaves(std::uint32_t number, std::uint64_t step) {
    std::erase(view_.members, PeerNumber(number));
    view_.standings.push_back({.peer = PeerNumber(number), .left_step = step});
  }
  // The next block; so many members state all of `arrivals` (which ascend) and `joins`.
  const Block& Next(const std::vector<Arrival>& arrivals, std::uint32_t stating = 4,
                    const std::vector<PeerId>& joins = {}) {
    SealedStep sealed;
    sealed.step = view_.step + 1;
    for (const PeerId& member : view_.members) {
      wire::Proof& proof = sealed.proofs[member];
      if (stating == 0) continue;
      --stating;
      proof.arrivals = arrivals;
      proof.joins = joins;
    }
    return view_ = JudgeStep(sealed, view_, manifest_, {{}, {}, {}, {}});
  }
  void Admit(const std::vector<Arrival>& arrivals) {
    for (int i = 0; i < 3; ++i) Next(arrivals);
  }
  bool IsIn(std::uint32_t number) const { return IsMember(view_.members, PeerNumber(number)); }
  bool IsCandidate(std::uint32_t number) const {
    return std::any_of(view_.candidates.begin(), view_.candidates.end(),
                       [&](const Candidate& one) { return one.peer == PeerNumber(number); });
  }
  const Standing& Of(std::uint32_t number) const {
    return *StandingOf(view_.standings, PeerNumber(number));
  }

  Manifest manifest_;
  Block view_;
};

// --- who may come -------------------------------------------------------------------------------

TEST_F(ComingTest, WhoIsListedOrShowsAnInvite) {
  EXPECT_EQ(Refusal(Guest(20, std::nullopt)), "");
  EXPECT_EQ(Refusal(Guest(30)), "");
  EXPECT_THAT(Refusal(Guest(30, std::nullopt)), HasSubstr("shows no invite"));
}

TEST_F(ComingTest, MembersTheBannedAndTheBarredMayNot) {
  EXPECT_THAT(Refusal(Guest(3)), HasSubstr("is a member"));
  view_.standings = {{.peer = PeerNumber(30), .banned = true},
                     {.peer = PeerNumber(31), .drops = 2, .last_drop_step = 9, .barred_until = 60}};
  EXPECT_THAT(Refusal(Guest(30)), HasSubstr("was banned"));
  EXPECT_THAT(Refusal(Guest(31)), HasSubstr("barred until step 60"));
}

TEST_F(ComingTest, WhoMayReturnNeedsNoVoucher) {
  Drops(3, 40);
  EXPECT_THAT(Refusal(Guest(3)), HasSubstr("may return"));
}

TEST_F(ComingTest, PoliciesLetInNoMoreThanTheySay) {
  manifest_.join.policy = JoinPolicy::kAllowlist;
  EXPECT_THAT(Refusal(Guest(30)), HasSubstr("takes no invites"));
  EXPECT_THAT(Refusal(Guest(30, std::nullopt)), HasSubstr("list does not have its key"));
  EXPECT_EQ(Refusal(Guest(20, std::nullopt)), "");
  manifest_.join = {};
  EXPECT_THAT(Refusal(Guest(30, std::nullopt)), HasSubstr("the run is closed"));
}

TEST_F(ComingTest, AnInviteIsAModeratorsAndEnds) {
  Voucher voucher = By(1);
  voucher.moderator = PeerNumber(3);
  EXPECT_THAT(Refusal(Guest(30, voucher)), HasSubstr("is no moderator of this run"));
  voucher = By(1);
  EXPECT_EQ(Refusal(Guest(30, voucher), kEnds - 1), "");
  EXPECT_THAT(Refusal(Guest(30, voucher), kEnds), HasSubstr("ended with step 5000"));
}

TEST_F(ComingTest, AnInviteIsUsedUp) {
  view_.invites = {{DigestOf(1), 2, kEnds}};
  EXPECT_THAT(Refusal(Guest(30, By(1, 2))), HasSubstr("used up (2 of 2)"));
  EXPECT_EQ(Refusal(Guest(30, By(1, 3))), "");
  EXPECT_EQ(Refusal(Guest(30, By(2, 1))), "");
}

TEST_F(ComingTest, AModeratorHasAQuota) {
  view_.moderators = {{PeerNumber(kModerator), 4}};
  EXPECT_THAT(Refusal(Guest(30)), HasSubstr("have let in all 4 keys"));
  Voucher other = By(1);
  other.moderator = PeerNumber(kModerator + 1);
  EXPECT_EQ(Refusal(Guest(30, other)), "");
  EXPECT_EQ(Refusal(Guest(20, std::nullopt)), "") << "the list has none";
}

TEST_F(ComingTest, InvitesInUseAreBounded) {
  for (std::size_t i = 0; i < wire::kMaxUsedInvites; ++i) {
    view_.invites.push_back({DigestOf(1000 + i), 1, kEnds});
  }
  EXPECT_THAT(Refusal(Guest(30)), HasSubstr("too many invites"));
  EXPECT_EQ(Refusal(Guest(30, By(1000, 2))), "");
  view_.invites[5].ends_step = kStep;
  EXPECT_EQ(Refusal(Guest(30)), "") << "one has ended";
}

TEST_F(ComingTest, NobodyComesIntoTheEnd) {
  view_.closing = 1;
  EXPECT_THAT(Refusal(Guest(30)), HasSubstr("the run ends"));
}

TEST_F(ComingTest, KeysAreBounded) {
  for (std::uint32_t i = 8; i < wire::kMaxKeys; ++i) {
    view_.standings.push_back({.peer = PeerNumber(1000 + i), .left_step = 1});
  }
  const std::uint64_t step = 2000;
  EXPECT_THAT(Refusal(Guest(30), step), HasSubstr("has known 1024 keys"));
  EXPECT_EQ(Refusal(Guest(1008), step), "") << "of which it is one";
  view_.standings.pop_back();
  EXPECT_EQ(Refusal(Guest(30), step), "");
}

// --- seats --------------------------------------------------------------------------------------

TEST_F(ComingTest, AFullRunLetsNobodyIn) {
  Admit({Guest(30), Guest(31)});
  ASSERT_EQ(view_.members.size(), 10u);
  EXPECT_THAT(Refusal(Guest(32), view_.step + 1), HasSubstr("all 10 seats are taken"));
}

TEST_F(ComingTest, SeatsAreKeptForWhoMayReturn) {
  manifest_.join.seats = 8;
  Drops(3, 40);
  EXPECT_THAT(Refusal(Guest(30), 1039), HasSubstr("all 8 seats are taken"));
  EXPECT_EQ(Refusal(Guest(30), 1040), "");
  view_.standings[0].banned = true;
  EXPECT_EQ(Refusal(Guest(30), 1039), "") << "a banned key keeps none";
}

// Attack: keys that leave, have others come in their place, and return together.
TEST_F(ComingTest, WhoLeftKeepsItsSeatAsLongAsWhoWasDropped) {
  manifest_.join.seats = 8;
  Leaves(3, 40);
  EXPECT_THAT(Refusal(Guest(30), 1039), HasSubstr("seats are taken"));
  EXPECT_EQ(Refusal(Guest(30), 1040), "");
  EXPECT_THAT(Refusal(Guest(3, std::nullopt), 1039), HasSubstr("may return"));
  EXPECT_EQ(Refusal(Guest(3, std::nullopt), 1040), "") << "then it comes like a new one";
}

TEST_F(ComingTest, TwoThatRaceForTheLastSeatInOneBlock) {
  manifest_.join.seats = 9;
  Admit({Guest(30), Guest(31)});
  EXPECT_TRUE(IsIn(30));
  EXPECT_FALSE(IsIn(31) || IsCandidate(31));
}

// Members and kept seats are never more than there are seats.
TEST_F(ComingTest, WhoReturnsFindsItsSeat) {
  manifest_.join.seats = 9;
  Drops(3, kStep - 1);
  for (int i = 0; i < 3; ++i) Next({Guest(30), Guest(31)}, 4, {PeerNumber(3)});
  EXPECT_TRUE(IsIn(3));
  EXPECT_TRUE(IsIn(30));
  EXPECT_FALSE(IsIn(31));
  EXPECT_EQ(view_.members.size(), 9u);
}

// --- what is counted ----------------------------------------------------------------------------

TEST_F(ComingTest, AnAdmissionIsCounted) {
  Next({Guest(30, By(7, 3))});
  ASSERT_EQ(view_.candidates.size(), 1u);
  EXPECT_EQ(view_.candidates[0].voucher, By(7, 3));
  EXPECT_TRUE(view_.invites.empty() && view_.moderators.empty()) << "a candidacy uses nothing";
  Next({Guest(30, By(7, 3))});
  Next({Guest(30, By(7, 3))});
  EXPECT_TRUE(IsIn(30));
  ASSERT_EQ(view_.invites.size(), 1u);
  EXPECT_EQ(view_.invites[0].used, 1u);
  EXPECT_EQ(view_.invites[0].ends_step, kEnds);
  ASSERT_EQ(view_.moderators.size(), 1u);
  EXPECT_EQ(view_.moderators[0].peer, PeerNumber(kModerator));
  EXPECT_EQ(view_.moderators[0].admitted, 1u);
  EXPECT_EQ(Of(30).came_step, view_.step);
  EXPECT_EQ(Of(30).returned_step, 0u);
  EXPECT_EQ(view_.joined, std::vector<PeerId>{PeerNumber(30)});
  EXPECT_EQ(view_.thresholds, ThresholdsIn(manifest_, 9));
}

TEST_F(ComingTest, WhoIsListedUsesNothingUp) {
  Admit({Guest(20, std::nullopt)});
  EXPECT_TRUE(IsIn(20));
  EXPECT_TRUE(view_.invites.empty() && view_.moderators.empty());
  EXPECT_EQ(Of(20).came_step, view_.step);
}

TEST_F(ComingTest, AnInviteThatEndedIsForgottenAndItsModeratorIsNot) {
  Admit({Guest(30)});
  view_.invites[0].ends_step = view_.step + 2;
  EXPECT_EQ(Next({}).invites.size(), 1u);
  EXPECT_TRUE(Next({}).invites.empty());
  EXPECT_EQ(view_.moderators.size(), 1u);
}

TEST_F(ComingTest, ALeaverAfterItsTimeComesAsNewAndCountsAgain) {
  Leaves(3, 10);
  view_.step = 1019;
  Admit({Guest(3)});
  EXPECT_TRUE(IsIn(3));
  EXPECT_EQ(Of(3).came_step, view_.step);
  EXPECT_EQ(Of(3).returned_step, view_.step) << "if it leaves soon, it is barred";
  EXPECT_EQ(view_.moderators[0].admitted, 1u);
}

TEST_F(ComingTest, TheQuotaHoldsWithinABlock) {
  manifest_.join.quota = 1;
  Admit({Guest(30, By(1)), Guest(31, By(2))});
  EXPECT_TRUE(IsIn(30));
  EXPECT_FALSE(IsIn(31));
}

TEST_F(ComingTest, TwoThatRaceForTheLastUse) {
  Admit({Guest(30, By(1)), Guest(31, By(1))});
  EXPECT_TRUE(IsIn(30));
  EXPECT_FALSE(IsIn(31));
  EXPECT_EQ(view_.invites[0].used, 1u);
  EXPECT_THAT(Refusal(Guest(31, By(1)), view_.step + 1), HasSubstr("used up"));
}

// --- who comes again ----------------------------------------------------------------------------

// Key 30 has come in by an invite, has left, and its seat is lost.
class UsersTest : public ComingTest {
 protected:
  UsersTest() {
    Admit({Guest(30, By(1))});
    EXPECT_TRUE(IsIn(30));
    Goes();
  }
  // The next block lets it go, and so long after it is the next one.
  void Goes(std::uint64_t away = 1000) {
    SealedStep sealed;
    sealed.step = view_.step + 1;
    for (const PeerId& member : view_.members) sealed.proofs[member];
    view_.leaving = {PeerNumber(30)};
    view_ = JudgeStep(sealed, view_, manifest_, {{}, {}, {}, {}});
    ASSERT_EQ(view_.left, std::vector<PeerId>{PeerNumber(30)});
    view_.step += away;
  }
};

TEST_F(UsersTest, ComeInByTheInviteThatTheyUsedUp) {
  EXPECT_THAT(Refusal(Guest(31, By(1)), view_.step + 1), HasSubstr("used up (1 of 1)"));
  EXPECT_EQ(Refusal(Guest(30, By(1)), view_.step + 1), "");
  Admit({Guest(30, By(1))});
  EXPECT_TRUE(IsIn(30));
  ASSERT_EQ(view_.invites.size(), 1u);
  EXPECT_EQ(view_.invites[0].used, 1u) << "at no use";
  EXPECT_EQ(view_.invites[0].users, std::vector<PeerId>{PeerNumber(30)});
  EXPECT_EQ(view_.moderators[0].admitted, 1u) << "at no quota";
  EXPECT_EQ(Of(30).came_step, view_.step);
  EXPECT_EQ(Of(30).returned_step, view_.step) << "if it leaves soon, it is barred";
}

TEST_F(UsersTest, ComeInWhenTheModeratorHasNoQuotaLeft) {
  view_.moderators[0].admitted = manifest_.join.quota;
  EXPECT_THAT(Refusal(Guest(31, By(2)), view_.step + 1), HasSubstr("have let in all 4 keys"));
  EXPECT_EQ(Refusal(Guest(30, By(1)), view_.step + 1), "");
}

TEST_F(UsersTest, ComeInByNoOtherUsedInvite) {
  view_.invites.push_back({DigestOf(2), 1, kEnds});
  std::sort(view_.invites.begin(), view_.invites.end(),
            [](const auto& a, const auto& b) { return a.invite < b.invite; });
  EXPECT_THAT(Refusal(Guest(30, By(2)), view_.step + 1), HasSubstr("used up (1 of 1)"));
}

TEST_F(UsersTest, ComeInByEachInviteThatTheyUsed) {
  Admit({Guest(30, By(2))});
  ASSERT_EQ(view_.moderators[0].admitted, 2u) << "another invite is another use";
  Goes(2000);
  for (const std::uint64_t invite : {1, 2}) {
    EXPECT_EQ(Refusal(Guest(30, By(invite)), view_.step + 1), "");
  }
}

TEST_F(UsersTest, ComeInUntilTheInviteEnds) {
  EXPECT_EQ(Refusal(Guest(30, By(1)), kEnds - 1), "");
  EXPECT_THAT(Refusal(Guest(30, By(1)), kEnds), HasSubstr("ended with step 5000"));
  view_.step = kEnds - 1;
  EXPECT_TRUE(Next({}).invites.empty()) << "with all who used it";
}

// Bars, bans and seats count for them as for all.
TEST_F(UsersTest, AreBarredBannedAndSeatedLikeOthers) {
  const std::uint64_t step = view_.step + 1;
  manifest_.join.seats = 8;
  EXPECT_THAT(Refusal(Guest(30, By(1)), step), HasSubstr("8 seats are taken"));
  manifest_.join.seats = 10;
  view_.standings[0].barred_until = step + 1;
  EXPECT_THAT(Refusal(Guest(30, By(1)), step), HasSubstr("barred until"));
  view_.standings[0].banned = true;
  EXPECT_THAT(Refusal(Guest(30, By(1)), step), HasSubstr("was banned"));
}

// Attack: keys that take turns in coming and going. Between two returns by one invite lie the 1000
// steps for which the seat is kept, and a departure too soon bars for as many before.
TEST_F(UsersTest, AreBarredIfTheyLeaveSoonAgain) {
  Admit({Guest(30, By(1))});
  Goes(0);
  EXPECT_EQ(Of(30).barred_until, view_.step + 1000);
  EXPECT_THAT(Refusal(Guest(30, By(1)), view_.step + 999), HasSubstr("barred until"));
  EXPECT_THAT(Refusal(Guest(30, By(1)), view_.step + 1999), HasSubstr("may return"));
  EXPECT_EQ(Refusal(Guest(30, By(1)), view_.step + 2000), "");
}

// --- until when, for people ---------------------------------------------------------------------

TEST_F(UsersTest, AreToldUntilWhenTheyMayComeBack) {
  const auto way = [&](std::optional<Voucher> shown = By(1)) {
    return WayBackOf(view_, manifest_, PeerNumber(30), shown);
  };
  EXPECT_EQ(way().from, 0u);
  EXPECT_EQ(way().seat_until, 0u) << "it is lost";
  EXPECT_EQ(way().door_until, kEnds);
  EXPECT_EQ(way(std::nullopt).door_until, kEnds) << "as the block has it";
  EXPECT_EQ(way(By(2)).door_until, kEnds) << "another one";
  EXPECT_EQ(WayBackOf(view_, manifest_, PeerNumber(31), By(1)).door_until, 0u) << "is used up";
  view_.step -= 2;
  EXPECT_EQ(way().seat_until, view_.step + 2);
  view_.standings[0].barred_until = view_.step + 100;
  EXPECT_EQ(way().from, view_.step + 100);
  EXPECT_EQ(way().seat_until, view_.step + 1100);
  view_.moderators[0].revoked = true;
  EXPECT_EQ(way().door_until, 0u);
  EXPECT_EQ(way(std::nullopt).door_until, 0u) << "perhaps its own moderator";
  view_.standings[0].banned = true;
  EXPECT_EQ(way().seat_until, 0u);
}

TEST_F(ComingTest, AMemberIsToldAsIfItWereDropped) {
  const WayBack way = WayBackOf(view_, manifest_, PeerNumber(3), std::nullopt);
  EXPECT_EQ(way.from, 0u);
  EXPECT_EQ(way.seat_until, kStep + 1000);
  EXPECT_EQ(way.door_until, kNoStep) << "the manifest names it";
  view_.standings = {{.peer = PeerNumber(3), .drops = 1, .last_drop_step = 9}};
  EXPECT_EQ(WayBackOf(view_, manifest_, PeerNumber(3), std::nullopt).seat_until, kStep + 2000)
      << "a second drop bars it first";
}

// --- who watches --------------------------------------------------------------------------------

TEST_F(ComingTest, AnInviteToWatchLetsNobodyIn) {
  Voucher voucher = By(1, 2);
  voucher.kind = wire::InviteKind::kObserve;
  const Arrival watcher = Guest(30, voucher);
  EXPECT_THAT(Refusal(watcher), HasSubstr("lets it follow the run, and nobody in"));
  EXPECT_TRUE(ArrivalsToState(view_, manifest_, {{watcher.peer, voucher}}, kStep).empty());
  Admit({watcher});
  EXPECT_FALSE(IsIn(30) || IsCandidate(30)) << "even if all members state it";
}

TEST_F(ComingTest, AnInviteToWatchIsGoodUntilItEndsOrIsRevoked) {
  Voucher voucher = By(1, 2);
  voucher.kind = wire::InviteKind::kObserve;
  const auto lasting = [&](std::uint64_t step) {
    return LastingRefusalOf(view_, manifest_, Guest(30, voucher), step).value_or("");
  };
  view_.invites = {{DigestOf(1), 2, kEnds}};
  view_.moderators = {{PeerNumber(kModerator), 4}};
  EXPECT_EQ(lasting(kStep), "") << "a block counts no uses of it, and no quota";
  EXPECT_THAT(lasting(kEnds), HasSubstr("ended with step 5000"));
  view_.invites[0].revoked = true;
  EXPECT_THAT(lasting(kStep), HasSubstr("was revoked"));
  view_.invites.clear();
  view_.moderators[0].revoked = true;
  EXPECT_THAT(lasting(kStep), HasSubstr("has revoked all"));
  manifest_.join.policy = JoinPolicy::kAllowlist;
  EXPECT_THAT(lasting(kStep), HasSubstr("takes no invites"));
}

// --- who is confirmed ---------------------------------------------------------------------------

TEST_F(ComingTest, AsManyAsCanBeAtFaultConfirmNobody) {
  Next({Guest(30)}, 3);
  EXPECT_TRUE(view_.candidates.empty());
  Next({Guest(30)}, 4);
  EXPECT_TRUE(IsCandidate(30));
}

TEST_F(ComingTest, WhoIsNoMemberConfirmsNothing) {
  SealedStep sealed;
  sealed.step = kStep;
  for (std::uint32_t i = 0; i < 8; ++i) sealed.proofs[PeerNumber(40 + i)].arrivals = {Guest(30)};
  EXPECT_TRUE(AdmissionsAfter(sealed, view_, manifest_, {}).candidates.empty());
}

TEST_F(ComingTest, AGapStartsAgain) {
  Next({Guest(30)});
  Next({Guest(30)});
  Next({});
  EXPECT_TRUE(view_.candidates.empty());
  Next({Guest(30)});
  EXPECT_EQ(view_.candidates[0].since, view_.step);
}

TEST_F(ComingTest, AnotherVoucherStartsAgain) {
  Next({Guest(30, By(1))});
  Next({Guest(30, By(1))});
  Next({Guest(30, By(2))});
  EXPECT_FALSE(IsIn(30));
  EXPECT_EQ(view_.candidates[0].since, view_.step);
  EXPECT_EQ(view_.candidates[0].voucher, By(2));
}

// Attack: two vouchers, of which each is shown to more than F, would use up two invites.
TEST_F(ComingTest, OfTwoVouchersOnlyTheCandidacysCounts) {
  Next({Guest(30, By(2))});
  for (int i = 0; i < 2; ++i) {
    SealedStep sealed;
    sealed.step = view_.step + 1;
    for (std::uint32_t m = 0; m < 8; ++m) {
      sealed.proofs[PeerNumber(m)].arrivals = {Guest(30, By(m < 4 ? 1 : 2))};
    }
    view_ = JudgeStep(sealed, view_, manifest_, {{}, {}, {}, {}});
  }
  EXPECT_TRUE(IsIn(30));
  ASSERT_EQ(view_.invites.size(), 1u);
  EXPECT_EQ(view_.invites[0].invite, DigestOf(2));
  EXPECT_EQ(view_.moderators[0].admitted, 1u);
}

TEST_F(ComingTest, AKeyIsNotAdmittedTwiceByJoinsAndArrivals) {
  Drops(3, 40);
  for (int i = 0; i < 3; ++i) Next({Guest(3)}, 4, {PeerNumber(3)});
  EXPECT_EQ(view_.joined, std::vector<PeerId>{PeerNumber(3)});
  EXPECT_TRUE(view_.invites.empty());
  EXPECT_EQ(Of(3).came_step, 0u);
}

TEST_F(ComingTest, WhoIsRemovedInTheBlockDoesNotComeIn) {
  view_.standings = {{.peer = PeerNumber(30), .left_step = 1}};
  view_.step = 2000;
  SealedStep sealed;
  sealed.step = 2001;
  for (const PeerId& member : view_.members) sealed.proofs[member].arrivals = {Guest(30)};
  EXPECT_FALSE(AdmissionsAfter(sealed, view_, manifest_, {}).candidates.empty());
  EXPECT_TRUE(AdmissionsAfter(sealed, view_, manifest_, {{PeerNumber(30), FaultKind::kBan}})
                  .candidates.empty());
}

// Attack: of 256 members nearly all are dropped, all are on their way back, and strangers come: a
// block that nobody can read would end the run.
TEST_F(ComingTest, AllThatReturnAndAllThatComeFitABlock) {
  manifest_ = ManifestOf(255);
  manifest_.join.policy = JoinPolicy::kAllowlist;
  manifest_.join.seats = 256;
  manifest_.join.allow.clear();
  for (std::uint32_t k = 0; k < 16; ++k) manifest_.join.allow.push_back(PeerNumber(1000 + k));
  view_ = ViewBefore(manifest_, kStep);
  SealedStep sealed;
  sealed.step = kStep;
  for (std::uint32_t i = 3; i < 255; ++i) Drops(i, kStep - 1);
  view_.thresholds = ThresholdsIn(manifest_, 3);
  for (std::uint32_t i = 0; i < 3; ++i) {
    for (const Standing& gone : view_.standings)
      sealed.proofs[PeerNumber(i)].joins.push_back(gone.peer);
    for (std::uint32_t k = 0; k < 16; ++k) {
      sealed.proofs[PeerNumber(i)].arrivals.push_back(Guest(1000 + k, std::nullopt));
    }
  }
  Block block;
  block.candidates = AdmissionsAfter(sealed, view_, manifest_, {}).candidates;
  EXPECT_EQ(block.candidates.size(), 252u + 16);
  EXPECT_TRUE(wire::DecodeBlock(wire::EncodeBlock(block)).ok());
}

// --- slots --------------------------------------------------------------------------------------

class SlotsTest : public ComingTest {
 protected:
  SlotsTest() {
    manifest_.join.seats = 60;
    manifest_.join.quota = 60;
    // Each of keys 30 to 49 has an invite of its own.
    for (std::uint32_t i = 30; i < 50; ++i) crowd_.push_back(Guest(i, By(i)));
  }
  std::vector<Arrival> crowd_;
};

TEST_F(SlotsTest, SixteenAtOnceAndTheCandidatesFirst) {
  Next({crowd_.end() - 2, crowd_.end()});
  Next(crowd_);
  EXPECT_EQ(view_.candidates.size(), wire::kMaxArrivals);
  EXPECT_TRUE(IsCandidate(48) && IsCandidate(49)) << "they were first";
  EXPECT_TRUE(IsCandidate(30));
  EXPECT_TRUE(IsCandidate(43));
  EXPECT_FALSE(IsCandidate(44));
}

TEST_F(SlotsTest, AnInviteHasNoMoreThanHalf) {
  std::vector<Arrival> crowd;
  for (std::uint32_t i = 30; i < 42; ++i) crowd.push_back(Guest(i, By(1, 100)));
  crowd.push_back(Guest(42, By(2)));
  Next(crowd);
  EXPECT_EQ(view_.candidates.size(), kPlacesOfInvite + 1);
  EXPECT_TRUE(IsCandidate(37));
  EXPECT_FALSE(IsCandidate(38));
  EXPECT_TRUE(IsCandidate(42));
}

// Attack: the holder of one use has many keys ask, each of which is a candidate for ever.
TEST_F(SlotsTest, ACandidateHasAUseReserved) {
  view_.invites = {{DigestOf(1), 3, kEnds}};
  Next({Guest(30, By(1, 5)), Guest(31, By(1, 5)), Guest(32, By(1, 5))});
  EXPECT_EQ(view_.candidates.size(), 2u);
  EXPECT_FALSE(IsCandidate(32));
}

// Attack: keys that used up their invites and left are candidates for ever, at no cost.
TEST_F(SlotsTest, WhoComesAgainHasNoMoreThanHalf) {
  view_.step = 5000 - 100;
  for (std::uint32_t i = 50; i < 62; ++i) {
    Leaves(i, 1);
    view_.invites.push_back({DigestOf(i), 1, kEnds, false, {PeerNumber(i)}});
  }
  std::sort(view_.invites.begin(), view_.invites.end(),
            [](const auto& a, const auto& b) { return a.invite < b.invite; });
  std::vector<Arrival> again;
  for (std::uint32_t i = 50; i < 62; ++i) again.push_back(Guest(i, By(i)));
  Next(again);
  EXPECT_EQ(view_.candidates.size(), kPlacesOfUsers);
  again.insert(again.begin(), crowd_.begin(), crowd_.end());
  std::sort(again.begin(), again.end());
  Next(again);
  EXPECT_EQ(view_.candidates.size(), wire::kMaxArrivals);
  EXPECT_TRUE(IsCandidate(37)) << "the others are for who is new";
  EXPECT_FALSE(IsCandidate(38));
}

TEST_F(SlotsTest, WhoComesAgainByOneInviteHasAQuarter) {
  view_.step = 2000;
  wire::UsedInvite used{DigestOf(1), 6, kEnds};
  std::vector<Arrival> again;
  for (std::uint32_t i = 50; i < 56; ++i) {
    Leaves(i, 1);
    used.users.push_back(PeerNumber(i));
    again.push_back(Guest(i, By(1, 6)));
  }
  view_.invites = {used};
  Next(again);
  EXPECT_EQ(view_.candidates.size(), kPlacesOfUsers / 2);
}

TEST_F(SlotsTest, WhoComesAgainTakesNoUseOfAnother) {
  view_.step = 2000;
  Leaves(50, 1);
  view_.invites = {{DigestOf(1), 2, kEnds, false, {PeerNumber(50)}}};
  Next({Guest(30, By(1, 3)), Guest(50, By(1, 3))});
  EXPECT_TRUE(IsCandidate(30) && IsCandidate(50));
  Next({Guest(29, By(1, 3)), Guest(30, By(1, 3)), Guest(50, By(1, 3))});
  EXPECT_FALSE(IsCandidate(29)) << "one use is left, and reserved";
}

TEST_F(SlotsTest, WhoReturnsTakesNone) {
  Drops(3, 40);
  Next({crowd_.begin(), crowd_.begin() + 16}, 4, {PeerNumber(3)});
  EXPECT_EQ(view_.candidates.size(), 17u);
  EXPECT_TRUE(IsCandidate(3));
}

// --- what members state -------------------------------------------------------------------------

TEST_F(SlotsTest, MembersStateWhoMayReturnAndWhoMayCome) {
  Drops(3, 40);
  const Asking asking = {{PeerNumber(3), std::nullopt},
                         {PeerNumber(20), std::nullopt},
                         {PeerNumber(30), By(1)},
                         {PeerNumber(31), std::nullopt}};
  EXPECT_EQ(JoinsToState(view_, asking, kStep), std::vector<PeerId>{PeerNumber(3)});
  EXPECT_EQ(ArrivalsToState(view_, manifest_, asking, kStep),
            (std::vector<Arrival>{Guest(20, std::nullopt), Guest(30, By(1))}));
}

TEST_F(SlotsTest, MembersStateTheCandidatesFirst) {
  Asking asking;
  for (const Arrival& one : crowd_) asking.emplace(one.peer, one.voucher);
  view_.candidates = {{PeerNumber(49), kStep - 1, kStep - 1, By(49)},
                      {PeerNumber(48), kStep - 1, kStep - 1, By(1)}};
  const auto stated = ArrivalsToState(view_, manifest_, asking, kStep);
  ASSERT_EQ(stated.size(), wire::kMaxArrivals);
  EXPECT_TRUE(std::is_sorted(stated.begin(), stated.end()));
  EXPECT_EQ(stated.back(), Guest(49, By(49)));
  EXPECT_EQ(stated[14], Guest(44, By(44)));
  EXPECT_EQ(std::count(stated.begin(), stated.end(), Guest(48, By(48))), 0)
      << "it shows another voucher than its candidacy has";
}

}  // namespace
}  // namespace ostraka::protocol::coming_test
