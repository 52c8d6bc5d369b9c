#include "node/protocol/ground/manifest.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "node/wire/limits.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::manifest_test {
namespace {

using scene::ManifestOf;
using scene::PeerNumber;
using scene::PeersUpTo;

constexpr Mode kAllModes[] = {Mode::kMajority, Mode::kBalanced, Mode::kThird, Mode::kChecked};

// docs/protocol.md 1, word for word: the largest t_s that its two bounds allow.
std::uint32_t NaiveSynchronousFaults(Mode mode, std::uint32_t n, std::uint32_t t_a_genesis) {
  std::uint32_t best = 0;
  for (std::uint32_t t_s = 0; t_s <= n; ++t_s) {
    const bool within_share = (mode == Mode::kMajority && 2 * t_s <= n) ||
                              (mode == Mode::kBalanced && 5 * t_s <= 2 * n) ||
                              (mode == Mode::kThird && 3 * t_s <= n) ||
                              (mode == Mode::kChecked && 2 * t_s + 5 <= n);
    if (within_share && t_a_genesis + 2 * t_s < n) best = t_s;
  }
  return best;
}

std::uint32_t NaiveGenesisAsynchronousFaults(Mode mode, std::uint32_t n) {
  if (mode == Mode::kMajority || mode == Mode::kChecked) return 1;
  std::uint32_t t_a = 0;
  const auto fits = [&](std::uint32_t t) {
    return mode == Mode::kBalanced ? 5 * t <= n : 3 * t + 1 <= n;
  };
  while (fits(t_a + 1)) ++t_a;
  return t_a;
}

TEST(ThresholdsTest, AreTheLargestThatTheBoundsAllow) {
  for (const Mode mode : kAllModes) {
    for (std::uint32_t genesis = 2; genesis <= 64; ++genesis) {
      const std::uint32_t t_a = GenesisAsynchronousFaults(mode, genesis);
      EXPECT_EQ(t_a, NaiveGenesisAsynchronousFaults(mode, genesis))
          << ModeName(mode) << " of " << genesis;
      // Bans shrink the run; t_a stays what it was at genesis.
      for (std::uint32_t n = 0; n <= genesis; ++n) {
        const Thresholds thresholds = ThresholdsFor(mode, n, t_a);
        EXPECT_EQ(thresholds.n, n);
        EXPECT_EQ(thresholds.t_s, NaiveSynchronousFaults(mode, n, t_a))
            << ModeName(mode) << " " << n << " of " << genesis;
        EXPECT_EQ(thresholds.t_a, std::min(t_a, thresholds.t_s));
        EXPECT_EQ(thresholds.quorum(), n - thresholds.t_s);
        if (n > 0) {
          EXPECT_LT(thresholds.t_a + 2 * thresholds.t_s, n);
        }
      }
    }
  }
}

TEST(ThresholdsTest, MajorityBearsWhatTheDesignPromises) {
  EXPECT_EQ(ThresholdsFor(Mode::kMajority, 8, 1), (Thresholds{8, 3, 1}));
  EXPECT_EQ(ThresholdsFor(Mode::kMajority, 16, 1), (Thresholds{16, 7, 1}));
}

TEST(ThresholdsTest, ABanGivesSlackBack) {
  EXPECT_EQ(ThresholdsFor(Mode::kMajority, 7, 1), (Thresholds{7, 2, 1}));
  EXPECT_EQ(ThresholdsFor(Mode::kMajority, 5, 1), (Thresholds{5, 1, 1}));
}

TEST(ThresholdsTest, ARunKeepsTheAsynchronousFaultsOfItsGenesis) {
  const Manifest manifest = ManifestOf(10, Mode::kBalanced);
  EXPECT_EQ(GenesisThresholds(manifest), ThresholdsFor(Mode::kBalanced, 10, 2));
  EXPECT_EQ(ThresholdsIn(manifest, 9), ThresholdsFor(Mode::kBalanced, 9, 2));
  EXPECT_EQ(FaultBound({9, 3, 2}), 3u);
}

TEST(ThresholdsTest, ValidatorsAreSparedIfTheWorkersLeftOutnumberTheFaults) {
  EXPECT_EQ(SparedValidators(16, 7, 4), 1U);
  EXPECT_EQ(SparedValidators(16, 5, 4), 4U);
  EXPECT_EQ(SparedValidators(16, 5, 9), 5U);
  EXPECT_EQ(SparedValidators(16, 8, 1), 0U);
  EXPECT_EQ(SparedValidators(4, 0, 2), 1U) << "three workers are left in any case";
  EXPECT_EQ(SparedValidators(2, 0, 1), 0U);
  EXPECT_EQ(SparedValidators(0, 0, 1), 0U);
}

// Members whom t_s faults leave to validate: all but 2b + 1 workers, b = max(t_s, t_a), and three.
std::uint32_t NaiveSpared(std::uint32_t n, std::uint32_t t_s, std::uint32_t t_a) {
  const std::uint32_t workers = std::max(2 * std::max(t_s, t_a) + 1, 3U);
  return n > workers ? n - workers : 0;
}

std::uint32_t NaiveFaultsBorne(Mode mode, std::uint32_t n) {
  const std::uint32_t t_a = NaiveGenesisAsynchronousFaults(mode, n);
  const std::uint32_t t_s = NaiveSynchronousFaults(mode, n, t_a);
  return NaiveSpared(n, t_s, std::min(t_s, t_a)) == 0 ? 0 : t_s;
}

// Whoever claims to bear faults must be able to find them: a sign flipper whom nobody checks goes
// on for ever. So it is for every n and mode that a run can have, but for two, and those are
// refused.
TEST(FaultsBorneTest, AValidatorIsSparedWhereverAFaultIsBorne) {
  std::vector<std::pair<std::uint32_t, Mode>> refused;
  for (const Mode mode : kAllModes) {
    for (std::uint32_t n = 3; n <= wire::kMaxPeers; ++n) {
      const Thresholds thresholds = ThresholdsFor(mode, n, GenesisAsynchronousFaults(mode, n));
      const std::uint32_t borne = FaultsBorne(mode, n);
      ASSERT_EQ(borne, NaiveFaultsBorne(mode, n)) << ModeName(mode) << " " << n;
      const bool valid = Validate(ManifestOf(n, mode)).ok();
      ASSERT_EQ(valid, borne == thresholds.t_s) << ModeName(mode) << " " << n;
      if (!valid) refused.emplace_back(n, mode);
      if (borne == 0) continue;
      EXPECT_EQ(borne, thresholds.t_s) << "thresholds that work are as they were";
      EXPECT_GE(SparedValidators(n, FaultBound(thresholds), 1), 1U) << ModeName(mode) << " " << n;
      // With a spared member gone to a ban the rest still can: fewer faults are left to bear.
      const Thresholds after = ThresholdsFor(mode, n - 1, GenesisAsynchronousFaults(mode, n));
      if (after.t_s > 0 && n > 4) {
        EXPECT_GE(SparedValidators(n - 1, FaultBound(after), 1), 1U) << ModeName(mode) << " " << n;
      }
    }
  }
  EXPECT_THAT(refused, testing::UnorderedElementsAre(std::pair(3U, Mode::kBalanced),
                                                     std::pair(3U, Mode::kThird)));
}

TEST(CheckToleratesTest, RefusesExactlyWhatTheModeCannotBear) {
  for (const Mode mode : kAllModes) {
    for (std::uint32_t n = 2; n <= 64; ++n) {
      for (std::uint32_t faults = 0; faults <= n; ++faults) {
        const std::uint32_t borne = NaiveFaultsBorne(mode, n);
        const base::Status status = CheckTolerates(mode, n, faults);
        ASSERT_EQ(status.ok(), faults <= borne) << ModeName(mode) << " " << n << " " << faults;
        if (status.ok()) continue;
        EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
      }
    }
  }
}

// The advice must hold: the mode that is named bears the faults, and where none is named none does.
TEST(CheckToleratesTest, NamesAModeThatWouldDo) {
  for (const Mode mode : kAllModes) {
    for (std::uint32_t n = 2; n <= 64; ++n) {
      std::uint32_t best = 0;
      for (const Mode other : kAllModes) {
        best = std::max(best, NaiveFaultsBorne(other, n));
      }
      for (std::uint32_t faults = 1; faults <= n; ++faults) {
        const base::Status status = CheckTolerates(mode, n, faults);
        if (status.ok()) continue;
        const std::string message = base::MessageOf(status);
        bool named = false;
        for (const Mode other : kAllModes) {
          if (message.find(std::string("use --mode ") + ModeName(other)) == std::string::npos) {
            continue;
          }
          named = true;
          EXPECT_TRUE(CheckTolerates(other, n, faults).ok()) << message;
        }
        EXPECT_EQ(named, faults <= best) << message;
        const std::string limit = "no mode bears more than " + std::to_string(best) + ":";
        EXPECT_EQ(message.find(limit) != std::string::npos, faults > best) << message;
        if (faults <= best || 2 * faults + 2 > wire::kMaxPeers) continue;
        const std::string peers = "use " + std::to_string(2 * faults + 2) + " peers or more";
        EXPECT_NE(message.find(peers), std::string::npos) << message;
        EXPECT_GE(NaiveFaultsBorne(Mode::kMajority, 2 * faults + 2), faults) << message;
      }
    }
  }
}

TEST(CheckToleratesTest, SaysWhatIsWrongInOneLine) {
  EXPECT_EQ(base::MessageOf(CheckTolerates(Mode::kThird, 8, 3)),
            "mode third bears 2 faulty of 8 peers, not 3: use --mode majority");
  EXPECT_EQ(base::MessageOf(CheckTolerates(Mode::kBalanced, 3, 1)),
            "mode balanced bears 0 faulty of 3 peers, not 1, and no mode bears more than 0: use 4 "
            "peers or more, or fewer faults");
}

// In mode checked a run that bears a fault spares four validators, however many it bears.
TEST(FaultsBorneTest, FourValidatorsAreSparedInModeChecked) {
  for (std::uint32_t n = 7; n <= wire::kMaxPeers; ++n) {
    const std::uint32_t borne = FaultsBorne(Mode::kChecked, n);
    EXPECT_GE(borne, 1U) << n;
    EXPECT_LE(borne, FaultsBorne(Mode::kMajority, n));
    EXPECT_EQ(SparedValidators(n, borne, 4), 4U) << n;
    if (n % 2 != 0) EXPECT_LT(SparedValidators(n, borne + 1, 4), 4U) << n;
  }
}

TEST(ModeTest, NamesParseBack) {
  for (const Mode mode : kAllModes) {
    const auto parsed = ParseMode(ModeName(mode));
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(*parsed, mode);
  }
  for (const char* name : {"", "Majority", "half", "majority "}) {
    const auto parsed = ParseMode(name);
    ASSERT_FALSE(parsed.ok()) << name;
    EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument);
  }
}

