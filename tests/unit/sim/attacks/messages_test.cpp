// The messages that selective_send, equivocate, bad_reveal and others change, and no others.
#include <gtest/gtest.h>

#include <set>

#include "sim/adversary/editor_options.h"
#include "tests/unit/sim/adversary/wrapped.h"

namespace ostraka::sim::messages_test {
namespace {

using wire::MessageType;
using wire::Phase;

protocol::Action SendTo(const base::PeerId& to, const wire::SignedEnvelope& message) {
  return protocol::Send{to, message.frame, nullptr};
}
const protocol::Send& AsSend(const protocol::Action& action) {
  return std::get<protocol::Send>(action);
}

// --- gone_donor ---------------------------------------------------------------------------------

TEST(GoneDonor, AnswersThePiecesThatItIsToAndThenNothing) {
  Wrapped wrapped("gone_donor", 3);
  const auto sent = [&](std::uint64_t index, std::uint32_t to) {
    wire::Slot slot = wrapped.Own(Phase::kC, MessageType::kCommit, 1, {1}).envelope.slot;
    slot.type = MessageType::kChunk;
    const wire::Chunk chunk{1, index, 9};
    const auto frame = wire::EncodeService({slot, {}, wrapped.self(), wire::Encode(chunk)});
    return wrapped.Say({protocol::Send{wrapped.member(to), frame, crypto::MakeBlob({1, 2, 3, 4})}})
        .size();
  };
  wrapped.Enter(3);
  EXPECT_EQ(sent(0, 2), 1U) << "the leaves";
  EXPECT_EQ(sent(1, 2), 1U);
  EXPECT_EQ(sent(2, 2), 0U);
  EXPECT_EQ(sent(0, 2), 0U);
  EXPECT_EQ(sent(1, 3), 1U) << "another one has its piece";
  EXPECT_EQ(wrapped.coven().deeds().at(wrapped.self()).count, 2U);
}

// --- selective_send -----------------------------------------------------------------------------

std::set<base::PeerId> ReceiversOf(Wrapped& wrapped, MessageType type, std::uint64_t step) {
  std::vector<protocol::Action> says;
  for (std::uint32_t i = 1; i < 6; ++i) {
    const base::Bytes body =
        type == MessageType::kPart ? wire::Encode(wire::Part{}) : wire::Encode(wire::Result{});
    says.push_back(SendTo(wrapped.member(i), wrapped.Own(Phase::kA, type, step, body, i)));
  }
  std::set<base::PeerId> receivers;
  for (const protocol::Action& action : wrapped.Say(says)) receivers.insert(AsSend(action).to);
  return receivers;
}

TEST(SelectiveSend, WithholdsPartsFromOneHonestOwner) {
  Wrapped wrapped("selective_send", 3);
  wrapped.Enter(2);
  EXPECT_EQ(ReceiversOf(wrapped, MessageType::kPart, 2).size(), 5U) << "honest before its step";
  wrapped.Enter(3);
  const auto receivers = ReceiversOf(wrapped, MessageType::kPart, 3);
  EXPECT_EQ(receivers.size(), 4U);
  EXPECT_TRUE(receivers.contains(wrapped.mate())) << "the victim is honest";
  wrapped.Enter(4);
  EXPECT_EQ(ReceiversOf(wrapped, MessageType::kPart, 4), receivers) << "the same each time";
  EXPECT_EQ(ReceiversOf(wrapped, MessageType::kResult, 4).size(), 5U) << "parts only";
  EXPECT_EQ(wrapped.coven().deeds().at(wrapped.self()).count, 2U);
}

// --- state_poison -------------------------------------------------------------------------------

TEST(StatePoison, SpoilsAnswersAndNothingElse) {
  Wrapped wrapped("state_poison", 3);
  const auto blob = crypto::MakeBlob({1, 2, 3, 4});
  const auto given = [&](MessageType type, std::uint64_t step) {
    wire::Slot slot = wrapped.Own(Phase::kA, MessageType::kCommit, step, {1}).envelope.slot;
    slot.type = type;
    const auto frame = wire::IsService(type) ? wire::EncodeService({slot, {}, wrapped.self(), {1}})
                                             : wrapped.Own(Phase::kA, type, step, {1}).frame;
    const auto actions = wrapped.Say({protocol::Send{wrapped.member(2), frame, blob}});
    EXPECT_EQ(AsSend(actions.at(0)).frame, frame);
    return AsSend(actions.at(0)).blob;
  };
  wrapped.Enter(2);
  EXPECT_EQ(given(MessageType::kChunk, 1), blob) << "honest before its step";
  wrapped.Enter(3);
  for (const MessageType type : {MessageType::kChunk, MessageType::kBlock}) {
    const auto poisoned = given(type, 1);
    EXPECT_EQ(poisoned->data, (base::Bytes{1, 2, 2, 4}));
    EXPECT_EQ(poisoned->root, crypto::MerkleRootOfData(poisoned->data));
  }
  EXPECT_EQ(given(MessageType::kPart, 3), blob);
  EXPECT_EQ(wrapped.coven().deeds().at(wrapped.self()).count, 2U);
}

// --- eclipse ------------------------------------------------------------------------------------

TEST(Eclipse, SendsNothingToOneHonestMember) {
  Wrapped wrapped("eclipse", 3);
  wrapped.Enter(2);
  EXPECT_EQ(ReceiversOf(wrapped, MessageType::kPart, 2).size(), 5U) << "honest before its step";
  wrapped.Enter(3);
  const auto receivers = ReceiversOf(wrapped, MessageType::kPart, 3);
  EXPECT_EQ(receivers.size(), 4U);
  EXPECT_TRUE(receivers.contains(wrapped.mate())) << "the victim is honest";
  EXPECT_EQ(ReceiversOf(wrapped, MessageType::kResult, 3), receivers) << "whatever it is";
  wrapped.Enter(4);
  EXPECT_EQ(ReceiversOf(wrapped, MessageType::kPart, 4), receivers) << "the same each time";
}

// --- flood --------------------------------------------------------------------------------------

TEST(Flood, RequestsEverythingFromHonestMembersAndSignsNothingThatCounts) {
  Wrapped wrapped("flood", 3, {{"rate", "1000"}, {"most", "0"}});
  wrapped.Enter(2);
  EXPECT_FALSE(wrapped.coven().deeds().contains(wrapped.self())) << "honest before its step";
  wrapped.Enter(3);
  std::set<wire::PullKind> kinds;
  std::set<base::PeerId> receivers;
  std::size_t poured = 0;
  for (int tenth = 0; tenth < 10; ++tenth) {
    const auto actions = wrapped.Step(protocol::TimerFired{kFirstReservedTimer});
    ASSERT_TRUE(std::holds_alternative<protocol::SetTimer>(actions.back()));
    for (const protocol::Action& action : actions) {
      const auto* send = std::get_if<protocol::Send>(&action);
      if (send == nullptr) continue;
      ++poured;
      receivers.insert(send->to);
      const auto opened = wire::Open(send->frame);
      if (!opened.ok()) continue;
      const wire::Envelope& envelope = opened->envelope;
      if (envelope.slot.type == MessageType::kPull) {
        kinds.insert(wire::Decode<wire::Pull>(envelope.body)->kind);
      } else if (!wire::IsService(envelope.slot.type) && envelope.sender == wrapped.self()) {
        const bool of_the_past = envelope.slot.step <= 3;
        EXPECT_TRUE(!of_the_past || envelope.slot.type == MessageType::kStatus)
            << "it would be evidence against itself";
      }
    }
  }
  EXPECT_EQ(poured, 4 * 1000U) << "a second, to four honest members";
  EXPECT_EQ(receivers.size(), 4U);
  EXPECT_FALSE(receivers.contains(wrapped.mate()));
  EXPECT_EQ(kinds.size(), wire::kPullKindCount);
}

TEST(Flood, IsBoundedInAStepByMost) {
  Wrapped wrapped("flood", 1, {{"rate", "1000"}, {"most", "150"}});
  wrapped.Enter(1);  // sends the messages of a tenth of a second
  std::vector<std::size_t> sends;
  for (int tenth = 0; tenth < 4; ++tenth) {
    if (tenth == 3) wrapped.Enter(2);
    const auto actions = wrapped.Step(protocol::TimerFired{kFirstReservedTimer});
    sends.push_back(actions.size() - 1);  // and the timer
  }
  EXPECT_EQ(sends, (std::vector<std::size_t>{4 * 50, 0, 0, 4 * 100}));
}

// --- equivocate ---------------------------------------------------------------------------------

wire::SignedEnvelope OwnCommit(const Wrapped& wrapped, std::uint64_t step) {
  wire::Commit commit;
  commit.coin_count = 2;
  commit.coins_root.bytes.fill(6);
  commit.gradient_root = commit.coins_root;
  return wrapped.Own(Phase::kA, MessageType::kCommit, step, wire::Encode(commit));
}

TEST(Equivocate, SendsBothToEveryMemberAndTheRivalToItsOwnMachine) {
  Wrapped wrapped("equivocate", 1);
  wrapped.Enter(1);
  const wire::SignedEnvelope original = OwnCommit(wrapped, 1);
  const std::size_t seen_before = wrapped.seen().size();
  const auto actions =
      wrapped.Say({SendTo(wrapped.member(2), original), SendTo(wrapped.member(3), original)});
  ASSERT_EQ(actions.size(), 4U);
  const auto rival = wire::Open(AsSend(actions[0]).frame);
  ASSERT_TRUE(rival.ok());
  crypto::PlainVerifier verifier;
  EXPECT_TRUE(verifier.Verify(wrapped.self(), rival->digest, rival->signature));
  EXPECT_EQ(rival->envelope.slot, original.envelope.slot);
  EXPECT_NE(rival->digest, original.digest);
  for (const std::size_t i : {0U, 2U}) {
    EXPECT_EQ(AsSend(actions[i]).frame, rival->frame) << "the rival first";
    EXPECT_EQ(AsSend(actions[i + 1]).frame, original.frame);
    EXPECT_EQ(AsSend(actions[i]).to, AsSend(actions[i + 1]).to);
  }
  ASSERT_EQ(wrapped.seen().size(), seen_before + 2) << "the timer and the rival, once";
  EXPECT_EQ(std::get<protocol::MessageReceived>(wrapped.seen().back().input).frame, rival->frame);
  EXPECT_EQ(wrapped.coven().deeds().at(wrapped.self()).count, 1U);
}

TEST(Equivocate, SplitGivesEachHalfOne) {
  Wrapped wrapped("equivocate", 1, {{"split", "1"}});
  wrapped.Enter(1);
  const wire::SignedEnvelope original = OwnCommit(wrapped, 1);
  std::vector<protocol::Action> says;
  for (std::size_t i = 1; i < 6; ++i) says.push_back(SendTo(wrapped.member(i), original));
  const auto actions = wrapped.Say(says);
  ASSERT_EQ(actions.size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(AsSend(actions[i]).frame != original.frame, i % 2 == 0) << i;
  }
}

TEST(Equivocate, LeavesOtherMessagesAndEarlierStepsAlone) {
  Wrapped wrapped("equivocate", 5);
  wrapped.Enter(4);
  const wire::SignedEnvelope early = OwnCommit(wrapped, 4);
  EXPECT_EQ(wrapped.Say({SendTo(wrapped.member(2), early)}).size(), 1U);
  wrapped.Enter(5);
  const auto reveal = wrapped.Own(Phase::kB, MessageType::kReveal, 5, wire::Encode(wire::Reveal{}));
  EXPECT_EQ(wrapped.Say({SendTo(wrapped.member(2), reveal)}).size(), 1U);
  EXPECT_TRUE(wrapped.coven().deeds().empty());
}

TEST(Equivocate, WithOneSendsTheRivalToOneHonestMemberAfterSealA) {
  Wrapped wrapped("equivocate", 1, {{"one", "1"}});
  wrapped.Enter(1);
  const wire::SignedEnvelope original = OwnCommit(wrapped, 1);
  const auto before = wrapped.Say({SendTo(wrapped.member(2), original)});
  ASSERT_EQ(before.size(), 1U);
  EXPECT_EQ(AsSend(before[0]).frame, original.frame);
  EXPECT_TRUE(wrapped.coven().deeds().empty()) << "nothing is wrong yet";
  const protocol::Observe sealed{protocol::Sealed{1, static_cast<std::uint8_t>(Phase::kA), {}}};
  const auto after = wrapped.Say({sealed});
  ASSERT_EQ(after.size(), 2U);
  const auto rival = wire::Open(AsSend(after[0]).frame);
  ASSERT_TRUE(rival.ok());
  EXPECT_EQ(rival->envelope.slot, original.envelope.slot);
  EXPECT_NE(rival->digest, original.digest);
  EXPECT_FALSE(wrapped.coven().Contains(AsSend(after[0]).to));
  EXPECT_EQ(wrapped.Say({sealed}).size(), 1U) << "once a step";
}

// --- impersonate --------------------------------------------------------------------------------

TEST(Impersonate, SendsCopiesInAnHonestMembersNameWithoutItsSignature) {
  Wrapped wrapped("impersonate", 1);
  wrapped.Enter(1);
  const wire::SignedEnvelope original = OwnCommit(wrapped, 1);
  std::vector<protocol::Action> says;
  for (std::size_t i = 1; i < 6; ++i) says.push_back(SendTo(wrapped.member(i), original));
  const auto actions = wrapped.Say(says);
  ASSERT_EQ(actions.size(), 9U) << "a pair to each, but for the victim";
  EXPECT_EQ(AsSend(actions[0]).frame, original.frame);
  const auto forged = wire::Open(AsSend(actions[1]).frame);
  ASSERT_TRUE(forged.ok());
  EXPECT_FALSE(wrapped.coven().Contains(forged->envelope.sender));
  EXPECT_EQ(forged->envelope.slot, original.envelope.slot);
  EXPECT_EQ(forged->envelope.body, original.envelope.body);
  crypto::PlainVerifier verifier;
  EXPECT_FALSE(verifier.Verify(forged->envelope.sender, forged->digest, forged->signature));
}

// --- bad_reveal ---------------------------------------------------------------------------------

// The actions of the inner machine when seal A is decided: it reports it and stores its REVEAL's
// record.
std::vector<protocol::Action> SealAndStore(const Wrapped& wrapped, std::uint64_t step,
                                           protocol::StoreId id) {
  protocol::Sealed sealed{step, static_cast<std::uint8_t>(Phase::kA), {}};
  sealed.decision.bytes.fill(8);
  wire::Envelope reveal =
      wrapped.Own(Phase::kB, MessageType::kReveal, step, wire::Encode(wire::Reveal{})).envelope;
  reveal.entry = sealed.decision;
  return {protocol::Observe{sealed},
          protocol::Store{id,
                          {{protocol::RecordKind::kSlot, protocol::SlotKey(reveal.slot),
                            *wire::EncodeUnsigned(reveal)}}}};
}

TEST(BadReveal, SignsAFalseRevealInPlaceOfTheTrueOne) {
  Wrapped wrapped("bad_reveal", 2);
  wrapped.Enter(2);
  EXPECT_EQ(wrapped.Say(SealAndStore(wrapped, 2, 40)).size(), 2U);
  const auto actions = wrapped.Step(protocol::Stored{40});
  ASSERT_EQ(actions.size(), 5U) << "to every other member";
  const auto reveal = wire::Open(AsSend(actions[0]).frame);
  ASSERT_TRUE(reveal.ok());
  crypto::PlainVerifier verifier;
  EXPECT_TRUE(verifier.Verify(wrapped.self(), reveal->digest, reveal->signature));
  EXPECT_EQ(reveal->envelope.slot.type, MessageType::kReveal);
  EXPECT_EQ(reveal->envelope.slot.step, 2U);
  EXPECT_EQ(reveal->envelope.entry.bytes[0], 8) << "names the decision of seal A";
  const auto* inside = std::get_if<protocol::MessageReceived>(&wrapped.seen().back().input);
  ASSERT_NE(inside, nullptr) << "the machine inside never learns that its own is stored";
  EXPECT_EQ(inside->frame, reveal->frame);
}

TEST(BadReveal, PassesOtherStoresAndEarlierSteps) {
  Wrapped wrapped("bad_reveal", 2);
  wrapped.Enter(1);
  wrapped.Say(SealAndStore(wrapped, 1, 40));
  EXPECT_TRUE(wrapped.Step(protocol::Stored{40}).empty());
  EXPECT_TRUE(std::holds_alternative<protocol::Stored>(wrapped.seen().back().input));
  wrapped.Enter(2);
  wrapped.Say({protocol::Store{41, {{protocol::RecordKind::kBlock, {1}, {2}}}}});
  EXPECT_TRUE(wrapped.Step(protocol::Stored{41}).empty());
  EXPECT_TRUE(std::holds_alternative<protocol::Stored>(wrapped.seen().back().input));
  EXPECT_TRUE(wrapped.coven().deeds().empty());
}

}  // namespace
}  // namespace ostraka::sim::messages_test
