#include "node/protocol/mail/signer.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/protocol/keys.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::signer_test {
namespace {

using scene::DigestOf;
using scene::KeyNumber;
using scene::PeersUpTo;
using wire::MessageType;
using wire::Phase;

wire::Slot SlotOf(std::uint64_t step, Phase phase = Phase::kA,
                  MessageType type = MessageType::kCommit, std::uint32_t draw = 0,
                  std::uint32_t iteration = 0) {
  return {.run_id = DigestOf(1),
          .incarnation = 0,
          .step = step,
          .phase = phase,
          .type = type,
          .draw = draw,
          .iteration = iteration};
}

Draft DraftOf(std::uint64_t step, SharedBlob blob = nullptr) {
  return {wire::Envelope{
              SlotOf(step), DigestOf(2), KeyNumber(1)->id(), {static_cast<std::uint8_t>(step)}},
          std::move(blob), PeersUpTo(2)};
}

std::vector<Record> RecordsOf(const std::vector<Draft>& drafts) {
  return Signer(KeyNumber(1)).Prepare(1, drafts).records;
}

TEST(SignerTest, RecordsNameTheSlotAndTheBytesThatWillBeSigned) {
  Signer signer(KeyNumber(1));
  const std::vector<Draft> drafts = {DraftOf(3), DraftOf(4)};
  const Store store = signer.Prepare(9, drafts);
  EXPECT_EQ(store.id, 9u);
  ASSERT_EQ(store.records.size(), 2u);
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    EXPECT_EQ(store.records[i].kind, RecordKind::kSlot);
    EXPECT_EQ(store.records[i].key, SlotKey(drafts[i].envelope.slot));
    EXPECT_EQ(store.records[i].value, *wire::EncodeUnsigned(drafts[i].envelope));
  }
}

TEST(SignerTest, ReleasesWhatWasPreparedUnderThatIdAndOnce) {
  Signer signer(KeyNumber(1));
  signer.Prepare(1, {DraftOf(3)});
  signer.Prepare(2, {DraftOf(4)});
  EXPECT_EQ(signer.pending(), 2u);
  EXPECT_FALSE(signer.Release(3));
  const auto released = signer.Release(2);
  ASSERT_TRUE(released);
  ASSERT_EQ(released->size(), 1u);
  EXPECT_EQ(released->front().message.envelope.slot.step, 4u);
  EXPECT_FALSE(signer.Release(2));
  EXPECT_EQ(signer.pending(), 1u);
}

TEST(SignerTest, KeepsOrderReceiversAndBlobs) {
  Signer signer(KeyNumber(1));
  const SharedBlob blob = crypto::MakeBlob({1});
  std::vector<Draft> drafts = {DraftOf(7), DraftOf(3, blob), DraftOf(5)};
  const Store store = signer.Prepare(1, drafts);
  const auto released = signer.Release(1);
  ASSERT_EQ(released->size(), 3u);
  crypto::PlainVerifier verifier;
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    const SignedDraft& draft = (*released)[i];
    EXPECT_EQ(draft.message.envelope.slot, drafts[i].envelope.slot);
    EXPECT_EQ(draft.blob, drafts[i].blob);
    EXPECT_EQ(draft.to, drafts[i].to);
    EXPECT_EQ(store.records[i].value, *wire::EncodeUnsigned(draft.message.envelope))
        << "signed something else than was stored";
    EXPECT_TRUE(verifier.Verify(signer.id(), draft.message.digest, draft.message.signature));
    EXPECT_TRUE(wire::Open(draft.message.frame).ok());
  }
}

// Whatever a caller wants to say in a slot that it has used, it said something there already.
TEST(SignerTest, ASlotIsPreparedOnce) {
  Signer signer(KeyNumber(1));
  Draft other = DraftOf(3);
  other.envelope.body = {99};
  EXPECT_EQ(signer.Prepare(1, {DraftOf(3), other}).records.size(), 1u);
  EXPECT_TRUE(signer.Prepare(2, {other}).records.empty());
  ASSERT_EQ(signer.Release(1)->size(), 1u);
  EXPECT_TRUE(signer.Release(2)->empty());
  EXPECT_TRUE(signer.Prepare(3, {other}).records.empty()) << "released is not forgotten";
  EXPECT_TRUE(signer.Said(SlotOf(3)));
  EXPECT_FALSE(signer.Said(SlotOf(4)));
  EXPECT_EQ(signer.Prepare(4, {other, DraftOf(4)}).records.size(), 1u) << "of the new slot";
}

TEST(SignerTest, AfterARestartItSaysTheSameToTheByteAndNothingElse) {
  const std::vector<Draft> drafts = {DraftOf(3), DraftOf(4)};
  Signer before(KeyNumber(1));
  before.Prepare(1, drafts);
  const auto said = before.Release(1);

  Signer after(KeyNumber(1));
  const auto restored = after.Restore(RecordsOf(drafts));
  ASSERT_TRUE(restored.ok()) << base::MessageOf(restored.status());
  ASSERT_EQ(restored->size(), 2u);
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    EXPECT_EQ(*(*restored)[i].frame, *(*said)[i].message.frame);
    EXPECT_EQ((*restored)[i].envelope.slot, drafts[i].envelope.slot);
    Draft other = drafts[i];
    other.envelope.body = {99};
    EXPECT_TRUE(after.Prepare(5 + i, {other}).records.empty()) << "a second body of one slot";
  }
}

