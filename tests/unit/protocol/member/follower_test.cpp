#include "node/protocol/member/follower.h"

#include <set>

#include "tests/unit/protocol/member/follower_fixture.h"

namespace ostraka::protocol::follower_test {
namespace {

using scene::DigestOf;
using scene::FollowerTest;
using scene::kHeight;
using scene::kMemberCount;
using scene::kStep;
using wire::MessageType;
using wire::Phase;
using wire::PullKind;

TEST_F(FollowerTest, MemberThatLeavesAsksEachOtherKeyToSendWhatItSendsToMembers) {
  follower_.Leave(std::nullopt, true);
  EXPECT_TRUE(follower_.away());
  std::set<PeerId> asked;
  for (const Send& send : Taken<Send>()) {
    EXPECT_EQ(PullOf(send).kind, PullKind::kFollow);
    EXPECT_EQ(EnvelopeOf(send).slot.step, kHeight);
    asked.insert(send.to);
  }
  EXPECT_EQ(asked.size(), kMemberCount - 1);
  const auto timers = Taken<SetTimer>();
  ASSERT_EQ(timers.size(), 1u);
  EXPECT_EQ(timers[0].at, components().turn.now() + components().chain.delta());
}

// --- attestations -------------------------------------------------------------------------------

// Were all asked, a link that flaps would use up what they answer this member.
TEST_F(FollowerTest, LinkThatComesUpIsAskedAlone) {
  follower_.Leave(kStep, true);
  Taken<Send>();
  follower_.Follow(IdOf(2));
  const auto sends = Taken<Send>();
  ASSERT_EQ(sends.size(), 1u);
  EXPECT_EQ(sends[0].to, IdOf(2));
  EXPECT_EQ(PullOf(sends[0]).kind, PullKind::kFollow);
}

TEST_F(FollowerTest, NothingIsAskedOfAMemberWithoutALink) {
  for (std::uint32_t i = 1; i < kMemberCount; ++i) components().post.OnLink(IdOf(i), i == 2);
  follower_.Leave(std::nullopt, false);
  Taken<Send>();
  Show(RootedBlock(StateOf(5)));
  EXPECT_EQ(Is(follower_.Advance()), Outcome::What::kWait);
  const auto sends = Taken<Send>();
  EXPECT_FALSE(sends.empty());
  for (const Send& send : sends) EXPECT_EQ(send.to, IdOf(2));
  components().post.OnLink(IdOf(2), false);
  components().post.OnLink(IdOf(3), true);
  EXPECT_EQ(Is(follower_.Advance()), Outcome::What::kWait);
  EXPECT_EQ(Taken<Send>().size(), sends.size()) << "what was open goes to the other one";
}

TEST_F(FollowerTest, OneMembersWordIsNotEnoughToBeBack) {
  follower_.Leave(std::nullopt, true);
  Attest(components().chain.head(), 1);
  Attest(components().chain.head(), 1);
  EXPECT_EQ(Is(follower_.Advance()), Outcome::What::kWait);
  EXPECT_TRUE(follower_.away());
}

TEST_F(FollowerTest, ForgedAttestationCountsForNothing) {
  follower_.Leave(std::nullopt, true);
  Attest(components().chain.head(), 1);
  follower_.NoteAttestation(
      *Forged({.from = 2, .parent = wire::BlockDigest(components().chain.head())}), IdOf(3));
  const auto seen = Observed<Suspicion>();
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].peer, IdOf(3)) << "the link";
  EXPECT_EQ(Is(follower_.Advance()), Outcome::What::kWait);
}

TEST_F(FollowerTest, KnownAttestationAndWhatIsNoneAreNotVerified) {
  follower_.Leave(std::nullopt, true);
  Attest(components().chain.head(), 1);
  EXPECT_EQ(verifier_->asked, 1u);
  Attest(components().chain.head(), 1);
  const Digest head = wire::BlockDigest(components().chain.head());
  for (const scene::Saying& saying :
       {scene::Saying{.from = 2, .type = MessageType::kAggregate, .parent = head},
        scene::Saying{.from = 2, .step = kHeight - 1, .parent = head}}) {
    follower_.NoteAttestation(*Sign(saying), IdOf(2));
  }
  EXPECT_EQ(verifier_->asked, 1u);
}

