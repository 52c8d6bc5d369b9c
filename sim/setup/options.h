// What a simulation is a function of, and its text form for replays.
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

struct SimOptions {
  std::uint64_t seed = 1;

  // Who.
  std::uint32_t peers = 8;
  std::uint32_t byzantine = 3;
  std::string attack = "none";  // sim/attacks/registry.h
  AttackParams attack_params;   // overrides of its defaults
  std::uint64_t attack_from_step = 5;
  // Of the Byzantine so many do nothing but lie in their ECHOs (attack lying_echo), so that the
  // others attack a run whose seals take the slow path.
  std::uint32_t liars = 0;
  // Checker "undetected": whoever cheats is removed by the end. Not to be asked of an attack that
  // only a drawn validator sees, in a run that may end before it is drawn.
  bool await_removal = true;
  // The checkers of what docs/seal.md assumes (sim/premises/), in runs whose network is timely.
  bool premises = true;

  // What.
  protocol::Mode mode = protocol::Mode::kMajority;
  bool unprotected = false;  // the plain butterfly all-reduce instead
  std::uint64_t steps = 200;
  std::uint32_t validators = 1;
  std::uint64_t dimension = 1000;  // of the toy problem
  std::uint64_t batch_size = 32;
  double learning_rate = 0.1;
  double tau = 0;  // 0: auto

  // Where: uniform delays, see sim/engine/network.h.
  base::Duration delay_min = base::Milliseconds(5);
  base::Duration delay_max = base::Milliseconds(50);
  base::Duration jitter = base::Milliseconds(5);
  std::uint64_t bytes_per_second = 12'500'000;
  base::Duration fsync_max = base::Milliseconds(5);
  // Of a thousand messages on a link so many are lost and come a retransmission later, with what is
  // behind them in their lane; so many come twice; of a thousand stores so many take 5 x as long.
  std::uint32_t loss_permille = 0;
  std::uint32_t duplicate_permille = 0;
  std::uint32_t stall_permille = 0;
  // Clocks: each peer's is ahead by up to `skew`, and fast or slow by up to drift_ppm.
  base::Duration skew;
  std::uint32_t drift_ppm = 0;

  // Faults of honest peers and of the network. Kills come one after another, evenly over the run,
  // each of one of so many honest peers as the mode bears beside the Byzantine ones; it starts
  // again after up to crash_down.
  std::uint32_t crashes = 0;
  base::Duration crash_down = base::Seconds(2);
  std::uint32_t blackouts = 0;  // as often all honest peers are killed at once
  // They start again from nothing, and soon after are killed once more, with what they have stored.
  bool lose_disk = false;
  // Bit k: kill number k is left out. What `sim shrink` tries (sim/run/shrink.h).
  std::uint64_t spared_kills = 0;
  // none; halves: two halves of the peers cannot hear each other; one_way: the first half hears the
  // second only when the cut ends; flapping: halves, on and off, a second each; flaky: every link
  // by itself, down and up for up to three seconds at a time.
  std::string cut = "none";
  base::Duration cut_at = base::Seconds(5);
  base::Duration cut_for = base::Seconds(20);

  // Virtual time after which a run has failed to make progress; 0: two minutes, and one minute
  // more for every step.
  base::Duration time_limit;

  bool operator==(const SimOptions&) const = default;
};

// t_s of the run at its genesis.
std::uint32_t FaultsBorne(const SimOptions& options);

// True if every message of an honest member comes within a quarter of Delta, and nobody
// honest is killed or cut off: what docs/seal.md calls timely.
bool IsTimely(const SimOptions& options);

// InvalidArgument or FailedPrecondition, in one line that says what to do: unknown attack or
// parameter, more faults than the mode bears (naming the mode that does), dimension too small...
base::Status CheckOptions(const SimOptions& options);

// "seed=7 peers=8 attack=alie attack.z=1.5 ...": one line. What a replay file holds. Equal for
// equal options, and for no others.
std::string FormatOptions(const SimOptions& options);

// The inverse: words separated by white space, '#' to the end of the line is a comment, options
// that are not named keep their defaults. InvalidArgument naming the word that is wrong.
base::StatusOr<SimOptions> ParseOptions(std::string_view text);

}  // namespace ostraka::sim
