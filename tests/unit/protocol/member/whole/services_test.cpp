// What a member answers, to whom, and how much; what it keeps of what nobody asked for.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "node/base/rng.h"
#include "node/protocol/mail/ration.h"
#include "node/wire/bitmap.h"
#include "node/wire/limits.h"
#include "tests/unit/protocol/keys.h"
#include "tests/unit/protocol/member/whole/cluster.h"
#include "tests/unit/protocol/member/whole/fingerprint_probe.h"
#include "tests/unit/protocol/member/whole/four_peers.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::services_test {
namespace {

using scene::Cluster;
using scene::EnvelopeOf;
using scene::ExpectHonestFinished;
using scene::ExpectNoSuspicionOf;
using scene::kCheat;
using scene::kHonest;
using scene::SlotOf;
using scene::Steps;
using wire::MessageType;
using wire::Phase;
using wire::PullKind;

// In the middle of step 2, where node 0 still waits for the COMMIT of the cheat.
class ServicesTest : public testing::Test {
 protected:
  ServicesTest() : cluster_(Steps(8)) {
    cluster_.on_send = [this](std::size_t from, const Send& send) {
      const wire::Slot slot = SlotOf(send);
      const bool seal_c = slot.step == 1 && slot.phase == Phase::kC;
      if (seal_c && slot.type == MessageType::kEcho) entry_c_ = EnvelopeOf(send.frame).entry;
      const bool held = from == kCheat && slot.step == 2 && slot.type != MessageType::kPart;
      if (held) held_.push_back(send);
      return !held;
    };
    cluster_.Start();
    cluster_.Run();
  }

  wire::Slot Slot(std::uint64_t step, Phase phase, MessageType type = MessageType::kPull) const {
    return {.run_id = cluster_.manifest().run_id,
            .incarnation = 0,
            .step = step,
            .phase = phase,
            .type = type,
            .draw = 0,
            .iteration = 0};
  }
  std::vector<Action> Give(wire::Slot slot, base::Bytes body, SharedBlob blob = nullptr) {
    const PeerId& cheat = cluster_.node(kCheat).id();
    return cluster_.Feed(
        0, MessageReceived{cheat, wire::EncodeService({slot, {}, cheat, std::move(body)}),
                           std::move(blob)});
  }
  std::vector<Action> Ask(wire::Slot slot, const wire::Pull& pull) {
    return Give(slot, wire::Encode(pull));
  }
  // Types of the frames among `actions`, all of which must go to the cheat.
  std::vector<MessageType> Answers(const std::vector<Action>& actions) {
    std::vector<MessageType> types;
    for (const Action& action : actions) {
      const auto* send = std::get_if<Send>(&action);
      if (send == nullptr) continue;
      EXPECT_EQ(send->to, cluster_.node(kCheat).id());
      types.push_back(SlotOf(*send).type);
    }
    return types;
  }
  // However often `ask` is done within a second.
  void ExpectRationed(const std::function<std::vector<Action>()>& ask) {
    EXPECT_GT(Answers(ask()).size(), 1u) << "else it is no multiplier";
    std::size_t answers = 0;
    for (std::size_t i = 0; i < Ration::kAnswersASecond; ++i) answers += Answers(ask()).size();
    EXPECT_GT(answers, Ration::kAnswersASecond / 2);
    EXPECT_LT(answers, Ration::kAnswersASecond);
    EXPECT_TRUE(ask().empty());
    ExpectTheRunGoesOn();
  }
  void ExpectTheRunGoesOn() {
    cluster_.on_send = nullptr;
    for (const Send& send : held_) {
      cluster_.Deliver(cluster_.IndexOf(send.to), kCheat, send.frame, send.blob);
    }
    cluster_.RunToEnd();
    EXPECT_EQ(cluster_.NotHaltedAs(Halted::Why::kFinished), "");
    EXPECT_TRUE(scene::RemovalsOf(cluster_).empty());
    cluster_.ExpectAgreement();
  }

