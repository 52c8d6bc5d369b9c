#include "node/protocol/ground/manifest.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "node/protocol/ground/member_name.h"
#include "node/protocol/ground/setting.h"
#include "node/protocol/ground/state.h"
#include "node/wire/limits.h"

namespace ostraka::protocol {
namespace {

struct ModeEntry {
  Mode mode;
  const char* name;
  // t_s is at most share_numerator / share_denominator of the members.
  std::uint32_t share_numerator;
  std::uint32_t share_denominator;
  // 2 t_s + 1 workers and so many validators are members.
  std::uint32_t validators;
};
constexpr ModeEntry kModes[] = {
    {Mode::kMajority, "majority", 1, 2, 0},
    {Mode::kBalanced, "balanced", 2, 5, 0},
    {Mode::kThird, "third", 1, 3, 0},
    {Mode::kChecked, "checked", 1, 2, 4},
};

const ModeEntry& EntryOf(Mode mode) { return kModes[static_cast<std::size_t>(mode)]; }

base::Status Require(bool holds, std::string_view message) {
  return holds ? base::OkStatus() : base::InvalidArgument(message);
}

// "training.steps must be at least 1", by the setting's range.
base::Status InRange(const Setting& setting, std::uint64_t value) {
  const std::string name = std::string(setting.section) + "." + std::string(setting.key);
  RETURN_IF_ERROR(
      Require(value >= setting.least, name + " must be at least " + std::to_string(setting.least)));
  return Require(value <= setting.most, name + " must be at most " + std::to_string(setting.most));
}
base::Status InRange(const Setting& setting, base::Duration wait) {
  return InRange(setting,
                 static_cast<std::uint64_t>(std::max<std::int64_t>(wait.ns, 0)) / 1'000'000);
}

bool PositiveFinite(double value) { return std::isfinite(value) && value > 0; }
bool NonNegativeFinite(double value) { return std::isfinite(value) && value >= 0; }

base::Status ValidateMembers(const Manifest& manifest) {
  const auto& members = manifest.members;
  RETURN_IF_ERROR(
      Require(members.size() >= 3, "a run needs at least 3 members: two have no majority"));
  RETURN_IF_ERROR(Require(members.size() <= wire::kMaxPeers,
                          "a run has at most " + std::to_string(wire::kMaxPeers) + " members"));
  for (std::size_t i = 0; i + 1 < members.size(); ++i) {
    const PeerId& id = members[i].id;
    RETURN_IF_ERROR(Require(id != members[i + 1].id, "member " + id.Short() + " is listed twice"));
    RETURN_IF_ERROR(Require(id < members[i + 1].id, "members must be sorted by key"));
  }
  return CheckMemberNames(NamesOf(members));
}

base::Status ValidateKeys(const std::vector<PeerId>& keys, const std::string& name,
                          std::size_t most) {
  RETURN_IF_ERROR(
      Require(keys.size() <= most, name + " lists more than " + std::to_string(most) + " keys"));
  const auto twice = std::adjacent_find(keys.begin(), keys.end());
  if (twice != keys.end()) {
    return base::InvalidArgument(name + " lists " + twice->Short() + " twice");
  }
  return Require(std::is_sorted(keys.begin(), keys.end()), name + " must be sorted by key");
}

base::Status ValidateJoin(const Manifest& manifest) {
  const JoinPlan& join = manifest.join;
  RETURN_IF_ERROR(ValidateKeys(join.allow, "join.allow", wire::kMaxPeers));
  RETURN_IF_ERROR(ValidateKeys(join.moderators, "join.moderators", wire::kMaxModerators));
  RETURN_IF_ERROR(Require(join.seats <= wire::kMaxPeers,
                          "join.seats must be at most " + std::to_string(wire::kMaxPeers)));
  RETURN_IF_ERROR(Require(join.seats == 0 || join.seats >= manifest.members.size(),
                          "join.seats must be 0 (as many as there are members) or at least " +
                              std::to_string(manifest.members.size()) + ", their number"));
  if (join.policy == JoinPolicy::kInvite) {
    RETURN_IF_ERROR(Require(!join.moderators.empty(),
                            "join.policy invite needs a moderator, who signs the invites"));
    // Attack: a moderator revokes invites that nobody has seen until a block can list no more, and
    // shuts out the guests of all others.
    const std::size_t most = wire::kMaxUsedInvites / join.moderators.size();
    return Require(join.quota >= 1 && join.quota <= most,
                   "join.quota must be from 1 to " + std::to_string(most) + " with " +
                       std::to_string(join.moderators.size()) + " moderators");
  }
  RETURN_IF_ERROR(
      Require(join.moderators.empty(), "join.moderators sign invites: use join.policy invite"));
  if (join.policy == JoinPolicy::kAllowlist) {
    return Require(!join.allow.empty(), "join.policy allowlist needs a key in join.allow");
  }
  return Require(join.allow.empty() && join.seats == 0,
                 "join.policy closed lets nobody in: join.allow must be empty and join.seats 0");
}

base::Status ValidateSchedule(const TrainingPlan& plan) {
  RETURN_IF_ERROR(Require(NonNegativeFinite(plan.learning_rate),
                          "training.learning_rate must be a number of at least 0"));
  RETURN_IF_ERROR(Require(std::isfinite(static_cast<float>(plan.learning_rate)),
                          "training.learning_rate must be at most 10^38"));
  if (plan.schedule != Schedule::kWsd) {
    return Require(plan.decay_steps == 0,
                   "training.decay_steps is of schedule wsd: it must be 0 with another");
  }
  return Require(plan.decay_steps >= 1 && plan.decay_steps <= plan.steps - plan.settle_steps,
                 "training.decay_steps must be at least 1 with schedule wsd, and at most steps - "
                 "settle_steps, " +
                     std::to_string(plan.steps - plan.settle_steps));
}

base::Status ValidateMoments(const std::string& section, double beta1, double beta2,
                             double epsilon) {
  RETURN_IF_ERROR(Require(NonNegativeFinite(beta1) && beta1 <= 0.999,
                          section + ".beta1 must be in [0, 0.999]"));
  RETURN_IF_ERROR(Require(NonNegativeFinite(beta2) && beta2 <= 0.9999,
                          section + ".beta2 must be in [0, 0.9999]"));
  RETURN_IF_ERROR(
      Require(beta1 * beta1 <= beta2,
              section + ".beta1 must be at most the square root of beta2, or a step has no bound"));
  return Require(epsilon >= 1e-12 && epsilon <= 1, section + ".epsilon must be in [1e-12, 1]");
}

// With these limits no number of the state can overflow (docs/decisions/0025-optimizers.md): what
// decays never overshoots 0. LAMB may multiply the rate by ten.
base::Status ValidateMomentsOf(const TrainingPlan& plan) {
  const bool lamb = plan.optimizer == aggregation::Optimizer::kLamb;
  const std::string name(aggregation::OptimizerName(plan.optimizer));
  RETURN_IF_ERROR(Require(plan.momentum == 0, "training.momentum must be 0 with optimizer " + name +
                                                  ", which has beta1"));
  RETURN_IF_ERROR(Require(plan.learning_rate <= (lamb ? 0.1 : 1.0),
                          "training.learning_rate must be at most " +
                              std::string(lamb ? "0.1" : "1") + " with " + name));
  RETURN_IF_ERROR(
      Require(plan.weight_decay <= 1, "training.weight_decay must be at most 1 with " + name));
  RETURN_IF_ERROR(Require(plan.clip_norm > 0 && plan.clip_norm <= 1e6,
                          "training.clip_norm must be above 0 and at most 10^6 with optimizer " +
                              name + ": one huge step would stay in its second moment"));
  return ValidateMoments("training", plan.beta1, plan.beta2, plan.epsilon);
}

base::Status ValidateOptimizer(const TrainingPlan& plan) {
  using aggregation::Optimizer;
  RETURN_IF_ERROR(Require(NonNegativeFinite(plan.momentum) && plan.momentum < 1,
                          "training.momentum must be in [0, 1)"));
  RETURN_IF_ERROR(Require(NonNegativeFinite(plan.weight_decay),
                          "training.weight_decay must be a number of at least 0"));
  // Kernels compute in float32. A rate of infinity times a gradient of 0 would be NaN.
  RETURN_IF_ERROR(Require(std::isfinite(static_cast<float>(plan.weight_decay)),
                          "training.weight_decay must be at most 10^38"));
  RETURN_IF_ERROR(Require(static_cast<float>(plan.momentum) < 1,
                          "training.momentum must be below 1, also as a float32"));
  RETURN_IF_ERROR(Require(NonNegativeFinite(plan.clip_norm),
                          "training.clip_norm must be a number of at least 0"));
  if (aggregation::HasMoments(plan.optimizer)) return ValidateMomentsOf(plan);
  return Require(plan.optimizer != Optimizer::kNesterov || plan.momentum > 0,
                 "training.momentum must be above 0 with optimizer nesterov");
}

// With these limits no number of a local step can overflow, as those of adamw.
base::Status ValidateInner(const TrainingPlan& plan) {
  const InnerPlan& inner = plan.inner;
  RETURN_IF_ERROR(InRange(setting::kInnerSteps, inner.steps));
  RETURN_IF_ERROR(Require(PositiveFinite(inner.learning_rate) && inner.learning_rate <= 1,
                          "inner.learning_rate must be above 0 and at most 1"));
  RETURN_IF_ERROR(Require(NonNegativeFinite(inner.weight_decay) && inner.weight_decay <= 1,
                          "inner.weight_decay must be in [0, 1]"));
  RETURN_IF_ERROR(Require(inner.clip_norm > 0 && inner.clip_norm <= 1e6,
                          "inner.clip_norm must be above 0 and at most 10^6"));
  RETURN_IF_ERROR(ValidateMoments("inner", inner.beta1, inner.beta2, inner.epsilon));
  if (inner.steps == 1) return base::OkStatus();
  RETURN_IF_ERROR(
      Require(inner.warmup_steps <= inner.steps, "inner.warmup_steps must be at most inner.steps"));
  RETURN_IF_ERROR(Require(!aggregation::HasMoments(plan.optimizer),
                          "training.optimizer must be nesterov or sgd with local steps "
                          "(inner.steps above 1), which have adamw"));
  RETURN_IF_ERROR(Require(plan.weight_decay == 0 && plan.clip_norm == 0,
                          "training.weight_decay and training.clip_norm must be 0 with local "
                          "steps: inner.weight_decay and inner.clip_norm are there for these"));
  return Require(plan.schedule != Schedule::kConstant,
                 "training.schedule must not be constant with local steps: after an attack the "
                 "run recovers where the rate falls");
}

base::Status ValidateTraining(const TrainingPlan& plan) {
  RETURN_IF_ERROR(InRange(setting::kSteps, plan.steps));
  RETURN_IF_ERROR(InRange(setting::kSettleSteps, plan.settle_steps));
  RETURN_IF_ERROR(Require(plan.settle_steps < plan.steps,
                          "training.steps must be above training.settle_steps (" +
                              std::to_string(plan.settle_steps) +
                              "): a run ends with so many steps that train nothing and settle "
                              "claims about the others"));
  RETURN_IF_ERROR(InRange(setting::kBatchSize, plan.batch_size));
  RETURN_IF_ERROR(InRange(setting::kHidden, plan.hidden));
  RETURN_IF_ERROR(InRange(setting::kBatches, plan.batches));
  RETURN_IF_ERROR(InRange(setting::kMostBatches, plan.most_batches));
  RETURN_IF_ERROR(
      Require(plan.batches <= plan.most_batches && plan.most_batches <= 2 * plan.batches,
              "training.most_batches must be training.batches to twice as many"));
  RETURN_IF_ERROR(ValidateSchedule(plan));
  RETURN_IF_ERROR(ValidateInner(plan));
  return ValidateOptimizer(plan);
}

// A run that claims to bear faults must be able to detect the faulty members.
base::Status ValidateValidators(const Manifest& manifest) {
  const auto n = static_cast<std::uint32_t>(manifest.members.size());
  const Thresholds thresholds = GenesisThresholds(manifest);
  if (thresholds.t_s == 0) return base::OkStatus();
  const std::string claim = std::to_string(thresholds.t_s) + " faulty of " + std::to_string(n);
  RETURN_IF_ERROR(
      Require(manifest.validators >= 1, "validators must be at least 1: a run that bears " + claim +
                                            " members needs one to find out who they are"));
  return Require(FaultsBorne(manifest.mode, n) > 0,
                 "mode " + std::string(ModeName(manifest.mode)) + " would bear " + claim +
                     " members, but could spare no validator to find out who they are: use mode "
                     "majority, which bears none, or 4 members");
}

base::Status ValidateAlarm(const Manifest& manifest) {
  RETURN_IF_ERROR(InRange(setting::kAlarmValidators, manifest.alarm_validators));
  return InRange(setting::kAlarmSteps, manifest.alarm_steps);
}

base::Status ValidateReach(const Manifest& manifest) {
  const std::size_t reachable = ReachableIn(manifest);
  const std::size_t least = std::min<std::size_t>(kFewestOwners, manifest.members.size());
  return Require(reachable >= least,
                 "only " + std::to_string(reachable) +
                     " members can be dialed (reachable = true), and a run trains with 3 or more: "
                     "open a port for another member");
}

base::Status ValidateDeadlines(const Manifest& manifest) {
  RETURN_IF_ERROR(InRange(setting::kDelta, manifest.delta));
  RETURN_IF_ERROR(Require(manifest.delta <= manifest.delta_ceiling,
                          "delta_ms must not be above delta_ceiling_ms"));
  RETURN_IF_ERROR(InRange(setting::kPartTimeout, manifest.part_timeout));
  RETURN_IF_ERROR(InRange(setting::kPartFloor, manifest.part_floor));
  RETURN_IF_ERROR(Require(!manifest.adaptive || manifest.part_floor * 2 <= manifest.part_timeout,
                          "part_floor_ms must be at most half of part_timeout_ms where adaptive is "
                          "true: lower it, or leave adaptive out"));
  RETURN_IF_ERROR(InRange(setting::kPatience, manifest.patience));
  RETURN_IF_ERROR(InRange(setting::kWork, manifest.work));
  RETURN_IF_ERROR(Require(manifest.work <= manifest.part_timeout,
                          "work_ms must not be above part_timeout_ms, which is waited for it"));
  const bool fills = BatchesVary(manifest.training) && manifest.work.ns > 0;
  RETURN_IF_ERROR(Require(!fills || (manifest.work <= manifest.patience &&
                                     (!manifest.adaptive || manifest.work <= manifest.part_floor)),
                          "where most_batches is above batches, work_ms must not be above "
                          "patience_ms, nor above part_floor_ms where adaptive is true: members "
                          "fill it, and would be late"));
  return Require(manifest.seal_timeout > manifest.part_timeout,
                 "seal_timeout_ms must be above part_timeout_ms: a seal waits for the aggregators");
}

base::Status ValidateCodecs(const Manifest& manifest) {
  const Codecs& codecs = manifest.codecs;
  RETURN_IF_ERROR(
      Require(ServesParts(codecs.parts), "aggregation.part_codec must be raw, i8 or i4"));
  RETURN_IF_ERROR(Require(ServesResults(codecs.results),
                          "aggregation.result_codec must be raw or i16: in a coarser one an owner "
                          "could hide a shift of each result"));
  RETURN_IF_ERROR(Require(codecs == Codecs{} || manifest.compute_profile == kExact,
                          "aggregation.part_codec and result_codec must be raw in compute_profile "
                          "tolerant"));
  return Require(codecs.results == Codec::kRaw || manifest.tau == 0,
                 "aggregation.tau must be \"auto\" with result_codec i16: beside a fixed one "
                 "columns can be blind for ever");
}

base::Status ValidateProfile(const Manifest& manifest) {
  if (manifest.compute_profile == kExact) {
    return Require(manifest.eps_g == 0, "eps_g must be 0 in compute_profile exact/1");
  }
  RETURN_IF_ERROR(Require(manifest.compute_profile == kTolerant,
                          "compute_profile must be \"exact/1\" or \"tolerant\""));
  RETURN_IF_ERROR(Require(manifest.training.inner.steps == 1,
                          "inner.steps must be 1 in compute_profile tolerant: noise of gradients "
                          "grows over local steps, and only exact/1 has none"));
  RETURN_IF_ERROR(Require(manifest.training.most_batches == 1,
                          "training.batches and most_batches must be 1 in compute_profile "
                          "tolerant"));
  return Require(PositiveFinite(manifest.eps_g), "eps_g must be positive");
}

}  // namespace

const char* ModeName(Mode mode) { return EntryOf(mode).name; }

std::string_view JoinPolicyName(JoinPolicy policy) {
  constexpr std::string_view kNames[] = {"closed", "allowlist", "invite"};
  return kNames[static_cast<std::size_t>(policy)];
}

std::optional<JoinPolicy> FindJoinPolicy(std::string_view name) {
  for (const JoinPolicy policy : kAllJoinPolicies) {
    if (JoinPolicyName(policy) == name) return policy;
  }
  return std::nullopt;
}

bool BatchesVary(const TrainingPlan& plan) { return plan.batches < plan.most_batches; }

base::Duration WorkIn(const Manifest& manifest) {
  if (manifest.work.ns > 0) return manifest.work;
  const base::Duration work =
      std::min(manifest.patience, base::Duration{manifest.part_timeout.ns / 3});
  return manifest.adaptive ? std::min(work, manifest.part_floor) : work;
}

std::size_t SeatsIn(const Manifest& manifest) {
  return std::max<std::size_t>(manifest.join.seats, manifest.members.size());
}

bool IsOpen(const Manifest& manifest) { return manifest.join.policy != JoinPolicy::kClosed; }

std::size_t KeysIn(const Manifest& manifest) {
  return IsOpen(manifest) ? wire::kMaxKeys : manifest.members.size();
}

bool IsAllowed(const Manifest& manifest, const PeerId& peer) {
  const auto& allow = manifest.join.allow;
  if (std::binary_search(allow.begin(), allow.end(), peer)) return true;
  return std::any_of(manifest.members.begin(), manifest.members.end(),
                     [&](const Member& member) { return member.id == peer; });
}

bool IsModerator(const Manifest& manifest, const PeerId& peer) {
  const auto& moderators = manifest.join.moderators;
  return std::binary_search(moderators.begin(), moderators.end(), peer);
}

std::string_view ScheduleName(Schedule schedule) {
  constexpr std::string_view kNames[] = {"linear", "constant", "cosine", "wsd"};
  return kNames[static_cast<std::size_t>(schedule)];
}

std::optional<Schedule> FindSchedule(std::string_view name) {
  for (const Schedule schedule : kAllSchedules) {
    if (ScheduleName(schedule) == name) return schedule;
  }
  return std::nullopt;
}

base::StatusOr<Mode> ParseMode(std::string_view name) {
  for (const ModeEntry& entry : kModes) {
    if (name == entry.name) return entry.mode;
  }
  return base::InvalidArgument("mode '" + std::string(name) +
                               "' is not known: use majority, balanced, third or checked");
}

std::uint32_t GenesisAsynchronousFaults(Mode mode, std::uint32_t n) {
  switch (mode) {
    case Mode::kMajority:
    case Mode::kChecked:
      return 1;
    case Mode::kBalanced:
      return n / 5;
    case Mode::kThird:
      return n == 0 ? 0 : (n - 1) / 3;
  }
  return 0;
}

std::uint32_t SparedValidators(std::size_t in_role, std::uint32_t faults, std::uint32_t m) {
  const std::size_t workers = std::max<std::size_t>(2 * std::size_t{faults} + 1, 3);
  const std::size_t spared = in_role > workers ? in_role - workers : 0;
  return static_cast<std::uint32_t>(std::min<std::size_t>(spared, m));
}

Thresholds ThresholdsFor(Mode mode, std::uint32_t n, std::uint32_t t_a_genesis) {
  const ModeEntry& entry = EntryOf(mode);
  const std::uint32_t by_share = n * entry.share_numerator / entry.share_denominator;
  // t_a + 2 t_s < n (Blum, Katz, Loss): t_s <= (n - 1 - t_a) / 2.
  const std::uint32_t by_quorum = n > t_a_genesis ? (n - 1 - t_a_genesis) / 2 : 0;
  const std::uint32_t by_checks = n > entry.validators ? (n - 1 - entry.validators) / 2 : 0;
  Thresholds thresholds;
  thresholds.n = n;
  thresholds.t_s = std::min({by_share, by_quorum, by_checks});
  thresholds.t_a = std::min(t_a_genesis, thresholds.t_s);
  return thresholds;
}

Thresholds ThresholdsIn(const Manifest& manifest, std::size_t n) {
  const auto genesis = static_cast<std::uint32_t>(manifest.members.size());
  return ThresholdsFor(manifest.mode, static_cast<std::uint32_t>(n),
                       GenesisAsynchronousFaults(manifest.mode, genesis));
}

Thresholds GenesisThresholds(const Manifest& manifest) {
  return ThresholdsIn(manifest, manifest.members.size());
}

std::uint32_t FaultBound(const Thresholds& thresholds) {
  return std::max(thresholds.t_s, thresholds.t_a);
}

double LargestTau(const Manifest& manifest) {
  return 0x1.0p44 * manifest.eps / static_cast<double>(SeatsIn(manifest));
}

std::uint32_t FaultsBorne(Mode mode, std::uint32_t n) {
  const Thresholds thresholds = ThresholdsFor(mode, n, GenesisAsynchronousFaults(mode, n));
  return SparedValidators(n, FaultBound(thresholds), 1) == 0 ? 0 : thresholds.t_s;
}

std::uint32_t DefaultAlarm(std::size_t members) {
  return members < 16 ? 0 : static_cast<std::uint32_t>((members + 3) / 4);
}

std::size_t ReachableIn(const Manifest& manifest) {
  return static_cast<std::size_t>(
      std::count_if(manifest.members.begin(), manifest.members.end(),
                    [](const Member& member) { return !member.only_dials; }));
}

double FirstTau(const Codecs& codecs) {
  return codecs.results == Codec::kRaw ? Manifest{}.tau_initial : 0x1.0p-6;
}

double SmallestTau(const Manifest& manifest) {
  return std::max(64.0, 8.0 * static_cast<double>(SeatsIn(manifest))) * manifest.eps;
}

base::Status CheckTolerates(Mode mode, std::uint32_t n, std::uint32_t faults) {
  if (faults <= FaultsBorne(mode, n)) return base::OkStatus();
  std::string message = "mode " + std::string(ModeName(mode)) + " bears " +
                        std::to_string(FaultsBorne(mode, n)) + " faulty of " + std::to_string(n) +
                        " peers, not " + std::to_string(faults);
  for (const ModeEntry& entry : kModes) {
    if (faults <= FaultsBorne(entry.mode, n)) {
      return base::FailedPrecondition(message + ": use --mode " + entry.name);
    }
  }
  std::uint32_t best = 0;
  for (const ModeEntry& entry : kModes) best = std::max(best, FaultsBorne(entry.mode, n));
  message += ", and no mode bears more than " + std::to_string(best) + ": use ";
  // Majority bears (n - 2) / 2, and no mode needs fewer peers for as many faults.
  const std::uint64_t enough = 2 * std::uint64_t{faults} + 2;
  if (enough <= wire::kMaxPeers) message += std::to_string(enough) + " peers or more, or ";
  return base::FailedPrecondition(message + "fewer faults");
}

base::Status CheckProtocolVersion(std::uint32_t version, std::uint32_t draft) {
  const bool is_newer =
      std::pair(version, draft) > std::pair(wire::kProtocolVersion, wire::kProtocolDraft);
  const std::string remedy = is_newer ? ": use a newer build"
                                      : ": go on from its state in a new run (`ostraka run "
                                        "recover`), or use the build that made it";
  RETURN_IF_ERROR(Require(version == wire::kProtocolVersion,
                          "this build speaks protocol version " +
                              std::to_string(wire::kProtocolVersion) + ", the manifest asks for " +
                              std::to_string(version) + remedy));
  return Require(draft == wire::kProtocolDraft,
                 "this build speaks draft " + std::to_string(wire::kProtocolDraft) +
                     " of protocol version " + std::to_string(version) +
                     ", the manifest asks for draft " + std::to_string(draft) + remedy);
}

std::map<PeerId, std::string> NamesOf(const std::vector<Member>& members) {
  std::map<PeerId, std::string> names;
  for (const Member& member : members) {
    if (!member.name.empty()) names.emplace(member.id, member.name);
  }
  return names;
}

base::Status Validate(const Manifest& manifest) {
  RETURN_IF_ERROR(CheckProtocolVersion(manifest.protocol_version, manifest.protocol_draft));
  return ValidateOfAnyVersion(manifest);
}

base::Status ValidateOfAnyVersion(const Manifest& manifest) {
  RETURN_IF_ERROR(Require(!manifest.run_id.is_zero(), "the manifest has no run id"));
  RETURN_IF_ERROR(ValidateMembers(manifest));
  RETURN_IF_ERROR(ValidateReach(manifest));
  RETURN_IF_ERROR(ValidateJoin(manifest));
  RETURN_IF_ERROR(ValidateTraining(manifest.training));
  const std::uint64_t earlier = manifest.training.earlier_updates;
  RETURN_IF_ERROR(Require(earlier <= 1'000'000'000'000 && (earlier == 0 || manifest.origin),
                          "origin.updates must be at most 10^12"));
  RETURN_IF_ERROR(ValidateProfile(manifest));
  RETURN_IF_ERROR(ValidateCodecs(manifest));
  RETURN_IF_ERROR(Require(NonNegativeFinite(manifest.tau), "tau must be 0 (auto) or positive"));
  RETURN_IF_ERROR(Require(PositiveFinite(manifest.tau_multiple) && manifest.tau_multiple <= 1,
                          "tau_multiple must be in (0, 1]: above 1 attackers can make tau grow"));
  RETURN_IF_ERROR(Require(PositiveFinite(manifest.tau_initial), "tau_initial must be positive"));
  RETURN_IF_ERROR(Require(PositiveFinite(manifest.eps), "eps must be positive"));
  RETURN_IF_ERROR(Require(std::max(manifest.tau, manifest.tau_initial) <= LargestTau(manifest),
                          "tau is too large for eps: doubles cannot resolve the sum check; "
                          "raise eps or lower tau"));
  RETURN_IF_ERROR(
      Require(NonNegativeFinite(manifest.delta_max), "delta_max must be 0 (off) or positive"));
  RETURN_IF_ERROR(ValidateValidators(manifest));
  RETURN_IF_ERROR(ValidateAlarm(manifest));
  RETURN_IF_ERROR(InRange(setting::kStateRootEvery, manifest.state_root_every));
  RETURN_IF_ERROR(InRange(setting::kProbation, manifest.probation));
  return ValidateDeadlines(manifest);
}

}  // namespace ostraka::protocol
