// The parameters of a run, on which all peers agree before it starts. Parsed from TOML by
// node/config/manifest_toml.h; the simulator builds it in memory.
//
// Thread safety: immutable once built.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aggregation/optim/optimizer.h"
#include "node/base/ids.h"
#include "node/base/status.h"
#include "node/base/time.h"
#include "node/protocol/ground/codec.h"
#include "node/wire/block.h"

namespace ostraka::protocol {

using base::Digest;
using base::PeerId;
using wire::Thresholds;

// How many faults a run tolerates, as a share of its members (docs/protocol.md 1).
// kChecked bears the faults of kMajority, but so few that four validators can always be spared:
// liars are found sooner (docs/benchmarks.md, "Time to ban").
enum class Mode : std::uint8_t { kMajority = 0, kBalanced = 1, kThird = 2, kChecked = 3 };
const char* ModeName(Mode mode);  // majority, balanced, third, checked
base::StatusOr<Mode> ParseMode(std::string_view name);

inline constexpr char kTolerant[] = "tolerant";
inline constexpr char kExact[] = "exact/1";

struct Member {
  PeerId id;
  std::string address;    // "host:port"; empty in the simulator
  std::string name = {};  // for people (member_name.h); empty: none
  // It declares from the start that it cannot be dialed from outside (reach.h).
  bool only_dials = false;
};

// The learning rate after the warm-up: falls linearly to 0, stays, falls as half a cosine, or stays
// and then falls linearly over `decay_steps`.
enum class Schedule : std::uint8_t { kLinear, kConstant, kCosine, kWsd };
std::string_view ScheduleName(Schedule schedule);  // linear, constant, cosine, wsd
std::optional<Schedule> FindSchedule(std::string_view name);
inline constexpr Schedule kAllSchedules[] = {Schedule::kLinear, Schedule::kConstant,
                                             Schedule::kCosine, Schedule::kWsd};

// The local steps of each worker in each step (docs/numerics.md, 10): AdamW from moments of 0. The
// defaults are measured for a gpt of 10^5 parameters (docs/training.md).
struct InnerPlan {
  std::uint64_t steps = 1;  // H; 1: none, and none of the others counts
  double learning_rate = 0.006;
  std::uint64_t warmup_steps = 4;  // of the H
  double beta1 = 0.9;
  double beta2 = 0.95;
  double epsilon = 1e-8;
  double weight_decay = 0;
  double clip_norm = 1;  // of each gradient
  bool operator==(const InnerPlan&) const = default;
};

// The defaults train mlp on digits to 0.96 +- 0.01 accuracy (measured over seeds:
// docs/benchmarks.md). Other models and data need another rate (node/config/default_sgd.h).
struct TrainingPlan {
  std::string model = "mlp";
  std::string data = "digits";  // data source id: part of every batch seed
  // Addresses where data in chunks can be fetched, for members that agree (config/data_places.h).
  std::vector<std::string> data_places;
  std::uint64_t batch_size = 32;
  // Batches that a worker averages in each gradient: `batches` to `most_batches`, as it says in the
  // step before (docs/numerics.md, 10). At most twice as many: else a validator that computes few
  // needs too long for a worker that computes many.
  std::uint32_t batches = 1;
  std::uint32_t most_batches = 1;
  std::uint64_t hidden = 64;
  std::uint64_t data_seed = 0;
  std::uint64_t steps = 200;
  std::uint64_t steps_after_ban = 10;  // the run lasts at least this long after the last ban
  std::uint64_t settle_steps = 5;      // at the end, with learning rate 0
  InnerPlan inner;
  // The update (docs/decisions/0025-optimizers.md). With local steps `learning_rate` is constant
  // but for settle_steps, and warm-up and schedule are of inner.learning_rate.
  aggregation::Optimizer optimizer = aggregation::Optimizer::kSgd;
  double learning_rate = 1.0;       // peak; 0 from `steps` - settle_steps on
  std::uint64_t warmup_steps = 10;  // linear from 0
  Schedule schedule = Schedule::kLinear;
  std::uint64_t decay_steps = 0;  // kWsd alone: the last steps before the rate is 0
  double momentum = 0;            // kSgd, kNesterov
  double weight_decay = 0;
  double clip_norm = 0;  // of the aggregate over all applied columns; 0: off
  double beta1 = 0.9;    // kAdamW, kLamb: these three
  double beta2 = 0.95;
  double epsilon = 1e-8;
  // Steps that the state had seen before this run; not 0 only with an origin.
  std::uint64_t earlier_updates = 0;
};

// The initial state of a run, if it is not drawn from the run's id: the state of an older run that
// could not go on (docs/protocol/network.md), or trained weights with slots of 0.
struct Origin {
  Digest run_id;           // the older run; zero if there is none
  std::uint64_t step = 0;  // its last step included in the state
  Digest state_root;       // of parameters and slots
  bool weights = false;    // trained weights, of no run
  bool operator==(const Origin&) const = default;
};

// Which keys that are not of the genesis may come into the run (docs/decisions/0027).
enum class JoinPolicy : std::uint8_t {
  kClosed = 0,     // nobody
  kAllowlist = 1,  // the keys of JoinPlan::allow
  kInvite = 2,     // these, and keys with an invite that a moderator signed
};
inline constexpr JoinPolicy kAllJoinPolicies[] = {JoinPolicy::kClosed, JoinPolicy::kAllowlist,
                                                  JoinPolicy::kInvite};
std::string_view JoinPolicyName(JoinPolicy policy);  // closed, allowlist, invite
std::optional<JoinPolicy> FindJoinPolicy(std::string_view name);

struct JoinPlan {
  JoinPolicy policy = JoinPolicy::kClosed;
  std::vector<PeerId> allow;       // by key
  std::vector<PeerId> moderators;  // by key; need not be members
  // The most keys that one moderator's invites let in, over the whole run. Attack: a stolen key of
  // a moderator brings in colluders. [A bound on how many come in a step delays honest ones alike.]
  std::uint32_t quota = 16;
  std::uint32_t seats = 0;  // the most members at once; 0: as many as the genesis has
};

struct Manifest {
  Digest run_id;  // H(kDomainManifest, the file's bytes)
  std::string name;
  std::uint32_t protocol_version = wire::kProtocolVersion;
  std::uint32_t protocol_draft = wire::kProtocolDraft;  // of that version
  Mode mode = Mode::kMajority;
  std::vector<Member> members;  // genesis members by key
  TrainingPlan training;
  std::optional<Origin> origin;
  // How recomputed gradients are compared: kTolerant within eps_g, kExact bit for bit.
  std::string compute_profile = kTolerant;