// --- a member again -----------------------------------------------------------------------------

TEST_F(FollowerTest, MemberThatNobodyDroppedIsBackWithTheNewestBlock) {
  follower_.Leave(std::nullopt, true);
  Attest(components().chain.head());
  EXPECT_EQ(Is(follower_.Advance()), Outcome::What::kBeginStep);
  EXPECT_FALSE(follower_.away());
  const auto back = Observed<Back>();
  ASSERT_EQ(back.size(), 1u);
  EXPECT_EQ(back[0].step, kHeight);
  ASSERT_EQ(Taken<CancelTimer>().size(), 1u);
}

TEST_F(FollowerTest, StepInWhichTheMemberWasMutedEndsWithoutIt) {
  follower_.Leave(kStep, true);
  Attest(components().chain.head());
  EXPECT_EQ(Is(follower_.Advance()), Outcome::What::kWait);
  const Block next = NextBlock();  // of step kStep
  Show(next);
  EXPECT_EQ(Is(follower_.Advance()), Outcome::What::kWait);
  FinishUpdate();
  EXPECT_EQ(Is(follower_.Advance()), Outcome::What::kBeginStep);
  EXPECT_EQ(HeightOf(components().chain.head()), kHeight + 1);
  EXPECT_EQ(components().chain.state().parameters->front(), 3.0F);
}

TEST_F(FollowerTest, StoreThatWasLostWaitsThoughItsKeyIsAMember) {
  follower_.MustRejoin();
  follower_.Leave(std::nullopt, true);
  Attest(components().chain.head());
  EXPECT_EQ(Is(follower_.Advance()), Outcome::What::kWait);
  EXPECT_TRUE(follower_.MustBeAdmitted());
  EXPECT_TRUE(Rejoins().empty()) << "a member asks for nothing";
}

// Blocks of the past hold admissions of the stores before it.
TEST_F(FollowerTest, AdmissionCountsOnlyIfThisStoreAskedForIt) {
  for (const bool own : {true, false}) {
    components_->chain.AdvanceHead(std::make_shared<const Block>(Dropped()));
    // Five blocks in a row confirm a REJOIN: the first is 4 below the one that admits.
    follower_.AskedSince(kHeight + 1 - 4 + (own ? 0 : 1));
    follower_.MustRejoin();
    follower_.Leave(std::nullopt, true);
    Block next = NextBlock();
    next.members = Members();
    next.joined = {Self()};
    Show(next);
    follower_.Advance();
    FinishUpdate();
    EXPECT_EQ(follower_.MustBeAdmitted(), !own);
    EXPECT_EQ(Stored(RecordKind::kMember).size(), own ? 1u : 0u);
    EXPECT_EQ(Is(follower_.Advance()), own ? Outcome::What::kBeginStep : Outcome::What::kWait);
  }
}

// --- asking to come back ------------------------------------------------------------------------

TEST_F(FollowerTest, DroppedMemberSignsOneRejoinAStep) {
  SetHead(Dropped());
  follower_.Leave(std::nullopt, true);
  Attest(components().chain.head());
  EXPECT_EQ(Is(follower_.Advance()), Outcome::What::kWait);
  const auto said = Rejoins();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].slot.step, kHeight);
  EXPECT_EQ(said[0].entry, wire::BlockDigest(components().chain.head()));
  follower_.Advance();
  EXPECT_TRUE(Rejoins().empty());
}

