#include "node/protocol/member/forks.h"

#include <set>
#include <string>

#include "node/protocol/mail/timers.h"
#include "tests/unit/protocol/member/member_fixture.h"

namespace ostraka::protocol::forks_test {
namespace {

using scene::DigestOf;
using scene::kMemberCount;
using scene::kStep;
using scene::kStranger;
using scene::MemberTest;
using scene::Saying;
using wire::MessageType;
using wire::Phase;
using wire::PullKind;
using Finding = Forks::Finding;

// Seals A and C of step kStep - 1 were decided here for value 10, by LOCKs of members 0 to 3.
class ForksTest : public MemberTest {
 protected:
  ForksTest() {
    SetHead(HeadBlock());
    components().voice.SetStep(kStep);
    for (const Phase phase : {Phase::kA, Phase::kC}) {
      Decision decision{DigestOf(1), DigestOf(10), {}, 4, {}};
      for (std::uint32_t i = 0; i < kMemberCount; ++i) decision.unmuted.insert(IdOf(i));
      for (std::uint32_t i = 0; i < 4; ++i) {
        decision.certificate.push_back(Sign(Lock(i, 10, phase))->frame);
      }
      components().fork_watch.Remember({kStep - 1, phase, 0}, std::move(decision));
    }
  }
  static Saying Lock(std::uint32_t from, std::uint64_t value, Phase phase = Phase::kC,
                     std::uint32_t iteration = 1) {
    return {.from = from,
            .type = MessageType::kLock,
            .step = kStep - 1,
            .phase = phase,
            .iteration = iteration,
            .body = wire::Encode(wire::Lock{DigestOf(value)}),
            .parent = DigestOf(1)};
  }
  Finding Watch(const Saying& saying, std::uint32_t link = 1) {
    return forks_.Watch(*Sign(saying), IdOf(link));
  }
  // The other branch is proven: by members 1 to 4.
  void Split() {
    for (std::uint32_t i = 1; i < 4; ++i) ASSERT_EQ(Watch(Lock(i, 20)), Finding::kNone);
    ASSERT_EQ(Watch(Lock(4, 20)), Finding::kSplit);
    ForgetActions();
    forks_.Freeze();
    forks_.CheckInvariants();
  }
  // The members that were asked for something of that kind, and for which step.
  std::set<PeerId> Asked(PullKind kind, std::uint64_t step) {
    std::set<PeerId> asked;
    for (const Send& send : Taken<Send>()) {
      const wire::Envelope envelope = EnvelopeOf(send);
      if (envelope.slot.type != MessageType::kPull) continue;
      EXPECT_EQ(PullOf(send).kind, kind);
      EXPECT_EQ(envelope.slot.step, step);
      EXPECT_TRUE(asked.insert(send.to).second);
    }
    return asked;
  }

