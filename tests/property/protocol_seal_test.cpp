// SEAL against lying members, in timely and untimely networks: agreement always, a decision within
// the bound of docs/seal.md, and no honest member left out.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "node/protocol/seal/seal_bounds.h"
#include "tests/unit/protocol/scene.h"
#include "tests/unit/protocol/seal/seal_world.h"

namespace ostraka::protocol::protocol_seal_test {
namespace {

using scene::Script;
using scene::World;
using scene::WorldOptions;
using State = SealEntry::State;

// t_s and t_a of a mode that n members bear (docs/protocol.md 1).
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
  script.flood = rng.Chance(1, 3) ? rng.Below(17) : 0;
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
  text += " muted";
  for (const std::uint32_t i : options.muted_members) text += " " + std::to_string(i);
  text += "; " + world.violation();
  for (std::uint32_t i = 0; i < world.nodes(); ++i) {
    if (world.SealOf(i) == nullptr) continue;
    text += "\n  " + std::to_string(i) + ": " + world.SealOf(i)->Describe(world.now());
  }
  return text;
}

// If an honest member's message reached all in time, the decision contains it; no honest member
// counts as equivocator.
void CheckEntries(const World& world, const WorldOptions& options) {
  for (std::uint32_t i = 0; i < world.nodes(); ++i) {
    if (!world.IsHonest(i) || options.muted_members.contains(i)) continue;
    const SealVector& vector = *world.SealOf(i)->decision();
    for (std::size_t index = 0; index < vector.size(); ++index) {
      const auto member = static_cast<std::uint32_t>(index % options.n);
      if (!world.IsHonest(member) || options.muted_members.contains(member)) continue;
      RC_ASSERT(vector[index].state == State::kPresent);
      RC_ASSERT(vector[index].digest == world.MessageOf(member, index / options.n));
    }
  }
}

void CheckDecided(const World& world, const WorldOptions& options, base::Time from,
                  base::Duration bound, std::optional<std::uint32_t> excused = std::nullopt) {
  if (!world.violation().empty()) RC_FAIL(Explain(world, options));
  for (std::uint32_t i = 0; i < world.nodes(); ++i) {
    if (!world.IsHonest(i) || options.muted_members.contains(i)) continue;
    if (!world.DecidedAt(i)) RC_FAIL("undecided: " + Explain(world, options));
    if (i == excused) continue;
    // A seal that only watches may take longer (docs/seal.md, 6).
    const base::Duration more = i < options.n ? base::Duration{} : options.delta * 4;
    if (*world.DecidedAt(i) - from <= bound + more) continue;
    RC_FAIL("node " + std::to_string(i) + " took " +
            std::to_string((*world.DecidedAt(i) - from).ns / 1'000'000) + " ms of " +
            std::to_string(bound.ns / 1'000'000) + ": " + Explain(world, options));
  }
}

// The vector that all honest members echoed; nullopt if they echoed different ones.
std::optional<Digest> EchoedByAll(const World& world, const WorldOptions& options) {
  std::set<Digest> echoed;
  for (std::uint32_t i = 0; i < options.n; ++i) {
    if (!world.IsHonest(i) || world.EchoedVector(i) == nullptr) continue;
    echoed.insert(EchoOf(*world.EchoedVector(i)).vector);
  }
  return echoed.size() == 1 ? std::optional(*echoed.begin()) : std::nullopt;
}

constexpr base::Time kNever{3600 * std::int64_t{1'000'000'000}};  // far beyond every bound

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
  // A member that was sealed absent earlier counts against t_s like any fault.
  if (faulty < options.t_s && rng.Chance(1, 4)) {
    const auto member = static_cast<std::uint32_t>(rng.Below(options.n));
    if (!options.byzantine.contains(member)) options.muted_members.insert(member);
  }
  World world(options);
  world.Run(kNever);
  RC_ASSERT(world.LastHonestEcho() - world.FirstHonestEcho() <= options.delta);
  CheckDecided(world, options, world.LastHonestEcho(), DecisionBound(options.delta, faulty));
  CheckEntries(world, options);
  if (const auto all = EchoedByAll(world, options)) RC_ASSERT(*world.Decision() == *all);
}

// Agreement does not depend on the time at which members echo: whatever ends one member's wait and
// not another's, at any time, the gate comes after it. [A slow path that counted from the own ECHO
// forked at a skew of 1.5 Delta.] No honest member is left out, because nobody is made to echo
// before the first honest member's patience ends.
RC_GTEST_PROP(SealProperty, EchoesAtAnyTimeNeverFork, ()) {
  base::Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  WorldOptions options;
  options.seed = rng.Next();
  options.n = DrawSize(rng);
  DrawThresholds(options, rng);
  options.entries_each = 1 + rng.Below(2);
  options.deadline_spread = options.delta * rng.Between(0, 40);
  const auto faulty = static_cast<std::uint32_t>(rng.Below(options.t_s + 1));
  DrawFaulty(options, faulty, rng);
  World world(options);
  world.Run(kNever);
  CheckDecided(world, options, world.LastHonestEcho(), DecisionBound(options.delta, faulty));
  CheckEntries(world, options);
}

// Members that lack something close at their deadline, and so end the wait of those that opened up
// to a Delta later. What was sent two Delta before the own deadline is with all by then, wherever
// liars show theirs.
RC_GTEST_PROP(SealProperty, WhoSendsInTimeIsNotLeftOut, ()) {
  base::Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  WorldOptions options;
  options.seed = rng.Next();
  options.n = DrawSize(rng);
  DrawThresholds(options, rng);
  options.entries_each = 1 + rng.Below(2);
  options.publish_spread = options.deadline - options.delta * 2;
  const auto faulty = static_cast<std::uint32_t>(rng.Below(options.t_s + 1));
  DrawFaulty(options, faulty, rng);
  for (auto& [member, script] : options.scripts) {
    if (rng.Chance(1, 2)) script.hide_message = 16;
  }
  World world(options);
  world.Run(kNever);
  CheckDecided(world, options, world.LastHonestEcho(), DecisionBound(options.delta, faulty));
  CheckEntries(world, options);
}

// A member that opens the seal long after the others counts as a fault, and causes no fork.
RC_GTEST_PROP(SealProperty, LateOpenersNeverFork, ()) {
  base::Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  WorldOptions options;
  options.seed = rng.Next();
  options.n = DrawSize(rng);
  DrawThresholds(options, rng);
  RC_PRE(options.t_s > 0);
  const auto late = static_cast<std::uint32_t>(rng.Between(1, options.t_s));
  const auto faulty = static_cast<std::uint32_t>(rng.Below(options.t_s - late + 1));
  DrawFaulty(options, faulty, rng);
  while (options.late_openers.size() < late) {
    const auto member = static_cast<std::uint32_t>(rng.Below(options.n));
    if (!options.byzantine.contains(member)) options.late_openers.insert(member);
  }
  options.lateness = options.delta * rng.Between(1, 60);
  World world(options);
  world.Run(kNever);
  CheckDecided(world, options, world.LastHonestEcho(), DecisionBound(options.delta, faulty + late));
}

// A crash counts as a fault; the member comes back, contradicts no message of its own, and learns
// the decision.
RC_GTEST_PROP(SealProperty, RestartedMemberNeverContradictsItsMessages, ()) {
  base::Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  WorldOptions options;
  options.seed = rng.Next();
  options.n = DrawSize(rng);
  DrawThresholds(options, rng);
  RC_PRE(options.t_s > 0);
  const auto faulty = static_cast<std::uint32_t>(rng.Below(options.t_s));
  DrawFaulty(options, faulty, rng);
  std::uint32_t restarting = 0;
  while (options.byzantine.contains(restarting)) ++restarting;
  World world(options);
  const base::Time at{rng.Between(0, 40 * options.delta.ns)};
  const base::Duration down{rng.Between(0, 5 * options.delta.ns)};
  const bool keeps = rng.Chance(1, 2);
  world.At(at, [&] { world.Restart(restarting, down, keeps); });
  world.Run(kNever);
  CheckDecided(world, options, world.LastHonestEcho(), DecisionBound(options.delta, faulty + 1),
               restarting);
}

// Messages are lost or late by minutes, or the network is partitioned: all decisions are equal, and
// once the network is timely again all members decide.
RC_GTEST_PROP(SealProperty, UntimelyNetworksNeverForkAndRecoverOnceTimely, ()) {
  base::Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  WorldOptions options;
  options.seed = rng.Next();
  options.n = DrawSize(rng);
  DrawThresholds(options, rng);
  const auto faulty = static_cast<std::uint32_t>(rng.Below(options.t_a + 1));
  DrawFaulty(options, faulty, rng);
  const base::Time heals{rng.Between(0, 120) * options.delta.ns};
  options.entry_skew = {rng.Chance(1, 2) ? options.delta.ns : heals.ns};
  std::set<std::uint32_t> side;
  for (std::uint32_t i = 0; i < options.n; ++i) {
    if (rng.Chance(1, 2)) side.insert(i);
  }
  const std::uint64_t lost = rng.Below(12);
  const std::uint64_t slow = rng.Below(12);
  const bool partition = rng.Chance(1, 2);
  options.network = [=](std::uint32_t from, std::uint32_t to, base::Time now,
                        base::Rng& draw) -> std::optional<base::Duration> {
    const base::Duration timely{draw.Between(1'000'000, 247'000'000)};
    if (now >= heals) return timely;
    const bool cut = partition && side.contains(from) != side.contains(to);
    if (draw.Chance(lost, 16) || (cut && draw.Chance(1, 2))) return std::nullopt;
    if (cut) return heals - now + timely;
    if (draw.Chance(slow, 16)) return base::Duration{draw.Between(0, (heals - now).ns)} + timely;
    return timely;
  };
  World world(options);
  std::uint32_t reached = 1;
  world.At(heals, [&] {
    for (std::uint32_t i = 0; i < options.n; ++i) {
      if (world.IsHonest(i) && world.SealOf(i) != nullptr) {
        reached = std::max(reached, world.SealOf(i)->iteration());
      }
    }
  });
  world.Run(kNever);
  const base::Time from = std::max(heals, world.LastHonestEcho());
  CheckDecided(world, options, from, HealingBound(options.delta, reached, faulty));
}

}  // namespace
}  // namespace ostraka::protocol::protocol_seal_test
