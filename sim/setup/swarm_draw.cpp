#include "sim/setup/swarm_draw.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "node/base/check.h"
#include "node/base/rng.h"
#include "sim/attacks/registry.h"
#include "sim/script/draw.h"
#include "sim/setup/models.h"

namespace ostraka::sim {
namespace {

bool OneIn(base::Rng& rng, std::uint64_t n) { return rng.Below(n) == 0; }

// Mostly small swarms: their thresholds are tightest, and the cost of a seal grows with the cube of
// the size.
std::uint32_t DrawPeers(base::Rng rng) {
  const std::uint64_t band = rng.Below(64);
  if (band < 55) return static_cast<std::uint32_t>(4 + rng.Below(6));  // 4..9
  if (band < 63) return static_cast<std::uint32_t>(10 + rng.Below(7));
  return static_cast<std::uint32_t>(17 + rng.Below(16));  // ..32
}

void DrawMembers(base::Rng rng, SimOptions& options) {
  constexpr protocol::Mode kModes[] = {protocol::Mode::kMajority, protocol::Mode::kMajority,
                                       protocol::Mode::kBalanced, protocol::Mode::kThird};
  options.peers = DrawPeers(rng.Fork("peers"));
  options.mode = kModes[rng.Below(std::size(kModes))];
  options.byzantine = static_cast<std::uint32_t>(rng.Below(FaultsBorne(options) + 1));
  options.validators = static_cast<std::uint32_t>(1 + rng.Below(3));
  options.dimension = 2 * options.peers + rng.Below(200);
  options.batch_size = 4 + rng.Below(29);
}

// Each attack draws tickets, and the highest ticket wins: an added attack changes only the swarms
// that draw it. Attacks on the protocol get three tickets, because there are fewer of them.
const KnownAttack& ChooseAttack(const base::Rng& rng, bool of_guests = false) {
  const KnownAttack* chosen = nullptr;
  std::uint64_t highest = 0;
  for (const KnownAttack& attack : KnownAttacks()) {
    if (attack.name == "none" || attack.of_guests != of_guests) continue;
    base::Rng tickets = rng.Fork(attack.name);
    for (int i = attack.gradient == nullptr ? 3 : 1; i > 0; --i) {
      const std::uint64_t ticket = tickets.Next();
      if (chosen != nullptr && ticket <= highest) continue;
      chosen = &attack;
      highest = ticket;
    }
  }
  return *chosen;
}

// Half of the small swarms under attack take the slow path in every seal; else mostly the fast path
// would be tested. Of large swarms, in which that takes long, one in eight.
void DrawLiars(base::Rng rng, bool only_attack, SimOptions& options) {
  if (!OneIn(rng, options.peers < 10 ? 2 : 8)) return;
  if (options.byzantine > 1) {
    options.liars = 1;
  } else if (options.byzantine == 1 && !only_attack) {
    options.attack = "lying_echo";
    options.attack_params.clear();
    options.await_removal = false;
  }
}

// The attacks that profile exact/1 makes possible, or noticeable: a wrong bit in a gradient, in the
// parameters or in the root that a COMMIT names.
const KnownAttack& ChooseWrongBits(base::Rng rng) {
  constexpr const char* kWrongBits[] = {"claim_root", "corrupt_state", "slip", "bit_flip"};
  const auto* name = kWrongBits[rng.Below(std::size(kWrongBits))];
  const std::vector<KnownAttack>& known = KnownAttacks();
  const auto attack = std::find_if(known.begin(), known.end(),
                                   [&](const KnownAttack& one) { return one.name == name; });
  OSTRAKA_CHECK(attack != known.end());
  return *attack;
}

// A third of the exact swarms under attack meets wrong bits: among all attacks they are few.
const KnownAttack& ChooseAttackOn(const base::Rng& rng, const SimOptions& options) {
  base::Rng wrong = rng.Fork("wrong bits");
  if (options.exact && OneIn(wrong, 3)) return ChooseWrongBits(wrong);
  return ChooseAttack(rng.Fork("attack"));
}

// A parameter with variants sometimes takes one of them; the others keep their defaults.
void DrawVariants(base::Rng& rng, const KnownAttack& attack, SimOptions& options) {
  for (const auto& [name, values] : attack.variants) {
    if (OneIn(rng, 3)) options.attack_params[name] = values[rng.Below(values.size())];
  }
}

void DrawAttack(base::Rng rng, SimOptions& options) {
  const KnownAttack& attack = ChooseAttackOn(rng, options);
  options.attack = attack.name;
  options.await_removal = attack.outcome == KnownAttack::Outcome::kRemoved;
  // After the genesis seal, which waits for every member.
  options.attack_from_step = 1 + rng.Below(8);
  DrawVariants(rng, attack, options);
  // The smallest lie, which no tolerance would see; beside codes it is none.
  const bool raw = options.codecs.parts == protocol::Codec::kRaw;
  if (options.exact && raw && options.attack == "bit_flip") {
    options.attack_params = {{"bit", "1"}, {"coordinates", "1"}};
  }
  if (!CheckParams(attack, options.attack_params).ok()) options.attack_params.clear();
  if (attack.text.empty()) return;
  // The script is written out, so that it can be shrunk.
  const Stage stage{options.peers - options.byzantine, options.byzantine, options.attack_from_step};
  options.attack_params[attack.text] = FormatScript(DrawScript(rng.Fork(attack.text), stage));
}

// Its own stream: a swarm that is not exact is drawn as if there were no such profile.
bool DrawsExact(base::Rng rng) { return OneIn(rng, 4); }

// A gradient of the gpt costs as much as hundreds of the toy's, so large swarms train the toy.
constexpr std::uint32_t kMostPeersWithGpt = 9;

// One in eight of the small exact swarms trains the tiny gpt. Its own stream, as DrawsExact.
bool DrawsGpt(base::Rng rng, const SimOptions& options) {
  return options.exact && options.peers <= kMostPeersWithGpt && OneIn(rng, 8);
}

// One in four of the exact swarms has local steps. Its own stream, as DrawsExact.
void DrawLocalSteps(base::Rng rng, const SimOptions& base, SimOptions& options) {
  if (base.inner_steps > 1) return UseLocalSteps(base.inner_steps, options);
  if (options.exact && OneIn(rng, 4)) UseLocalSteps(2 + rng.Below(7), options);
}

// Every other exact swarm has codes for its parts, for its results or for both. As above.
void DrawCodecs(base::Rng rng, const SimOptions& base, SimOptions& options) {
  options.codecs = base.codecs;
  if (base.codecs != protocol::Codecs{} || !options.exact || !OneIn(rng, 2)) return;
  constexpr protocol::Codec kOfParts[] = {protocol::Codec::kRaw, protocol::Codec::kI8,
                                          protocol::Codec::kI4};
  options.codecs.parts = kOfParts[rng.Below(std::size(kOfParts))];
  if (options.codecs.parts == protocol::Codec::kRaw || OneIn(rng, 2)) {
    options.codecs.results = protocol::Codec::kI16;
  }
}

// One in three of the exact swarms has counts of batches, so that its faster machines average two.
// As above.
void DrawBatches(base::Rng rng, const SimOptions& base, SimOptions& options) {
  options.batches = base.batches;
  options.most_batches = base.most_batches;
  if (base.most_batches == 1 && options.exact && OneIn(rng, 3)) options.most_batches = 2;
}

// One in three has an alarm. As above.
void DrawAlarm(base::Rng rng, const SimOptions& base, SimOptions& options) {
  options.alarm_validators = base.alarm_validators;
  if (base.alarm_validators == 0 && OneIn(rng, 3)) {
    options.alarm_validators = static_cast<std::uint32_t>(2 + rng.Below(3));
  }
}

base::Duration DrawMilliseconds(base::Rng& rng, std::uint64_t least, std::uint64_t most) {
  return base::Milliseconds(static_cast<std::int64_t>(least + rng.Below(most - least + 1)));
}

// Timely: with a retransmission and a stalled store a message still takes less than a quarter of
// Delta, 250 ms, and a store less than another quarter. Half of the networks are near that bound.
void DrawNetwork(base::Rng rng, SimOptions& options) {
  const std::uint64_t far = OneIn(rng, 2) ? 6 : 1;
  options.delay_min = DrawMilliseconds(rng, 0, 10 * far);
  options.delay_max = options.delay_min + DrawMilliseconds(rng, 0, 20 * far);
  options.jitter = DrawMilliseconds(rng, 0, 8);
  options.bytes_per_second = std::uint64_t{100'000} << rng.Below(8);
  options.fsync_max = DrawMilliseconds(rng, 0, 10);
  if (OneIn(rng, 3)) options.loss_permille = static_cast<std::uint32_t>(1 + rng.Below(30));
  if (OneIn(rng, 3)) options.duplicate_permille = static_cast<std::uint32_t>(1 + rng.Below(100));
  if (OneIn(rng, 3)) options.stall_permille = static_cast<std::uint32_t>(1 + rng.Below(20));
  if (OneIn(rng, 3)) options.skew = DrawMilliseconds(rng, 1, 60'000);
  if (OneIn(rng, 3)) options.drift_ppm = static_cast<std::uint32_t>(1 + rng.Below(500));
}

// A message to one that only dials goes by F + 1 carriers, so a large swarm of them takes minutes.
constexpr std::uint32_t kMostPeersWithDialers = 16;
constexpr std::uint32_t kMostPeersWithGuests = 24;

// In one swarm of four some only dial, as many as leave an honest one to carry for them. A message
// then takes two hops, and each a third of what one hop may take.
void DrawDialers(base::Rng rng, SimOptions& options) {
  const std::uint32_t dialed = std::max(3U, FaultsBorne(options) + 1);
  if (options.peers <= dialed || options.peers > kMostPeersWithDialers) return;
  if (!OneIn(rng, 4)) return;
  options.nat = static_cast<std::uint32_t>(1 + rng.Below(options.peers - dialed));
  options.delay_min.ns /= 3;
  options.delay_max.ns /= 3;
}

// In one swarm of four some honest peers leave and come back, as many as leave a run that bears the
// others. Its own stream: what else is drawn stays the same.
void DrawLeaves(base::Rng rng, SimOptions& options) {
  if (!OneIn(rng, 4)) return;
  options.leaves = static_cast<std::uint32_t>(1 + rng.Below(3));
  options.leave_for = DrawMilliseconds(rng, 0, 20'000);
  if (options.byzantine > 0 && OneIn(rng, 3)) {
    options.attackers_leave = options.attack_from_step + rng.Below(3);
    // One void column is borne, and so is one failure between two; and a sum at the limit of its
    // check, a random number, often passes. A leaver may not have been found by then. [Seeds 1 and
    // 7528.] And an owner names one liar: among members of which some own nothing, liars may be
    // more than honest owners. [Seed 7630.]
    constexpr const char* kMayPass[] = {"void_columns", "spoilt_part", "near_tolerance",
                                        "false_complaint"};
    const bool may_pass =
        std::find(std::begin(kMayPass), std::end(kMayPass), options.attack) != std::end(kMayPass);
    if (may_pass || (options.nat > 0 && options.byzantine > 1)) options.await_removal = false;
  }
  while (options.leaves > 0 && !CheckOptions(options).ok()) --options.leaves;
}

// In one swarm of four others come in, by invites of every kind. Its own stream, as above.
void DrawArrivals(base::Rng rng, SimOptions& options) {
  if (options.unprotected || options.peers > kMostPeersWithGuests || !OneIn(rng, 4)) return;
  options.comes = static_cast<std::uint32_t>(rng.Below(4));
  options.forgers = OneIn(rng, 3) ? 6 : 0;
  // While the network is cut, only t_a members may be Byzantine (DrawFaults).
  if (options.byzantine > 0 && options.cut == "none")
    options.intruders = static_cast<std::uint32_t>(rng.Below(3));
  while (options.intruders > 0 && !CheckOptions(options).ok()) --options.intruders;
  // One of the forgers comes in. [Seed 2783.]
  if (options.byzantine > 0 && options.cut != "none") options.forgers = 0;
  if (!CheckOptions(options).ok()) options.forgers = 0;
  if (!CheckOptions(options).ok()) options.comes = 0;
}

// In every other swarm into which attackers come they do what is about keys that come and go. Its
// own stream, as above.
void DrawGuestAttack(base::Rng rng, SimOptions& options) {
  if (options.intruders == 0 || !OneIn(rng, 2)) return;
  SimOptions drawn = options;
  const KnownAttack& attack = ChooseAttack(rng.Fork("attack"), true);
  drawn.attack = attack.name;
  drawn.attack_params.clear();
  drawn.await_removal = false;
  DrawVariants(rng, attack, drawn);
  if (CheckOptions(drawn).ok()) options = std::move(drawn);
}

// In one swarm of four the wait for parts follows the run. Its own stream, as above.
void DrawWaits(base::Rng rng, SimOptions& options) {
  if (options.unprotected || !OneIn(rng, 4)) return;
  options.waits.part_floor = DrawMilliseconds(rng, 500, 8'000);
}

// In one timely swarm of three gradients take time, and machines differ: with all that is drawn on
// top the slowest needs 0.72 of the wait for parts, in profile exact/1 0.45 (docs/decisions/0032),
// and the fastest up to four times less (with counts of batches up to six). Then any mode is drawn.
// Its own stream, as above.
void DrawMachines(base::Rng rng, SimOptions& options) {
  if (options.unprotected || !IsTimely(options) || !OneIn(rng, 3)) return;
  const base::Duration wait = options.waits.part_floor.ns > 0 ? options.waits.part_floor
                                                              : protocol::Manifest{}.part_timeout;
  const auto most = static_cast<std::uint64_t>(wait.ns / 1'000'000 * (options.exact ? 36 : 58) /
                                               100);  // and a jitter of 25 %
  options.waits.gradient_time = DrawMilliseconds(rng, most / 8, most);
  options.waits.fastest_percent = static_cast<std::uint32_t>(32 + rng.Below(69));
  // A machine averages two batches if it is twice as fast as the slowest may be.
  if (options.most_batches > options.batches) options.waits.fastest_percent /= 2;
  options.waits.again_percent = OneIn(rng, 2) ? 140 : 100;
  SimOptions checked = options;
  checked.mode = protocol::Mode::kChecked;
  checked.validators = static_cast<std::uint32_t>(4 + rng.Below(2));
  if (OneIn(rng, 4) && CheckOptions(checked).ok()) options = std::move(checked);
}

// In one timely swarm of six whose mode bears it one or two machines need longer for a gradient
// than the run waits, up to three times as long. Its own stream, as above.
void DrawStragglers(base::Rng rng, SimOptions& options) {
  if (options.unprotected || !IsTimely(options) || !OneIn(rng, 6)) return;
  const base::Duration wait = options.waits.part_floor.ns > 0 ? options.waits.part_floor
                                                              : protocol::Manifest{}.part_timeout;
  const auto ms = static_cast<std::uint64_t>(wait.ns / 1'000'000);
  SimOptions drawn = options;
  drawn.waits.stragglers = static_cast<std::uint32_t>(1 + rng.Below(2));
  drawn.waits.straggler_time = DrawMilliseconds(rng, ms, ms * 3);
  if (CheckOptions(drawn).ok()) options = std::move(drawn);
}

// In one swarm of three with keys from outside, and in one of eight others, all links of a peer
// share an uplink. Where keys come and nobody cheats, guests then flood that never come in, up to
// ten. Its own stream, as above.
void DrawUplink(base::Rng rng, bool only_attack, SimOptions& options) {
  const bool open = options.comes + options.intruders + options.forgers > 0;
  if (options.unprotected || !OneIn(rng, open ? 3 : 8)) return;
  options.uplink_bytes_per_second = std::uint64_t{500'000} << rng.Below(3);
  const bool honest = open && options.byzantine == 0 && options.intruders == 0 && !only_attack;
  if (!honest && !StaysOutside(options.attack)) return;
  SimOptions drawn = options;
  if (honest) {
    drawn.attack = "guest_flood";
    drawn.attack_params.clear();
    drawn.attack_from_step = 1 + rng.Below(8);
    drawn.await_removal = false;
    const auto attack = FindAttack(drawn.attack);
    OSTRAKA_CHECK(attack.ok());
    DrawVariants(rng, *attack, drawn);
  }
  drawn.intruders += static_cast<std::uint32_t>(1 + rng.Below(9));
  if (CheckOptions(drawn).ok()) options = std::move(drawn);
}

void DrawFaults(base::Rng rng, SimOptions& options) {
  if (options.byzantine < FaultsBorne(options) && OneIn(rng, 3)) {
    options.crashes = static_cast<std::uint32_t>(1 + rng.Below(4));
    options.crash_down = DrawMilliseconds(rng, 50, 4'000);
    options.lose_disk = OneIn(rng, 4);
  }
  // While the network is cut, at most t_a members may be Byzantine, whatever else the mode bears.
  const std::uint32_t t_a = protocol::GenesisAsynchronousFaults(options.mode, options.peers);
  if (options.byzantine <= std::min(t_a, FaultsBorne(options)) && OneIn(rng, 2)) {
    if (options.byzantine > 0) options.crashes = 0;
    // A peer that has lost its disk stays out until blocks admit it, so it is a fault of that time
    // too.
    if (options.lose_disk) options.crashes = std::min(options.crashes, t_a);
    constexpr const char* kCuts[] = {"halves", "one_way", "flapping", "flaky"};
    options.cut = kCuts[rng.Below(std::size(kCuts))];
    options.cut_at = DrawMilliseconds(rng, 1'000, 8'000);
    // Seals A and C have deadlines of 42 s. Some cuts outlast them and some do not, which tests
    // different rules.
    options.cut_for =
        OneIn(rng, 2) ? DrawMilliseconds(rng, 200, 15'000) : DrawMilliseconds(rng, 15'000, 120'000);
  }
}

}  // namespace

SimOptions DrawSwarm(std::uint64_t seed, const SimOptions& base, bool only_attack) {
  const base::Rng rng = base::Rng(seed).Fork("swarm");
  SimOptions options;
  options.seed = seed;
  options.steps = base.steps;
  DrawMembers(rng.Fork("members"), options);
  DrawNetwork(rng.Fork("network"), options);
  options.exact = base.exact || DrawsExact(rng.Fork("exact"));
  if (base.model == kGptModel || DrawsGpt(rng.Fork("gpt"), options)) UseTinyGpt(options);
  DrawLocalSteps(rng.Fork("local"), base, options);
  DrawCodecs(rng.Fork("codecs"), base, options);
  DrawBatches(rng.Fork("batches"), base, options);
  DrawAlarm(rng.Fork("alarm"), base, options);
  if (only_attack) {
    options.attack = base.attack;
    options.attack_params = base.attack_params;
    options.attack_from_step = base.attack_from_step;
    if (options.byzantine == 0) options.byzantine = FaultsBorne(options);
  } else if (options.byzantine > 0) {
    DrawAttack(rng.Fork("attack"), options);
  }
  DrawDialers(rng.Fork("nat"), options);
  DrawLiars(rng.Fork("liars"), only_attack, options);
  DrawFaults(rng.Fork("faults"), options);
  DrawLeaves(rng.Fork("leaves"), options);
  DrawArrivals(rng.Fork("arrivals"), options);
  if (!only_attack) DrawGuestAttack(rng.Fork("guest attack"), options);
  DrawWaits(rng.Fork("waits"), options);
  DrawMachines(rng.Fork("machines"), options);
  DrawUplink(rng.Fork("uplink"), only_attack, options);
  DrawStragglers(rng.Fork("stragglers"), options);
  OSTRAKA_CHECK(!CheckOptions(base).ok() || CheckOptions(options).ok());
  return options;
}

}  // namespace ostraka::sim
