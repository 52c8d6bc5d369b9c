#include "node/protocol/mail/inbox.h"

#include <gtest/gtest.h>

#include "node/wire/codec.h"
#include "tests/unit/protocol/keys.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::inbox_test {
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
  return {fields.step, fields.phase, fields.type, fields.draw, fields.iteration};
}

TEST(InboxTest, HoldsOneMessagePerSenderAndPlace) {
  Inbox inbox;
  const SharedBlob blob = crypto::MakeBlob({1, 2});
  EXPECT_EQ(inbox.Find(PlaceOf({}), Sender(1)), nullptr);
  EXPECT_EQ(inbox.Probe(Message({})), Outcome::kNew);
  EXPECT_EQ(inbox.Add(wire::Share(Message({})), blob), Outcome::kNew);
  const Inbox::Item* item = inbox.Find(PlaceOf({}), Sender(1));
  ASSERT_NE(item, nullptr);
  EXPECT_EQ(item->message->digest, Message({}).digest);
  EXPECT_EQ(item->blob, blob);
  EXPECT_FALSE(item->equivocated());
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
                        {.type = MessageType::kPart},
                        {.type = MessageType::kPart, .iteration = 3},
                        {.phase = Phase::kB, .type = MessageType::kEcho},
                        {.phase = Phase::kC, .type = MessageType::kEcho}};
  for (const Fields& fields : all) {
    EXPECT_EQ(inbox.Add(wire::Share(Message(fields)), nullptr), Outcome::kNew);
  }
  for (const Fields& fields : all) {
    EXPECT_NE(inbox.Find(PlaceOf(fields), Sender(fields.sender)), nullptr);
    EXPECT_EQ(inbox.Add(wire::Share(Message(fields)), nullptr), Outcome::kDuplicate);
  }
}

TEST(InboxTest, ADuplicateChangesNothing) {
  Inbox inbox;
  const SharedBlob first = crypto::MakeBlob({1});
  inbox.Add(wire::Share(Message({})), first);
  EXPECT_EQ(inbox.Probe(Message({})), Outcome::kDuplicate);
  EXPECT_EQ(inbox.Add(wire::Share(Message({})), crypto::MakeBlob({2})), Outcome::kDuplicate);
  EXPECT_EQ(inbox.Find(PlaceOf({}), Sender(1))->blob, first);
}

TEST(InboxTest, AnotherBodyOfOneSlotIsKeptAsTheProof) {
  Inbox inbox;
  inbox.Add(wire::Share(Message({.body = 1})), nullptr);
  const wire::SignedEnvelope rival = Message({.body = 2});
  EXPECT_EQ(inbox.Probe(rival), Outcome::kRival);
  EXPECT_FALSE(inbox.Find(PlaceOf({}), Sender(1))->equivocated()) << "Probe changed the inbox";
  EXPECT_EQ(inbox.Add(wire::Share(rival), nullptr), Outcome::kRival);
  const Inbox::Item* item = inbox.Find(PlaceOf({}), Sender(1));
  EXPECT_EQ(item->message->digest, Message({.body = 1}).digest) << "the first stays";
  EXPECT_TRUE(item->equivocated());
  ASSERT_EQ(item->rivals.size(), 1u);
  EXPECT_EQ(item->rivals[0].message->frame, rival.frame);
  EXPECT_EQ(inbox.Probe(rival), Outcome::kDuplicate) << "a rival is known as well";
}

TEST(InboxTest, AThirdBodyIsKeptOnlyIfASealNamedIt) {
  Inbox inbox;
  inbox.Add(wire::Share(Message({.body = 1})), nullptr);
  inbox.Add(wire::Share(Message({.body = 2})), nullptr);
  EXPECT_EQ(inbox.Add(wire::Share(Message({.body = 3})), nullptr), Outcome::kMore);
  EXPECT_EQ(inbox.Find(PlaceOf({}), Sender(1))->rivals.size(), 1u);

  const wire::SignedEnvelope named = Message({.body = 4});
  inbox.Want(named.digest);
  EXPECT_EQ(inbox.Add(wire::Share(named), nullptr), Outcome::kRival);
  EXPECT_EQ(inbox.Add(wire::Share(named), nullptr), Outcome::kDuplicate);
  EXPECT_EQ(inbox.Add(wire::Share(Message({.body = 3})), nullptr), Outcome::kMore)
      << "another was named";
  EXPECT_EQ(inbox.Find(PlaceOf({}), Sender(1))->rivals.size(), 2u);

  const wire::SignedEnvelope late = Message({.body = 5});
  inbox.Want(late.digest);
  inbox.ForgetWants();
  EXPECT_EQ(inbox.Add(wire::Share(late), nullptr), Outcome::kMore);
}

