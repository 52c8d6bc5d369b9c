// leave_after, unwatched and frame_victim: what they change, when, and what they leave unchanged.
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <variant>

#include "node/wire/bitmap.h"
#include "sim/adversary/editor_options.h"
#include "tests/unit/sim/adversary/wrapped.h"

namespace ostraka::sim::adaptive_test {
namespace {

using wire::MessageType;
using wire::Phase;

protocol::StepStarted StartOf(const Wrapped& wrapped, std::uint64_t step) {
  protocol::StepStarted started;
  started.step = step;
  for (std::size_t i = 0; i < 6; ++i) started.roles.workers.push_back(wrapped.member(i));
  return started;
}

// The block before the steps of these tests: all six are members, none is banned.
protocol::StepDone DoneBefore(const Wrapped& wrapped, std::uint64_t step) {
  auto block = std::make_shared<wire::Block>();
  block->step = step - 1;
  for (std::size_t i = 0; i < 6; ++i) block->members.push_back(wrapped.member(i));
  block->proven = block->members;
  block->thresholds = {.n = 6, .t_s = 1, .t_a = 1};
  block->delta_us = 250'000;
  return {block, {}};
}

bool CheatsIn(Wrapped& wrapped, std::uint64_t step) {
  protocol::GradientSpec job;
  job.step = step;
  job.owner = wrapped.self();
  const auto given = std::get<protocol::GradientResult>(
      wrapped.RunInside(job, protocol::GradientResult{Floats({1, 2, 3, 4})}));
  return *given.gradient != std::vector<float>{1, 2, 3, 4};
}

// How many members receive an own message.
std::size_t Heard(Wrapped& wrapped, const wire::SignedEnvelope& message) {
  std::vector<protocol::Action> says;
  for (std::size_t i = 1; i < 6; ++i) {
    says.emplace_back(protocol::Send{wrapped.member(i), message.frame, nullptr});
  }
  std::size_t count = 0;
  for (const protocol::Action& action : wrapped.Say(says)) {
    count += std::holds_alternative<protocol::Send>(action) ? 1 : 0;
  }
  return count;
}

wire::SignedEnvelope OwnReveal(const Wrapped& wrapped, std::uint64_t step) {
  return wrapped.Own(Phase::kB, MessageType::kReveal, step, wire::Encode(wire::Reveal{}));
}

// --- leave_after --------------------------------------------------------------------------------

class LeaveAfterTest : public testing::Test {
 protected:
  // Member `validator` is drawn for the attacker's messages in step `judged`.
  static void EnterDrawn(Wrapped& wrapped, std::uint64_t step, std::size_t validator,
                         std::uint64_t judged) {
    protocol::StepStarted started = StartOf(wrapped, step);
    started.roles.validators = {{wrapped.member(validator), wrapped.self(), judged, {}}};
    wrapped.Say({protocol::Observe{started}});
  }
};

TEST_F(LeaveAfterTest, IsSilentOnceAnHonestValidatorIsDrawnForIt) {
  Wrapped wrapped("leave_after", 3);
  wrapped.Enter(2);
  EXPECT_FALSE(CheatsIn(wrapped, 2)) << "honest before its step";
  wrapped.Enter(3);
  EXPECT_TRUE(CheatsIn(wrapped, 3));
  EnterDrawn(wrapped, 4, 3, 2);
  EXPECT_EQ(Heard(wrapped, OwnReveal(wrapped, 4)), 5U) << "of step 2 nothing is to be found";
  EnterDrawn(wrapped, 5, 1, 3);
  EXPECT_EQ(Heard(wrapped, OwnReveal(wrapped, 5)), 5U) << "a friend looks away";
  EXPECT_TRUE(CheatsIn(wrapped, 5));
  EnterDrawn(wrapped, 6, 3, 5);
  EXPECT_EQ(Heard(wrapped, OwnReveal(wrapped, 6)), 0U);
  EXPECT_FALSE(CheatsIn(wrapped, 6)) << "nobody would see it";
  EXPECT_EQ(wrapped.coven().deeds().at(wrapped.self()).count, 2U);
}

TEST_F(LeaveAfterTest, LeavesAfterTheGivenSteps) {
  Wrapped wrapped("leave_after", 0, {{"steps", "2"}});
  for (const std::uint64_t step : {0, 1}) {
    wrapped.Enter(step);
    EXPECT_TRUE(CheatsIn(wrapped, step));
    EXPECT_EQ(Heard(wrapped, OwnReveal(wrapped, step)), 5U);
  }
  wrapped.Enter(2);
  EXPECT_EQ(Heard(wrapped, OwnReveal(wrapped, 2)), 0U);
  wrapped.Say({protocol::Observe{protocol::Away{2, "dropped"}}});
  EXPECT_EQ(Heard(wrapped, OwnReveal(wrapped, 2)), 0U) << "for ever";
}

TEST_F(LeaveAfterTest, WithBackItRejoinsAndAttacksAgain) {
  Wrapped wrapped("leave_after", 0, {{"steps", "1"}, {"back", "1"}});
  wrapped.Enter(0);
  EXPECT_TRUE(CheatsIn(wrapped, 0));
  wrapped.Enter(1);
  EXPECT_EQ(Heard(wrapped, OwnReveal(wrapped, 1)), 0U);
  wrapped.Say({protocol::Observe{protocol::Away{1, "dropped"}}});
  EXPECT_EQ(Heard(wrapped, OwnReveal(wrapped, 1)), 5U);
  wrapped.Enter(9);
  EXPECT_TRUE(CheatsIn(wrapped, 9));
}

// --- unwatched ----------------------------------------------------------------------------------

// Six members with t_s = 1 spare three validators, of which two thirds are honest. So one colluder
// is caught with probability 1/6 x 4/6 for each validator that the manifest asks for (one).
TEST(UnwatchedTest, AsManyAttackByTurnsAsTheOddsAllow) {
  for (const auto& [risk, share] : {std::pair{"0.05", 0.0}, {"0.12", 0.5}, {"0.25", 1.0}}) {
    Wrapped wrapped("unwatched", 1, {{"risk", risk}});
    int cheats = 0;
    for (std::uint64_t step = 1; step <= 20; ++step) {
      wrapped.Say({protocol::Observe{DoneBefore(wrapped, step)}});
      wrapped.Enter(step);
      cheats += CheatsIn(wrapped, step) ? 1 : 0;
    }
    EXPECT_EQ(cheats, 20 * share) << "risk " << risk;
  }
}

class KeptCoinTest : public testing::Test {
 protected:
  KeptCoinTest() : wrapped_("unwatched", 0, {{"abort", "1"}, {"risk", "1"}}) {
    wrapped_.Say({protocol::Observe{DoneBefore(wrapped_, kStep)}});
    wrapped_.Enter(kStep);
  }
  // The attacker's REVEAL of a draw, then all others' with coins from `number` on. True if it is
  // sent once all others are known.
  bool Shows(std::uint32_t draw, std::uint8_t number) {
    wire::SignedEnvelope own = OwnReveal(wrapped_, kStep);
    wire::Envelope envelope = own.envelope;
    envelope.slot.draw = draw;
    own = wire::Seal(envelope, wrapped_.key());
    EXPECT_EQ(Heard(wrapped_, own), 0U) << "it speaks last";
    std::size_t shown = 0;
    for (std::size_t i = 1; i < 6; ++i) {
      EXPECT_EQ(shown, 0U) << "before it knows all";
      wire::Reveal reveal;
      reveal.opening.coin.value.bytes.fill(static_cast<std::uint8_t>(number + i));
      wire::Envelope other = envelope;
      other.sender = wrapped_.member(i);
      other.body = wire::Encode(reveal);
      const auto frame = wire::Seal(std::move(other), wrapped_.key_of(i)).frame;
      for (const protocol::Action& action :
           wrapped_.Step(protocol::MessageReceived{wrapped_.member(i), frame, nullptr})) {
        shown += std::holds_alternative<protocol::Send>(action) ? 1 : 0;
      }
    }
    EXPECT_TRUE(shown == 0 || shown == 5);
    EXPECT_EQ(Heard(wrapped_, own), shown) << "those who ask get no other answer";
    return shown > 0;
  }
  static constexpr std::uint64_t kStep = 7;
  Wrapped wrapped_;
};

TEST_F(KeptCoinTest, NoCoinIsKeptWithoutAMisdeed) {
  for (std::uint8_t number = 0; number < 20; ++number) EXPECT_TRUE(Shows(number, number));
}

TEST_F(KeptCoinTest, CoinThatWouldHaveAColluderValidatedIsKept) {
  wrapped_.coven().whispers(kStep - 1).guilty = {wrapped_.self(), wrapped_.mate()};
  int kept = 0;
  for (std::uint8_t number = 0; number < 30; ++number) kept += Shows(number, number) ? 0 : 1;
  EXPECT_GT(kept, 0) << "one draw in five is bad";
  EXPECT_LT(kept, 20);
  EXPECT_EQ(wrapped_.coven().deeds().at(wrapped_.self()).count, static_cast<std::size_t>(kept));
}

TEST_F(KeptCoinTest, OneColluderKeepsItsCoin) {
  wrapped_.coven().whispers(kStep - 1).guilty = {wrapped_.self(), wrapped_.mate()};
  for (std::uint32_t draw = 0; draw < 30; ++draw) {
    wrapped_.coven().whispers(kStep).keeper[draw] = wrapped_.mate();
  }
  for (std::uint8_t number = 0; number < 30; ++number) EXPECT_TRUE(Shows(number, number));
}

TEST_F(KeptCoinTest, RevealsInTimeIfAnotherMemberIsSilent) {
  EXPECT_EQ(Heard(wrapped_, OwnReveal(wrapped_, kStep)), 0U);
  EXPECT_EQ(wrapped_.Step(protocol::TimerFired{kFirstReservedTimer}).size(), 5U);
}

// --- frame_victim -------------------------------------------------------------------------------

class FrameVictimTest : public testing::Test {
 protected:
  // The honest member that every attack of this coven targets.
  std::size_t Victim() const { return 2 + 77 % 4; }
};

TEST_F(FrameVictimTest, FalseWitnessTestifiesOnlyAgainstTheVictim) {
  Wrapped wrapped("frame_victim", 0, {{"rule", "7"}});
  protocol::StepDone before = DoneBefore(wrapped, 4);
  auto block = std::make_shared<wire::Block>(*before.block);
  block->disputes = {{wrapped.member(Victim()), wrapped.self(), 1},
                     {wrapped.self(), wrapped.member(Victim()), 1},
                     {wrapped.mate(), wrapped.self(), 1}};
  wrapped.Say({protocol::Observe{protocol::StepDone{block, {}}}});
  wrapped.Enter(4);

  wire::Proof truth;
  truth.lag_us = 5;
  truth.held = {0b000101};  // the parts of the first and the third
  const auto own = wrapped.Own(Phase::kC, MessageType::kProof, 4, wire::Encode(truth)).envelope;
  wrapped.Say({protocol::Store{
      9,
      {{protocol::RecordKind::kSlot, protocol::SlotKey(own.slot), *wire::EncodeUnsigned(own)}}}});
  const auto said = wrapped.Step(protocol::Stored{9});
  ASSERT_EQ(said.size(), 5U);
  const auto frame = wire::Open(std::get<protocol::Send>(said[0]).frame);
  ASSERT_TRUE(frame.ok());
  const auto lie = wire::Decode<wire::Proof>(frame->envelope.body);
  ASSERT_TRUE(lie.ok());
  EXPECT_EQ(lie->lag_us, 5U);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(wire::HasBit(lie->silent, i), i == Victim()) << i;
  }
  EXPECT_EQ(lie->held, (base::Bytes{0b001110})) << "nobody held its part, all passed it aggregates";
}

TEST_F(FrameVictimTest, OneRuleIsAlwaysActive) {
  Wrapped wrapped("frame_victim", 0, {{"rule", "1"}});
  wrapped.Enter(1);
  const auto judged = [&](std::size_t member) {
    protocol::RecomputeSpec job;
    job.gradient.owner = wrapped.member(member);
    return std::get<protocol::RecomputeResult>(wrapped.RunInside(job, protocol::RecomputeResult{}))
        .accuse;
  };
  for (std::size_t i = 1; i < 6; ++i) EXPECT_EQ(judged(i), i == Victim()) << i;
}

TEST_F(FrameVictimTest, EachRuleIsActiveInSomeStepsForAllColluders) {
  Wrapped one("frame_victim", 0);
  Wrapped other("frame_victim", 0);
  std::set<std::uint64_t> accused_in;
  for (std::uint64_t step = 0; step < 40; ++step) {
    std::set<bool> verdicts;
    for (Wrapped* wrapped : {&one, &other}) {
      wrapped->Enter(step);
      protocol::RecomputeSpec job;
      job.gradient.owner = wrapped->member(Victim());
      verdicts.insert(
          std::get<protocol::RecomputeResult>(wrapped->RunInside(job, protocol::RecomputeResult{}))
              .accuse);
    }
    ASSERT_EQ(verdicts.size(), 1U);
    if (*verdicts.begin()) accused_in.insert(step);
  }
  EXPECT_GT(accused_in.size(), 8U);
  EXPECT_LT(accused_in.size(), 32U);
}

}  // namespace
}  // namespace ostraka::sim::adaptive_test
