#include "node/protocol/lasting/chain_server.h"

#include <gtest/gtest.h>

#include <cstring>

#include "node/protocol/ground/stored_state.h"
#include "node/wire/codec.h"
#include "tests/unit/protocol/keys.h"
#include "tests/unit/protocol/scene.h"
#include "tests/unit/protocol/states.h"

namespace ostraka::protocol::chain_server_test {
namespace {

using scene::DigestOf;
using scene::KeyNumber;
using wire::MessageType;
using wire::Phase;

constexpr std::uint64_t kHead = 4;  // step of the head
constexpr std::uint64_t kDimension = 40;
constexpr std::uint64_t kBytesASecond = 1 << 20;

class ChainServerTest : public testing::Test {
 protected:
  ChainServerTest() {
    turn_.Begin(Time{}, out_);
    chain_.AdvanceHead(BlockOf(0, true));
    for (std::uint64_t step = 0; step <= kHead; ++step) Advance(BlockOf(step));
    server_.emplace(core_, ration_);
  }
  static Manifest RunOf(std::uint64_t id) {
    Manifest manifest = scene::ManifestOf(4);
    manifest.run_id = DigestOf(id);
    return manifest;
  }
  static PeerId Self() { return KeyNumber(0)->id(); }
  static PeerId Peer(std::uint32_t number = 1) { return KeyNumber(number)->id(); }
  static SharedBlock BlockOf(std::uint64_t step, bool genesis = false) {
    Block block = scene::ViewBefore(scene::ManifestOf(4), 1);
    block.genesis = genesis;
    block.step = step;
    block.decision = DigestOf(100 + step);
    return std::make_shared<const Block>(std::move(block));
  }
  static ModelState StateOf(float value) {
    auto numbers = std::make_shared<std::vector<float>>(kDimension, value);
    numbers->front() = 7;
    return SgdState(numbers, numbers);
  }
  void Advance(const SharedBlock& block) {
    chain_.AdvanceHead(block);
    chain_.KeepBlock(*block);
  }
  Draft Commit(std::uint64_t step) {
    return voice_.MakeDraft(voice_.SlotOf(step, Phase::kA, MessageType::kCommit),
                            wire::BlockDigest(chain_.head()), {1}, {Peer()});
  }
  // This member has said its COMMIT of that step.
  void Say(std::uint64_t step) {
    const auto id = journal_.Prepare({Commit(step)});
    auto released = journal_.Release(id.value());
    for (SignedDraft& draft : released.value()) journal_.Say(std::move(draft));
    out_.actions().clear();
  }
  // The COMMIT of another member, which the inbox holds.
  base::SharedBytes Hold(std::uint32_t from, std::uint64_t step) {
    wire::Envelope envelope = Commit(step).envelope;
    envelope.sender = Peer(from);
    auto message = wire::Share(wire::Seal(std::move(envelope), *KeyNumber(from)));
    inbox_.Add(message, nullptr);
    return message->frame;
  }
  std::vector<Send> Sent() {
    std::vector<Send> sends;
    for (const Action& action : out_.actions()) sends.push_back(std::get<Send>(action));
    out_.actions().clear();
    return sends;
  }
  static wire::Envelope EnvelopeOf(const Send& send) { return wire::Open(send.frame)->envelope; }
  // Leaves `peer` room for `answers` more answers in this second.
  void UseUp(const PeerId& peer, std::uint64_t answers) {
    for (std::uint64_t i = answers; i < Ration::kAnswersASecond; ++i) {
      ASSERT_TRUE(ration_.Take(turn_.now(), peer));
    }
  }