TEST(InboxTest, FindsWhicheverVersionADigestNames) {
  Inbox inbox;
  const wire::SignedEnvelope first = Message({.body = 1});
  const wire::SignedEnvelope second = Message({.body = 2});
  inbox.Add(wire::Share(first), nullptr);
  inbox.Add(wire::Share(second), nullptr);
  for (const wire::SignedEnvelope& message : {first, second}) {
    const auto* found = inbox.Find(PlaceOf({}), Sender(1), message.digest);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->frame, message.frame);
    EXPECT_EQ(inbox.FindDigest(4, Phase::kA, message.digest), found);
    EXPECT_EQ(inbox.Find(PlaceOf({}), Sender(2), message.digest), nullptr);
    EXPECT_EQ(inbox.FindDigest(4, Phase::kB, message.digest), nullptr);
    EXPECT_EQ(inbox.FindDigest(5, Phase::kA, message.digest), nullptr);
  }
  EXPECT_EQ(inbox.Find(PlaceOf({}), Sender(1), Message({.body = 3}).digest), nullptr);
}

// A digest is asked for by (step, phase): the answer may be of any type, draw or iteration.
TEST(InboxTest, FindDigestLooksAtEveryPlaceOfThePhase) {
  Inbox inbox;
  const Fields all[] = {{.phase = Phase::kB, .type = MessageType::kReveal, .draw = 2},
                        {.phase = Phase::kB, .type = MessageType::kEcho, .draw = 1},
                        {.phase = Phase::kB, .type = MessageType::kLock, .iteration = 7},
                        {.sender = 2, .phase = Phase::kB, .type = MessageType::kStatus}};
  inbox.Add(wire::Share(Message({.step = 3, .phase = Phase::kC, .type = MessageType::kProof})),
            nullptr);
  for (const Fields& fields : all) inbox.Add(wire::Share(Message(fields)), nullptr);
  for (const Fields& fields : all) {
    EXPECT_NE(inbox.FindDigest(4, Phase::kB, Message(fields).digest), nullptr);
  }
}

// The naive way: all that is held is looked through.
TEST(InboxTest, WhatIsForgottenIsFoundByNoDigest) {
  Inbox inbox;
  std::vector<Fields> all;
  for (const std::uint64_t step : {3U, 4U, 5U}) {
    for (const std::uint32_t sender : {1U, 2U}) {
      all.push_back({.sender = sender, .step = step});
      all.push_back({.sender = sender, .step = step, .body = 1});
      all.push_back({.sender = sender, .step = step, .type = MessageType::kVote, .iteration = 2});
    }
  }
  for (const Fields& fields : all) inbox.Add(wire::Share(Message(fields)), nullptr);
  const auto boot = [](std::uint8_t body) {
    return Message({.step = 5, .phase = Phase::kGenesis, .type = MessageType::kBoot, .body = body});
  };
  const auto expect_alike = [&] {
    inbox.CheckInvariants();
    for (const Fields& fields : all) {
      const Digest digest = Message(fields).digest;
      const auto* held = inbox.Find(PlaceOf(fields), Sender(fields.sender), digest);
      EXPECT_EQ(inbox.FindDigest(fields.step, fields.phase, digest), held);
    }
  };
  expect_alike();
  inbox.Replace(wire::Share(boot(1)));
  inbox.Replace(wire::Share(boot(2)));
  EXPECT_EQ(inbox.FindDigest(5, Phase::kGenesis, boot(1).digest), nullptr);
  EXPECT_NE(inbox.FindDigest(5, Phase::kGenesis, boot(2).digest), nullptr);
  expect_alike();
  inbox.ForgetSlowPath(3);
  expect_alike();
  inbox.ForgetSenderAfter(4, Sender(2));
  expect_alike();
  inbox.ForgetBefore(4);
  expect_alike();
  EXPECT_EQ(inbox.FindDigest(3, Phase::kA, Message({.step = 3}).digest), nullptr);
  EXPECT_NE(inbox.FindDigest(4, Phase::kA, Message({.step = 4}).digest), nullptr);
}

