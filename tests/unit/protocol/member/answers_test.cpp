#include "node/protocol/member/answers.h"

#include <algorithm>
#include <set>

#include "node/wire/bitmap.h"
#include "tests/unit/protocol/member/member_fixture.h"

namespace ostraka::protocol::answers_test {
namespace {

using scene::DigestOf;
using scene::kMemberCount;
using scene::kStep;
using scene::kStranger;
using scene::MemberTest;
using wire::MessageType;
using wire::Phase;
using wire::PullKind;

class AnswersTest : public MemberTest {
 protected:
  base::Bytes BitmapOf(const std::vector<std::uint32_t>& numbers) const {
    std::vector<PeerId> members;
    for (const std::uint32_t number : numbers) members.push_back(IdOf(number));
    return wire::BitmapOf(members, components().chain.head().members);
  }
  void Answer(const PeerId& from, const wire::Pull& pull, const wire::Slot& slot) {
    answers_.Answer(from, slot, pull);
  }
  static wire::Slot SlotAt(std::uint64_t step = kStep, Phase phase = Phase::kA) {
    return ServiceSlot(step, phase, MessageType::kPull);
  }
  static wire::Pull Messages(MessageType type, base::Bytes members) {
    return {.kind = PullKind::kMessages, .type = type, .members = std::move(members)};
  }
  // Frames that went to `to`; nothing went to anybody else.
  std::set<base::Bytes> SentTo(const PeerId& to) {
    std::set<base::Bytes> frames;
    for (const Send& send : Taken<Send>()) {
      EXPECT_EQ(send.to, to);
      frames.insert(*send.frame);
    }
    return frames;
  }
  static std::set<base::Bytes> Frames(const std::vector<wire::SharedMessage>& messages) {
    std::set<base::Bytes> frames;
    for (const auto& message : messages) frames.insert(*message->frame);
    return frames;
  }
  // Seal A of kStep - 1, decided by the ECHOs of members 1 to 3.
  std::vector<wire::SharedMessage> AddPastSeal() {
    PastSeal past;
    past.vector = {{SealEntry::State::kPresent, DigestOf(6)}, {}};
    past.value = HashOf(past.vector);
    std::vector<wire::SharedMessage> echoes;
    for (std::uint32_t i = 1; i <= 3; ++i) {
      echoes.push_back(Sign({.from = i,
                             .type = MessageType::kEcho,
                             .step = kStep - 1,
                             .body = wire::Encode(EchoOf(past.vector))}));
      past.certificate.push_back({MessageType::kEcho, IdOf(i), echoes.back()->frame});
    }
    std::sort(past.certificate.begin(), past.certificate.end(),
              [](const auto& a, const auto& b) { return a.signer < b.signer; });
    components().past_seals.Add({kStep - 1, Phase::kA, 0}, past);
    return echoes;
  }

  class CountingOpener final : public wire::Opener {
   public:
    base::StatusOr<wire::SharedMessage> Open(const base::SharedBytes& frame) override {
      ++opened;
      return plain_.Open(frame);
    }
    std::uint64_t opened = 0;