  static inline const base::TensorLayout kLayout = {{"w", {30}}, {"b", {10}}};
  Outbox out_;
  Core core_{std::make_shared<const Manifest>(RunOf(7)), KeyNumber(0), kLayout, StateOf(1),
             std::make_unique<SeedSecrets>(Self())};
  Turn& turn_ = core_.turn;
  Journal& journal_ = core_.journal;
  Voice& voice_ = core_.voice;
  Chain& chain_ = core_.chain;
  Inbox& inbox_ = core_.inbox;
  Ration ration_{kBytesASecond};
  std::optional<ChainServer> server_;
};

// --- what was asked for -------------------------------------------------------------------------

TEST_F(ChainServerTest, EachFrameIsTakenFromTheRationOfThePeerThatAsked) {
  const auto frame = std::make_shared<const base::Bytes>(base::Bytes(100, 1));
  UseUp(Peer(1), 1);
  server_->SendFrame(Peer(1), frame);
  server_->SendFrame(Peer(1), frame);
  EXPECT_EQ(Sent().size(), 1u);
  server_->SendFrame(Peer(2), frame);
  EXPECT_EQ(Sent().size(), 1u) << "nobody uses up the ration of another";
}

TEST_F(ChainServerTest, BulkIsTakenFromTheRationOfBytes) {
  const auto frame = std::make_shared<const base::Bytes>(base::Bytes{1});
  const SharedBlob half = crypto::MakeBlob(base::Bytes(kBytesASecond / 2, 1));
  server_->SendBulk(Peer(), frame, half);
  server_->SendBulk(Peer(), frame, half);
  const auto sends = Sent();
  ASSERT_EQ(sends.size(), 2u) << "exactly the ration";
  EXPECT_EQ(sends[0].blob, half);
  server_->SendBulk(Peer(), frame, crypto::MakeBlob({1}));
  EXPECT_TRUE(Sent().empty()) << "a byte more";
}

// --- the head -----------------------------------------------------------------------------------

TEST_F(ChainServerTest, HeadIsShownWithTheCommitsThatAttestToIt) {
  const auto first = Hold(2, kHead + 1);
  const auto second = Hold(3, kHead + 1);
  Hold(2, kHead);  // attests to the block before
  server_->AnswerHead(Peer());
  const auto sends = Sent();
  ASSERT_EQ(sends.size(), 3u);
  const wire::Envelope head = EnvelopeOf(sends[0]);
  EXPECT_EQ(head.slot.type, MessageType::kBlock);
  EXPECT_EQ(head.slot.step, kHead);
  EXPECT_EQ(head.slot.phase, Phase::kC);
  const auto body = wire::Decode<wire::BlockMessage>(head.body);
  ASSERT_TRUE(body.ok());
  EXPECT_TRUE(body->head);
  EXPECT_EQ(body->digest, wire::BlockDigest(chain_.head()));
  EXPECT_EQ(sends[0].blob->data, wire::EncodeBlock(chain_.head()));
  const std::set<base::Bytes> commits = {*sends[1].frame, *sends[2].frame};
  EXPECT_EQ(commits, (std::set<base::Bytes>{*first, *second}));
}

TEST_F(ChainServerTest, OwnCommitComesFromTheJournalAndOnce) {
  Say(kHead);
  Say(kHead + 1);
  const auto& said = journal_.sent().back();
  inbox_.Add(wire::Share(wire::Open(said.frame).value()), nullptr);
  server_->ShowHead(Peer());
  const auto sends = Sent();
  ASSERT_EQ(sends.size(), 2u);
  EXPECT_EQ(*sends[1].frame, *said.frame);
}

TEST_F(ChainServerTest, HeadThatIsShownUnaskedGoesOutWithoutARation) {
  Hold(2, kHead + 1);
  UseUp(Peer(), 0);
  server_->AnswerHead(Peer());
  EXPECT_TRUE(Sent().empty());
  server_->ShowHead(Peer());
  EXPECT_EQ(Sent().size(), 1u) << "the block, and no attestation";
}

TEST_F(ChainServerTest, ThereIsNoHeadBeforeTheGenesisBlock) {
  auto none = std::make_shared<Block>();
  none->genesis = true;
  chain_.AdvanceHead(none);
  server_->AnswerHead(Peer());
  EXPECT_TRUE(Sent().empty());
  auto genesis = std::make_shared<Block>(*none);
  genesis->decision = DigestOf(1);
  chain_.AdvanceHead(genesis);
  Hold(2, 0);
  server_->AnswerHead(Peer());
  const auto sends = Sent();
  ASSERT_EQ(sends.size(), 2u);
  EXPECT_EQ(EnvelopeOf(sends[0]).slot.phase, Phase::kGenesis);
}

TEST_F(ChainServerTest, MemberThatHasBegunIsNotToldThatTheRunHasNot) {
  Hold(2, 0);
  server_->SayWaiting(Peer(2));
  EXPECT_TRUE(Sent().empty());
  server_->SayWaiting(Peer(1));
  const auto sends = Sent();
  ASSERT_EQ(sends.size(), 1u);
  EXPECT_EQ(EnvelopeOf(sends[0]).slot.type, MessageType::kBlock);
  EXPECT_EQ(EnvelopeOf(sends[0]).slot.phase, Phase::kGenesis);
  EXPECT_EQ(sends[0].blob, nullptr);
}

// --- blocks -------------------------------------------------------------------------------------

TEST_F(ChainServerTest, BlocksAreServedBackwardsFromTheOneAskedFor) {
  server_->AnswerBlocks(Peer(), ServiceSlot(3, Phase::kC, MessageType::kPull), 2);
  const auto sends = Sent();
  ASSERT_EQ(sends.size(), 2u);
  EXPECT_EQ(EnvelopeOf(sends[0]).slot.step, 3u);
  EXPECT_EQ(EnvelopeOf(sends[1]).slot.step, 2u);
  EXPECT_EQ(sends[0].blob->data, wire::EncodeBlock(*BlockOf(3)));
  EXPECT_FALSE(wire::Decode<wire::BlockMessage>(EnvelopeOf(sends[0]).body)->head);
}

TEST_F(ChainServerTest, NoMoreBlocksAreServedThanOneAnswerMayHold) {
  for (std::uint64_t step = kHead + 1; step < 50; ++step) Advance(BlockOf(step));
  server_->AnswerBlocks(Peer(), ServiceSlot(49, Phase::kC, MessageType::kPull), UINT64_MAX);
  EXPECT_EQ(Sent().size(), kMaxBlocksAnAnswer);
  server_->AnswerBlocks(Peer(), ServiceSlot(49, Phase::kC, MessageType::kPull), 0);
  EXPECT_TRUE(Sent().empty());
}

TEST_F(ChainServerTest, AnswerEndsAtTheOldestBlockThatIsHeld) {
  chain_.KeepBlock(*BlockOf(0, true));
  server_->AnswerBlocks(Peer(), ServiceSlot(1, Phase::kC, MessageType::kPull), 30);
  const auto sends = Sent();
  ASSERT_EQ(sends.size(), 3u) << "of steps 1 and 0, and the genesis block";
  EXPECT_EQ(EnvelopeOf(sends[2]).slot.phase, Phase::kGenesis);
  server_->AnswerBlocks(Peer(), ServiceSlot(9, Phase::kGenesis, MessageType::kPull), 30);
  EXPECT_EQ(Sent().size(), 1u);
}

TEST_F(ChainServerTest, StepThatNoBlockCanHaveIsNotAnswered) {
  server_->AnswerBlocks(Peer(), ServiceSlot(UINT64_MAX, Phase::kC, MessageType::kPull), 30);
  server_->AnswerBlocks(Peer(), ServiceSlot(UINT64_MAX - 1, Phase::kC, MessageType::kPull), 30);
  EXPECT_TRUE(Sent().empty());
}

TEST_F(ChainServerTest, BlocksAreServedAsLongAsTheRationLasts) {
  UseUp(Peer(), 1);
  server_->AnswerBlocks(Peer(), ServiceSlot(3, Phase::kC, MessageType::kPull), 3);
  EXPECT_EQ(Sent().size(), 1u);
}

// --- results and states -------------------------------------------------------------------------

TEST_F(ChainServerTest, ResultIsServedIfItIsKept) {
  const SharedBlob result = crypto::MakeBlob({1, 2, 3, 4});
  chain_.KeepResult(kHead, 2, result);
  server_->AnswerResult(Peer(), kHead, 1);
  server_->AnswerResult(Peer(), kHead - 1, 2);
  server_->AnswerResult(Peer(), kHead, (std::uint64_t{1} << 32) + 2);  // no wrap to column 2
  EXPECT_TRUE(Sent().empty());
  server_->AnswerResult(Peer(), kHead, 2);
  const auto sends = Sent();
  ASSERT_EQ(sends.size(), 1u);
  const wire::Envelope envelope = EnvelopeOf(sends[0]);
  EXPECT_EQ(envelope.slot.type, MessageType::kChunk);
  EXPECT_EQ(envelope.slot.phase, kResultChunk);
  EXPECT_EQ(wire::Decode<wire::Chunk>(envelope.body)->index, 2u);
  EXPECT_EQ(sends[0].blob, result);
  UseUp(Peer(2), 0);
  server_->AnswerResult(Peer(2), kHead, 2);
  EXPECT_TRUE(Sent().empty());
}

TEST_F(ChainServerTest, StateIsServedAsItsLeavesAndItsPieces) {
  const auto pieces = StatePieces(kLayout, 1);
  const auto leaves = StateLeaves(chain_.state(), kLayout);
  chain_.Serve(kHead + 1, leaves);
  chain_.SetState(StateOf(2));  // the served state stays
  for (std::uint64_t index = 0; index <= pieces.size(); ++index) {
    server_->AnswerState(Peer(), kHead + 1, index);
    const auto sends = Sent();
    ASSERT_EQ(sends.size(), 1u) << index;
    EXPECT_EQ(EnvelopeOf(sends[0]).slot.phase, kStateChunk);
    const auto chunk = wire::Decode<wire::Chunk>(EnvelopeOf(sends[0]).body);
    EXPECT_EQ(chunk->count, pieces.size() + 1);
    if (index > 0) {
      EXPECT_TRUE(PieceMatches(pieces[index - 1], sends[0].blob->data, leaves)) << index;
      continue;
    }
    ASSERT_EQ(sends[0].blob->data.size(), leaves.size() * sizeof(Digest));
    EXPECT_EQ(std::memcmp(sends[0].blob->data.data(), leaves.data(), sends[0].blob->data.size()),
              0);
  }
}

// Read from the store when it is sent, with the root and leaves that it had in memory.
TEST_F(ChainServerTest, StateThatTheStoreHasIsServedTheSame) {
  const auto pieces = StatePieces(kLayout, 1);
  const auto copy = std::make_shared<crypto::DiskCopy>();
  chain_.StateIsStored(copy);
  chain_.Serve(kHead + 1, StateLeaves(chain_.state(), kLayout));
  std::vector<SharedBlob> from_memory;
  for (std::uint64_t index = 0; index <= pieces.size(); ++index) {
    server_->AnswerState(Peer(), kHead + 1, index);
    from_memory.push_back(Sent().at(0).blob);
  }
  copy->Set(StateSource(chain_.state()));
  chain_.SetState(StateOf(2));
  Advance(BlockOf(kHead + 1));
  ASSERT_FALSE(chain_.ServedAt(kHead + 1)->state);
  for (std::uint64_t index = 0; index <= pieces.size(); ++index) {
    server_->AnswerState(Peer(), kHead + 1, index);
    const auto sends = Sent();
    ASSERT_EQ(sends.size(), 1u) << index;
    const crypto::Blob& blob = *sends[0].blob;
    EXPECT_EQ(blob.root, from_memory[index]->root) << index;
    EXPECT_EQ(blob.leaves, from_memory[index]->leaves) << index;
    ASSERT_EQ(blob.size(), from_memory[index]->data.size()) << index;
    if (index == 0) continue;
    base::Bytes read(blob.size());
    ASSERT_TRUE(blob.source->Read(0, read).ok());
    EXPECT_EQ(read, from_memory[index]->data) << index;
  }
}

TEST_F(ChainServerTest, PieceBeyondTheLastAndStateThatIsNotKeptAreNotServed) {
  chain_.Serve(kHead + 1, StateLeaves(chain_.state(), kLayout));
  server_->AnswerState(Peer(), kHead + 1, StatePieces(kLayout, 1).size() + 1);
  server_->AnswerState(Peer(), kHead + 1, UINT64_MAX);
  server_->AnswerState(Peer(), kHead, 0);
  EXPECT_TRUE(Sent().empty());
  UseUp(Peer(), 0);
  server_->AnswerState(Peer(), kHead + 1, 1);
  EXPECT_TRUE(Sent().empty());
}

}  // namespace
}  // namespace ostraka::protocol::chain_server_test
