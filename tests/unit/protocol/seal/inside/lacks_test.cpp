#include "node/protocol/seal/inside/lacks.h"

#include <gtest/gtest.h>

#include "node/protocol/seal/inside/describe.h"
#include "node/protocol/seal/inside/view.h"
#include "tests/unit/protocol/seal/inside/parts_fixture.h"

namespace ostraka::protocol::lacks_test {
namespace {

using parts::AllFive;
using parts::At;
using parts::FiveMembers;
using parts::FrameOf;
using parts::HeldMessages;
using parts::Message;
using parts::ValueOf;
using parts::Without;
using scene::DigestOf;
using scene::PeerNumber;
using wire::MessageType;
using wire::PullKind;

SealOptions Observing() {
  SealOptions options = FiveMembers();
  options.self = PeerNumber(9);
  return options;
}

// The parts of one Seal, put together by hand.
class LacksTest : public testing::Test {
 protected:
  explicit LacksTest(SealOptions options = FiveMembers()) : setup_(std::move(options)) {}

  SealLacks Find(std::int64_t ms) const { return FindLacks(view_, At(ms)); }
  std::vector<PeerId> SourcesOf(const SealLacks& lacks, MessageType type, std::size_t member,
                                const Digest& value = {}) const {
    const auto found = lacks.sources.find({PullKind::kMessages, type, member, value});
    return found == lacks.sources.end() ? std::vector<PeerId>{} : found->second;
  }
  void HearEcho(std::uint32_t member, const SealVector& vector, std::int64_t ms) {
    echoes_.Add(PeerNumber(member), EchoOf(vector), At(ms));
    slow_path_.AddEcho(PeerNumber(member), ValueOf(vector), FrameOf(1));
  }
  void SendEcho(std::int64_t ms) {
    echoes_.EndWait(At(ms));
    values_.Add(ValueOf(values_.HeldNow()), values_.HeldNow());
    echoes_.Send(At(ms), ValueOf(values_.HeldNow()));
    clock_.Echoed(At(ms), CloseTime::kAfterEcho);
  }

