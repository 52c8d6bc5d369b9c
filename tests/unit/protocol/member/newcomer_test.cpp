// A stranger that asks to come in.
#include "tests/unit/protocol/member/follower_fixture.h"

namespace ostraka::protocol::newcomer_test {
namespace {

using scene::DigestOf;
using scene::FollowerTest;
using scene::kHeight;
using scene::kMemberCount;
using scene::kStep;
using wire::MessageType;

// A key of nobody, with an invite of two uses, that asks to come into a run of six seats.
class NewcomerTest : public FollowerTest {
 protected:
  NewcomerTest()
      : FollowerTest(
            scene::kStranger,
            [](Manifest& manifest) {
              manifest.join = {.policy = JoinPolicy::kInvite,
                               .allow = {},
                               .moderators = {scene::KeyNumber(70)->id()},
                               .quota = 9,
                               .seats = 6};
            },
            true) {
    follower_.MustRejoin();
  }
  // With the newest block.
  Outcome AtHead(Block head) {
    SetHead(std::move(head));
    follower_.Leave(std::nullopt, true);
    Attest(components().chain.head());
    return follower_.Advance();
  }
  std::string Refused(Block head) {
    const Outcome outcome = AtHead(std::move(head));
    EXPECT_EQ(outcome.what, Outcome::What::kHalt);
    EXPECT_EQ(outcome.why, Halted::Why::kRefused);
    return outcome.reason;
  }
};

// Members answer nothing before.
TEST_F(NewcomerTest, ShowsFirstByWhatItMayComeIn) {
  follower_.Leave(std::nullopt, true);
  const auto said = Rejoins();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].slot.step, kHeight);
  EXPECT_EQ(said[0].entry, Digest{}) << "it asks for nothing yet";
  const auto rejoin = wire::Decode<wire::Rejoin>(said[0].body);
  ASSERT_TRUE(rejoin.ok() && rejoin->credential);
  crypto::PlainVerifier verifier;
  EXPECT_TRUE(IsSigned(manifest_->run_id, *rejoin->credential, Self(), verifier));
}

// A member that had no place for the newcomer, or forgot it, hears of it again.
TEST_F(NewcomerTest, ShowsItAgainWithEachQuestion) {
  follower_.Leave(std::nullopt, true);
  Settle();
  ForgetActions();
  follower_.Advance();
  std::map<PeerId, std::vector<MessageType>> said;
  for (const Send& send : Taken<Send>()) said[send.to].push_back(EnvelopeOf(send).slot.type);
  ASSERT_FALSE(said.empty());
  for (const auto& [to, types] : said) {
    EXPECT_EQ(types, (std::vector{MessageType::kRejoin, MessageType::kPull}));
  }
}

TEST_F(NewcomerTest, AsksToComeInWithTheNewestBlock) {
  EXPECT_EQ(AtHead(HeadBlock()).what, Outcome::What::kWait);
  EXPECT_EQ(Rejoins().size(), 1u) << "what it has shown; one a step";
  Show(NextBlock());
  follower_.Advance();
  FinishUpdate();
  EXPECT_EQ(Is(follower_.Advance()), Outcome::What::kWait);
  const auto said = Rejoins();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].entry, wire::BlockDigest(components().chain.head()));
  EXPECT_TRUE(wire::Decode<wire::Rejoin>(said[0].body)->credential);
  EXPECT_TRUE(follower_.MustBeAdmitted());
}

// What it could not send to them, they and all others would wait for.
TEST_F(NewcomerTest, AsksOnlyWhileItIsLinkedWithAllMembersButThoseThatMayBeAtFault) {
  const std::size_t bound = FaultBound(HeadBlock().thresholds);
  for (std::uint32_t i = 0; i <= bound; ++i) {
    components().post.OnLink(components().chain.head().members[i], false);
  }
  EXPECT_EQ(AtHead(HeadBlock()).what, Outcome::What::kWait);
  Show(NextBlock());
  EXPECT_EQ(Is(follower_.Advance()), Outcome::What::kWait);
  FinishUpdate();
  EXPECT_EQ(Is(follower_.Advance()), Outcome::What::kWait);
  for (const wire::Envelope& said : Rejoins()) EXPECT_TRUE(said.entry.is_zero());
  components().post.OnLink(components().chain.head().members[0], true);
  EXPECT_EQ(Is(follower_.Advance()), Outcome::What::kWait);
  const auto said = Rejoins();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].entry, wire::BlockDigest(components().chain.head()));
}