  Codecs codecs;     // of parts and results
  bool clip = true;  // false: mean, for comparison only
  double tau = 0;    // 0: auto, `tau_multiple` x the median sealed norm of the last block
  double tau_multiple = 1.0;
  double tau_initial = 0x1.0p-10;  // auto's first step: near the geometric median of any scale
  double eps = 1e-6;               // CenteredClip's residual per row
  // Relative gradient noise (docs/protocol/numbers.md, tolerant profile): ten times the largest
  // that was measured between code paths of the built-in models (docs/benchmarks.md, "Gradient
  // noise"). In profile exact/1 it is 0.
  double eps_g = 6.4e-5;
  double delta_max = 0;          // V3; 0: off
  std::uint32_t validators = 1;  // m
  // Drawn in each of the alarm_steps steps after an accusation (roles.h); 0: there is no alarm.
  std::uint32_t alarm_validators = 0;
  std::uint32_t alarm_steps = 8;
  std::uint64_t state_root_every = 10;  // R steps

  JoinPlan join;

  // Blocks that who returns or comes follows before it is admitted. At least 3, so that it holds
  // the data for cases that are opened after its return.
  std::uint64_t probation = 5;

  // Four times the longest delay of a message between honest members. In the run the sealed lags
  // can raise it, up to the ceiling, and never lower it (NextDelta).
  base::Duration delta = base::Seconds(1);
  base::Duration delta_ceiling = base::Seconds(30);
  base::Duration part_timeout = base::Seconds(20);  // an aggregator waits this long for parts
  // True: that wait follows the run, from `part_floor` to `part_timeout` (deadlines.h).
  bool adaptive = false;
  base::Duration part_floor = base::Seconds(4);
  base::Duration seal_timeout = base::Seconds(60);  // then the fast path has failed
  // The time that a step's work may take on the slowest machine that the run wants to keep. A
  // member within it is never late, however fast the others are (node/protocol/rules/lateness.h).
  base::Duration patience = base::Seconds(1);
  // The time that the work of `training.batches` batches may take; 0: the patience, at most a third
  // of part_timeout and of an adaptive wait the floor. By it members choose how many more they
  // average. Attack: with more than the patience, a member that filled it was late by its own
  // choice and lost its place.
  base::Duration work = {};
};

// Whether members say how many batches they average.
bool BatchesVary(const TrainingPlan& plan);
// Manifest::work, or what 0 stands for.
base::Duration WorkIn(const Manifest& manifest);

// The most members that the run can have at once.
std::size_t SeatsIn(const Manifest& manifest);
// The most keys that the run can ever know: an upper bound for what is kept by key.
std::size_t KeysIn(const Manifest& manifest);
bool IsOpen(const Manifest& manifest);  // others than its genesis members may come
// The manifest itself names the key: as a genesis member or in its list.
bool IsAllowed(const Manifest& manifest, const PeerId& peer);
bool IsModerator(const Manifest& manifest, const PeerId& peer);

// The members that can be dialed at the genesis, and may own columns.
std::size_t ReachableIn(const Manifest& manifest);

// The largest tau of a run. Beyond it sums of n clipped differences in double do not resolve eps:
// an honest aggregator could not meet its residual bound, nor V2 its tolerance.
double LargestTau(const Manifest& manifest);
// The tau of automatic tau's first step: near the geometric median of any scale; with results of
// i16 larger, since some columns of the first step would be blind.
double FirstTau(const Codecs& codecs);
// The smallest tau that follows sealed norms: max(64, 8 n) eps, n the seats. There n rows of
// residual eps fill an eighth of a radius, half of what makes a column blind
// (node/protocol/rules/sizes.h).
double SmallestTau(const Manifest& manifest);

// t_a at genesis for n members, by the mode (docs/protocol.md 1).
std::uint32_t GenesisAsynchronousFaults(Mode mode, std::uint32_t n);
// The thresholds of n members, in a run whose t_a at genesis was `t_a_genesis`.
Thresholds ThresholdsFor(Mode mode, std::uint32_t n, std::uint32_t t_a_genesis);

// The thresholds of `n` members in a run of `manifest`; at its genesis.
Thresholds ThresholdsIn(const Manifest& manifest, std::size_t n);
Thresholds GenesisThresholds(const Manifest& manifest);
// m_t (docs/protocol/checks.md): how many of the `m` validators asked for can be spared from
// `in_role` members, of which `faults` may lie. At least 2 `faults` + 1 workers must remain, and
// three.
std::uint32_t SparedValidators(std::size_t in_role, std::uint32_t faults, std::uint32_t m);
// The fault bound max(t_s, t_a): among more members than that there is an honest one.
std::uint32_t FaultBound(const Thresholds& thresholds);

// The number of faults among `n` members that a run in `mode` bears and detects: t_s; but 0 if t_s
// faults leave no member to spare as a validator. Attack: without a validator a sign flipper goes
// on for ever. This is the case for 3 members in modes balanced and third only (manifest_test tries
// every n and mode).
std::uint32_t FaultsBorne(Mode mode, std::uint32_t n);
// The alarm_validators that suit `members`: a quarter of them from 16 on, else 0. Fewer members
// have few liars, which one validator finds nearly as soon.
std::uint32_t DefaultAlarm(std::size_t members);
// OK if `mode` tolerates `faults` of `n` members; else FailedPrecondition, which names a mode or a
// number of peers that would do.
base::Status CheckTolerates(Mode mode, std::uint32_t n, std::uint32_t faults);

// Names by key, of the members that have one.
std::map<PeerId, std::string> NamesOf(const std::vector<Member>& members);

// OK if a run of `manifest` can start; else one line about the first condition that fails.
base::Status Validate(const Manifest& manifest);
// The same but for the protocol version: for manifests of runs that are over, by which evidence is
// judged.
base::Status ValidateOfAnyVersion(const Manifest& manifest);
// OK if `version` and `draft` are this build's.
base::Status CheckProtocolVersion(std::uint32_t version, std::uint32_t draft);

}  // namespace ostraka::protocol
