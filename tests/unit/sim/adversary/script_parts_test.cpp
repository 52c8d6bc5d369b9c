// The parts of the editor that plays scripts, each alone.
#include <gtest/gtest.h>

#include "sim/adversary/forged_copies.h"
#include "sim/adversary/held_messages.h"
#include "sim/adversary/script_sides.h"
#include "sim/adversary/script_steps.h"
#include "sim/adversary/twin.h"
#include "tests/unit/sim/adversary/one_turn.h"

namespace ostraka::sim::script_parts_test {
namespace {

using Do = Deviation::Do;
using wire::MessageType;
using wire::Phase;

wire::Slot SlotIn(std::uint64_t step, Phase phase = Phase::kA,
                  MessageType type = MessageType::kEcho) {
  wire::Slot slot;
  slot.step = step;
  slot.phase = phase;
  slot.type = type;
  return slot;
}

// --- script_steps.h -----------------------------------------------------------------------------

TEST(ScriptStepsTest, CoversTheGenesisAndAllFromItsStepOn) {
  const ScriptSteps steps(5, {});
  EXPECT_TRUE(steps.Covers(SlotIn(0, Phase::kGenesis)));
  EXPECT_FALSE(steps.Covers(SlotIn(4)));
  EXPECT_TRUE(steps.Covers(SlotIn(5)));
  EXPECT_TRUE(steps.Covers(SlotIn(9)));
  EXPECT_FALSE(steps.FromTheStart());
  EXPECT_TRUE(ScriptSteps(0, {}).FromTheStart());
}

TEST(ScriptStepsTest, AnOwnersScriptWaitsForAPart) {
  ScriptSteps steps(3, {.as_owner = true});
  steps.OnStep(2, true);
  steps.OnStep(3, false);
  EXPECT_FALSE(steps.Covers(SlotIn(3)));
  steps.OnStep(4, true);
  steps.OnStep(6, true);
  EXPECT_FALSE(steps.Covers(SlotIn(3)));
  EXPECT_TRUE(steps.Covers(SlotIn(4)));
  EXPECT_TRUE(steps.Covers(SlotIn(7)));
}

TEST(ScriptStepsTest, OnceIsOneStep) {
  const ScriptSteps steps(5, {.once = true});
  EXPECT_TRUE(steps.Covers(SlotIn(5)));
  EXPECT_FALSE(steps.Covers(SlotIn(6)));
}

// --- script_sides.h -----------------------------------------------------------------------------

TEST(ScriptSidesTest, NumbersHonestMembersAndFriendsByKey) {
  protocol::Manifest manifest;
  for (const std::uint8_t i : {9, 1, 5, 3, 7}) manifest.members.push_back({PeerNumber(i), ""});
  Script script;
  script.second_half = 0b101;
  const ScriptSides sides(manifest, Coven({PeerNumber(5), PeerNumber(1)}, 1), script);
  EXPECT_EQ(sides.Honest(PeerNumber(3)), 0U);
  EXPECT_EQ(sides.Honest(PeerNumber(9)), 2U);
  EXPECT_EQ(sides.Honest(PeerNumber(5)), std::nullopt);
  EXPECT_EQ(sides.Friend(PeerNumber(1)), 0U);
  EXPECT_EQ(sides.Friend(PeerNumber(5)), 1U);
  EXPECT_EQ(sides.Friend(PeerNumber(3)), std::nullopt);
  EXPECT_EQ(sides.HalfOf(0), 1);
  EXPECT_EQ(sides.HalfOf(1), 0);
  EXPECT_EQ(sides.HalfOf(64), 0) << "the script names the first 64 alone";
  const Sides sizes = sides.SizesFor(4);
  EXPECT_EQ(sizes.first, 1U);
  EXPECT_EQ(sizes.second, 2U);
  EXPECT_EQ(sizes.friends, 1U);
  EXPECT_EQ(sizes.short_of_quorum, 2U);
}

// --- held_messages.h ----------------------------------------------------------------------------

protocol::Send SendTo(std::uint8_t peer, std::uint8_t content) {
  return {PeerNumber(peer), std::make_shared<const base::Bytes>(1, content), nullptr};
}
std::vector<int> ContentsOf(const std::vector<protocol::Action>& actions) {
  std::vector<int> contents;
  for (const protocol::Action& action : actions) {
    if (const auto* send = std::get_if<protocol::Send>(&action)) {
      contents.push_back(send->frame->front());
    }
  }
  return contents;
}
std::vector<std::int64_t> TimersIn(const std::vector<protocol::Action>& actions) {
  std::vector<std::int64_t> times;
  for (const protocol::Action& action : actions) {
    if (const auto* timer = std::get_if<protocol::SetTimer>(&action)) times.push_back(timer->at.ns);
  }
  return times;
}

class HeldMessagesTest : public testing::Test {
 protected:
  // At so many units after the seal began.
  static Happening After(std::int32_t units) {
    Happening event;
    event.kind = Happening::Kind::kBegin;
    event.offset = units;
    return event;
  }
  std::vector<protocol::Action> Release(std::int64_t now) {
    return turn_.Run(now, [&](EditorTurn& turn) { held_.Release(turn, {}, {10}); });
  }