TEST_F(NewcomerTest, SaysOnceThatNobodyConfirmsIt) {
  Block head = HeadBlock();
  head.step = 40;
  EXPECT_EQ(AtHead(head).what, Outcome::What::kWait);
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(Observed<Unconfirmed>().size(), i == 33 ? 1u : 0u) << i;
    Show(NextBlock());
    EXPECT_EQ(Is(follower_.Advance()), Outcome::What::kWait);
    FinishUpdate();
  }
}

TEST_F(NewcomerTest, EndsWhenItsInviteIsUsedUp) {
  Block head = HeadBlock();
  head.invites = {{VoucherOf(manifest_->run_id, OwnInvite()).invite, 2, 1000}};
  EXPECT_NE(Refused(head).find("this key may not come in: its invite is used up"),
            std::string::npos);
}

// [It fetched the whole state before it said so.]
TEST_F(NewcomerTest, EndsByANewerBlockThanItHasTheStateOf) {
  EXPECT_EQ(AtHead(HeadBlock()).what, Outcome::What::kWait);
  Block far = HeadBlock();
  far.step += 100;
  far.state_root = DigestOf(9);
  far.invites = {{VoucherOf(manifest_->run_id, OwnInvite()).invite, 2, 1000}};
  Show(far);
  const Outcome outcome = follower_.Advance();
  EXPECT_EQ(outcome.what, Outcome::What::kHalt);
  EXPECT_EQ(outcome.why, Halted::Why::kRefused);
}

// Attack: one member shows the block of a time when all seats were taken.
TEST_F(NewcomerTest, DoesNotEndByABlockWithoutASeatBeforeItIsAtTheHead) {
  EXPECT_EQ(AtHead(HeadBlock()).what, Outcome::What::kWait);
  Block full = HeadBlock();
  full.step += 100;
  full.state_root = DigestOf(9);
  full.members.push_back(scene::PeerNumber(77));
  std::sort(full.members.begin(), full.members.end());
  ASSERT_TRUE(RefusalOf(full, *manifest_, {Self(), VoucherOf(manifest_->run_id, OwnInvite())},
                        HeightOf(full)));
  Show(full);
  EXPECT_EQ(follower_.Advance().what, Outcome::What::kWait);
}

TEST_F(NewcomerTest, EndsWhenItsInviteHasEnded) {
  Block head = HeadBlock();
  head.step = 1000;
  EXPECT_NE(Refused(head).find("its invite ended"), std::string::npos);
}

TEST_F(NewcomerTest, EndsWithTheRun) {
  Block head = HeadBlock();
  head.closing = 1;
  EXPECT_NE(Refused(head).find("the run ends"), std::string::npos);
}

TEST_F(NewcomerTest, WaitsWhileItIsBarred) {
  Block head = HeadBlock();
  head.standings = {
      {.peer = Self(), .drops = 2, .last_drop_step = kStep - 2, .barred_until = kHeight + 20}};
  EXPECT_EQ(AtHead(head).what, Outcome::What::kWait);
  EXPECT_EQ(Observed<Barred>().size(), 1u);
  for (const wire::Envelope& said : Rejoins()) EXPECT_TRUE(said.entry.is_zero());
}

// Members of a copy of the run do not know the key, and would not answer.
TEST_F(NewcomerTest, AKeyOfTheRunShowsItsCredentialAndAsksForNothing) {
  Block head = HeadBlock();
  head.standings = {{.peer = Self(), .left_step = kStep - 2}};
  SetHead(std::move(head));
  follower_.Leave(std::nullopt, true);
  const auto said = Rejoins();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_TRUE(said[0].entry.is_zero());
  EXPECT_TRUE(wire::Decode<wire::Rejoin>(said[0].body)->credential);
}

// It has shown its credential at that height, and one REJOIN is signed a height.
TEST_F(NewcomerTest, WhoMayReturnAsksAtTheNextBlock) {
  Block head = HeadBlock();
  head.standings = {{.peer = Self(), .left_step = kStep - 2}};
  EXPECT_EQ(AtHead(head).what, Outcome::What::kWait);
  Show(NextBlock());
  follower_.Advance();
  FinishUpdate();
  EXPECT_EQ(Is(follower_.Advance()), Outcome::What::kWait);
  const auto said = Rejoins();
  ASSERT_FALSE(said.empty());
  EXPECT_EQ(said.back().entry, wire::BlockDigest(components().chain.head()));
}

}  // namespace
}  // namespace ostraka::protocol::newcomer_test