TEST(SignerTest, RefusesRecordsThatAreNotItsOwn) {
  const auto refuses = [](const Record& record) {
    return !Signer(KeyNumber(1)).Restore({record}).ok();
  };
  const Record good = RecordsOf({DraftOf(3)}).front();
  ASSERT_FALSE(refuses(good));
  Record moved = good;
  moved.key = SlotKey(SlotOf(4));
  EXPECT_TRUE(refuses(moved)) << "filed under another slot";
  Record cut = good;
  cut.value.pop_back();
  EXPECT_TRUE(refuses(cut));
  Record empty = good;
  empty.value.clear();
  EXPECT_TRUE(refuses(empty));
  Draft foreign = DraftOf(3);
  foreign.envelope.sender = KeyNumber(2)->id();
  Record others = good;
  others.value = *wire::EncodeUnsigned(foreign.envelope);
  EXPECT_TRUE(refuses(others)) << "of another key";
}

TEST(SignerTest, ForgetsSlotsOfStepsThatAreOver) {
  Signer signer(KeyNumber(1));
  signer.Prepare(1, {DraftOf(3), DraftOf(4), DraftOf(5)});
  signer.ForgetBefore(4);
  EXPECT_FALSE(signer.Said(SlotOf(3)));
  EXPECT_TRUE(signer.Said(SlotOf(4)));
  EXPECT_TRUE(signer.Said(SlotOf(5)));
}

TEST(SlotKeyTest, SortsByStepThenPhaseAndNamesTheSlot) {
  // In ascending order; each pair differs in one field and in more than one byte's worth of it.
  const wire::Slot ascending[] = {
      SlotOf(1, Phase::kC, MessageType::kProof),
      SlotOf(255, Phase::kA, MessageType::kCommit),
      SlotOf(256, Phase::kA, MessageType::kCommit),
      SlotOf(256, Phase::kA, MessageType::kPart, 0, 255),
      SlotOf(256, Phase::kA, MessageType::kPart, 0, 256),
      SlotOf(256, Phase::kB, MessageType::kReveal, 1),
      SlotOf(256, Phase::kB, MessageType::kReveal, 256),
      SlotOf(257, Phase::kA, MessageType::kCommit),
      SlotOf(std::uint64_t{1} << 40, Phase::kA, MessageType::kCommit),
  };
  for (std::size_t i = 0; i + 1 < std::size(ascending); ++i) {
    EXPECT_LT(SlotKey(ascending[i]), SlotKey(ascending[i + 1])) << i;
    EXPECT_EQ(SlotKey(ascending[i]).size(), 22u);
  }
  wire::Slot again = ascending[0];
  again.incarnation = 1;
  EXPECT_LT(SlotKey(ascending[0]), SlotKey(again));
}

TEST(BlockKeyTest, SortsByHeightWithGenesisFirst) {
  EXPECT_EQ(BlockKey(true, 0), base::Bytes(8, 0));
  EXPECT_LT(BlockKey(true, 0), BlockKey(false, 0));
  EXPECT_LT(BlockKey(false, 254), BlockKey(false, 255));
  EXPECT_LT(BlockKey(false, 255), BlockKey(false, 256));
}

// Results are found by the block that applies them: its key, then the column.
TEST(ResultKeyTest, GivesItsPlaceBack) {
  EXPECT_EQ(PlaceOfResult(ResultKey(0, 0)), std::pair(std::uint64_t{0}, std::uint32_t{0}));
  EXPECT_EQ(PlaceOfResult(ResultKey(1 << 20, 513)),
            std::pair(std::uint64_t{1 << 20}, std::uint32_t{513}));
  EXPECT_FALSE(PlaceOfResult(BlockKey(false, 3)));
  EXPECT_FALSE(PlaceOfResult(base::Bytes(12, 0))) << "the genesis block applies nothing";
}

TEST(FirstSlotKeptTest, KeepsTheStepOfTheBlockAndWhatFollows) {
  EXPECT_LT(SlotKey(SlotOf(6)), FirstSlotKept(BlockKey(false, 7)));
  EXPECT_GE(SlotKey(SlotOf(7)), FirstSlotKept(BlockKey(false, 7)));
  EXPECT_GE(SlotKey(SlotOf(0)), FirstSlotKept(BlockKey(false, 0)));
  EXPECT_GE(SlotKey(SlotOf(0)), FirstSlotKept(BlockKey(true, 0)));
}

TEST(ResultKeyTest, SortsByBlockThenColumn) {
  const base::Bytes block = BlockKey(false, 7);
  const base::Bytes key = ResultKey(7, 255);
  EXPECT_EQ(base::Bytes(key.begin(), key.begin() + 8), block);
  EXPECT_LT(key, ResultKey(7, 256));
  EXPECT_LT(ResultKey(7, 256), ResultKey(8, 0));
}

}  // namespace
}  // namespace ostraka::protocol::signer_test
