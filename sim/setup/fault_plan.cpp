#include "sim/setup/fault_plan.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "sim/engine/latency.h"

namespace ostraka::sim {
namespace {

// How long a flapping link is down, and then how long it is up.
constexpr base::Duration kFlap = base::Seconds(1);
// How long a flaky link is down or up, each time.
constexpr Latency kFlaky = {base::Milliseconds(100), base::Milliseconds(2'900)};
// How long a peer that lost its disk runs before it is killed again.
constexpr base::Duration kAgain = base::Seconds(3);

// Random times, one in each of `count` equal stretches of the run.
std::vector<base::Time> SpreadOver(base::Rng& rng, const SimOptions& options, std::uint32_t count) {
  const base::Duration run = ExpectedLength(options);
  std::vector<base::Time> times;
  for (std::uint32_t k = 0; k < count; ++k) {
    const base::Duration each{run.ns / count};
    times.push_back(kAllRun + each * static_cast<std::int64_t>(k) + Latency{{}, each}.Draw(rng));
  }
  return times;
}

void DrawKills(base::Rng& rng, const SimOptions& options, const Roster& roster, FaultPlan& plan) {
  std::vector<std::uint32_t> honest;
  for (std::uint32_t i = 0; i < roster.ids.size(); ++i) {
    if (roster.IsHonest(i)) honest.push_back(i);
  }
  std::uint32_t number = 0;
  // Returns the time of the restart.
  const auto kill_once = [&](std::uint32_t peer, base::Time down, bool lose_disk) {
    // Drawn even if the kill is left out, since shrinking must not shift the other kills.
    const base::Time up = down + Latency{{}, options.crash_down}.Draw(rng);
    const std::uint32_t k = number++;
    if (k < 64 && (options.spared_kills >> k & 1) != 0) return up;
    plan.over = std::max(plan.over.value_or(up), up);
    plan.kills.push_back({peer, down, up, lose_disk});
    return up;
  };
  const auto kill = [&](std::uint32_t peer, base::Time down) {
    if (!options.lose_disk) return void(kill_once(peer, down, false));
    // A disk lost while the run begins is a run that never begins (docs/protocol/network.md, gaps).
    const base::Time begun = kAllRun + options.delay_max * 20;
    const base::Time up = kill_once(peer, std::max(down, begun), true);
    // A second kill, with the disk that it has by then, likely before a block has removed it [a
    // peer that fell back on blocks that it had just fetched took part again, and signed slots that
    // it had signed].
    kill_once(peer, up + Latency{{}, kAgain}.Draw(rng), false);
  };
  for (const base::Time at : SpreadOver(rng, options, options.blackouts)) {
    for (const std::uint32_t peer : honest) kill(peer, at);
  }
  // Within what the mode bears, since a crashed peer counts as faulty.
  for (std::size_t i = 0; i < honest.size(); ++i) {
    std::swap(honest[i], honest[i + rng.Below(honest.size() - i)]);
  }
  const std::uint32_t borne = FaultsBorne(options);
  const std::uint32_t come_in = StaysOutside(options.attack) ? 0 : options.intruders;
  const std::uint32_t faulty = options.byzantine + come_in;
  honest.resize(borne > faulty ? borne - faulty : 0);
  for (const base::Time at : SpreadOver(rng, options, options.crashes)) {
    kill(honest[rng.Below(honest.size())], at);
  }
}

void ScheduleFlaky(const SimOptions& options, const base::Rng& run, Simulator& simulator,
                   std::uint32_t a, std::uint32_t b) {
  base::Rng rng = run.Fork("flaky").Fork("a", a).Fork("b", b);
  const base::Time end = base::Time{} + options.cut_at + options.cut_for;
  base::Time t = base::Time{} + options.cut_at;
  for (bool up = rng.Below(2) == 0; t < end; up = !up) {
    simulator.ScheduleLink(t, a, b, up);
    t = t + kFlaky.Draw(rng);
  }
  simulator.ScheduleLink(end, a, b, true);
}

void ScheduleCut(const SimOptions& options, Simulator& simulator, std::uint32_t a,
                 std::uint32_t b) {
  const base::Time begin = base::Time{} + options.cut_at;
  const base::Time end = begin + options.cut_for;
  if (options.cut == "one_way") return simulator.ScheduleHold(begin, end, b, a);
  const bool flapping = options.cut == "flapping";
  for (base::Time t = begin; t < end; t = flapping ? t + kFlap * 2 : end) {
    simulator.ScheduleLink(t, a, b, false);
    simulator.ScheduleLink(flapping ? t + kFlap : end, a, b, true);
  }
}

}  // namespace

FaultPlan DrawFaults(base::Rng rng, const SimOptions& options, const Roster& roster) {
  FaultPlan plan;
  plan.departures = DrawDepartures(rng.Fork("departures"), options, roster);
  DrawKills(rng, options, roster, plan);
  if (options.cut == "none") return plan;
  std::vector<std::uint32_t> all(roster.ids.size());
  std::iota(all.begin(), all.end(), 0U);
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    std::swap(all[i], all[i + rng.Below(all.size() - i)]);
  }
  plan.first_half.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2));
  const base::Time healed = base::Time{} + options.cut_at + options.cut_for;
  plan.over = std::max(plan.over.value_or(healed), healed);
  if (options.cut == "one_way") plan.hold = options.cut_for;
  return plan;
}

// The last by key, which is as good as drawn.
std::vector<std::uint32_t> StragglersOf(const SimOptions& options, const Roster& roster) {
  std::vector<std::uint32_t> stragglers;
  for (std::uint32_t peer = options.peers; peer > 0; --peer) {
    if (stragglers.size() == options.waits.stragglers) break;
    if (roster.IsHonest(peer - 1)) stragglers.push_back(peer - 1);
  }
  return stragglers;
}

Roster WithUnlucky(Roster roster, const SimOptions& options, const FaultPlan& plan) {
  roster.unlucky.assign(roster.ids.size(), options.cut != "none");
  for (const FaultPlan::Kill& kill : plan.kills) roster.unlucky[kill.peer] = true;
  for (const std::uint32_t peer : StragglersOf(options, roster)) roster.unlucky[peer] = true;
  return roster;
}

void ScheduleFaults(const FaultPlan& plan, const SimOptions& options, const base::Rng& rng,
                    Simulator& simulator) {
  for (const FaultPlan::Kill& kill : plan.kills) {
    simulator.ScheduleCrash(kill.down, kill.peer);
    simulator.ScheduleRestart(kill.up, kill.peer, kill.lose_disk);
  }
  std::vector<bool> in_first(simulator.peer_count());
  for (const std::uint32_t peer : plan.first_half) in_first[peer] = true;
  for (std::uint32_t a = 0; a < simulator.peer_count(); ++a) {
    for (std::uint32_t b = 0; b < simulator.peer_count(); ++b) {
      if (options.cut == "flaky" && a < b) ScheduleFlaky(options, rng, simulator, a, b);
      if (options.cut != "flaky" && in_first[a] && !in_first[b])
        ScheduleCut(options, simulator, a, b);
    }
  }
}

}  // namespace ostraka::sim
