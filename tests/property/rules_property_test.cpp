// The block of any sealed messages is that of a second, naive writing of docs/protocol/
// (naive_rules.h), field by field; and the drawn worlds meet every rule.
//
// By hand: RC_PARAMS="seed=2 max_success=2000" searches on; a failure prints the field, the step
// and the kinds of mischief that are left after shrinking.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "node/protocol/rules/step_reading.h"
#include "tests/property/rules_coverage.h"
#include "tests/property/world/sealed_world.h"
#include "tests/unit/wire/show.h"

namespace ostraka::protocol::rules_property_test {
namespace {

SealedMessages MessagesOf(const std::vector<naive::Entry>& entries) {
  SealedMessages messages;
  for (const naive::Entry& entry : entries) {
    SealedMessage& message = messages.emplace_back();
    message.message = entry.message;
    if (entry.state == naive::Entry::State::kPresent) {
      message.state = SealedMessage::State::kPresent;
    } else if (entry.state == naive::Entry::State::kEquivocated) {
      message.state = SealedMessage::State::kEquivocated;
    }
  }
  return messages;
}

SealedInput InputOf(const naive::Sealed& sealed) {
  SealedInput input;
  input.a = MessagesOf(sealed.commits);
  for (const SealedMessage& aggregate : MessagesOf(sealed.aggregates)) input.a.push_back(aggregate);
  for (const auto& draw : sealed.reveals) input.b.push_back(MessagesOf(draw));
  input.c = MessagesOf(sealed.proofs);
  input.decision_c = sealed.decision;
  input.results = sealed.results;
  return input;
}

// Plays one step and returns the first difference of the two writings, empty if there is none.
// `goes_on` is false if the world ends here.
std::string PlayStep(SealedWorld& world, Coverage& coverage, bool& goes_on) {
  const naive::Sealed sealed = world.Draw();
  const wire::Block& head = world.head();
  crypto::PlainVerifier verifier;
  const auto block = BlockOf(head, world.manifest(), world.dimension(), InputOf(sealed), verifier);
  const auto naive = naive::BlockAfter(head, world.manifest(), world.dimension(), sealed, verifier);
  goes_on = block.has_value();
  if (block.has_value() != naive.has_value()) return "one of the writings finds no coin";
  if (!block) return {};
  // The second writing gives reasons in the words of docs/protocol/removals.md.
  wire::Block in_words = *block;
  for (wire::Removal& removal : in_words.removals) {
    removal.reason = {.old_text = wire::TextOf(removal.reason)};
  }
  const std::string difference = wire::FirstDifference("block", in_words, *naive);
  if (!difference.empty()) return "step " + std::to_string(block->step) + ": " + difference;
  if (block->members.size() > SeatsIn(world.manifest())) return "more members than seats";
  NoteSituations(head, world.manifest(), sealed, *block, coverage);
  // One step of a membership that is too small for any role is enough.
  goes_on = head.members.size() > 2 && !block->members.empty() && !wire::RunIsOver(*block);
  if (goes_on) world.Follow(*block);
  return {};
}

std::set<Mischief> AllMischief() {
  std::set<Mischief> all;
  for (std::uint8_t m = 0; m < kMischiefCount; ++m) all.insert(static_cast<Mischief>(m));
  return all;
}

RC_GTEST_PROP(RulesProperty, BlockIsThatOfTheNaiveWriting, ()) {
  const auto seed = *rc::gen::noShrink(rc::gen::arbitrary<std::uint64_t>());
  const auto n = *rc::gen::inRange<std::uint32_t>(3, 13);
  const Mode mode = *rc::gen::element(Mode::kMajority, Mode::kBalanced, Mode::kThird);
  const auto steps = *rc::gen::inRange(1, 40);
  const auto numbers = *rc::gen::container<std::set<int>>(rc::gen::inRange<int>(0, kMischiefCount));
  std::set<Mischief> mischief;
  for (const int number : numbers) mischief.insert(static_cast<Mischief>(number));
  SealedWorld world(seed, n, mode, mischief);
  Coverage coverage = NothingYet();
  bool goes_on = true;
  for (int i = 0; i < steps && goes_on; ++i) {
    const std::string difference = PlayStep(world, coverage, goes_on);
    if (!difference.empty()) RC_FAIL(difference);
  }
}

// The worlds of fixed seeds, all kinds of mischief in half of them and any in the others.
TEST(RulesCoverageTest, DrawnWorldsMeetEveryRule) {
  Coverage coverage = NothingYet();
  constexpr std::uint64_t kWorlds = 1200;
  constexpr int kSteps = 45;
  std::size_t without_coin = 0;
  for (std::uint64_t seed = 1; seed <= kWorlds; ++seed) {
    base::Rng rng(seed);
    std::set<Mischief> mischief = AllMischief();
    const std::uint64_t share = seed % 2 == 0 ? 100 : 20 + rng.Below(60);
    std::erase_if(mischief, [&](Mischief) { return !rng.Chance(share, 100); });
    const auto n = static_cast<std::uint32_t>(3 + seed % 10);
    SealedWorld world(seed, n, static_cast<Mode>(rng.Below(3)), mischief);
    bool goes_on = true;
    for (int i = 0; i < kSteps && goes_on; ++i) {
      const std::string difference = PlayStep(world, coverage, goes_on);
      ASSERT_EQ(difference, "") << "world " << seed;
      without_coin += goes_on ? 0 : 1;
    }
  }
  EXPECT_GT(without_coin, 0u) << "every world had a coin in every step";
  for (const auto& [situation, times] : coverage) {
    EXPECT_GT(times, 0u) << "never met: " << situation;
  }
}

}  // namespace
}  // namespace ostraka::protocol::rules_property_test
