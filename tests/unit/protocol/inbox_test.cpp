#include "node/protocol/inbox.h"

#include <gtest/gtest.h>

#include "node/wire/codec.h"
#include "tests/unit/protocol/keys.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol {
namespace {

using scene::DigestOf;
using scene::KeyNumber;
using wire::MessageType;
using wire::Phase;
using Outcome = Inbox::Outcome;

struct Fields {
  std::uint32_t sender = 1;
  std::uint64_t step = 4;
  Phase phase = Phase::kA;
  MessageType type = MessageType::kCommit;
  std::uint32_t draw = 0;
  std::uint32_t iteration = 0;
  std::uint8_t body = 0;
};

wire::SignedEnvelope Message(const Fields& fields) {
  wire::Envelope envelope;
  envelope.slot = {.run_id = DigestOf(1),
                   .incarnation = 0,
                   .step = fields.step,
                   .phase = fields.phase,
                   .type = fields.type,
                   .draw = fields.draw,
                   .iteration = fields.iteration};
  envelope.sender = KeyNumber(fields.sender)->id();
  envelope.body = {fields.body};
  return wire::Seal(std::move(envelope), *KeyNumber(fields.sender));
}

PeerId Sender(std::uint32_t number) { return KeyNumber(number)->id(); }
Inbox::Place PlaceOf(const Fields& fields) {
  return {fields.step, fields.phase, fields.type, fields.draw};
}

TEST(InboxTest, HoldsOneMessagePerSenderAndPlace) {
  Inbox inbox;
  const SharedBlob blob = crypto::MakeBlob({1, 2});
  EXPECT_EQ(inbox.Find(PlaceOf({}), Sender(1)), nullptr);
  EXPECT_EQ(inbox.Probe(Message({})), Outcome::kNew);
  EXPECT_EQ(inbox.Add(Message({}), blob), Outcome::kNew);
  const Inbox::Item* item = inbox.Find(PlaceOf({}), Sender(1));
  ASSERT_NE(item, nullptr);
  EXPECT_EQ(item->message.digest, Message({}).digest);
  EXPECT_EQ(item->blob, blob);
  EXPECT_EQ(item->rival, nullptr);
  EXPECT_EQ(inbox.Find(PlaceOf({}), Sender(2)), nullptr);
  EXPECT_EQ(inbox.At(PlaceOf({})).size(), 1u);
  EXPECT_TRUE(inbox.At(PlaceOf({.step = 5})).empty());
}

TEST(InboxTest, EveryFieldOfAPlaceCounts) {
  Inbox inbox;
  const Fields all[] = {{},
                        {.sender = 2},
                        {.step = 5},
                        {.type = MessageType::kAggregate},
                        {.phase = Phase::kB, .type = MessageType::kReveal},
                        {.phase = Phase::kB, .type = MessageType::kReveal, .draw = 1},
                        {.phase = Phase::kB, .type = MessageType::kEcho},
                        {.phase = Phase::kC, .type = MessageType::kEcho}};
  for (const Fields& fields : all) {
    EXPECT_EQ(inbox.Add(Message(fields), nullptr), Outcome::kNew);
  }
  for (const Fields& fields : all) {
    EXPECT_NE(inbox.Find(PlaceOf(fields), Sender(fields.sender)), nullptr);
    EXPECT_EQ(inbox.Add(Message(fields), nullptr), Outcome::kDuplicate);
  }
}

TEST(InboxTest, ADuplicateChangesNothing) {
  Inbox inbox;
  const SharedBlob first = crypto::MakeBlob({1});
  inbox.Add(Message({}), first);
  EXPECT_EQ(inbox.Probe(Message({})), Outcome::kDuplicate);
  EXPECT_EQ(inbox.Add(Message({}), crypto::MakeBlob({2})), Outcome::kDuplicate);
  EXPECT_EQ(inbox.Find(PlaceOf({}), Sender(1))->blob, first);
}

TEST(InboxTest, AnotherBodyOfOneSlotIsKeptAsTheProof) {
  Inbox inbox;
  inbox.Add(Message({.body = 1}), nullptr);
  const wire::SignedEnvelope rival = Message({.body = 2});
  EXPECT_EQ(inbox.Probe(rival), Outcome::kEquivocation);
  EXPECT_EQ(inbox.Find(PlaceOf({}), Sender(1))->rival, nullptr) << "Probe changed the inbox";
  EXPECT_EQ(inbox.Add(rival, nullptr), Outcome::kEquivocation);
  const Inbox::Item* item = inbox.Find(PlaceOf({}), Sender(1));
  EXPECT_EQ(item->message.digest, Message({.body = 1}).digest) << "the first stays";
  EXPECT_EQ(item->rival, rival.frame);
}

TEST(InboxTest, AThirdBodyIsNotKept) {
  Inbox inbox;
  inbox.Add(Message({.body = 1}), nullptr);
  const wire::SignedEnvelope rival = Message({.body = 2});
  inbox.Add(rival, nullptr);
  EXPECT_EQ(inbox.Add(Message({.body = 3}), nullptr), Outcome::kDuplicate);
  EXPECT_EQ(inbox.Find(PlaceOf({}), Sender(1))->rival, rival.frame);
}

// Another slot in the same place proves nothing and must not make room for itself.
TEST(InboxTest, ASecondIterationIsRefused) {
  Inbox inbox;
  const Fields part{.type = MessageType::kPart, .iteration = 3};
  const Fields other{.type = MessageType::kPart, .iteration = 4};
  inbox.Add(Message(part), nullptr);
  EXPECT_EQ(inbox.Probe(Message(other)), Outcome::kRefused);
  EXPECT_EQ(inbox.Add(Message(other), nullptr), Outcome::kRefused);
  EXPECT_EQ(inbox.Find(PlaceOf(part), Sender(1))->message.envelope.slot.iteration, 3u);
  EXPECT_EQ(inbox.Find(PlaceOf(part), Sender(1))->rival, nullptr);
}

TEST(InboxTest, ReplaceTakesTheNewestAndKeepsNoRival) {
  Inbox inbox;
  const Fields boot{.step = 0, .phase = Phase::kGenesis, .type = MessageType::kBoot, .body = 1};
  Fields again = boot;
  again.body = 2;
  inbox.Add(Message(boot), nullptr);
  inbox.Replace(Message(again));
  const Inbox::Item* item = inbox.Find(PlaceOf(boot), Sender(1));
  EXPECT_EQ(item->message.digest, Message(again).digest);
  EXPECT_EQ(item->rival, nullptr);
  inbox.Replace(Message({.sender = 2}));
  EXPECT_NE(inbox.Find(PlaceOf({}), Sender(2)), nullptr) << "into an empty place too";
}

TEST(InboxTest, ForgetsStepsBeforeTheWindow) {
  Inbox inbox;
  for (std::uint64_t step = 3; step <= 6; ++step) inbox.Add(Message({.step = step}), nullptr);
  inbox.ForgetBefore(5);
  for (std::uint64_t step = 3; step <= 6; ++step) {
    EXPECT_EQ(inbox.Find(PlaceOf({.step = step}), Sender(1)) != nullptr, step >= 5) << step;
  }
}

TEST(InboxTest, ForgetsARemovedSenderEverywhere) {
  Inbox inbox;
  for (const std::uint32_t sender : {1u, 2u}) {
    inbox.Add(Message({.sender = sender}), nullptr);
    inbox.Add(Message({.sender = sender, .step = 5}), nullptr);
  }
  inbox.ForgetSender(Sender(1));
  for (const std::uint64_t step : {4u, 5u}) {
    EXPECT_EQ(inbox.Find(PlaceOf({.step = step}), Sender(1)), nullptr);
    EXPECT_NE(inbox.Find(PlaceOf({.step = step}), Sender(2)), nullptr);
  }
}

}  // namespace
}  // namespace ostraka::protocol
