#include "node/protocol/mail/journal.h"

#include <gtest/gtest.h>

#include "crypto/merkle.h"
#include "tests/unit/protocol/keys.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::journal_test {
namespace {

using scene::DigestOf;
using scene::KeyNumber;
using wire::MessageType;
using wire::Phase;

class JournalTest : public testing::Test {
 protected:
  JournalTest() { turn_.Begin(Time{}, out_); }

  PeerId Self() const { return KeyNumber(1)->id(); }
  PeerId Other() const { return KeyNumber(2)->id(); }

  Draft DraftOf(std::uint64_t step, MessageType type, SharedBlob blob = nullptr) const {
    const wire::Slot slot{.run_id = DigestOf(1),
                          .incarnation = 0,
                          .step = step,
                          .phase = Phase::kA,
                          .type = type,
                          .draw = 0,
                          .iteration = 0};
    return {wire::Envelope{slot, DigestOf(2), Self(), {7}}, std::move(blob), {Self(), Other()}};
  }
  template <typename T>
  std::vector<T> Taken() {
    std::vector<T> taken;
    for (const Action& action : out_.actions()) {
      if (const T* one = std::get_if<T>(&action)) taken.push_back(*one);
    }
    out_.actions().clear();
    return taken;
  }
  // Prepares the draft and has it said.
  std::vector<Journal::Own> Say(Journal& journal, Draft draft) {
    const auto id = journal.Prepare({std::move(draft)});
    auto released = journal.Release(id.value());
    std::vector<Journal::Own> own;
    for (SignedDraft& one : released.value()) {
      if (auto mine = journal.Say(std::move(one))) own.push_back(*mine);
    }
    return own;
  }

  Outbox out_;
  Turn turn_;
};

TEST_F(JournalTest, PreparedDraftIsStoredAndNotSent) {
  Journal journal(KeyNumber(1), turn_);
  ASSERT_TRUE(journal.Prepare({DraftOf(3, MessageType::kCommit)}));
  ASSERT_EQ(out_.actions().size(), 1u);
  const auto stores = Taken<Store>();
  ASSERT_EQ(stores.size(), 1u);
  EXPECT_EQ(stores[0].records[0].kind, RecordKind::kSlot);
  EXPECT_TRUE(journal.sent().empty());
}

TEST_F(JournalTest, ReleasedMessageGoesToOthersAndComesBackForItself) {
  Journal journal(KeyNumber(1), turn_);
  const auto own = Say(journal, DraftOf(3, MessageType::kCommit));
  ASSERT_EQ(own.size(), 1u);
  const auto sends = Taken<Send>();
  ASSERT_EQ(sends.size(), 1u);
  EXPECT_EQ(sends[0].to, Other());
  EXPECT_EQ(*sends[0].frame, *own[0].message->frame);
}

TEST_F(JournalTest, StoreNumbersAreNeverUsedTwice) {
  Journal journal(KeyNumber(1), turn_);
  journal.StoreAsks(1);
  ASSERT_TRUE(journal.Prepare({DraftOf(3, MessageType::kCommit)}));
  EXPECT_FALSE(journal.Prepare({DraftOf(3, MessageType::kCommit)}));  // said already
  journal.StoreForkLine(4, "split", true);
  std::vector<StoreId> ids;
  for (const Store& store : Taken<Store>()) ids.push_back(store.id);
  EXPECT_EQ(ids, (std::vector<StoreId>{1, 2, 4}));
}

TEST_F(JournalTest, LinkThatComesUpGetsWhatWasSentToIt) {
  Journal journal(KeyNumber(1), turn_);
  Say(journal, DraftOf(3, MessageType::kCommit));
  Taken<Send>();
  journal.Repeat(Other());
  EXPECT_EQ(Taken<Send>().size(), 1u);
  journal.Repeat(KeyNumber(3)->id());
  EXPECT_TRUE(out_.actions().empty());
  journal.ForgetBefore(4);
  journal.Repeat(Other());
  EXPECT_TRUE(out_.actions().empty());
}

TEST_F(JournalTest, RestoredBulkMessageIsSilentUntilItsDataIsThereAgain) {
  const SharedBlob blob = crypto::MakeBlob({1, 2, 3, 4});
  std::vector<Record> slots;
  {
    Journal before(KeyNumber(1), turn_);
    before.Prepare({DraftOf(3, MessageType::kPart, blob)});
    slots = Taken<Store>().at(0).records;
  }
  Journal journal(KeyNumber(1), turn_);
  ASSERT_TRUE(journal.Restore(slots, DigestOf(1), {Self(), Other()}).ok());
  journal.Repeat(Other());
  EXPECT_TRUE(out_.actions().empty());  // a PART without its data says nothing

  EXPECT_TRUE(journal.SayAgain(DraftOf(3, MessageType::kPart, blob)));
  EXPECT_EQ(Taken<Send>().size(), 1u);
  EXPECT_FALSE(journal.Prepare({DraftOf(3, MessageType::kPart, blob)}));  // signed once only
  journal.Repeat(Other());
  const auto again = Taken<Send>();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].blob, blob);
}

TEST_F(JournalTest, OtherBytesThanWereSaidBeforeTheCrashAreNotSaid) {
  std::vector<Record> slots;
  {
    Journal before(KeyNumber(1), turn_);
    before.Prepare({DraftOf(3, MessageType::kPart, crypto::MakeBlob({1, 2, 3, 4}))});
    slots = Taken<Store>().at(0).records;
  }
  Journal journal(KeyNumber(1), turn_);
  ASSERT_TRUE(journal.Restore(slots, DigestOf(1), {Self(), Other()}).ok());
  Draft changed = DraftOf(3, MessageType::kPart, crypto::MakeBlob({9, 9, 9, 9}));
  changed.envelope.body = {8};
  EXPECT_FALSE(journal.SayAgain(changed));
  EXPECT_FALSE(journal.Prepare({changed}));
  EXPECT_TRUE(out_.actions().empty());
}

TEST_F(JournalTest, SlotOfAnotherRunIsRefused) {
  std::vector<Record> slots;
  {
    Journal before(KeyNumber(1), turn_);
    before.Prepare({DraftOf(3, MessageType::kCommit)});
    slots = Taken<Store>().at(0).records;
  }
  Journal journal(KeyNumber(1), turn_);
  EXPECT_FALSE(journal.Restore(slots, DigestOf(5), {Other()}).ok());
}

}  // namespace
}  // namespace ostraka::protocol::journal_test
