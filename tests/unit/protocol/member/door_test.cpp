// Strangers: what is heard of them, and which of them follow.
#include "node/protocol/ground/invite.h"
#include "tests/unit/protocol/member/intake_fixture.h"

namespace ostraka::protocol::door_test {
namespace {

using scene::IntakeTest;
using scene::KeyNumber;
using scene::kStep;
using scene::kStranger;
using wire::MessageType;
using wire::Phase;

// Five members, one more seat, and invites of the key of number 70.
class DoorTest : public IntakeTest {
 protected:
  DoorTest()
      : IntakeTest([](Manifest& manifest) {
          manifest.join = {.policy = JoinPolicy::kInvite,
                           .allow = {},
                           .moderators = {KeyNumber(70)->id()},
                           .quota = 9,
                           .seats = 6};
        }) {
    invite_ = {.moderator = KeyNumber(70)->id(),
               .holder = KeyNumber(71)->id(),
               .uses = 2,
               .ends_step = 1000};
  }
  PeerId Stranger() const { return IdOf(kStranger); }
  wire::Credential CredentialFor(const PeerId& peer) const {
    const auto by_moderator = SignInvite(manifest_->run_id, invite_, *KeyNumber(70));
    return UseInvite(manifest_->run_id, invite_, by_moderator, *KeyNumber(71), peer);
  }
  wire::SharedMessage Rejoin(const std::optional<wire::Credential>& credential,
                             std::uint32_t from = kStranger) const {
    return Sign({.from = from,
                 .type = MessageType::kRejoin,
                 .step = kStep,
                 .phase = Phase::kC,
                 .body = wire::Encode(wire::Rejoin{.nonce = {}, .credential = credential}),
                 .parent = wire::BlockDigest(components().chain.head())});
  }
  bool IsGuest() const { return components().followers.IsGuest(Stranger()); }
  Asking Asks(bool must_be_near = false) const {
    return components().followers.ToConfirm(components().chain.recent(),
                                            [=](const PeerId&) { return must_be_near; });
  }

