// SEAL against members that lie, in networks that are timely and in networks that are not:
// agreement always, a decision within the bound of docs/seal.md, and nobody honest left out.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "tests/unit/protocol/scene.h"
#include "tests/unit/protocol/seal_world.h"

namespace ostraka::protocol {
namespace {

using scene::DecisionBound;
using scene::Script;
using scene::World;
using scene::WorldOptions;
using State = SealEntry::State;

// t_s and t_a of a mode that n members bear (docs/protocol.md, 1).
void DrawThresholds(WorldOptions& options, base::Rng& rng) {
  options.t_a = static_cast<std::uint32_t>(rng.Below((options.n - 1) / 3 + 1));
  options.t_s = (options.n - 1 - options.t_a) / 2;
  options.t_a = std::min(options.t_a, options.t_s);
}

Script DrawScript(base::Rng& rng) {
  Script script;
  const auto chance = [&] { return rng.Chance(1, 2) ? rng.Below(17) : rng.Below(4); };
  script.silence = rng.Chance(1, 8) ? 16 : rng.Below(10);
  script.late = chance();
  script.lie = chance();
  script.also = chance();
  script.unasked = chance();
  script.mute_pull = chance();
  script.two_messages = rng.Chance(1, 3);
  script.hide_message = chance();
  return script;
}

void DrawFaulty(WorldOptions& options, std::uint32_t count, base::Rng& rng) {
  while (options.byzantine.size() < count) {
    options.byzantine.insert(static_cast<std::uint32_t>(rng.Below(options.n)));
  }
  for (const std::uint32_t member : options.byzantine) options.scripts[member] = DrawScript(rng);
}

std::uint32_t DrawSize(base::Rng& rng) {
  return rng.Chance(1, 24) ? 16 : static_cast<std::uint32_t>(rng.Between(3, 7));
}

std::string Explain(const World& world, const WorldOptions& options) {
  std::string text = "n " + std::to_string(options.n) + " t_s " + std::to_string(options.t_s) +
                     " t_a " + std::to_string(options.t_a) + " byzantine";
  for (const std::uint32_t i : options.byzantine) text += " " + std::to_string(i);
  text += " asleep";
  for (const std::uint32_t i : options.asleep) text += " " + std::to_string(i);
  text += "; " + world.violation();
  for (std::uint32_t i = 0; i < world.nodes(); ++i) {
    if (world.SealOf(i) == nullptr) continue;
    text += "\n  " + std::to_string(i) + ": " + world.SealOf(i)->Describe(world.now());
  }
  return text;
}

// An honest member whose message reached all in time is in the decision; nobody honest is called
// equivocator.
void CheckEntries(const World& world, const WorldOptions& options) {
  for (std::uint32_t i = 0; i < world.nodes(); ++i) {
    if (!world.IsHonest(i) || options.asleep.contains(i)) continue;
    const SealVector& vector = *world.SealOf(i)->decision();
    for (std::size_t index = 0; index < vector.size(); ++index) {
      const auto member = static_cast<std::uint32_t>(index % options.n);
      if (!world.IsHonest(member) || options.asleep.contains(member)) continue;
      RC_ASSERT(vector[index].state == State::kPresent);
      RC_ASSERT(vector[index].digest == world.MessageOf(member, index / options.n));
    }
  }
}

RC_GTEST_PROP(SealProperty, TimelyNetworksDecideWithinTheBound, ()) {
  base::Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  WorldOptions options;
  options.seed = rng.Next();
  options.n = DrawSize(rng);
  DrawThresholds(options, rng);
  options.entries_each = 1 + rng.Below(2);
  options.observers = static_cast<std::uint32_t>(rng.Below(2));
  const auto faulty = static_cast<std::uint32_t>(rng.Below(options.t_s + 1));
  DrawFaulty(options, faulty, rng);
  // Who was sealed absent earlier counts against t_s like any fault.
  if (faulty < options.t_s && rng.Chance(1, 4)) {
    const auto member = static_cast<std::uint32_t>(rng.Below(options.n));
    if (!options.byzantine.contains(member)) options.asleep.insert(member);
  }
  World world(options);
  world.Run(base::Time{3'600'000'000'000});
  if (!world.violation().empty()) RC_FAIL(Explain(world, options));
  const base::Time echo = world.LastHonestEcho();
  RC_ASSERT(echo - world.FirstHonestEcho() <= options.delta);
  for (std::uint32_t i = 0; i < world.nodes(); ++i) {
    if (!world.IsHonest(i) || options.asleep.contains(i)) continue;
    if (!world.DecidedAt(i)) RC_FAIL("undecided: " + Explain(world, options));
    base::Duration bound = DecisionBound(options.delta, faulty);
    if (i >= options.n) bound = bound + options.delta * 4;  // it asks every 2 Delta
    if (*world.DecidedAt(i) - echo > bound) {
      RC_FAIL("node " + std::to_string(i) + " took " +
              std::to_string((*world.DecidedAt(i) - echo).ns / 1'000'000) +
              " ms: " + Explain(world, options));
    }
  }
  CheckEntries(world, options);
  // If all honest members echo the same, that is decided.
  std::set<Digest> echoed;
  for (std::uint32_t i = 0; i < options.n; ++i) {
    if (world.IsHonest(i) && world.EchoedVector(i) != nullptr) {
      echoed.insert(EchoOf(*world.EchoedVector(i)).vector);
    }
  }
  if (echoed.size() == 1) RC_ASSERT(*world.Decision() == *echoed.begin());
  RC_CLASSIFY(world.SealOf(0) != nullptr && world.SealOf(0)->slow(), "slow");
}

}  // namespace
}  // namespace ostraka::protocol
