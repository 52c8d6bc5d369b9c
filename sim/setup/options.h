// The parameters of a simulation, and their text form for replays. A run is a function of them.
//
// Thread safety: plain values and pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "node/base/status.h"
#include "node/base/time.h"
#include "node/protocol/ground/manifest.h"
#include "sim/attacks/registry.h"

namespace ostraka::sim {

// How long members wait, and for what.
struct SimWaits {
  base::Duration delta;  // the manifest's; 0: the usual one
  // The wait for parts follows the run, not below this (node/protocol/rules/part_wait.h); 0: it is
  // the manifest's.
  base::Duration part_floor;
  base::Duration gradient_time;  // what a gradient takes beside the time that its bytes take
  // Machines differ: each takes between this percentage of gradient_time and all of it, at least
  // one honest one all. The run's patience then knows nothing of gradient_time. 0: all are alike,
  // and it does.
  std::uint32_t fastest_percent = 0;
  // The number of honest genesis members that take all of it; the others take fastest_percent. 0:
  // each machine's time is drawn.
  std::uint32_t slowest = 0;
  // What the second pass of a recomputation that finds a difference takes of the first, at most.
  std::uint32_t again_percent = 100;
  // The number of honest genesis members whose gradients take `straggler_time`, which may exceed
  // the run's wait for parts. The run may drop these members, so they count as faulty.
  std::uint32_t stragglers = 0;
  base::Duration straggler_time = base::Seconds(30);

  bool operator==(const SimWaits&) const = default;
};

// The cuts of the network by name (SimOptions::cut), and no cut.
inline constexpr std::string_view kCuts[] = {"none", "halves", "one_way", "flapping", "flaky"};

struct SimOptions {
  std::uint64_t seed = 1;

  // The peers.
  std::uint32_t peers = 8;
  std::uint32_t byzantine = 3;
  std::string attack = "none";  // a name in sim/attacks/registry.h
  AttackParams attack_params;   // override the attack's defaults
  std::uint64_t attack_from_step = 5;
  // This many of the Byzantine peers only lie in their ECHOs (attack lying_echo), so that the
  // others attack a run whose seals take the slow path.
  std::uint32_t liars = 0;
  // Checker "undetected": every attacker is removed by the end. False for an attack that only a
  // drawn validator can see, in a run that may end before the draw.
  bool await_removal = true;
  // The checkers of docs/seal.md's assumptions (sim/premises/), in runs whose network is timely.
  bool premises = true;

  // This many peers, drawn, only dial: they say so in the manifest, and no link between two of them
  // ever comes up.
  std::uint32_t nat = 0;

  // This many honest peers, drawn, leave in the first half of the run, each in a step drawn, and
  // come back so long after the run has let them go.
  std::uint32_t leaves = 0;
  base::Duration leave_for = base::Seconds(2);
  // From this step on all attackers say that they leave; 0: never.
  std::uint64_t attackers_leave = 0;

  // Keys that come from outside in the first half of the run (sim/setup/arrivals.h): honest ones,
  // each allowed by the manifest or with an invite of its own; attackers, all by one public invite;
  // and keys that show what lets nobody in.
  std::uint32_t comes = 0;
  std::uint32_t intruders = 0;
  std::uint32_t forgers = 0;
  // So many honest keys come one after the other, the next one when the one before is in, and each
  // time the member leaves that has been in for longest. Each begins at the newest block.
  std::uint32_t turnover = 0;

  // The training.
  std::string model = "toy";  // of kModels (sim/setup/models.h)
  protocol::Mode mode = protocol::Mode::kMajority;
  bool unprotected = false;  // plain butterfly all-reduce instead of the protocol
  std::uint64_t steps = 200;
  std::uint32_t validators = 1;
  std::uint32_t alarm_validators = 0;
  std::uint64_t dimension = 1000;  // of the toy problem; another model has its own
  std::uint64_t batch_size = 32;
  // That a worker averages in each gradient, by its pace; both 1 but in profile exact/1.
  std::uint32_t batches = 1;
  std::uint32_t most_batches = 1;
  double learning_rate = 0.1;
  aggregation::Optimizer optimizer = aggregation::Optimizer::kSgd;
  protocol::Schedule schedule = protocol::Schedule::kLinear;
  double momentum = 0;
  double clip_norm = 0;  // of the aggregate; 0: off
  // H, and the rate of the local steps; with H > 1 the schedule is of that rate, and learning_rate
  // is the one of the update.
  std::uint64_t inner_steps = 1;
  double inner_rate = 0;
  protocol::Codecs codecs;  // raw but in profile exact/1
  double tau = 0;           // 0: automatic
  bool exact = false;       // compute_profile exact/1: gradients are compared bit for bit