// Parts and results are as large as the model: how many of them a sender has here is what bounds
// the memory that it takes.
TEST(InboxTest, CountsTheIterationsThatASenderFills) {
  Inbox inbox;
  const auto part = [](std::uint32_t iteration) {
    return Fields{.type = MessageType::kPart, .iteration = iteration};
  };
  for (const std::uint32_t iteration : {0u, 3u, 255u})
    inbox.Add(wire::Share(Message(part(iteration))), nullptr);
  inbox.Add(wire::Share(Message({.sender = 2, .type = MessageType::kPart, .iteration = 4})),
            nullptr);
  inbox.Add(wire::Share(Message({.type = MessageType::kCommit})), nullptr);
  inbox.Add(wire::Share(Message({.type = MessageType::kResult, .iteration = 5})), nullptr);
  inbox.Add(wire::Share(Message({.step = 5, .type = MessageType::kPart, .iteration = 6})), nullptr);
  EXPECT_EQ(inbox.CountIterations(PlaceOf(part(17)), Sender(1)), 3u);
  EXPECT_EQ(inbox.CountIterations(PlaceOf(part(17)), Sender(2)), 1u);
  EXPECT_EQ(inbox.CountIterations(PlaceOf(part(17)), Sender(3)), 0u);
}

TEST(InboxTest, ForgetsTheSlowPathBeforeAnIterationOrAllOfIt) {
  const MessageType slow[] = {MessageType::kStatus, MessageType::kPropose, MessageType::kVote,
                              MessageType::kLock};
  Inbox inbox;
  for (const MessageType type : slow) {
    for (const std::uint32_t iteration : {1u, 2u, 3u}) {
      inbox.Add(wire::Share(Message({.type = type, .iteration = iteration})), nullptr);
    }
  }
  inbox.Add(wire::Share(Message({.type = MessageType::kEcho})), nullptr);
  inbox.Add(wire::Share(Message({.type = MessageType::kPart, .iteration = 1})), nullptr);
  const auto held = [&](MessageType type, std::uint32_t iteration) {
    const Fields fields{.type = type, .iteration = iteration};
    return inbox.Find(PlaceOf(fields), Sender(1)) != nullptr;
  };
  inbox.ForgetSlowPath(2);
  for (const MessageType type : slow) {
    EXPECT_FALSE(held(type, 1));
    EXPECT_TRUE(held(type, 2) && held(type, 3));
  }
  inbox.ForgetSlowPath();
  for (const MessageType type : slow) EXPECT_FALSE(held(type, 2) || held(type, 3));
  EXPECT_TRUE(held(MessageType::kEcho, 0) && held(MessageType::kPart, 1)) << "no slow path";
}

TEST(InboxTest, ReplaceTakesTheNewestAndKeepsNoRival) {
  Inbox inbox;
  const Fields boot{.step = 0, .phase = Phase::kGenesis, .type = MessageType::kBoot, .body = 1};
  Fields again = boot;
  again.body = 2;
  inbox.Add(wire::Share(Message(boot)), nullptr);
  inbox.Replace(wire::Share(Message(again)));
  const Inbox::Item* item = inbox.Find(PlaceOf(boot), Sender(1));
  EXPECT_EQ(item->message->digest, Message(again).digest);
  EXPECT_FALSE(item->equivocated());
  inbox.Replace(wire::Share(Message({.sender = 2})));
  EXPECT_NE(inbox.Find(PlaceOf({}), Sender(2)), nullptr) << "into an empty place too";
}

TEST(InboxTest, ForgetsStepsBeforeTheWindow) {
  Inbox inbox;
  for (std::uint64_t step = 3; step <= 6; ++step)
    inbox.Add(wire::Share(Message({.step = step})), nullptr);
  inbox.ForgetBefore(5);
  for (std::uint64_t step = 3; step <= 6; ++step) {
    EXPECT_EQ(inbox.Find(PlaceOf({.step = step}), Sender(1)) != nullptr, step >= 5) << step;
  }
}

TEST(InboxTest, ForgetsARemovedSenderInStepsAfterItsRemoval) {
  Inbox inbox;
  for (const std::uint32_t sender : {1u, 2u}) {
    inbox.Add(wire::Share(Message({.sender = sender})), nullptr);
    inbox.Add(wire::Share(Message({.sender = sender, .step = 5})), nullptr);
  }
  inbox.ForgetSenderAfter(4, Sender(1));
  EXPECT_NE(inbox.Find(PlaceOf({.step = 4}), Sender(1)), nullptr) << "others may still need it";
  EXPECT_EQ(inbox.Find(PlaceOf({.step = 5}), Sender(1)), nullptr);
  for (const std::uint64_t step : {4u, 5u}) {
    EXPECT_NE(inbox.Find(PlaceOf({.step = step}), Sender(2)), nullptr);
  }
}

}  // namespace
}  // namespace ostraka::protocol::inbox_test
