#include "node/protocol/mail/voice.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "crypto/merkle.h"
#include "node/wire/codec.h"
#include "tests/unit/protocol/keys.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::voice_test {
namespace {

using scene::DigestOf;
using scene::KeyNumber;
using wire::MessageType;
using wire::Phase;

// A member's voice and what is below it, from one start of the process to the next.
struct Speaker {
  explicit Speaker(const Turn& turn) : journal(KeyNumber(0), turn) {
    voice.emplace(KeyNumber(0)->id(), DigestOf(1), turn, journal);
  }
  Journal journal;
  std::optional<Voice> voice;
};

class VoiceTest : public testing::Test {
 protected:
  VoiceTest() { turn_.Begin(Time{}, out_); }
  static PeerId Self() { return KeyNumber(0)->id(); }
  static PeerId Other(std::uint32_t number = 1) { return KeyNumber(number)->id(); }

  Draft DraftOf(MessageType type, std::vector<PeerId> to, SharedBlob blob = nullptr,
                std::uint32_t iteration = 0) const {
    return voice().MakeDraft(voice().SlotOf(3, Phase::kA, type, 0, iteration), DigestOf(2), {7},
                             std::move(to), std::move(blob));
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
  // The disk is done with all that was given to it: what waits for it goes out.
  std::vector<Record> Store() {
    std::vector<Record> records;
    for (const protocol::Store& store : Taken<protocol::Store>()) {
      auto released = speaker_->journal.Release(store.id);
      for (SignedDraft& draft : *released) voice().Say(std::move(draft));
      records.insert(records.end(), store.records.begin(), store.records.end());
    }
    return records;
  }
  // The process starts again from these records.
  void Restart(const std::vector<Record>& slots) {
    speaker_.emplace(turn_);
    const auto own = speaker_->journal.Restore(slots, DigestOf(1), {Self(), Other()});
    ASSERT_TRUE(own.ok());
    out_.actions().clear();
  }
  Voice& voice() { return *speaker_->voice; }
  const Voice& voice() const { return *speaker_->voice; }

  Outbox out_;
  Turn turn_;
  std::optional<Speaker> speaker_{std::in_place, turn_};
};

TEST_F(VoiceTest, NothingGoesOutBeforeItsSlotIsStored) {
  voice().Prepare(DraftOf(MessageType::kCommit, {Self(), Other()}));
  EXPECT_FALSE(voice().HasOwn());
  for (const Action& action : out_.actions()) EXPECT_FALSE(std::holds_alternative<Send>(action));
  Store();
  EXPECT_EQ(Taken<Send>().size(), 1u);
  EXPECT_TRUE(voice().HasOwn());
}

TEST_F(VoiceTest, DraftsOfOneCallAreStoredTogether) {
  std::vector<Draft> drafts;
  drafts.push_back(DraftOf(MessageType::kCommit, {Other()}));
  drafts.push_back(DraftOf(MessageType::kAggregate, {Other()}));
  voice().Prepare(std::move(drafts));
  const auto stores = Taken<protocol::Store>();
  ASSERT_EQ(stores.size(), 1u);
  EXPECT_EQ(stores[0].records.size(), 2u);
}

TEST_F(VoiceTest, OwnMessagesComeBackAfterTheCallInTheOrderOfSaying) {
  std::vector<Draft> drafts;
  for (std::uint32_t i = 0; i < 3; ++i) {
    drafts.push_back(DraftOf(MessageType::kPart, {Self()}, crypto::MakeBlob({1, 2, 3}), i));
  }
  voice().Prepare(std::move(drafts));
  Store();
  for (std::uint32_t i = 0; i < 3; ++i) {
    const auto own = voice().NextOwn();
    ASSERT_TRUE(own);
    EXPECT_EQ(own->message->envelope.slot.iteration, i);
    EXPECT_NE(own->blob, nullptr);
  }
  EXPECT_FALSE(voice().NextOwn());
  EXPECT_FALSE(voice().HasOwn());
  voice().CheckInvariants();
}

TEST_F(VoiceTest, MessageForOthersAloneDoesNotComeBack) {
  voice().Prepare(DraftOf(MessageType::kPart, {Other()}, crypto::MakeBlob({1})));
  Store();
  EXPECT_FALSE(voice().HasOwn());
  EXPECT_EQ(Taken<Send>().size(), 1u);
}

TEST_F(VoiceTest, MessageSaidBeforeACrashGoesOutAgainWithItsBulkAndIsNotStoredAgain) {
  const SharedBlob blob = crypto::MakeBlob({1, 2, 3, 4});
  voice().Prepare(DraftOf(MessageType::kPart, {Self(), Other()}, blob));
  const std::vector<Record> slots = Store();
  const SharedBytes before = Taken<Send>().at(0).frame;
  Restart(slots);

  std::vector<Draft> drafts;
  drafts.push_back(DraftOf(MessageType::kPart, {Self(), Other()}, blob));
  drafts.push_back(DraftOf(MessageType::kAggregate, {Other()}));
  voice().Prepare(std::move(drafts));
  std::vector<Send> sends;
  std::vector<protocol::Store> stores;
  for (const Action& action : out_.actions()) {
    if (const auto* send = std::get_if<Send>(&action)) sends.push_back(*send);
    if (const auto* store = std::get_if<protocol::Store>(&action)) stores.push_back(*store);
  }
  ASSERT_EQ(sends.size(), 1u);
  EXPECT_EQ(*sends[0].frame, *before) << "to the byte";
  EXPECT_EQ(sends[0].blob, blob);
  const auto own = voice().NextOwn();
  ASSERT_TRUE(own);
  EXPECT_EQ(own->blob, blob);
  ASSERT_EQ(stores.size(), 1u);
  EXPECT_EQ(stores[0].records.size(), 1u) << "the AGG alone is new";
}

TEST_F(VoiceTest, OtherContentForASlotThatWasSaidIsNotSaid) {
  const SharedBlob blob = crypto::MakeBlob({1, 2, 3, 4});
  voice().Prepare(DraftOf(MessageType::kPart, {Self(), Other()}, blob));
  Restart(Store());
  Draft changed = DraftOf(MessageType::kPart, {Self(), Other()}, crypto::MakeBlob({9}));
  changed.envelope.body = {8};
  voice().Prepare(std::move(changed));
  EXPECT_TRUE(out_.actions().empty());
  EXPECT_FALSE(voice().HasOwn());
}

TEST_F(VoiceTest, RequestsAreOfThisRunUnsignedAndNeverStored) {
  wire::Slot slot = ServiceSlot(5, Phase::kB, MessageType::kEcho);
  slot.draw = 2;
  slot.iteration = 9;  // of what is asked for; a request has none
  voice().Ask(Other(), slot, {.kind = wire::PullKind::kVector});
  ASSERT_EQ(out_.actions().size(), 1u);
  const auto& send = std::get<Send>(out_.actions()[0]);
  EXPECT_EQ(send.to, Other());
  const auto opened = wire::Open(send.frame);
  ASSERT_TRUE(opened.ok());
  const wire::Envelope& envelope = opened->envelope;
  EXPECT_EQ(envelope.slot.run_id, DigestOf(1));
  EXPECT_EQ(envelope.slot.type, MessageType::kPull);
  EXPECT_EQ(envelope.slot.step, 5u);
  EXPECT_EQ(envelope.slot.draw, 2u);
  EXPECT_EQ(envelope.slot.iteration, 0u);
  EXPECT_EQ(envelope.sender, Self());
  EXPECT_EQ(wire::Decode<wire::Pull>(envelope.body)->kind, wire::PullKind::kVector);
}

TEST_F(VoiceTest, NothingIsAskedOfThisMemberItself) {
  voice().Ask(Self(), ServiceSlot(5, Phase::kC, MessageType::kPull), {});
  EXPECT_TRUE(out_.actions().empty());
  voice().AskHeads({Other(1), Self(), Other(2)}, 5);
  const auto sends = Taken<Send>();
  ASSERT_EQ(sends.size(), 2u);
  for (const Send& send : sends) {
    const auto envelope = wire::Open(send.frame)->envelope;
    EXPECT_EQ(wire::Decode<wire::Pull>(envelope.body)->kind, wire::PullKind::kHead);
    EXPECT_EQ(envelope.slot.step, 5u);
  }
}

TEST_F(VoiceTest, SuspicionNamesTheStepInProgress) {
  voice().SetStep(8);
  voice().Suspect(Other(), "check", "why");
  const auto seen = Taken<Observe>();
  ASSERT_EQ(seen.size(), 1u);
  const auto& suspicion = std::get<Suspicion>(seen[0].what);
  EXPECT_EQ(suspicion.step, 8u);
  EXPECT_EQ(suspicion.peer, Other());
}

}  // namespace
}  // namespace ostraka::protocol::voice_test