// A node that is always a few blocks behind asks all the same, where others may come.
TEST_F(FollowerTest, InAnOpenRunItAsksOnItsWayToTheHead) {
  for (const bool open : {false, true}) {
    Manifest manifest = *manifest_;
    if (open) manifest.join = {JoinPolicy::kAllowlist, {IdOf(1)}, {}, 1, 0};
    UseManifest(manifest);
    SetHead(Dropped());
    Follower follower(components(), components().check, components().post, std::nullopt);
    follower.Leave(std::nullopt, true);
    const Block next = NextBlock();
    follower.OnBlock(IdOf(1), next, crypto::MakeBlob(wire::EncodeBlock(next)));
    for (std::uint32_t i = 1; i <= 2; ++i) {
      follower.NoteAttestation(
          *Sign({.from = i, .step = HeightOf(next), .parent = wire::BlockDigest(next)}), IdOf(i));
    }
    EXPECT_EQ(Is(follower.Advance()), Outcome::What::kWait);
    const auto said = Rejoins();
    ASSERT_EQ(said.size(), open ? 1u : 0u);
    if (open) {
      EXPECT_EQ(said[0].slot.step, kHeight);
    }
  }
}

// The block after may admit it, so this one refuses nothing yet.
TEST_F(FollowerTest, ACandidateOfTheHeadIsNotRefused) {
  for (const bool candidate : {true, false}) {
    Manifest manifest = *manifest_;
    manifest.join = {JoinPolicy::kInvite, {}, {IdOf(1)}, 1, 0};
    std::erase_if(manifest.members, [this](const Member& member) { return member.id == Self(); });
    UseManifest(manifest);
    Block head = HeadBlock();
    std::erase(head.members, Self());
    if (candidate) head.candidates = {{Self(), kStep - 2, kStep - 1}};
    SetHead(head);
    Follower follower(components(), components().check, components().post, std::nullopt);
    const Block& newest = components().chain.head();
    follower.Leave(std::nullopt, true);
    for (std::uint32_t i = 1; i <= 2; ++i) {
      follower.NoteAttestation(
          *Sign({.from = i, .step = HeightOf(newest), .parent = wire::BlockDigest(newest)}),
          IdOf(i));
    }
    const Outcome outcome = follower.Advance();
    EXPECT_EQ(Is(outcome), candidate ? Outcome::What::kWait : Outcome::What::kHalt);
    if (!candidate) {
      EXPECT_EQ(outcome.why, Halted::Why::kRefused);
    }
  }
}

TEST_F(FollowerTest, LostStoreKeepsWhenItAskedFirst) {
  SetHead(Dropped());
  follower_.MustRejoin();
  follower_.Leave(std::nullopt, true);
  Attest(components().chain.head());
  follower_.Advance();
  std::vector<RecordKind> kinds;
  for (const Store& store : Taken<Store>()) kinds.push_back(store.records[0].kind);
  EXPECT_EQ(kinds, (std::vector{RecordKind::kAsks, RecordKind::kSlot})) << "in this order";
  const Block next = NextBlock();
  Show(next);
  follower_.Advance();
  FinishUpdate();
  follower_.Advance();
  EXPECT_TRUE(Stored(RecordKind::kAsks).empty()) << "once";
}

TEST_F(FollowerTest, RejoinIsNotSignedWhileTheMemberIsBarredWhichIsSaidOnce) {
  SetHead(Dropped(false, kHeight + 1));
  follower_.Leave(std::nullopt, true);
  Attest(components().chain.head());
  follower_.Advance();
  follower_.Advance();
  const auto told = Observed<Barred>();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].step, kStep - 3);
  EXPECT_EQ(told[0].until, kHeight + 1);
  EXPECT_TRUE(Rejoins().empty());
  Show(NextBlock());
  follower_.Advance();
  FinishUpdate();
  follower_.Advance();
  EXPECT_EQ(Rejoins().size(), 1u) << "the step from which on it may";
}

TEST_F(FollowerTest, BannedMemberHalts) {
  SetHead(Dropped(true));
  follower_.Leave(std::nullopt, true);
  Attest(components().chain.head());
  const Outcome outcome = follower_.Advance();
  EXPECT_EQ(outcome.what, Outcome::What::kHalt);
  EXPECT_EQ(outcome.why, Halted::Why::kBanned);
}