  const SealName seal_{1, 0, 0};
  OneTurn turn_;
  HeldMessages held_;
};

TEST_F(HeldMessagesTest, LetsGoInTheOrderOfSigning) {
  held_.log().NoteBegin(seal_, {100});
  held_.Hold(SendTo(1, 1), seal_, After(3));
  held_.Hold(SendTo(1, 2), seal_, After(9));
  held_.Hold(SendTo(1, 3), seal_, After(1));
  EXPECT_EQ(ContentsOf(Release(109)), std::vector<int>{});
  EXPECT_EQ(ContentsOf(Release(130)), (std::vector<int>{1, 3}));
  EXPECT_EQ(held_.size(), 1U);
  EXPECT_EQ(ContentsOf(Release(190)), std::vector<int>{2});
}

TEST_F(HeldMessagesTest, SetsOneTimerForTheEarliestKnownEvent) {
  held_.Hold(SendTo(1, 1), seal_, After(3));
  EXPECT_TRUE(TimersIn(Release(0)).empty()) << "the seal has not begun";
  held_.log().NoteBegin(seal_, {100});
  EXPECT_EQ(TimersIn(Release(101)), std::vector<std::int64_t>{130});
  EXPECT_TRUE(TimersIn(Release(102)).empty()) << "it is set";
  held_.Hold(SendTo(1, 2), seal_, After(1));
  EXPECT_EQ(TimersIn(Release(103)), std::vector<std::int64_t>{110});
  held_.OnTimer();
  EXPECT_EQ(TimersIn(Release(110)), std::vector<std::int64_t>{130}) << "the rest waits";
}

TEST_F(HeldMessagesTest, KnowsACopyByReceiverAndContent) {
  held_.Hold(SendTo(1, 1), seal_, After(3));
  EXPECT_TRUE(held_.Holds(SendTo(1, 1)));
  EXPECT_FALSE(held_.Holds(SendTo(2, 1)));
  EXPECT_FALSE(held_.Holds(SendTo(1, 2)));
}

// --- twin.h -------------------------------------------------------------------------------------

TEST(TwinTest, TakesOneInputAfterTheOther) {
  // Timer n brings about the timers 2n and 2n + 1, below 8.
  Twin twin;
  EXPECT_FALSE(twin.here());
  EXPECT_EQ(twin.Fingerprint(), base::Digest{});
  std::vector<protocol::TimerId> taken;
  twin.Begin(std::make_unique<ScriptedMachine>(
      [&](base::Time, const protocol::Input& input, protocol::Outbox& out) {
        const protocol::TimerId id = std::get<protocol::TimerFired>(input).id;
        taken.push_back(id);
        if (id < 4) {
          out.Add(protocol::SetTimer{2 * id, {}});
          out.Add(protocol::SetTimer{2 * id + 1, {}});
        }
      }));
  std::function<void(protocol::Action)> act = [&](const protocol::Action& action) {
    twin.Step({}, protocol::TimerFired{std::get<protocol::SetTimer>(action).id}, act);
  };
  twin.Step({}, protocol::TimerFired{1}, act);
  EXPECT_EQ(taken, (std::vector<protocol::TimerId>{1, 2, 3, 4, 5, 6, 7}));
}

TEST(TwinTest, HandsEachJobBackOnce) {
  Twin twin;
  twin.NoteJob(100, 1);
  EXPECT_EQ(twin.TakeJob(101), std::nullopt);
  EXPECT_EQ(twin.TakeJob(100), protocol::JobId{1});
  EXPECT_EQ(twin.TakeJob(100), std::nullopt);
}

// --- forged_copies.h ----------------------------------------------------------------------------

TEST(ForgedCopiesTest, AMessageHasOneCopyOfEachKind) {
  const auto key = KeyNumber(1);
  ForgedCopies copies(key);
  const auto word = wire::Seal({SlotIn(4), {}, key->id(), {1, 2}}, *key);
  const base::SharedBytes older = *copies.Of(word, Do::kOlder);
  EXPECT_EQ(*copies.Of(word, Do::kOlder), older) << "made once";
  const auto opened_older = wire::Open(older);
  const auto opened_later = wire::Open(*copies.Of(word, Do::kLater));
  const auto unreadable = wire::Open(*copies.Of(word, Do::kUnreadable));
  ASSERT_TRUE(opened_older.ok() && opened_later.ok() && unreadable.ok());
  EXPECT_EQ(opened_older->envelope.slot.step, 3U);
  EXPECT_EQ(opened_older->envelope.body, word.envelope.body);
  EXPECT_EQ(opened_later->envelope.slot.step, 5U);
  EXPECT_EQ(unreadable->envelope.slot, word.envelope.slot);
  EXPECT_NE(unreadable->envelope.body, word.envelope.body);
  copies.Forget();
  EXPECT_NE(*copies.Of(word, Do::kOlder), older);
  EXPECT_EQ(**copies.Of(word, Do::kOlder), *older) << "to the byte";
}

TEST(ForgedCopiesTest, SomeMessagesHaveNone) {
  const auto key = KeyNumber(1);
  ForgedCopies copies(key);
  const auto other = KeyNumber(2);
  EXPECT_EQ(copies.Of(wire::Seal({SlotIn(4), {}, other->id(), {}}, *other), Do::kUnreadable),
            nullptr);
  const auto first = wire::Seal({SlotIn(0), {}, key->id(), {}}, *key);
  EXPECT_EQ(copies.Of(first, Do::kOlder), nullptr);
  EXPECT_EQ(copies.Of(first, Do::kOlder), nullptr) << "nor later";
}

TEST(ForgedCopiesTest, MessagesOfTheSlowPathAreShiftedByIteration) {
  wire::Slot slot = SlotIn(4, Phase::kA, MessageType::kVote);
  slot.iteration = 2;
  EXPECT_EQ(Shifted(slot, false)->iteration, 1U);
  EXPECT_EQ(Shifted(slot, true)->iteration, 3U);
  EXPECT_EQ(Shifted(slot, true)->step, 4U);
  slot.iteration = 1;
  EXPECT_EQ(Shifted(slot, false), std::nullopt);
  EXPECT_EQ(Shifted(SlotIn(0, Phase::kGenesis), true), std::nullopt);
}

}  // namespace
}  // namespace ostraka::sim::script_parts_test
