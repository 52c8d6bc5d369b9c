// Every setting of a run that is a number, a word or a text: where it stands in a manifest, its
// flag on the command line, its range and its help, each said once. A manifest's file
// (node/config/manifest_toml.cpp), the options of `run init` and `swarm`
// (node/cli/options/manifest_options.cpp) and those of the simulator (sim/setup/option_table.cpp)
// are made from these, and the manual from the options.
//
// Not here: lists of keys and what they let in (JoinPlan), the origin, and what follows from
// several settings (Validate).
//
// Thread safety: constants.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

namespace ostraka::protocol {

struct Setting {
  std::string_view section;
  std::string_view key;
  std::string_view help;       // a comment in the file
  std::string_view flag = {};  // empty: only the file can set it
  // Of a number; a wait in milliseconds. Validate refuses what is outside.
  std::uint64_t least = 0;
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  std::uint32_t since = 0;  // files of earlier protocol versions may lack it
};

namespace setting {

inline constexpr std::uint64_t kAny = std::numeric_limits<std::uint64_t>::max();
inline constexpr std::uint64_t kDayMs = 86'400'000;

inline constexpr Setting kName = {"run", "name", "name of the run, for people", "--name"};
inline constexpr Setting kNonce = {"run", "nonce",
                                   "distinguishes this run from others with equal settings"};
inline constexpr Setting kVersion = {"run", "protocol_version", ""};
inline constexpr Setting kDraft = {
    "run", "protocol_draft", "of that version, until it is finished", "", 0, kAny, 13};
inline constexpr Setting kMode = {
    "run", "mode",
    "majority bears the most faults, third stays safe in any network, balanced lies between them, "
    "checked finds liars soonest",
    "--mode"};
inline constexpr Setting kProfile = {"run", "compute_profile",
                                     "how recomputed gradients are compared: exact/1, tolerant",
                                     "--profile"};

inline constexpr Setting kModel = {"training", "model",
                                   "softmax, mlp, cnn, toy; or graph@hash of its file", "--model"};
inline constexpr Setting kData = {
    "training", "data", "name@hash of its content: digits, mnist, cifar10, text, tokens; or toy",
    "--data"};
inline constexpr Setting kDataSeed = {"training", "data_seed", "seed of the toy problem"};
inline constexpr Setting kHidden = {"training", "hidden", "mlp, cnn: hidden units; toy: dimension",
                                    "--hidden", 1};
inline constexpr Setting kBatchSize = {"training", "batch_size", "rows of each worker's batch",
                                       "--batch-size", 1};
inline constexpr Setting kBatches = {
    "training",  "batches", "batches that each worker averages in a gradient, at least",
    "--batches", 1,         255,
    13};
inline constexpr Setting kMostBatches = {"training",
                                         "most_batches",
                                         "and at most, on a fast machine: up to twice as many",
                                         "--most-batches",
                                         1,
                                         255,
                                         13};
inline constexpr Setting kSteps = {"training", "steps", "least number of steps",
                                   "--steps",  1,       100'000'000};
inline constexpr Setting kStepsAfterBan = {"training", "steps_after_ban",
                                           "steps that follow the last removal"};
// At least 5, so that what is claimed in the last steps that move something can still be tried.
inline constexpr Setting kSettleSteps = {"training", "settle_steps",
                                         "last steps, with learning rate 0", "", 5};
inline constexpr Setting kOptimizer = {
    "training", "optimizer", "sgd, nesterov, adamw or lamb", "--optimizer", 0, kAny, 7};
inline constexpr Setting kLearningRate = {"training", "learning_rate", "learning rate at its peak",
                                          "--learning-rate"};
inline constexpr Setting kWarmup = {"training", "warmup_steps",
                                    "steps in which the rate rises linearly from 0", "--warmup"};
inline constexpr Setting kSchedule = {
    "training",
    "schedule",
    "of the rate after the warm-up: linear (to 0), constant, cosine, or "
    "wsd, which stays and then decays",
    "--schedule",
    0,
    kAny,
    7};
inline constexpr Setting kDecaySteps = {
    "training", "decay_steps", "wsd: last steps, in which the rate falls", "--decay-steps", 0, kAny,
    7};
inline constexpr Setting kMomentum = {"training", "momentum", "of sgd and nesterov", "--momentum"};
inline constexpr Setting kWeightDecay = {"training", "weight_decay",
                                         "share of each parameter that a step of rate 1 takes away",
                                         "--weight-decay"};
inline constexpr Setting kClipNorm = {
    "training", "clip_norm", "largest norm of the aggregated gradient, 0: off", "--clip", 0, kAny,
    7};
inline constexpr Setting kBeta1 = {"training", "beta1", "adamw and lamb", "", 0, kAny, 7};
inline constexpr Setting kBeta2 = {"training", "beta2", "adamw and lamb", "", 0, kAny, 7};
inline constexpr Setting kEpsilon = {"training", "epsilon", "adamw and lamb", "", 0, kAny, 7};

inline constexpr Setting kInnerSteps = {
    "inner",
    "steps",
    "local steps of adamw by each worker in each step; 1: none, it sends its gradient",
    "--inner-steps",
    1,
    1024,
    13};
inline constexpr Setting kInnerRate = {
    "inner",
    "learning_rate",
    "of local steps at its peak; warm-up and schedule of [training] are then of this rate",
    "--inner-rate",
    0,
    kAny,
    13};
inline constexpr Setting kInnerWarmup = {
    "inner",
    "warmup_steps",
    "of the local steps of each step, in which the rate rises from 0",
    "",
    0,
    1024,
    13};
inline constexpr Setting kInnerBeta1 = {"inner", "beta1", "", "", 0, kAny, 13};
inline constexpr Setting kInnerBeta2 = {"inner", "beta2", "", "", 0, kAny, 13};
inline constexpr Setting kInnerEpsilon = {"inner", "epsilon", "", "", 0, kAny, 13};
inline constexpr Setting kInnerDecay = {
    "inner",
    "weight_decay",
    "share of each parameter that a local step of rate 1 takes away",
    "",
    0,
    kAny,
    13};
inline constexpr Setting kInnerClip = {"inner", "clip_norm", "largest norm of each gradient", "", 0,
                                       kAny,    13};

inline constexpr Setting kRule = {"aggregation", "rule",
                                  "centered_clip; mean is for comparison only"};
inline constexpr Setting kPartCodec = {
    "aggregation", "part_codec", "of gradients' parts: raw, i8 or i4", "--part-codec", 0, kAny, 13};
inline constexpr Setting kResultCodec = {
    "aggregation", "result_codec", "of aggregates: raw or i16", "--result-codec", 0, kAny, 13};
inline constexpr Setting kTau = {
    "aggregation", "tau",
    "clipping radius of a part; \"auto\" follows the median of the last sealed norms"};
inline constexpr Setting kTauMultiple = {"aggregation", "tau_multiple",
                                         "for automatic tau: factor of the median norm"};
inline constexpr Setting kTauInitial = {"aggregation", "tau_initial",
                                        "for automatic tau: tau of the first step"};
inline constexpr Setting kEps = {"aggregation", "eps",
                                 "residual per row that an aggregator must reach"};

inline constexpr Setting kValidators = {
    "checks", "validators", "members that recompute instead of training", "--validators"};
inline constexpr Setting kAlarmValidators = {
    "checks",
    "alarm_validators",
    "drawn after an accusation, those that cannot be spared train as well; 0: no alarm",
    "--alarm-validators",
    0,
    1024,
    13};
inline constexpr Setting kAlarmSteps = {"checks", "alarm_steps", "for so many steps", "", 1, 1000,
                                        13};
inline constexpr Setting kEpsG = {"checks", "eps_g", "relative noise of an honest gradient"};
inline constexpr Setting kDeltaMax = {"checks", "delta_max", "norm check; 0: off"};
inline constexpr Setting kStateRootEvery = {"checks", "state_root_every",
                                            "steps between sealed state roots", "", 1};
// At least 3, so that who returns knows what the cases that open then are about.
inline constexpr Setting kProbation = {"checks", "probation",
                                       "blocks that a returning member follows first", "", 3};

inline constexpr Setting kDelta = {
    "deadlines",
    "delta_ms",
    "four times the longest delay of a message: 1000 for the Internet, 250 at home",
    "--delta-ms",
    1,
    kDayMs};
inline constexpr Setting kDeltaCeiling = {"deadlines",
                                          "delta_ceiling_ms",
                                          "the largest value to which measured delays may raise it",
                                          "",
                                          1,
                                          kDayMs};
inline constexpr Setting kPartTimeout = {"deadlines",
                                         "part_timeout_ms",
                                         "how long an aggregator waits for parts",
                                         "--part-timeout-ms",
                                         1,
                                         kDayMs};
inline constexpr Setting kAdaptive = {
    "deadlines", "adaptive", "true: that wait follows the run, not below part_floor_ms", "", 0,
    kAny,        10};
inline constexpr Setting kPartFloor = {
    "deadlines",
    "part_floor_ms",
    "the least wait for parts: what the slowest member needs for them",
    "--part-floor-ms",
    1,
    kDayMs,
    10};
inline constexpr Setting kSealTimeout = {
    "deadlines", "seal_timeout_ms", "how long the fast path may take", "", 1, kDayMs};
inline constexpr Setting kPatience = {
    "deadlines",
    "patience_ms",
    "a member that finishes a step's work within this time is never late",
    "--patience-ms",
    1,
    kDayMs};

inline constexpr Setting kWork = {
    "deadlines",
    "work_ms",
    "what a step's work with the least batches may take; 0: patience_ms, at most a third of "
    "part_timeout_ms",
    "--work-ms",
    0,
    kDayMs,
    13};

inline constexpr Setting kJoinPolicy = {
    "join", "policy", "who may come in later: closed, allowlist, invite", "", 0, kAny, 9};
inline constexpr Setting kQuota = {
    "join", "quota", "keys that one moderator's invites may let in", "--quota", 0, kAny, 9};
inline constexpr Setting kSeats = {
    "join", "seats", "members at once; 0: as many as below", "--seats", 0, kAny, 9};

}  // namespace setting
}  // namespace ostraka::protocol