TEST_F(FollowerTest, FollowerAtTheLastBlockSaysThatItHasAllAndHalts) {
  Block last = HeadBlock();
  last.closing = 2;
  last.state_root = DigestOf(1);
  SetHead(last);
  follower_.Leave(std::nullopt, true);
  Attest(components().chain.head());
  ForgetActions();
  const Outcome outcome = follower_.Advance();
  EXPECT_EQ(outcome.what, Outcome::What::kHalt);
  EXPECT_EQ(outcome.why, Halted::Why::kFinished);
  std::set<PeerId> told;
  for (const Send& send : Taken<Send>()) {
    if (PullOf(send).kind != PullKind::kFollow) continue;
    EXPECT_EQ(EnvelopeOf(send).slot.step, HeightOf(last));
    told.insert(send.to);
  }
  EXPECT_EQ(told.size(), kMemberCount - 1);
}

// --- the way back -------------------------------------------------------------------------------

TEST_F(FollowerTest, BlockIsStoredBeforeItIsApplied) {
  follower_.Leave(std::nullopt, true);
  ForgetActions();
  const Block next = NextBlock();
  Show(next);
  follower_.Advance();
  std::vector<std::string> order;
  for (const Action& action : out_.actions()) {
    if (std::holds_alternative<Store>(action)) order.push_back("store");
    if (std::holds_alternative<StartJob>(action)) order.push_back("job");
  }
  EXPECT_EQ(order, (std::vector<std::string>{"store", "job"}));
  EXPECT_EQ(HeightOf(components().chain.head()), kHeight) << "not applied yet";
  FinishUpdate();
  EXPECT_EQ(components().chain.head().decision, next.decision);
  EXPECT_EQ(Observed<StepDone>().size(), 1u);
}

TEST_F(FollowerTest, BlockThatWasStoredBeforeTheCrashIsOfferedAgainAndNotStoredAgain) {
  const Block next = NextBlock();
  components().chain.KeepBlock(next);  // sealed here, and its results were lost
  follower_.Leave(std::nullopt, true);
  Attest(next);
  follower_.Advance();
  EXPECT_TRUE(Stored(RecordKind::kBlock).empty());
  FinishUpdate();
  EXPECT_EQ(components().chain.head().decision, next.decision);
}

TEST_F(FollowerTest, ResultsAreAskedForAndKeptWithTheirBlock) {
  follower_.Leave(std::nullopt, true);
  const std::vector<float> values(scene::kFloats, 0.25F);
  const base::ByteView bytes = base::AsBytes(std::span(values));
  const SharedBlob result = crypto::MakeBlob({bytes.begin(), bytes.end()});
  Block next = NextBlock();
  next.columns = {wire::ColumnFate::kApplied};
  next.result_roots = {result->root};
  Show(next);
  ForgetActions();
  follower_.Advance();
  EXPECT_TRUE(Taken<StartJob>().empty());
  bool asked = false;
  for (const Send& send : Taken<Send>()) asked |= PullOf(send).kind == PullKind::kResult;
  EXPECT_TRUE(asked);
  const auto take = [&](const SharedBlob& blob) {
    wire::Slot slot = ServiceSlot(kStep, Phase::kA, MessageType::kChunk);
    follower_.OnChunk(IdOf(1), slot, {kStep, 0, 1}, blob);
    follower_.Advance();
  };
  take(crypto::MakeBlob(base::Bytes(scene::kFloats * sizeof(float), 0)));  // a liar's
  EXPECT_TRUE(Taken<StartJob>().empty());
  take(result);
  FinishUpdate();
  EXPECT_EQ(Stored(RecordKind::kResult).size(), 1u);
  EXPECT_EQ(components().chain.ResultAt(kStep, 0), result);
}