  std::vector<Send> held_;
  Digest entry_c_;  // of seal C of step 1, which is decided
  Cluster cluster_;
};

TEST_F(ServicesTest, TheHeadComesWithTheCommitsThatAttestToIt) {
  const auto answers = Answers(Ask(Slot(0, Phase::kC), {.kind = PullKind::kHead}));
  ASSERT_FALSE(answers.empty());
  EXPECT_EQ(answers[0], MessageType::kBlock);
  EXPECT_EQ(std::count(answers.begin(), answers.end(), MessageType::kCommit), 3)
      << "those of nodes 0, 1 and 3";
  EXPECT_EQ(answers.size(), 4u);
}

TEST_F(ServicesTest, BlocksComeNewestFirstAndNotMoreThanThereAre) {
  const auto actions = Ask(Slot(1, Phase::kC), {.kind = PullKind::kBlock, .index = 1000});
  std::vector<base::Bytes> blocks;
  for (const Action& action : actions) blocks.push_back(std::get<Send>(action).blob->data);
  ASSERT_EQ(blocks.size(), 3u) << "of steps 1 and 0, and the genesis block";
  std::size_t i = blocks.size();
  for (const auto& [key, encoded] : cluster_.node(0).encoded_blocks) {
    EXPECT_EQ(blocks[--i], encoded);
  }
  EXPECT_TRUE(Ask(Slot(99, Phase::kC), {.kind = PullKind::kBlock, .index = 3}).empty());
  EXPECT_TRUE(
      Ask(Slot(~std::uint64_t{0}, Phase::kC), {.kind = PullKind::kBlock, .index = 3}).empty());
}

TEST_F(ServicesTest, ResultsOfPastStepsAreServedWithTheirBytes) {
  const auto actions = Ask(Slot(1, Phase::kA), {.kind = PullKind::kResult, .index = 0});
  ASSERT_EQ(actions.size(), 1u);
  const auto& send = std::get<Send>(actions[0]);
  EXPECT_EQ(SlotOf(send).type, MessageType::kChunk);
  EXPECT_EQ(send.blob->root, cluster_.node(0).blocks[1]->result_roots[0]);
  EXPECT_TRUE(Ask(Slot(1, Phase::kA), {.kind = PullKind::kResult, .index = 99}).empty());
  EXPECT_TRUE(Ask(Slot(9, Phase::kA), {.kind = PullKind::kResult, .index = 0}).empty());
}

TEST_F(ServicesTest, MessagesAndDigestsAreFoundAndOthersAreNot) {
  const std::vector<PeerId>& members = cluster_.node(0).blocks.back()->members;
  const auto actions = Ask(
      Slot(2, Phase::kA),
      {.kind = PullKind::kMessages,
       .type = MessageType::kCommit,
       .members = wire::BitmapOf({cluster_.node(1).id(), cluster_.node(kCheat).id()}, members)});
  ASSERT_EQ(actions.size(), 1u) << "the cheat's own COMMIT is not here";
  const auto& send = std::get<Send>(actions[0]);
  EXPECT_EQ(EnvelopeOf(send.frame).sender, cluster_.node(1).id());
  const Digest digest = wire::Open(send.frame)->digest;
  EXPECT_EQ(Answers(Ask(Slot(2, Phase::kA),
                        {.kind = PullKind::kDigests, .digests = {scene::DigestOf(1), digest}})),
            std::vector<MessageType>{MessageType::kCommit});
  // Bulk data has its own questions.
  EXPECT_TRUE(Ask(Slot(2, Phase::kA), {.kind = PullKind::kMessages,
                                       .type = MessageType::kPart,
                                       .members = wire::BitmapOf(members, members)})
                  .empty());
}

TEST_F(ServicesTest, AStrangerAndABannedOneGetNothing) {
  const auto stranger = scene::KeyNumber(1000)->id();
  const auto frame = wire::EncodeService(
      {Slot(0, Phase::kC), {}, stranger, wire::Encode(wire::Pull{.kind = PullKind::kHead})});
  EXPECT_TRUE(cluster_.Feed(0, MessageReceived{stranger, frame, nullptr}).empty());

  Cluster banned(Steps(8));
  banned.on_job = [](std::size_t node, const JobSpec&, JobResult& result) {
    auto* proof = std::get_if<ProveResult>(&result);
    if (node == kCheat && proof != nullptr) proof->columns.pop_back();
  };
  banned.Start();
  banned.RunUntil([&] { return banned.node(0).blocks.size() >= 2; });
  ASSERT_EQ(scene::RemovalsOf(banned).size(), 1u);
  wire::Slot slot = Slot(0, Phase::kC);
  slot.run_id = banned.manifest().run_id;
  const PeerId& cheat = banned.node(kCheat).id();
  const auto ask =
      wire::EncodeService({slot, {}, cheat, wire::Encode(wire::Pull{.kind = PullKind::kHead})});
  EXPECT_TRUE(banned.Feed(0, MessageReceived{cheat, ask, nullptr}).empty());
}

TEST_F(ServicesTest, QuestionsBeyondTheRationAreNotAnswered) {
  ExpectRationed([this] { return Ask(Slot(0, Phase::kC), {.kind = PullKind::kHead}); });
}

// One question has as many answers as a quorum has members.
TEST_F(ServicesTest, HelpInASealThatIsOverIsRationedToo) {
  wire::Slot slot = Slot(1, Phase::kC, MessageType::kStatus);
  slot.iteration = 1;
  const auto cry =
      wire::Seal({slot, entry_c_, cluster_.node(kCheat).id(), wire::Encode(wire::SealStatus{})},
                 *cluster_.node(kCheat).key);
  ExpectRationed([&] {
    return cluster_.Feed(0, MessageReceived{cluster_.node(kCheat).id(), cry.frame, nullptr});
  });
}

// A part and an aggregate each time, at the price of a handshake.
TEST_F(ServicesTest, ALinkThatComesUpAgainAndAgainIsNotToldAllEachTime) {
  const auto comes_up = [this] {
    return Answers(cluster_.Feed(0, LinkChanged{cluster_.node(kCheat).id(), true})).size();
  };
  const std::size_t told = comes_up();
  EXPECT_GT(told, 5u);
  std::size_t repeats = 2;  // and the first time of all, less than a second ago
  while (comes_up() > 0 && repeats < 1000) ++repeats;
  EXPECT_EQ(repeats, Ration::kRepeatsASecond);
  ExpectTheRunGoesOn();
}

// What is not there is looked for as long as what is.
TEST_F(ServicesTest, DigestsThatNobodyHasCountAsAnswers) {
  wire::Pull pull{.kind = PullKind::kDigests};
  pull.digests.assign(wire::kMaxPullDigests, scene::DigestOf(1));
  const std::size_t enough = Ration::kAnswersASecond / wire::kMaxPullDigests + 1;
  for (std::size_t i = 0; i < enough; ++i) EXPECT_TRUE(Ask(Slot(2, Phase::kA), pull).empty());
  EXPECT_TRUE(Ask(Slot(0, Phase::kC), {.kind = PullKind::kHead}).empty());
  ExpectTheRunGoesOn();
}

// Honest members neither make nor pass on what has not its sender's signature.
TEST_F(ServicesTest, WhoForgesIsNotHeardForAWhile) {
  const auto forged = [&](std::uint64_t value) {
    const auto message = wire::Seal({Slot(2, Phase::kA, MessageType::kCommit),
                                     scene::DigestOf(value),
                                     cluster_.node(1).id(),
                                     {}},
                                    *cluster_.node(1).key);
    return MessageReceived{cluster_.node(kCheat).id(), scene::BadlySigned(message.frame), nullptr};
  };
  cluster_.node(0).suspicions.clear();
  for (std::uint64_t i = 0; i < 20 * Ration::kForgeriesASecond; ++i) cluster_.Feed(0, forged(i));
  // They name another parent, and blocks of the link's that were decoded count with those.
  EXPECT_LE(cluster_.node(0).suspicions.size(), Ration::kForgeriesASecond);
  EXPECT_GT(cluster_.node(0).suspicions.size(), Ration::kForgeriesASecond / 2);
  ExpectNoSuspicionOf(cluster_, kHonest);
  cluster_.on_send = nullptr;
  cluster_.RunToEnd();
  ExpectHonestFinished(cluster_);
}

TEST_F(ServicesTest, PassedOnServicesAreTheirCarriersFault) {
  const auto frame = wire::EncodeService({Slot(0, Phase::kC),
                                          {},
                                          cluster_.node(1).id(),
                                          wire::Encode(wire::Pull{.kind = PullKind::kHead})});
  cluster_.node(0).suspicions.clear();
  const auto actions =
      cluster_.Feed(0, MessageReceived{cluster_.node(kCheat).id(), frame, nullptr});
  EXPECT_EQ(actions.size(), 1u);
  ASSERT_EQ(cluster_.node(0).suspicions.size(), 1u);
  EXPECT_EQ(cluster_.node(0).suspicions[0].peer, cluster_.node(kCheat).id());
  EXPECT_EQ(cluster_.node(0).suspicions[0].check, "relay");
}

TEST_F(ServicesTest, GarbageChangesNothing) {
  base::Rng rng(7);
  const Digest before = FingerprintProbe::WithoutNotes(*cluster_.node(0).machine);
  for (int i = 0; i < 2000; ++i) {
    const MessageType types[] = {MessageType::kPull, MessageType::kVector, MessageType::kBlock,
                                 MessageType::kChunk};
    wire::Slot slot = Slot(rng.Below(4), static_cast<Phase>(rng.Below(4)), types[rng.Below(4)]);
    if (rng.Chance(1, 4)) slot.step = ~std::uint64_t{0} - rng.Below(3);
    base::Bytes body(rng.Below(120));
    for (std::uint8_t& byte : body) byte = static_cast<std::uint8_t>(rng.Below(256));
    if (slot.type == MessageType::kPull && rng.Chance(1, 2)) {
      body =
          wire::Encode(wire::Pull{.kind = static_cast<PullKind>(rng.Below(8)),
                                  .type = static_cast<MessageType>(rng.Below(13)),
                                  .members = base::Bytes(rng.Below(3), 0xff),
                                  .index = rng.Below(3) == 0 ? ~std::uint64_t{0} : rng.Below(5)});
    }
    Give(slot, std::move(body), rng.Chance(1, 2) ? crypto::MakeBlob({1, 2, 3}) : nullptr);
  }
  EXPECT_EQ(FingerprintProbe::WithoutNotes(*cluster_.node(0).machine), before);
  ExpectTheRunGoesOn();
}

// --- what is kept of what comes unasked ----------------------------------------------------------

// Each index is a slot of its own, and each RESULT as large as the model may be.
TEST_F(ServicesTest, ResultsOfColumnsThatTheirSenderDoesNotOwnAreNotKept) {
  const Roles& roles = cluster_.node(0).started.back().roles;
  const auto is_kept = [&](std::uint64_t step, std::uint32_t column) {
    const SharedBlob blob = crypto::MakeBlob(base::Bytes(64, static_cast<std::uint8_t>(column)));
    wire::Slot slot = Slot(step, Phase::kA, MessageType::kResult);
    slot.iteration = column;
    wire::Result body{
        {.element = wire::ElementType::kFloat32, .codec = wire::Codec::kRaw, .shape = {16}},
        blob->root};
    const auto message =
        wire::Seal({slot, scene::DigestOf(5), cluster_.node(kCheat).id(), wire::Encode(body)},
                   *cluster_.node(kCheat).key);
    const Digest before = FingerprintProbe::WithoutNotes(*cluster_.node(0).machine);
    cluster_.Feed(0, MessageReceived{cluster_.node(kCheat).id(), message.frame, blob});
    return FingerprintProbe::WithoutNotes(*cluster_.node(0).machine) != before;
  };
  is_kept(2, 64);  // nobody's; the first message of a member begins its account
  std::size_t kept = 0;
  for (std::uint32_t j = 0; j < 64; ++j) {
    for (const std::uint64_t step : {std::uint64_t{2}, std::uint64_t{3}}) kept += is_kept(step, j);
  }
  const std::size_t owned = roles.PartOwnedBy(cluster_.node(kCheat).id()) ? 1 : 0;
  EXPECT_LE(kept, owned + 1) << "its own in this step, and one in the next";
}

// LOCKs for another vector in a decided seal show a fork, if a quorum signed them; one member's
// hundreds are no quorum, and keep nobody else's out.
TEST_F(ServicesTest, AForkIsSeenThroughOneMembersNoise) {
  const auto lock = [&](std::size_t from, std::uint64_t value, std::uint32_t iteration) {
    wire::Slot slot = Slot(1, Phase::kC, MessageType::kLock);
    slot.iteration = iteration;
    const auto message = wire::Seal({slot, entry_c_, cluster_.node(from).id(),
                                     wire::Encode(wire::Lock{scene::DigestOf(value)})},
                                    *cluster_.node(from).key);
    cluster_.Feed(0, MessageReceived{cluster_.node(from).id(), message.frame, nullptr});
  };
  // The others never said what is put into their mouths here.
  cluster_.on_send = [](std::size_t from, const Send&) { return from != 0; };
  lock(kCheat, 5, 2);
  for (std::uint64_t i = 0; i < 600; ++i) {
    lock(kCheat, 100 + i, 1 + static_cast<std::uint32_t>(i % 7));
  }
  EXPECT_FALSE(cluster_.node(0).halted);
  lock(1, 5, 2);
  lock(1, 5, 2);
  EXPECT_FALSE(cluster_.node(0).halted);
  lock(3, 5, 2);
  EXPECT_EQ(cluster_.node(0).machine->progress().phase, "frozen");
  cluster_.RunUntil([&] { return cluster_.node(0).halted.has_value(); });
  ASSERT_TRUE(cluster_.node(0).halted);
  EXPECT_EQ(cluster_.node(0).halted->why, Halted::Why::kForked);
}

// Found by LOCKs of one iteration; who voted against an own lock of another one comes out while the
// member is frozen. It signs nothing meanwhile, and whatever it stored in time stays unsaid.
TEST_F(ServicesTest, AFrozenMemberHearsWhoSpokeForBothSides) {
  const auto say = [&](std::size_t from, MessageType type, std::uint32_t iteration,
                       base::Bytes body) {
    wire::Slot slot = Slot(1, Phase::kC, type);
    slot.iteration = iteration;
    const auto message = wire::Seal({slot, entry_c_, cluster_.node(from).id(), std::move(body)},
                                    *cluster_.node(from).key);
    return cluster_.Feed(0, MessageReceived{cluster_.node(from).id(), message.frame, nullptr});
  };
  const auto value = [](std::uint64_t number) { return scene::DigestOf(number); };
  // The others never said what is put into their mouths here.
  cluster_.on_send = [](std::size_t from, const Send& send) {
    EXPECT_TRUE(from != 0 || SlotOf(send).step <= 1) << "it goes on";
    return from != 0;
  };
  for (const std::size_t i : {1, 2, 3}) {
    say(i, MessageType::kLock, 2, wire::Encode(wire::Lock{value(5)}));
  }
  ASSERT_EQ(cluster_.node(0).machine->progress().phase, "frozen");
  EXPECT_EQ(cluster_.node(0).evidence_stored, 0u);
  for (const std::size_t i : {1, 2}) {
    say(i, MessageType::kLock, 1, wire::Encode(wire::Lock{value(6)}));
  }
  say(1, MessageType::kVote, 2, wire::Encode(wire::SealVote{value(5), 2}));
  EXPECT_EQ(cluster_.node(0).evidence_stored, 0u) << "it moved to a higher lock";
  say(kCheat, MessageType::kVote, 2, wire::Encode(wire::SealVote{value(5), 0}));
  EXPECT_EQ(cluster_.node(0).evidence_stored, 1u);
  // Who asks gets all of it, of the frozen one too.
  const auto shown = Answers(Ask(Slot(1, Phase::kC), {.kind = PullKind::kProofs}));
  EXPECT_EQ(std::count(shown.begin(), shown.end(), MessageType::kVote), 2);
  EXPECT_GE(std::count(shown.begin(), shown.end(), MessageType::kLock), 5);
  cluster_.RunUntil([&] { return cluster_.node(0).halted.has_value(); });
  ASSERT_TRUE(cluster_.node(0).halted);
  const std::string& reason = cluster_.node(0).halted->reason;
  EXPECT_NE(reason.find(cluster_.node(kCheat).id().Short()), std::string::npos) << reason;
  EXPECT_EQ(reason.find(cluster_.node(1).id().Short()), std::string::npos) << reason;
  cluster_.Kill(0);
  cluster_.Restart(0);
  ASSERT_TRUE(cluster_.node(0).halted);
  EXPECT_EQ(cluster_.node(0).halted->reason, reason) << "the line that names them";
}

// A lock may rest on what a member said long ago. Who forges its words, or repeats them, must not
// use up the room for them.
TEST(OddBallots, NobodyUsesUpWhatAnotherMaySay) {
  Cluster cluster(Steps(8));
  Digest entry;
  std::uint32_t reached = 0;
  cluster.on_send = [&](std::size_t from, const Send& send) {
    const wire::Slot slot = SlotOf(send);
    const bool seal_a = slot.step == 2 && slot.phase == Phase::kA;
    if (seal_a && slot.type == MessageType::kEcho) entry = EnvelopeOf(send.frame).entry;
    if (seal_a && slot.type == MessageType::kStatus && from == 0) reached = slot.iteration;
    // It goes on from one iteration to the next, and never ends.
    return !seal_a || slot.type < MessageType::kEcho || slot.type == MessageType::kStatus ||
           slot.type == MessageType::kClose || wire::IsService(slot.type);
  };
  cluster.Start();
  cluster.RunUntil([&] { return reached == 5; });
  ASSERT_EQ(reached, 5U);
  const PeerId& victim = cluster.node(1).id();
  const PeerId& cheat = cluster.node(kCheat).id();
  const auto lock = [&](std::uint64_t value) {
    const wire::Slot slot{.run_id = cluster.manifest().run_id,
                          .incarnation = 0,
                          .step = 2,
                          .phase = Phase::kA,
                          .type = MessageType::kLock,
                          .draw = 0,
                          .iteration = 1};
    return wire::Seal({slot, entry, victim, wire::Encode(wire::Lock{scene::DigestOf(value)})},
                      *cluster.node(1).key)
        .frame;
  };
  for (std::uint64_t i = 0; i < 1000; ++i) {
    cluster.Feed(0, MessageReceived{cheat, scene::BadlySigned(lock(i)), nullptr});
  }
  const base::SharedBytes said = lock(7);
  cluster.Feed(0, MessageReceived{victim, said, nullptr});
  wire::Slot slot = EnvelopeOf(said).slot;
  slot.type = MessageType::kPull;
  slot.iteration = 0;
  const std::vector<PeerId>& members = cluster.node(0).blocks.back()->members;
  const wire::Pull pull{.kind = PullKind::kMessages,
                        .type = MessageType::kLock,
                        .members = wire::BitmapOf({victim}, members)};
  const auto answers = cluster.Feed(
      0,
      MessageReceived{cheat, wire::EncodeService({slot, {}, cheat, wire::Encode(pull)}), nullptr});
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(*std::get<Send>(answers[0]).frame, *said);
}

// Every genesis member may watch; asking again is no second place.
TEST_F(ServicesTest, WatchersAreBoundedByTheGenesis) {
  for (int again = 0; again < 20; ++again) {
    Ask(Slot(0, Phase::kC), {.kind = PullKind::kFollow});  // the invariants are checked
  }
  ExpectTheRunGoesOn();
}

}  // namespace
}  // namespace ostraka::protocol::services_test