   private:
    wire::PlainOpener plain_;
  };
  std::shared_ptr<CountingOpener> opener_ = std::make_shared<CountingOpener>();
  Answers answers_{components(), components(), components().stage, *step_, opener_};
};

// --- which peers are answered -------------------------------------------------------------------

TEST_F(AnswersTest, KeysOfTheRunAreAnsweredUnlessTheyAreBanned) {
  Block head = HeadBlock();
  head.members = {IdOf(0), IdOf(1), IdOf(2)};
  wire::Standing dropped;
  dropped.peer = IdOf(3);
  dropped.drops = 1;
  wire::Standing banned;
  banned.peer = IdOf(4);
  banned.banned = true;
  head.standings = {dropped, banned};
  SetHead(head);
  EXPECT_TRUE(answers_.Admits(IdOf(1)));
  EXPECT_TRUE(answers_.Admits(IdOf(3)));
  EXPECT_FALSE(answers_.Admits(IdOf(4)));
  EXPECT_FALSE(answers_.Admits(IdOf(kStranger)));
  EXPECT_FALSE(answers_.Admits(Self()));
}

TEST_F(AnswersTest, AGuestIsAnsweredUntilItGoes) {
  ASSERT_TRUE(
      components().followers.Welcome(IdOf(kStranger), std::nullopt, components().turn.now(), {}));
  components().followers.OnRejoin(IdOf(kStranger), {1, {}, {}}, components().turn.now(), kStep);
  EXPECT_TRUE(answers_.Admits(IdOf(kStranger)));
  UseUp(IdOf(kStranger));
  EXPECT_FALSE(answers_.Admits(IdOf(kStranger))) << "its ration is used up";
}

TEST_F(AnswersTest, EachRequestIsCountedForThePeerThatAsks) {
  SetHead(HeadBlock());
  UseUp(IdOf(1), 1);
  EXPECT_TRUE(answers_.Admits(IdOf(1)));
  EXPECT_FALSE(answers_.Admits(IdOf(1)));
  EXPECT_TRUE(answers_.Admits(IdOf(2)));
  Pass(base::Seconds(1));
  EXPECT_TRUE(answers_.Admits(IdOf(1)));
}

// --- the head -----------------------------------------------------------------------------------

TEST_F(AnswersTest, MemberAtTheGenesisSaysThatItWaits) {
  components().stage.Enter(Stage::kGenesis);
  Answer(IdOf(1), {.kind = PullKind::kHead}, SlotAt());
  const auto sends = Taken<Send>();
  ASSERT_EQ(sends.size(), 1u);
  EXPECT_EQ(EnvelopeOf(sends[0]).slot.phase, Phase::kGenesis);
  EXPECT_EQ(sends[0].blob, nullptr);
}

TEST_F(AnswersTest, HeadIsShownAndAFollowerThatAsksIsKept) {
  BeginStep();
  components().followers.Note(IdOf(1), components().turn.now(), 0, 0);
  Pass(base::Seconds(50));
  Answer(IdOf(1), {.kind = PullKind::kHead}, SlotAt());
  Answer(IdOf(2), {.kind = PullKind::kHead}, SlotAt());
  const auto sends = Taken<Send>();
  ASSERT_EQ(sends.size(), 2u);
  EXPECT_EQ(sends[0].blob->data, wire::EncodeBlock(components().chain.head()));
  Pass(base::Seconds(20));
  components().followers.Expire({}, 0, components().turn.now(), base::Seconds(30));
  EXPECT_TRUE(components().followers.Contains(IdOf(1)));
  EXPECT_FALSE(components().followers.Contains(IdOf(2))) << "to ask is not to follow";
}

// --- messages -----------------------------------------------------------------------------------

TEST_F(AnswersTest, MessagesOfTheWantedMembersAreGiven) {
  BeginStep();
  const auto first = Hold({.from = 1});
  Hold({.from = 2});
  Hold({.from = 3, .type = MessageType::kAggregate});
  Answer(IdOf(4), Messages(MessageType::kCommit, BitmapOf({1, 3})), SlotAt());
  EXPECT_EQ(SentTo(IdOf(4)), Frames({first}));
}

TEST_F(AnswersTest, BothMessagesOfAnEquivocatorAreGiven) {
  BeginStep();
  const auto first = Hold({.from = 1, .body = {1}});
  const auto second = Hold({.from = 1, .body = {2}});
  Answer(IdOf(4), Messages(MessageType::kCommit, BitmapOf({1})), SlotAt());
  EXPECT_EQ(SentTo(IdOf(4)), Frames({first, second}));
}

TEST_F(AnswersTest, BitmapOfOtherMembersAndStepsThatAreNotHeldGetNothing) {
  BeginStep();
  Hold({.from = 1});
  Answer(IdOf(4), Messages(MessageType::kCommit, {0xff, 0xff}), SlotAt());
  Answer(IdOf(4), Messages(MessageType::kCommit, BitmapOf({1})), SlotAt(kStep + 1));
  Answer(IdOf(4), Messages(MessageType::kPart, BitmapOf({1})), SlotAt());  // bulk: see kPart
  EXPECT_TRUE(Taken<Send>().empty());
}

TEST_F(AnswersTest, MessagesOfAPastStepAreGivenByItsOwnMembers) {
  BeginStep();
  PastStep past;
  past.members = {IdOf(1), IdOf(3)};
  components().chain.Remember(kStep - 1, past);
  const auto held = Hold({.from = 3, .step = kStep - 1});
  Answer(IdOf(4), Messages(MessageType::kCommit, {0x02}), SlotAt(kStep - 1));
  EXPECT_EQ(SentTo(IdOf(4)), Frames({held})) << "the second of its two members";
}

TEST_F(AnswersTest, BallotsOfTheSealInProgressAreGivenWhateverTheirIteration) {
  BeginStep();
  const Digest parent = step().facts().parent_a;
  const auto vote = [&](std::uint32_t from, std::uint32_t iteration) {
    return Sign({.from = from,
                 .type = MessageType::kVote,
                 .iteration = iteration,
                 .body = wire::Encode(wire::SealVote{DigestOf(1), 0}),
                 .parent = parent});
  };
  wire::Echo body;
  body.vector = DigestOf(4);
  const auto echo =
      Sign({.from = 1, .type = MessageType::kEcho, .body = wire::Encode(body), .parent = parent});
  step().OnAccepted(*echo);  // the seal has it, and the inbox does not
  const auto ballot = vote(1, 1);
  step().sealing().OnOdd(*ballot);
  step().sealing().OnOdd(*vote(2, 1));
  ForgetActions();
  Answer(IdOf(4), Messages(MessageType::kEcho, BitmapOf({1, 2, 3})), SlotAt());
  EXPECT_EQ(SentTo(IdOf(4)), Frames({echo}));
  Answer(IdOf(4), Messages(MessageType::kVote, BitmapOf({1})), SlotAt());
  EXPECT_EQ(SentTo(IdOf(4)), Frames({ballot}));
}

TEST_F(AnswersTest, CertificateOfAPastSealIsGivenByTypeAndAuthor) {
  BeginStep();
  PastStep past;
  past.members = Members();
  components().chain.Remember(kStep - 1, past);
  const auto echoes = AddPastSeal();
  Answer(IdOf(4), Messages(MessageType::kEcho, BitmapOf({1, 3, 4})), SlotAt(kStep - 1));
  EXPECT_EQ(SentTo(IdOf(4)), Frames({echoes[0], echoes[2]}));
  Answer(IdOf(4), Messages(MessageType::kLock, BitmapOf({1, 2, 3})), SlotAt(kStep - 1));
  EXPECT_TRUE(Taken<Send>().empty());
}

// Attack: each question, of any type and for nobody, had the frames of all members decoded.
TEST_F(AnswersTest, NothingIsDecodedForAnAnswer) {
  BeginStep();
  PastStep past;
  past.members = Members();
  components().chain.Remember(kStep - 1, past);
  const auto echoes = AddPastSeal();
  for (const MessageType type : {MessageType::kEcho, MessageType::kLock}) {
    Answer(IdOf(4), Messages(type, BitmapOf({1, 2, 3, 4})), SlotAt(kStep - 1));
    Answer(IdOf(4), Messages(type, BitmapOf({})), SlotAt(kStep - 1));
  }
  EXPECT_EQ(SentTo(IdOf(4)), Frames(echoes));
  EXPECT_EQ(opener_->opened, 0U);
}

TEST_F(AnswersTest, EachAuthorIsTakenFromTheRation) {
  BeginStep();
  const auto third = Hold({.from = 3});
  const auto ask = [&](const std::vector<std::uint32_t>& authors) {
    Answer(IdOf(4), Messages(MessageType::kCommit, BitmapOf(authors)), SlotAt());
    return SentTo(IdOf(4)).size();
  };
  // By key: those that are asked for before the one that is held.
  std::vector<std::uint32_t> before;
  for (std::uint32_t i = 0; i < kMemberCount; ++i) {
    if (IdOf(i) < IdOf(3)) before.push_back(i);
  }
  std::vector<std::uint32_t> all = before;
  all.push_back(3);
  UseUp(IdOf(4), before.size() + 1);
  EXPECT_EQ(ask(all), 1U);
  UseUp(IdOf(4), before.size());
  EXPECT_EQ(ask(all), 0U) << "to look for what is not held costs as much";
  UseUp(IdOf(4), 1);
  EXPECT_EQ(ask({}), 0U);
  EXPECT_EQ(ask({3}), 1U) << "a question for nobody looks at nothing";
}

TEST_F(AnswersTest, EachDigestIsTakenFromTheRation) {
  BeginStep();
  const auto first = Hold({.from = 1});
  const auto second = Hold({.from = 2});
  const wire::Pull pull{.kind = PullKind::kDigests,
                        .digests = {DigestOf(50), first->digest, second->digest}};
  Answer(IdOf(4), pull, SlotAt());
  EXPECT_EQ(SentTo(IdOf(4)), Frames({first, second}));
  UseUp(IdOf(4), 3);  // a look for nothing, and one with its frame
  Answer(IdOf(4), pull, SlotAt());
  EXPECT_EQ(SentTo(IdOf(4)), Frames({first})) << "to look for what is not held costs as much";
}

TEST_F(AnswersTest, VectorOfAPastSealIsGivenByItsHash) {
  BeginStep();
  AddPastSeal();
  const SealVector vector = components().past_seals.Find({kStep - 1, Phase::kA, 0})->vector;
  const auto ask = [&](const std::vector<Digest>& digests) {
    Answer(IdOf(4), {.kind = PullKind::kVector, .digests = digests}, SlotAt(kStep - 1));
  };
  ask({});
  ask({DigestOf(1)});
  EXPECT_TRUE(Taken<Send>().empty());
  ask({EchoOf(vector).vector});
  const auto sends = Taken<Send>();
  ASSERT_EQ(sends.size(), 1u);
  EXPECT_EQ(EnvelopeOf(sends[0]).slot.type, MessageType::kVector);
  EXPECT_EQ(VectorOf(wire::Decode<wire::Vector>(EnvelopeOf(sends[0]).body).value()), vector);
  UseUp(IdOf(4));
  ask({EchoOf(vector).vector});
  EXPECT_TRUE(Taken<Send>().empty());
}

// --- parts --------------------------------------------------------------------------------------

class PartAnswersTest : public AnswersTest {
 protected:
  void Ask(const PeerId& from, std::uint32_t worker, std::uint64_t column,
           std::uint64_t at = kStep) {
    Answer(from, {.kind = PullKind::kPart, .members = BitmapOf({worker}), .index = column},
           SlotAt(at));
  }
  // The COMMIT of a worker, and its part for one column, as its owner can take it in.
  void HoldWorkOf(std::uint32_t worker, std::uint32_t column) {
    const StepFacts& facts = step().facts();
    std::vector<Digest> roots;
    std::vector<SharedBlob> blobs;
    for (const PartRange& range : facts.roles().parts) {
      blobs.push_back(crypto::MakeBlob(base::Bytes(range.size() * sizeof(float), 0)));
      roots.push_back(blobs.back()->root);
    }
    wire::Commit commit;
    commit.coins_root = DigestOf(1);
    commit.coin_count = facts.reading.coin_count;
    commit.gradient_root = crypto::MerkleRoot(roots);
    Hold({.from = worker, .body = wire::Encode(commit), .parent = facts.parent_a});
    wire::Part part;
    part.header.shape = {facts.roles().parts[column].size()};
    part.root = roots[column];
    part.path = crypto::MerklePath(roots, column);
    Hold({.from = worker,
          .type = MessageType::kPart,
          .iteration = column,
          .body = wire::Encode(part),
          .parent = facts.parent_a},
         blobs[column]);
  }
  const SharedBlob blob_ = crypto::MakeBlob(base::Bytes(32, 0));
};

TEST_F(PartAnswersTest, OwnPartIsGivenToItsAddressees) {
  BeginStep();
  Voice& voice = components().voice;
  for (const std::uint32_t column : {1u, 2u}) {
    voice.Prepare(voice.MakeDraft(
        voice.SlotOf(kStep, Phase::kA, MessageType::kPart, 0, column), {}, PartBody(blob_),
        column == 1 ? std::vector<PeerId>{IdOf(1)} : std::vector<PeerId>{IdOf(2)}, blob_));
  }
  Settle();
  ForgetActions();
  Ask(IdOf(2), scene::kSelf, 1);
  Ask(IdOf(1), scene::kSelf, 3);
  EXPECT_TRUE(Taken<Send>().empty());
  Ask(IdOf(2), scene::kSelf, 2);
  const auto sends = Taken<Send>();
  ASSERT_EQ(sends.size(), 1u);
  EXPECT_EQ(sends[0].to, IdOf(2));
  EXPECT_EQ(sends[0].blob, blob_);
  EXPECT_EQ(EnvelopeOf(sends[0]).slot.iteration, 2u);
}

TEST_F(PartAnswersTest, PartOfAnotherIsPassedOnToTheOwnerInDisputeAlone) {
  BeginStep();
  const std::vector<PeerId> owners = step().facts().roles().owners;
  const auto number_of = [&](const PeerId& id) {
    std::uint32_t number = 0;
    while (IdOf(number) != id) ++number;
    return number;
  };
  std::uint32_t column = 0;
  while (owners[column] == Self()) ++column;
  const std::uint32_t owner = number_of(owners[column]);
  std::uint32_t worker = 1;
  while (worker == owner) ++worker;
  Block head = HeadBlock();
  head.disputes = {{.worker = IdOf(worker), .aggregator = IdOf(owner), .since = 0}};
  step_->Drop();
  components().stage.Enter(Stage::kFollow);
  BeginStep(head);
  HoldWorkOf(worker, column);
  Ask(IdOf(owner), worker, column);
  EXPECT_TRUE(Taken<Send>().empty()) << "not passed on yet";
  step().TryAdvance();
  ForgetActions();
  for (std::uint32_t peer = 1; peer < kMemberCount; ++peer) {
    Ask(IdOf(peer), worker, column);
    EXPECT_EQ(Taken<Send>().size(), peer == owner ? 1u : 0u) << peer;
  }
  Ask(IdOf(owner), worker, column + 100);
  Ask(IdOf(owner), worker, (std::uint64_t{1} << 32) + column);  // no wrap
  EXPECT_TRUE(Taken<Send>().empty());
}

TEST_F(PartAnswersTest, ExhibitOfAPastStepIsGivenToAll) {
  BeginStep();
  PastStep past;
  past.members = Members();
  past.parts[{2, IdOf(1)}] = {Sign({.from = 1})->frame, blob_};
  components().chain.Remember(kStep - 1, past);
  Ask(IdOf(4), 1, 1, kStep - 1);
  Ask(IdOf(4), 2, 2, kStep - 1);
  Ask(IdOf(4), 1, 2, kStep - 2);
  EXPECT_TRUE(Taken<Send>().empty());
  Ask(IdOf(4), 1, 2, kStep - 1);
  ASSERT_EQ(Taken<Send>().size(), 1u);
  Answer(IdOf(4), {.kind = PullKind::kPart, .members = BitmapOf({1, 2}), .index = 2},
         SlotAt(kStep - 1));
  EXPECT_TRUE(Taken<Send>().empty()) << "one author at a time";
}

// --- members that are stuck ---------------------------------------------------------------------

TEST_F(AnswersTest, MemberThatIsStuckInAPastSealGetsItsCertificate) {
  BeginStep();
  const auto echoes = AddPastSeal();
  const auto help = [&](std::uint32_t from, MessageType type, std::uint32_t link) {
    const auto message = Sign({.from = from,
                               .type = type,
                               .step = kStep - 1,
                               .iteration = type == MessageType::kStatus ? 1u : 0u});
    answers_.HelpStuck(*message, IdOf(link));
    return SentTo(IdOf(link));
  };
  EXPECT_EQ(help(4, MessageType::kClose, 4), Frames(echoes));
  EXPECT_EQ(help(4, MessageType::kStatus, 4), Frames(echoes));
  EXPECT_EQ(help(4, MessageType::kEcho, 4), Frames(echoes));
  EXPECT_TRUE(help(4, MessageType::kClose, 1).empty()) << "passed on";
  answers_.HelpStuck(
      *Sign({.from = 4, .type = MessageType::kVote, .step = kStep - 1, .iteration = 1}), IdOf(4));
  EXPECT_TRUE(Taken<Send>().empty()) << "a VOTE is no cry for help: a STATUS came before it";
  UseUp(IdOf(4));
  EXPECT_TRUE(help(4, MessageType::kClose, 4).empty());
}

TEST_F(AnswersTest, EchoThatTheDecisionRestsOnIsNoCryForHelp) {
  BeginStep();
  const auto echoes = AddPastSeal();
  answers_.HelpStuck(*echoes[0], IdOf(1));
  EXPECT_TRUE(Taken<Send>().empty());
}

}  // namespace
}  // namespace ostraka::protocol::answers_test