  Forks forks_{components(),           *step_,
               components().followers, components().charges,
               components().check,     components().server,
               components().fork_watch};
};

// --- while the run is one -----------------------------------------------------------------------

TEST_F(ForksTest, MessageOfThisHistoryIsNotEvenVerified) {
  EXPECT_EQ(Watch(Lock(1, 10)), Finding::kNone);
  EXPECT_EQ(Watch({.from = 1, .step = kStep - 1, .parent = DigestOf(1)}), Finding::kNone);
  EXPECT_EQ(Watch({.from = 1, .step = kStep + 5, .parent = DigestOf(9)}), Finding::kNone)
      << "of a step that is not watched";
  EXPECT_EQ(Watch({.from = 1, .step = 0, .parent = DigestOf(9)}), Finding::kNone);
  EXPECT_EQ(verifier_->asked, 0u);
  EXPECT_TRUE(Taken<Send>().empty());
}

TEST_F(ForksTest, ForgedRivalIsNoFinding) {
  EXPECT_EQ(forks_.Watch(*Forged(Lock(1, 20)), IdOf(2)), Finding::kForged);
  ASSERT_EQ(Observed<Suspicion>().size(), 1u);
  EXPECT_EQ(components().fork_watch.rival_count(), 0u);
}

TEST_F(ForksTest, MessageThatPartedMakesThisMemberAskItsLinkForTheProofsOfTheStepBefore) {
  Decision older{DigestOf(2), DigestOf(11), {}, 4, {}};
  components().fork_watch.Remember({kStep - 2, Phase::kA, 0}, older);
  const Saying parted{.from = 1, .step = kStep - 1, .parent = DigestOf(9)};
  EXPECT_EQ(Watch(parted, 2), Finding::kNone) << "a cheat may name anything";
  EXPECT_EQ(Asked(PullKind::kProofs, kStep - 2), std::set<PeerId>{IdOf(2)});
  EXPECT_EQ(Watch(parted, 2), Finding::kNone);
  EXPECT_TRUE(Taken<Send>().empty()) << "it was asked just now";
  EXPECT_EQ(forks_.Watch(*Forged({.from = 3, .step = kStep - 1, .parent = DigestOf(9)}), IdOf(3)),
            Finding::kForged);
  EXPECT_TRUE(Taken<Send>().empty());
}

TEST_F(ForksTest, PresentStepIsJudgedByTheBlockThatItBeganWith) {
  BeginStep();
  const StepFacts& facts = step().facts();
  EXPECT_EQ(forks_.Watch(*Sign({.from = 1, .parent = facts.parent_a}), IdOf(1)), Finding::kNone);
  EXPECT_TRUE(Taken<Send>().empty());
  forks_.Watch(*Sign({.from = 1, .parent = DigestOf(9)}), IdOf(1));
  EXPECT_EQ(Asked(PullKind::kProofs, kStep - 1), std::set<PeerId>{IdOf(1)});
}

TEST_F(ForksTest, OddMessagesOfALinkAreVerifiedWithinARation) {
  for (std::uint64_t i = 0; i < Ration::kOddMessagesASecond; ++i) {
    components().ration.TakeOddMessage(components().turn.now(), IdOf(2));
  }
  EXPECT_EQ(Watch(Lock(1, 20), 2), Finding::kForged) << "nothing more is done with it";
  EXPECT_EQ(verifier_->asked, 0u);
  EXPECT_EQ(Watch(Lock(1, 20), 3), Finding::kNone);
  EXPECT_EQ(components().fork_watch.rival_count(), 1u);
}

TEST_F(ForksTest, BlockOfAnotherHistoryMakesThisMemberAskForProofs) {
  BeginStep();
  Block own = components().chain.head();
  forks_.OnBlock(IdOf(2), own);
  EXPECT_TRUE(Taken<Send>().empty());
  own.randomness = DigestOf(77);
  forks_.OnBlock(IdOf(2), own);
  EXPECT_EQ(Asked(PullKind::kProofs, kStep - 1), std::set<PeerId>{IdOf(2)});
  own.genesis = true;
  forks_.OnBlock(IdOf(3), own);
  EXPECT_TRUE(Taken<Send>().empty());
}

TEST_F(ForksTest, DroppedMembersAreAskedForTheirHeads) {
  Block head = HeadBlock();
  head.members = {IdOf(0), IdOf(1)};
  for (std::uint32_t i = 2; i < kMemberCount; ++i) {
    wire::Standing standing;
    standing.peer = IdOf(i);
    standing.banned = i == 4;
    head.standings.push_back(standing);
  }
  SetHead(head);
  components().followers.Note(IdOf(3), components().turn.now(), 0, 0);
  forks_.AskHeadsOfDropped();
  EXPECT_EQ(Asked(PullKind::kHead, kStep), std::set<PeerId>{IdOf(2)})
      << "no member, no follower (it is on our branch), and nobody banned";
}

TEST_F(ForksTest, ProofsOfAWatchedStepAreGiven) {
  forks_.Answer(IdOf(2), kStep - 1);
  EXPECT_EQ(Taken<Send>().size(), 8u) << "two seals, four LOCKs each";
  forks_.Answer(IdOf(2), kStep - 2);
  EXPECT_TRUE(Taken<Send>().empty());
  UseUp(IdOf(2), 3);
  forks_.Answer(IdOf(2), kStep - 1);
  EXPECT_EQ(Taken<Send>().size(), 3u);
}

// --- after the split ----------------------------------------------------------------------------

TEST_F(ForksTest, SplitIsFoundFromTwoProofsAndNotFromFewer) {
  EXPECT_FALSE(forks_.split());
  for (std::uint32_t i = 1; i < 4; ++i) EXPECT_EQ(Watch(Lock(i, 20)), Finding::kNone);
  EXPECT_EQ(Watch(Lock(4, 20, Phase::kC, 2)), Finding::kNone) << "another iteration";
  EXPECT_EQ(Watch(Lock(4, 20)), Finding::kSplit);
}

TEST_F(ForksTest, FrozenMemberShowsBothProofsToAllOthersAndStoresWhatItFound) {
  Split();
  EXPECT_TRUE(forks_.split());
  const auto timers = Taken<SetTimer>();
  ASSERT_EQ(timers.size(), 1u);
  EXPECT_EQ(timers[0].id, kFollowTimer);
  EXPECT_EQ(timers[0].at, components().turn.now() + base::Seconds(5));
  std::map<PeerId, std::size_t> frames;
  std::set<PeerId> asked;
  for (const Send& send : Taken<Send>()) {
    if (EnvelopeOf(send).slot.type == MessageType::kPull) {
      EXPECT_EQ(PullOf(send).kind, PullKind::kProofs);
      asked.insert(send.to);
    } else {
      ++frames[send.to];
    }
  }
  EXPECT_EQ(frames.size(), kMemberCount - 1);
  EXPECT_FALSE(frames.contains(Self())) << "nothing goes to this member itself";
  for (const auto& [to, count] : frames) EXPECT_EQ(count, 8u) << "both proofs";
  EXPECT_EQ(asked.size(), kMemberCount - 1);
  EXPECT_FALSE(asked.contains(Self()));
}

TEST_F(ForksTest, LineIsStoredTwiceAndTheLastOneSaysWhoIsNamed) {
  Split();
  std::vector<Record> lines;
  std::size_t files = 0;
  for (const Store& store : Taken<Store>()) {
    for (const Record& record : store.records) {
      if (record.kind == RecordKind::kFork) lines.push_back(record);
      if (record.kind == RecordKind::kEvidence) ++files;
    }
  }
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(files, 3u) << "members 1 to 3 locked both values in one iteration";
  const std::string line = forks_.End();
  const auto last = Stored(RecordKind::kFork);
  ASSERT_EQ(last.size(), 1u);
  EXPECT_LT(lines[0].key, last[0].key) << "by key, the last one counts";
  EXPECT_EQ(std::string(last[0].value.begin(), last[0].value.end()), line);
  EXPECT_NE(line.find(IdOf(2).Short()), std::string::npos);
  EXPECT_EQ(line.find(Self().Short()), std::string::npos);
}

TEST_F(ForksTest, CulpritThatIsHeardLaterIsNamedToo) {
  Split();
  ForgetActions();
  const auto news = Sign(Lock(4, 10));  // it locked 20 too
  forks_.Hear(*Forged(Lock(4, 10)), IdOf(2));
  EXPECT_TRUE(Stored(RecordKind::kEvidence).empty());
  forks_.Hear(*news, IdOf(2));
  EXPECT_EQ(Stored(RecordKind::kEvidence).size(), 1u);
  verifier_->asked = 0;
  forks_.Hear(*news, IdOf(2));
  forks_.Hear(*Sign({.from = 1}), IdOf(2));
  EXPECT_EQ(verifier_->asked, 0u) << "no news is not verified";
  EXPECT_NE(forks_.End().find(IdOf(4).Short()), std::string::npos);
}

TEST_F(ForksTest, FrozenMemberAnswersWithBothProofsOfTheSplitStep) {
  Split();
  ForgetActions();
  forks_.Answer(IdOf(2), kStep - 1);
  EXPECT_EQ(Taken<Send>().size(), 8u);
  forks_.Show(IdOf(3));
  EXPECT_EQ(Taken<Send>().size(), 9u) << "and asks for what it has";
}

}  // namespace
}  // namespace ostraka::protocol::forks_test