// --- Validate ------------------------------------------------------------------------------------

TEST(ValidateTest, TakesAnHonestManifest) {
  EXPECT_TRUE(Validate(ManifestOf(8)).ok());
  EXPECT_TRUE(Validate(ManifestOf(3)).ok());
  EXPECT_TRUE(Validate(ManifestOf(static_cast<std::uint32_t>(wire::kMaxPeers))).ok());
}

struct BadManifest {
  const char* name;
  std::function<void(Manifest&)> spoil;
  const char* says;  // what the message must contain
};

class ValidateRefusalTest : public testing::TestWithParam<BadManifest> {};

TEST_P(ValidateRefusalTest, InOneLineThatNamesTheValue) {
  Manifest manifest = ManifestOf(8);
  GetParam().spoil(manifest);
  const base::Status status = Validate(manifest);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  const std::string message = base::MessageOf(status);
  EXPECT_NE(message.find(GetParam().says), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

TrainingPlan& UseAdamW(Manifest& manifest) {
  manifest.training.optimizer = aggregation::Optimizer::kAdamW;
  manifest.training.clip_norm = 1;
  return manifest.training;
}

TrainingPlan& UseLocalSteps(Manifest& manifest) {
  manifest.compute_profile = kExact;
  manifest.eps_g = 0;
  manifest.training.inner.steps = 16;
  return manifest.training;
}

JoinPlan& UseInvites(Manifest& manifest) {
  manifest.join.policy = JoinPolicy::kInvite;
  manifest.join.moderators = {PeerNumber(90)};
  return manifest.join;
}

TEST(ValidateTest, TakesInvitesWithinTheirLimits) {
  Manifest manifest = ManifestOf(8);
  UseInvites(manifest) = {JoinPolicy::kInvite, PeersUpTo(256), PeersUpTo(16), 64, 256};
  EXPECT_TRUE(Validate(manifest).ok()) << Validate(manifest);
}

TEST(JoinPlanTest, SaysWhoMayComeAndHowMany) {
  Manifest manifest = ManifestOf(8);
  EXPECT_FALSE(IsOpen(manifest));
  EXPECT_EQ(SeatsIn(manifest), 8u);
  EXPECT_EQ(KeysIn(manifest), 8u);
  EXPECT_TRUE(IsAllowed(manifest, PeerNumber(3))) << "a member of the genesis";
  EXPECT_FALSE(IsAllowed(manifest, PeerNumber(30)));
  UseInvites(manifest) = {JoinPolicy::kInvite, {PeerNumber(30)}, {PeerNumber(90)}, 4, 12};
  EXPECT_TRUE(IsOpen(manifest));
  EXPECT_EQ(SeatsIn(manifest), 12u);
  EXPECT_EQ(KeysIn(manifest), wire::kMaxKeys);
  EXPECT_TRUE(IsAllowed(manifest, PeerNumber(30)));
  EXPECT_TRUE(IsModerator(manifest, PeerNumber(90)));
  EXPECT_FALSE(IsModerator(manifest, PeerNumber(30)));
}

TEST(JoinPlanTest, WhatHangsOnSumsOfMembersHangsOnSeats) {
  Manifest manifest = ManifestOf(8);
  const double most = LargestTau(manifest);
  const double least = SmallestTau(manifest);
  UseInvites(manifest).seats = 32;
  EXPECT_EQ(LargestTau(manifest), most / 4);
  EXPECT_EQ(SmallestTau(manifest), least * 4);
}

TEST(JoinPlanTest, PoliciesHaveNames) {
  for (const JoinPolicy policy : kAllJoinPolicies) {
    EXPECT_EQ(FindJoinPolicy(JoinPolicyName(policy)), policy);
  }
  EXPECT_FALSE(FindJoinPolicy("open"));
}

TEST(ValidateTest, TakesAdamWWithinItsLimits) {
  Manifest manifest = ManifestOf(8);
  UseAdamW(manifest);
  EXPECT_TRUE(Validate(manifest).ok()) << Validate(manifest);
}

TEST(ValidateTest, TakesLocalStepsWithinTheirLimits) {
  Manifest manifest = ManifestOf(8);
  UseLocalSteps(manifest);
  EXPECT_TRUE(Validate(manifest).ok()) << Validate(manifest);
  manifest.training.inner.steps = 1;
  manifest.training.schedule = Schedule::kConstant;
  EXPECT_TRUE(Validate(manifest).ok()) << "there are none";
}

INSTANTIATE_TEST_SUITE_P(
    All, ValidateRefusalTest,
    testing::Values(
        BadManifest{"RunId", [](Manifest& m) { m.run_id = {}; }, "run id"},
        BadManifest{"Version", [](Manifest& m) { m.protocol_version = 1; }, "protocol version"},
        BadManifest{"NoMembers", [](Manifest& m) { m.members.clear(); }, "at least 3"},
        BadManifest{"TwoMembers", [](Manifest& m) { m.members.resize(2); }, "at least 3"},
        BadManifest{
            "TooManyMembers",
            [](Manifest& m) { m = ManifestOf(static_cast<std::uint32_t>(wire::kMaxPeers) + 1); },
            "at most 256"},
        BadManifest{"Twice", [](Manifest& m) { m.members[3] = m.members[2]; }, "listed twice"},
        BadManifest{"Unsorted", [](Manifest& m) { std::swap(m.members[0], m.members[1]); },
                    "sorted"},
        BadManifest{"NoSteps", [](Manifest& m) { m.training.steps = 0; }, "training.steps"},
        BadManifest{"ManySteps", [](Manifest& m) { m.training.steps = 100'000'001; },
                    "training.steps"},
        BadManifest{"Settle", [](Manifest& m) { m.training.settle_steps = m.training.steps; },
                    "settle_steps"},
        BadManifest{"ShortSettle", [](Manifest& m) { m.training.settle_steps = 4; },
                    "settle_steps must be at least 5"},
        BadManifest{"Probation", [](Manifest& m) { m.probation = 2; }, "probation"},
        BadManifest{"DeltaNone", [](Manifest& m) { m.delta = {}; }, "delta_ms must be at least 1"},
        BadManifest{"DeltaAbove", [](Manifest& m) { m.delta = base::Seconds(31); },
                    "delta_ms must not be above"},
        BadManifest{"Batch", [](Manifest& m) { m.training.batch_size = 0; }, "batch_size"},
        BadManifest{"Hidden", [](Manifest& m) { m.training.hidden = 0; }, "hidden"},
        BadManifest{"RateNegative", [](Manifest& m) { m.training.learning_rate = -0.1; },
                    "learning_rate"},
        BadManifest{"RateNan", [](Manifest& m) { m.training.learning_rate = kNan; },
                    "learning_rate"},
        BadManifest{"MomentumOne", [](Manifest& m) { m.training.momentum = 1; }, "momentum"},
        BadManifest{"MomentumNan", [](Manifest& m) { m.training.momentum = kNan; }, "momentum"},
        BadManifest{"Decay", [](Manifest& m) { m.training.weight_decay = -1; }, "weight_decay"},
        BadManifest{"ClipNan", [](Manifest& m) { m.training.clip_norm = kNan; }, "clip_norm"},
        BadManifest{"NesterovAtRest",
                    [](Manifest& m) { m.training.optimizer = aggregation::Optimizer::kNesterov; },
                    "momentum must be above 0"},
        BadManifest{"DecayWithoutWsd", [](Manifest& m) { m.training.decay_steps = 1; },
                    "decay_steps is of schedule wsd"},
        BadManifest{"WsdWithoutDecay", [](Manifest& m) { m.training.schedule = Schedule::kWsd; },
                    "decay_steps must be at least 1"},
        BadManifest{"LongDecay",
                    [](Manifest& m) {
                      m.training.schedule = Schedule::kWsd;
                      m.training.decay_steps = m.training.steps - m.training.settle_steps + 1;
                    },
                    "decay_steps"},
        BadManifest{"UpdatesWithoutOrigin", [](Manifest& m) { m.training.earlier_updates = 1; },
                    "origin.updates"},
        BadManifest{"AdamUnclipped", [](Manifest& m) { UseAdamW(m).clip_norm = 0; },
                    "one huge step would stay"},
        BadManifest{"AdamClipHuge", [](Manifest& m) { UseAdamW(m).clip_norm = 1e7; }, "clip_norm"},
        BadManifest{"AdamMomentum", [](Manifest& m) { UseAdamW(m).momentum = 0.9; }, "beta1"},
        BadManifest{"AdamRate", [](Manifest& m) { UseAdamW(m).learning_rate = 1.5; },
                    "learning_rate must be at most 1"},
        BadManifest{"LambRate",
                    [](Manifest& m) {
                      UseAdamW(m).learning_rate = 0.11;
                      m.training.optimizer = aggregation::Optimizer::kLamb;
                    },
                    "at most 0.1 with lamb"},
        BadManifest{"LambUnclipped",
                    [](Manifest& m) {
                      UseAdamW(m).learning_rate = 0.1;
                      m.training.optimizer = aggregation::Optimizer::kLamb;
                      m.training.clip_norm = 0;
                    },
                    "clip_norm must be above 0"},
        BadManifest{"AdamDecay", [](Manifest& m) { UseAdamW(m).weight_decay = 1.5; },
                    "weight_decay must be at most 1"},
        BadManifest{"AdamBeta1", [](Manifest& m) { UseAdamW(m).beta1 = 1; }, "beta1"},
        BadManifest{"AdamBeta2", [](Manifest& m) { UseAdamW(m).beta2 = kNan; }, "beta2"},
        BadManifest{"AdamEpsilon", [](Manifest& m) { UseAdamW(m).epsilon = 0; }, "epsilon"},
        BadManifest{"InnerNone", [](Manifest& m) { UseLocalSteps(m).inner.steps = 0; },
                    "inner.steps must be at least 1"},
        BadManifest{"InnerMany", [](Manifest& m) { UseLocalSteps(m).inner.steps = 1025; },
                    "inner.steps must be at most 1024"},
        BadManifest{"InnerRate", [](Manifest& m) { UseLocalSteps(m).inner.learning_rate = 0; },
                    "inner.learning_rate"},
        BadManifest{"InnerWarmup", [](Manifest& m) { UseLocalSteps(m).inner.warmup_steps = 17; },
                    "inner.warmup_steps must be at most inner.steps"},
        BadManifest{"InnerDecay", [](Manifest& m) { UseLocalSteps(m).inner.weight_decay = kNan; },
                    "inner.weight_decay"},
        BadManifest{"InnerUnclipped", [](Manifest& m) { UseLocalSteps(m).inner.clip_norm = 0; },
                    "inner.clip_norm"},
        BadManifest{"InnerBeta1", [](Manifest& m) { UseLocalSteps(m).inner.beta1 = 1; },
                    "inner.beta1"},
        BadManifest{"InnerBeta2", [](Manifest& m) { UseLocalSteps(m).inner.beta2 = 0.5; },
                    "inner.beta1 must be at most the square root"},
        BadManifest{"InnerEpsilon", [](Manifest& m) { UseLocalSteps(m).inner.epsilon = 0; },
                    "inner.epsilon"},
        BadManifest{"InnerTwiceAdamW",
                    [](Manifest& m) {
                      UseLocalSteps(m);
                      UseAdamW(m);
                    },
                    "must be nesterov or sgd with local steps"},
        BadManifest{"InnerTwiceClipped", [](Manifest& m) { UseLocalSteps(m).clip_norm = 1; },
                    "must be 0 with local steps"},
        BadManifest{"InnerConstant",
                    [](Manifest& m) { UseLocalSteps(m).schedule = Schedule::kConstant; },
                    "must not be constant with local steps"},
        BadManifest{"InnerTolerant", [](Manifest& m) { m.training.inner.steps = 4; },
                    "noise of gradients grows over local steps"},
        BadManifest{"NoBatches", [](Manifest& m) { UseLocalSteps(m).batches = 0; },
                    "batches must be at least 1"},
        BadManifest{"FewerAtMost", [](Manifest& m) { UseLocalSteps(m).batches = 2; },
                    "most_batches must be training.batches to twice as many"},
        BadManifest{"ManyMoreAtMost", [](Manifest& m) { UseLocalSteps(m).most_batches = 3; },
                    "most_batches must be training.batches to twice as many"},
        BadManifest{"TolerantCounts", [](Manifest& m) { m.training.most_batches = 2; },
                    "must be 1 in compute_profile tolerant"},
        BadManifest{"WorkAbovePatience",
                    [](Manifest& m) {
                      UseLocalSteps(m).most_batches = 2;
                      m.work = m.patience + base::Milliseconds(1);
                    },
                    "members fill it, and would be late"},
        BadManifest{"WorkAboveFloor",
                    [](Manifest& m) {
                      UseLocalSteps(m).most_batches = 2;
                      m.adaptive = true;
                      m.part_floor = base::Seconds(3);
                      m.patience = m.work = base::Seconds(4);
                    },
                    "members fill it, and would be late"},
        BadManifest{"LongWork", [](Manifest& m) { m.work = m.part_timeout * 2; },
                    "work_ms must not be above part_timeout_ms"},
        BadManifest{"Profile", [](Manifest& m) { m.compute_profile = "exact"; }, "compute_profile"},
        BadManifest{"TauNegative", [](Manifest& m) { m.tau = -1; }, "tau must"},
        BadManifest{"TauInfinite", [](Manifest& m) { m.tau = kInf; }, "tau must"},
        BadManifest{"TauMultiple", [](Manifest& m) { m.tau_multiple = 0; }, "tau_multiple"},
        BadManifest{"TauInitial", [](Manifest& m) { m.tau_initial = 0; }, "tau_initial"},
        BadManifest{"Eps", [](Manifest& m) { m.eps = 0; }, "eps must"},
        BadManifest{"EpsG", [](Manifest& m) { m.eps_g = kNan; }, "eps_g"},
        BadManifest{"NoNoise", [](Manifest& m) { m.eps_g = 0; }, "eps_g must be positive"},
        BadManifest{"NoiseInExact", [](Manifest& m) { m.compute_profile = kExact; },
                    "eps_g must be 0"},
        BadManifest{"DeltaMax", [](Manifest& m) { m.delta_max = -1; }, "delta_max"},
        BadManifest{"NoValidator", [](Manifest& m) { m.validators = 0; }, "at least 1: a run that"},
        BadManifest{"ManyInAlarm", [](Manifest& m) { m.alarm_validators = 1025; },
                    "alarm_validators must be at most 1024"},
        BadManifest{"NoStepsOfAlarm", [](Manifest& m) { m.alarm_steps = 0; },
                    "alarm_steps must be at least 1"},
        BadManifest{"NoneSpared", [](Manifest& m) { m = ManifestOf(3, Mode::kThird); },
                    "use mode majority"},
        BadManifest{"RootEvery", [](Manifest& m) { m.state_root_every = 0; }, "state_root_every"},
        BadManifest{"PartTimeout", [](Manifest& m) { m.part_timeout = {}; }, "part_timeout"},
        BadManifest{"Patience", [](Manifest& m) { m.patience = {}; }, "patience_ms"},
        BadManifest{"ModeratorsOfNoInvite",
                    [](Manifest& m) { m.join.moderators = {PeerNumber(1)}; },
                    "use join.policy invite"},
        BadManifest{"InviteWithoutModerator",
                    [](Manifest& m) { m.join.policy = JoinPolicy::kInvite; }, "needs a moderator"},
        BadManifest{"QuotasThatFillTheBook",
                    [](Manifest& m) {
                      UseInvites(m).moderators = PeersUpTo(2);
                      m.join.quota = 513;
                    },
                    "join.quota must be from 1 to 512 with 2 moderators"},
        BadManifest{"ManyModerators", [](Manifest& m) { UseInvites(m).moderators = PeersUpTo(17); },
                    "join.moderators lists more than 16 keys"},
        BadManifest{"NoQuota", [](Manifest& m) { UseInvites(m).quota = 0; }, "join.quota"},
        BadManifest{"LargeQuota", [](Manifest& m) { UseInvites(m).quota = 1025; }, "join.quota"},
        BadManifest{"EmptyList", [](Manifest& m) { m.join.policy = JoinPolicy::kAllowlist; },
                    "needs a key in join.allow"},
        BadManifest{"LongList", [](Manifest& m) { UseInvites(m).allow = PeersUpTo(257); },
                    "join.allow lists more than 256 keys"},
        BadManifest{"ListedTwice",
                    [](Manifest& m) { UseInvites(m).allow = {PeerNumber(1), PeerNumber(1)}; },
                    "twice"},
        BadManifest{"UnsortedList",
                    [](Manifest& m) { UseInvites(m).allow = {PeerNumber(2), PeerNumber(1)}; },
                    "join.allow must be sorted"},
        BadManifest{"ClosedList", [](Manifest& m) { m.join.allow = {PeerNumber(1)}; },
                    "lets nobody in"},
        BadManifest{"ClosedSeats", [](Manifest& m) { m.join.seats = 9; }, "lets nobody in"},
        BadManifest{"FewSeats", [](Manifest& m) { UseInvites(m).seats = 7; },
                    "join.seats must be 0 (as many as there are members) or at least 8"},
        BadManifest{"ManySeats", [](Manifest& m) { UseInvites(m).seats = 257; },
                    "join.seats must be at most 256"},
        BadManifest{"SealTimeout", [](Manifest& m) { m.seal_timeout = m.part_timeout; },
                    "seal_timeout"}),
    [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace ostraka::protocol::manifest_test