  wire::Invite invite_;
};

// Attack: an open run takes a link from anybody.
TEST_F(DoorTest, NothingOfAStrangerIsHeardButItsRejoin) {
  BeginStep();
  for (const MessageType type :
       {MessageType::kCommit, MessageType::kEcho, MessageType::kAggregate}) {
    EXPECT_EQ(On(Sign({.from = kStranger, .type = type}), kStranger).what, Outcome::What::kWait);
    EXPECT_EQ(On(Sign({.from = 1, .type = type}), kStranger).what, Outcome::What::kWait)
        << "nor what it passes on";
  }
  EXPECT_FALSE(Holds({.from = 1}));
  const wire::Slot slot = ServiceSlot(kStep, Phase::kC, MessageType::kPull);
  OnService(kStranger, slot, wire::Encode(wire::Pull{.kind = wire::PullKind::kFollow}));
  OnService(kStranger, slot, {0xff});
  EXPECT_EQ(verifier_->asked, 0u);
  EXPECT_TRUE(Taken<Send>().empty());
  EXPECT_EQ(SuspectedFor(), "");
  EXPECT_FALSE(components().followers.Contains(Stranger()));
}

TEST_F(DoorTest, AVouchedRejoinMakesAStrangerAGuest) {
  BeginStep();
  On(Rejoin(CredentialFor(Stranger())), kStranger);
  EXPECT_TRUE(IsGuest());
  EXPECT_EQ(verifier_->asked, 3u) << "its own signature, and two of the credential";
  EXPECT_EQ(Asks(), (Asking{{Stranger(), VoucherOf(manifest_->run_id, invite_)}}));
  const wire::Slot slot = ServiceSlot(0, Phase::kC, MessageType::kPull);
  OnService(kStranger, slot, wire::Encode(wire::Pull{.kind = wire::PullKind::kFollow}));
  const auto sends = Taken<Send>();
  ASSERT_FALSE(sends.empty());
  for (const Send& send : sends) EXPECT_EQ(send.to, Stranger());
  On(Rejoin(CredentialFor(Stranger())), kStranger);
  EXPECT_EQ(verifier_->asked, 3u) << "it is held already";
}

TEST_F(DoorTest, AGuestIsAskedForTheBlockThatItNamesAndIsNearIfItAnswersInTime) {
  BeginStep();
  On(Rejoin(CredentialFor(Stranger())), kStranger);
  const auto sends = Taken<Send>();
  ASSERT_EQ(sends.size(), 1u);
  EXPECT_EQ(sends[0].to, Stranger());
  EXPECT_EQ(PullOf(sends[0]).kind, wire::PullKind::kBlock);
  EXPECT_TRUE(Asks(true).empty());
  Pass(base::Duration{components().chain.delta().ns / 2});
  ShowBlock(kStranger, components().chain.head());
  EXPECT_EQ(Asks(true).size(), 1u);
}

TEST_F(DoorTest, WhoFollowsTakesGuestsToo) {
  SetHead(HeadBlock());
  components().stage.Enter(Stage::kGenesis);
  On(Rejoin(CredentialFor(Stranger())), kStranger);
  EXPECT_FALSE(IsGuest()) << "before the run";
  components().stage.Enter(Stage::kFollow);
  On(Rejoin(CredentialFor(Stranger())), kStranger);
  EXPECT_TRUE(IsGuest());
}

TEST_F(DoorTest, ACredentialOfAnotherKeyCountsAsAForgery) {
  BeginStep();
  for (std::uint64_t i = 1; i < Ration::kForgeriesASecond; ++i) {
    components().ration.CountForgery(components().turn.now(), Stranger());
  }
  ASSERT_TRUE(components().ration.IsHeard(components().turn.now(), Stranger()));
  On(Rejoin(CredentialFor(KeyNumber(80)->id())), kStranger);
  EXPECT_FALSE(IsGuest());
  EXPECT_FALSE(components().ration.IsHeard(components().turn.now(), Stranger()));
}

TEST_F(DoorTest, WhoIsNotVouchedForIsNoGuest) {
  BeginStep();
  On(Rejoin(std::nullopt), kStranger);
  EXPECT_FALSE(IsGuest()) << "no credential";
  invite_.moderator = KeyNumber(72)->id();
  const auto signature = SignInvite(manifest_->run_id, invite_, *KeyNumber(72));
  const auto credential =
      UseInvite(manifest_->run_id, invite_, signature, *KeyNumber(71), Stranger());
  On(Rejoin(credential), kStranger);
  EXPECT_FALSE(IsGuest()) << "its signer is no moderator";
}

// Attack: ever new credentials, each with two signatures to verify.
TEST_F(DoorTest, AStrangerIsVerifiedSeldom) {
  BeginStep();
  for (int i = 0; i < 20; ++i) On(Rejoin(CredentialFor(KeyNumber(80)->id())), kStranger);
  EXPECT_EQ(verifier_->asked, 3 * Ration::kOneStrangerASecond);
  Pass(base::Seconds(1));
  On(Rejoin(CredentialFor(Stranger())), kStranger);
  EXPECT_TRUE(IsGuest());
}

// It sees by the head why it may not come in. (It used to follow for as long as it liked.)
TEST_F(DoorTest, WhomTheRunRefusesForGoodIsShownTheHeadAndIsNoGuest) {
  Block head = HeadBlock();
  head.decision = scene::DigestOf(1);
  invite_.ends_step = kStep;
  BeginStep(head);
  ForgetActions();
  On(Rejoin(CredentialFor(Stranger())), kStranger);
  EXPECT_FALSE(IsGuest());
  EXPECT_FALSE(components().followers.Contains(Stranger()));
  const auto sends = Taken<Send>();
  ASSERT_FALSE(sends.empty());
  EXPECT_EQ(sends[0].to, Stranger());
  EXPECT_EQ(sends[0].blob->data, wire::EncodeBlock(components().chain.head()));
  OnService(kStranger, ServiceSlot(0, Phase::kC, MessageType::kPull),
            wire::Encode(wire::Pull{.kind = wire::PullKind::kHead}));
  EXPECT_TRUE(Taken<Send>().empty());
}

// Attack: ten strangers of one link asked as much as ten members may.
TEST_F(DoorTest, GuestsOfALinkShareWhatOneMemberMayHave) {
  Block head = HeadBlock();
  head.decision = scene::DigestOf(1);
  invite_.uses = 10;
  BeginStep(head);
  On(Rejoin(CredentialFor(Stranger())), kStranger);
  ASSERT_TRUE(IsGuest());
  const PeerId other = KeyNumber(90)->id();
  const Voucher voucher = VoucherOf(manifest_->run_id, invite_);
  ASSERT_TRUE(components().followers.Welcome(other, voucher, components().turn.now(), {}));
  components().followers.OnRejoin(other, {kStep, {}, voucher}, components().turn.now(), kStep);
  ForgetActions();
  const auto answers = [&](std::uint32_t number) {
    std::size_t count = 0;
    for (std::uint64_t i = 0; i < Ration::kAnswersASecond; ++i) {
      OnService(number, ServiceSlot(0, Phase::kC, MessageType::kPull),
                wire::Encode(wire::Pull{.kind = wire::PullKind::kHead}));
    }
    for (const Send& send : Taken<Send>()) count += send.to == IdOf(number) ? 1 : 0;
    return count;
  };
  // A question and its answer are a unit each.
  const std::size_t member = answers(1);
  const std::size_t guest = answers(kStranger);
  EXPECT_GE(member, Ration::kAnswersASecond / 2);
  EXPECT_NEAR(static_cast<double>(guest), static_cast<double>(member) / 2, 3) << "one of two";
}

TEST_F(DoorTest, ARejoinThatAnotherOnePassesOnIsDropped) {
  BeginStep();
  On(Rejoin(CredentialFor(Stranger())), 1);
  EXPECT_FALSE(IsGuest());
}

TEST_F(DoorTest, ABannedKeyIsNoGuest) {
  Block head = HeadBlock();
  head.standings = {{.peer = Stranger(), .banned = true}};
  BeginStep(head);
  On(Rejoin(CredentialFor(Stranger())), kStranger);
  EXPECT_FALSE(IsGuest());
  EXPECT_FALSE(components().followers.HasRejoin(Stranger(), kStep));
}

// Attack: a member that left shows a forged credential while it needs none. Its seat ends, and the
// voucher lets it in for good, at the cost of a moderator that never signed.
TEST_F(DoorTest, AVoucherThatNobodyVerifiedIsNotPassedOn) {
  Block head = HeadBlock();
  std::erase(head.members, IdOf(4));
  head.standings = {{.peer = IdOf(4), .left_step = kStep - 5}};
  BeginStep(head);
  wire::Credential forged = CredentialFor(IdOf(4));
  forged.by_moderator = {};
  On(Rejoin(forged, 4), 4);
  EXPECT_EQ(Asks(), (Asking{{IdOf(4), std::nullopt}}));
}

// Attack: it asks to come in all the same, near and in order.
TEST_F(DoorTest, WhoShowsAnInviteToFollowIsAGuestAndIsNotStated) {
  BeginStep();
  invite_.kind = wire::InviteKind::kObserve;
  On(Rejoin(CredentialFor(Stranger())), kStranger);
  EXPECT_TRUE(IsGuest());
  EXPECT_EQ(Asks().size(), 1u);
  EXPECT_TRUE(ArrivalsToState(components().chain.head(), *manifest_, Asks(), kStep).empty());
  invite_.kind = wire::InviteKind::kAdmit;
  EXPECT_EQ(ArrivalsToState(components().chain.head(), *manifest_,
                            {{Stranger(), VoucherOf(manifest_->run_id, invite_)}}, kStep)
                .size(),
            1u);
}

TEST_F(DoorTest, AMemberWhoseSeatEndedNeedsAVoucher) {
  Block head = HeadBlock();
  head.step += 1500;
  head.standings = {{.peer = Stranger(), .left_step = 5}};
  BeginStep(head);
  On(Rejoin(std::nullopt), kStranger);
  EXPECT_TRUE(Asks().empty());
  On(Rejoin(CredentialFor(Stranger())), kStranger);
  EXPECT_EQ(Asks(), (Asking{{Stranger(), VoucherOf(manifest_->run_id, invite_)}}));
  EXPECT_FALSE(IsGuest()) << "it is a key of the run";
}

TEST_F(IntakeTest, AClosedRunHasNoGuests) {
  BeginStep();
  const wire::Invite invite{.moderator = KeyNumber(70)->id(), .holder = KeyNumber(71)->id()};
  const auto signature = SignInvite(manifest_->run_id, invite, *KeyNumber(70));
  const PeerId stranger = IdOf(kStranger);
  const wire::Rejoin rejoin{
      .credential = UseInvite(manifest_->run_id, invite, signature, *KeyNumber(71), stranger)};
  On(Sign({.from = kStranger,
           .type = MessageType::kRejoin,
           .phase = Phase::kC,
           .body = wire::Encode(rejoin),
           .parent = wire::BlockDigest(components().chain.head())}),
     kStranger);
  EXPECT_FALSE(components().followers.IsGuest(stranger));
  EXPECT_FALSE(components().followers.Contains(stranger));
}

}  // namespace
}  // namespace ostraka::protocol::door_test