  const SealSetup setup_;
  HeldMessages messages_{5};
  SealValues values_{5, &messages_};
  SealEchoes echoes_{setup_};
  SealGate gate_{setup_.unmuted(), setup_.quorum()};
  SealClock clock_{setup_.delta()};
  SealSlowPath slow_path_{setup_};
  SealDecision decision_;
  const SealView view_{setup_, values_, echoes_, gate_, clock_, slow_path_, decision_};
};

class ObserverLacksTest : public LacksTest {
 protected:
  ObserverLacksTest() : LacksTest(Observing()) {}
};

TEST_F(LacksTest, AMessageThatAnEchoShowsIsLackedAMomentAfterIt) {
  messages_.Drop(3);
  HearEcho(1, AllFive(), 0);
  HearEcho(2, AllFive(), 100);
  SealLacks lacks = Find(249);
  EXPECT_TRUE(lacks.sources.empty());
  EXPECT_EQ(lacks.later, At(250));
  lacks = Find(250);
  EXPECT_EQ(SourcesOf(lacks, MessageType::kReveal, 3), std::vector<PeerId>{PeerNumber(1)});
  EXPECT_EQ(lacks.later, At(350));
  EXPECT_EQ(SourcesOf(Find(350), MessageType::kReveal, 3),
            (std::vector<PeerId>{PeerNumber(1), PeerNumber(2)}));
}

TEST_F(LacksTest, EchoesThatAreMissingOrDifferFromTheLeadingValueAreLackedOfAll) {
  SendEcho(0);
  HearEcho(0, AllFive(), 0);
  HearEcho(1, AllFive(), 0);
  HearEcho(2, Without(2), 450);
  EXPECT_TRUE(SourcesOf(Find(499), MessageType::kEcho, 3).empty());
  const SealLacks lacks = Find(500);
  EXPECT_TRUE(SourcesOf(lacks, MessageType::kEcho, 1).empty());
  EXPECT_EQ(SourcesOf(lacks, MessageType::kEcho, 2), setup_.others());
  EXPECT_EQ(SourcesOf(lacks, MessageType::kEcho, 3), setup_.others());
}

TEST_F(LacksTest, VectorsOfOthersAreLackedAfterTheOwnEcho) {
  HearEcho(1, Without(2), 0);
  const SealLack vector{PullKind::kVector, MessageType::kBoot, 0, ValueOf(Without(2))};
  EXPECT_FALSE(Find(300).sources.contains(vector));
  SendEcho(300);
  EXPECT_TRUE(Find(300).sources.contains(vector));
  values_.Add(ValueOf(Without(2)), Without(2));
  EXPECT_FALSE(Find(300).sources.contains(vector));
}

// With the sources of one vector only, a liar's vector hid those of an honest member.
TEST_F(LacksTest, TheSourcesOfAllVectorsThatNameAMessageAreJoined) {
  messages_.Drop(4);
  SendEcho(0);
  for (const std::uint32_t i : {1u, 2u}) {
    values_.Add(ValueOf(AllFive()), AllFive());
    SealVector other = AllFive();
    other[i] = {};
    values_.Add(ValueOf(other), other);
    HearEcho(i, other, 0);
  }
  const SealLacks lacks = Find(250);
  const auto sources = lacks.sources.at({PullKind::kDigests, MessageType::kBoot, 0, DigestOf(104)});
  EXPECT_EQ(std::set<PeerId>(sources.begin(), sources.end()),
            (std::set<PeerId>{PeerNumber(1), PeerNumber(2)}));
}

// A liar that leads could keep an honest member from being asked, by naming what it claims.
TEST_F(LacksTest, TheSourcesOfAProposalJoinThoseThatShowedTheSameThingBefore) {
  SendEcho(0);
  clock_.Enter(2, At(100));
  const std::uint32_t leader = static_cast<std::uint32_t>(setup_.IndexOf(setup_.LeaderOf(2)));
  const std::uint32_t other = leader == 3 ? 2 : 3;
  const auto propose = [&](std::uint32_t rank, const Digest& value) {
    wire::Propose body;
    body.rank = rank;
    body.value = value;
    slow_path_.OnPropose(Message(leader, MessageType::kPropose, 2, wire::Encode(body)), 2);
  };
  slow_path_.OnStatus(
      Message(other, MessageType::kStatus, 2, wire::Encode(wire::SealStatus{2, DigestOf(7)})), 2);
  propose(2, DigestOf(7));
  EXPECT_EQ(SourcesOf(Find(100), MessageType::kVote, 1, DigestOf(7)),
            (std::vector<PeerId>{PeerNumber(other), PeerNumber(leader)}));
}

TEST_F(LacksTest, TheSourcesOfAProposedVectorJoinItsEchoers) {
  SendEcho(0);
  clock_.Enter(1, At(500));
  const std::uint32_t leader = static_cast<std::uint32_t>(setup_.IndexOf(setup_.LeaderOf(1)));
  const std::uint32_t other = leader == 3 ? 2 : 3;
  HearEcho(other, Without(1), 0);
  wire::Propose body;
  body.value = ValueOf(Without(1));
  slow_path_.OnPropose(Message(leader, MessageType::kPropose, 1, wire::Encode(body)), 1);
  const SealLack vector{PullKind::kVector, MessageType::kBoot, 0, ValueOf(Without(1))};
  EXPECT_EQ(Find(500).sources.at(vector),
            (std::vector<PeerId>{PeerNumber(other), PeerNumber(leader)}));
}

TEST_F(LacksTest, ClosesAreLackedOfMembersInAnIterationAndOfAllAfterALongWait) {
  gate_.Add(PeerNumber(1), FrameOf(1));
  SendEcho(0);
  EXPECT_TRUE(SourcesOf(Find(0), MessageType::kClose, 2).empty());
  slow_path_.NoteReached(PeerNumber(3), 1);
  EXPECT_EQ(SourcesOf(Find(0), MessageType::kClose, 2), std::vector<PeerId>{PeerNumber(3)});
  EXPECT_TRUE(SourcesOf(Find(0), MessageType::kClose, 1).empty()) << "it is here";
  clock_.Advance(At(2000));
  EXPECT_EQ(SourcesOf(Find(4000), MessageType::kClose, 2), setup_.others());
}

TEST_F(LacksTest, StatusesAreLackedOfMembersInThisIterationAndOfAllAfterAStep) {
  SendEcho(0);
  clock_.Enter(1, At(100));
  slow_path_.NoteReached(PeerNumber(2), 1);
  EXPECT_EQ(SourcesOf(Find(100), MessageType::kStatus, 2), std::vector<PeerId>{PeerNumber(2)});
  EXPECT_TRUE(SourcesOf(Find(100), MessageType::kStatus, 3).empty());
  EXPECT_EQ(SourcesOf(Find(2100), MessageType::kStatus, 3), std::vector<PeerId>{PeerNumber(3)});
}

TEST_F(LacksTest, TheCertificateOfAClaimedLockIsLackedOfItsClaimant) {
  SendEcho(0);
  clock_.Enter(2, At(100));
  slow_path_.OnStatus(
      Message(3, MessageType::kStatus, 2, wire::Encode(wire::SealStatus{2, DigestOf(7)})), 2);
  const SealLacks lacks = Find(100);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(SourcesOf(lacks, MessageType::kVote, i, DigestOf(7)),
              std::vector<PeerId>{PeerNumber(3)});
  }
  slow_path_.Recall(Message(0, MessageType::kLock, 2, wire::Encode(wire::Lock{DigestOf(8)})), 2);
  EXPECT_TRUE(SourcesOf(Find(100), MessageType::kVote, 1, DigestOf(7)).empty())
      << "below the own lock";
  EXPECT_EQ(SourcesOf(Find(100), MessageType::kVote, 1, DigestOf(8)), setup_.others());
}

TEST_F(LacksTest, WhatADecisionNamesIsLackedOfItsSignersAndNothingElseIs) {
  SendEcho(0);
  decision_.Make(ValueOf(Without(2)), {{PeerNumber(3), FrameOf(3)}}, PeerNumber(0));
  SealLacks lacks = Find(5000);
  ASSERT_EQ(lacks.sources.size(), 1u);
  EXPECT_EQ(lacks.sources.begin()->first.kind, PullKind::kVector);
  EXPECT_EQ(lacks.sources.begin()->second, std::vector<PeerId>{PeerNumber(3)});
  messages_.Drop(1);
  values_.Add(ValueOf(Without(2)), Without(2));
  lacks = Find(5000);
  ASSERT_EQ(lacks.sources.size(), 1u);
  EXPECT_EQ(lacks.sources.begin()->first.digest, DigestOf(101));
  EXPECT_EQ(DescribeSeal(view_, At(0)),
            "decided; waits for what it names, from " + PeerNumber(3).Short());
}

// The only other signer may lie where t_a is 0, and then answers nothing.
TEST_F(LacksTest, WhatADecisionNamesIsLackedOfAllOnceItsSignersWereAskedInVain) {
  SendEcho(0);
  decision_.Make(ValueOf(Without(2)), {{PeerNumber(3), FrameOf(3)}}, PeerNumber(0));
  decision_.NoteAsked();
  SealLacks lacks = Find(5000);
  ASSERT_EQ(lacks.sources.size(), 1u);
  EXPECT_EQ(lacks.sources.begin()->second, setup_.others());
  messages_.Drop(1);
  values_.Add(ValueOf(Without(2)), Without(2));
  lacks = Find(5000);
  ASSERT_EQ(lacks.sources.size(), 1u);
  EXPECT_EQ(lacks.sources.begin()->second, setup_.others());
}

TEST_F(ObserverLacksTest, AMutedMemberLacksEchoesAndLocksAlone) {
  HearEcho(1, Without(2), 0);
  EXPECT_TRUE(Find(5000).sources.empty()) << "its wait has not ended";
  echoes_.EndWait(At(0));
  std::set<MessageType> types;
  for (const auto& [lack, sources] : Find(5000).sources) types.insert(lack.type);
  EXPECT_EQ(types, (std::set<MessageType>{MessageType::kEcho, MessageType::kLock}));
  EXPECT_TRUE(DescribeSeal(view_, At(0)).starts_with("follows without a voice: no echo of "));
}

TEST_F(LacksTest, NamedValuesAreThoseOfEchoesProposalsTheLockAndTheDecision) {
  HearEcho(1, Without(1), 0);
  slow_path_.Recall(Message(0, MessageType::kLock, 2, wire::Encode(wire::Lock{DigestOf(8)})), 2);
  wire::Propose propose;
  propose.value = DigestOf(9);
  propose.rank = 1;
  slow_path_.OnPropose(Message(static_cast<std::uint32_t>(setup_.IndexOf(setup_.LeaderOf(1))),
                               MessageType::kPropose, 1, wire::Encode(propose)),
                       1);
  decision_.Make(DigestOf(10), {{PeerNumber(3), FrameOf(3)}}, PeerNumber(0));
  EXPECT_EQ(NamedValues(view_),
            (std::set<Digest>{ValueOf(Without(1)), DigestOf(8), DigestOf(9), DigestOf(10)}));
  SendEcho(0);
  EXPECT_TRUE(NamedValues(view_).contains(ValueOf(AllFive())));
}

}  // namespace
}  // namespace ostraka::protocol::lacks_test