  // The network: uniform delays, see sim/engine/network.h.
  base::Duration delay_min = base::Milliseconds(5);
  base::Duration delay_max = base::Milliseconds(50);
  base::Duration jitter = base::Milliseconds(5);
  std::uint64_t bytes_per_second = 12'500'000;  // of bulk data
  // Of all links of a peer together, in each direction out of it; 0: no limit. As `node
  // --bandwidth`: keys that are no members have an eighth of it, and wait for what goes to members.
  std::uint64_t uplink_bytes_per_second = 0;
  std::uint64_t line_bytes_per_second = 0;  // of all else, to peers that only dial; 0: no limit
  base::Duration fsync_max = base::Milliseconds(5);
  // Of a thousand messages on a link, loss_permille are lost and arrive a retransmission later,
  // with the messages behind them in their lane; duplicate_permille arrive twice. Of a thousand
  // stores, stall_permille take 5 times as long.
  std::uint32_t loss_permille = 0;
  std::uint32_t duplicate_permille = 0;
  std::uint32_t stall_permille = 0;
  // Clocks: each peer's is ahead by up to `skew`, and fast or slow by up to drift_ppm.
  base::Duration skew;
  std::uint32_t drift_ppm = 0;

  // Faults of honest peers and of the network. Kills are spread evenly over the run. The peers that
  // are killed are no more than the mode bears beside the Byzantine ones; each restarts after up to
  // crash_down.
  std::uint32_t crashes = 0;
  base::Duration crash_down = base::Seconds(2);
  std::uint32_t blackouts = 0;  // number of times at which all honest peers are killed at once
  // Killed peers restart without a disk, and are killed once more soon after, with the disk that
  // they have then.
  bool lose_disk = false;
  // Bit k: kill number k is left out. `sim shrink` sets these (sim/run/shrink.h).
  std::uint64_t spared_kills = 0;
  // none; halves: two halves of the peers cannot reach each other; one_way: messages of the second
  // half reach the first only when the cut ends; flapping: halves, on and off, a second each;
  // flaky: every link by itself, down and up for up to three seconds at a time.
  std::string cut = "none";
  base::Duration cut_at = base::Seconds(5);
  base::Duration cut_for = base::Seconds(20);

  SimWaits waits;

  // Virtual time after which a run counts as without progress; 0: two minutes, and one minute more
  // for every step.
  base::Duration time_limit;

  bool operator==(const SimOptions&) const = default;
};

// t_s at the genesis of the run.
std::uint32_t FaultsBorne(const SimOptions& options);
// How many of the intruders their invite lets in.
std::uint32_t IntrudersLetIn(const SimOptions& options);
// The step with which it ends, if it does.
std::optional<std::uint64_t> IntrudersEnd(const SimOptions& options);
// All that take part at some time.
std::uint32_t KeysIn(const SimOptions& options);

// The virtual time that a run may take: a step takes seven delays, disks and jobs.
base::Duration ExpectedLength(const SimOptions& options);
// From which on every process of the genesis runs.
inline constexpr base::Time kAllRun{300'000'000};

// True if every message of an honest member arrives within a quarter of Delta, and no honest peer
// is killed or cut off. docs/seal.md calls such a network timely.
bool IsTimely(const SimOptions& options);

// InvalidArgument or FailedPrecondition, in one line that says what to do: unknown attack or
// parameter, more faults than the mode bears (it names the mode that does), dimension too small,
// and so on.
base::Status CheckOptions(const SimOptions& options);

// One line, "seed=7 peers=8 attack=alie attack.z=1.5 ...": the content of a replay file. Equal if
// and only if the options are equal.
std::string FormatOptions(const SimOptions& options);

// The inverse. Words are separated by white space, '#' begins a comment, and options that are not
// named keep their defaults. InvalidArgument names the word that is wrong.
base::StatusOr<SimOptions> ParseOptions(std::string_view text);

}  // namespace ostraka::sim