// A REJOIN a head, and the parts of the step that was left, would go out again at each link.
TEST_F(FollowerTest, WhatWasSaidInStepsThatAreOverIsForgotten) {
  SetHead(Dropped());
  follower_.Leave(std::nullopt, true);
  Attest(components().chain.head());
  follower_.Advance();
  Settle();
  EXPECT_EQ(components().journal.sent().size(), 1U) << "a REJOIN at the head";
  for (int i = 0; i < 3; ++i) {
    Show(NextBlock());
    follower_.Advance();
    FinishUpdate();
    follower_.Advance();
    Settle();
    EXPECT_EQ(components().journal.sent().size(), 2U) << "at the newest two heads";
  }
}

TEST_F(FollowerTest, DivergedStateIsFetchedThoughTheWayIsShortAndEndsTheEra) {
  follower_.Leave(std::nullopt, false);
  const ModelState state = StateOf(7);
  Show(RootedBlock(state));
  ForgetActions();
  follower_.Advance();
  EXPECT_EQ(AskedForState().size(), 1u);
  const JobId old = components().jobs.Start({}, PackSpec{});
  for (std::uint64_t part = 0; part <= StatePieces(layout(), 1).size(); ++part) {
    Give(part, PartOf(state, part));
  }
  Taken<StartJob>();
  follower_.Advance();
  EXPECT_EQ(*components().chain.state().parameters, *state.parameters);
  EXPECT_EQ(*VelocityOf(components().chain.state()), *VelocityOf(state));
  EXPECT_EQ(Stored(RecordKind::kState).size(), 1u);
  EXPECT_FALSE(components().jobs.Take(old)) << "an update of the old way is not wanted";
  FinishUpdate();
}

TEST_F(FollowerTest, PartsOfAStateAreStoredAsTheyComeAndAskedForNoMoreAfterwards) {
  follower_.Leave(std::nullopt, false);
  const ModelState state = StateOf(7);
  Show(RootedBlock(state));
  follower_.Advance();
  Give(0, PartOf(state, 0));
  follower_.Advance();
  ForgetActions();
  Give(1, PartOf(state, 1));
  follower_.Advance();
  const auto stored = Stored(RecordKind::kStatePart);
  ASSERT_EQ(stored.size(), 1u);
  EXPECT_EQ(stored[0].key, StatePartKey(kStep, 1));
  EXPECT_EQ(stored[0].blob->data, PartOf(state, 1));
  // Another process of this member, with the same store.
  follower_.GoOnFrom({kStep, {{0, crypto::MakeBlob(PartOf(state, 0))}, {1, stored[0].blob}}});
  follower_.Leave(std::nullopt, false);
  Show(RootedBlock(state));
  ForgetActions();
  follower_.Advance();
  std::set<std::uint64_t> expected;
  for (std::uint64_t part = 2; part <= StatePieces(layout(), 1).size(); ++part) {
    expected.insert(part);
  }
  EXPECT_EQ(AskedForState(), expected);
}

TEST_F(FollowerTest, WhoSendsAFalsePieceIsNamed) {
  follower_.Leave(std::nullopt, false);
  const ModelState state = StateOf(7);
  Show(RootedBlock(state));
  follower_.Advance();
  Give(0, PartOf(state, 0));
  ForgetActions();
  follower_.Advance();
  const auto sends = Taken<Send>();
  ASSERT_FALSE(sends.empty());
  const std::uint64_t part = PullOf(sends[0]).index;
  Give(part, base::Bytes(PartOf(state, part).size(), 3), sends[0].to);
  follower_.Advance();
  const auto seen = Observed<Suspicion>();
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].peer, sends[0].to);
  EXPECT_EQ(seen[0].check, "state");
}

TEST_F(FollowerTest, TrustedStateIsNotFetchedOverAShortWay) {
  follower_.Leave(std::nullopt, true);
  Show(RootedBlock(StateOf(7)));
  follower_.Advance();
  for (const Send& send : Taken<Send>()) EXPECT_NE(PullOf(send).kind, PullKind::kState);
  FinishUpdate();
}

}  // namespace
}  // namespace ostraka::protocol::follower_test
