#include "sim/setup/options.h"

#include <algorithm>
#include <vector>

#include "node/base/check.h"
#include "node/wire/limits.h"
#include "sim/engine/network.h"
#include "sim/setup/models.h"
#include "sim/setup/option_table.h"

namespace ostraka::sim {
namespace {

constexpr std::string_view kAttackParamPrefix = "attack.";

std::string_view WithoutComments(std::string_view line) { return line.substr(0, line.find('#')); }

std::vector<std::string_view> WordsOf(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\v\f";
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = WithoutComments(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    for (std::size_t from = line.find_first_not_of(kSpace); from != std::string_view::npos;
         from = line.find_first_not_of(kSpace)) {
      line.remove_prefix(from);
      const std::size_t length = std::min(line.find_first_of(kSpace), line.size());
      words.push_back(line.substr(0, length));
      line.remove_prefix(length);
    }
  }
  return words;
}

bool ReadWord(std::string_view name, std::string_view value, SimOptions& options) {
  if (name.starts_with(kAttackParamPrefix)) {
    const std::string param(name.substr(kAttackParamPrefix.size()));
    options.attack_params[param] = value;
    return !value.empty();
  }
  for (const SimOption& option : AllOptions()) {
    if (option.name == name) return ReadOption(option, value, options);
  }
  return false;
}

base::Status Require(bool holds, std::string_view message) {
  return holds ? base::OkStatus() : base::InvalidArgument(message);
}

}  // namespace

std::uint32_t FaultsBorne(const SimOptions& options) {
  return protocol::FaultsBorne(options.mode, options.peers);
}

std::uint32_t IntrudersLetIn(const SimOptions& options) {
  if (StaysOutside(options.attack)) return 0;
  if (!TakesTurns(options.attack)) return options.intruders;
  const auto attack = FindAttack(options.attack);
  OSTRAKA_CHECK(attack.ok());
  const double uses = NumbersOf(*attack, options.attack_params).at("uses");
  return static_cast<std::uint32_t>(std::min<double>(uses, options.intruders));
}

std::optional<std::uint64_t> IntrudersEnd(const SimOptions& options) {
  if (!TakesTurns(options.attack)) return std::nullopt;
  const auto attack = FindAttack(options.attack);
  OSTRAKA_CHECK(attack.ok());
  const double until = NumbersOf(*attack, options.attack_params).at("until");
  return until > 0 ? std::optional(static_cast<std::uint64_t>(until)) : std::nullopt;
}

std::uint32_t KeysIn(const SimOptions& options) {
  return options.peers + options.comes + options.turnover + options.intruders + options.forgers;
}

base::Duration ExpectedLength(const SimOptions& options) {
  const base::Duration step = options.delay_max * 8 + options.waits.gradient_time;
  return step * static_cast<std::int64_t>(options.steps);
}

bool IsTimely(const SimOptions& options) {
  const base::Duration delta =
      options.waits.delta.ns > 0 ? options.waits.delta : protocol::Manifest{}.delta;
  base::Duration longest = options.delay_max + options.jitter;
  const NetworkOptions network;
  if (options.loss_permille > 0) longest = longest + network.retransmit;
  if (options.nat > 0) longest = longest * 2;  // by way of a carrier
  return options.crashes == 0 && options.blackouts == 0 && options.cut == "none" &&
         longest * 4 <= delta;
}

namespace {

// One step that moves the model, and the settle steps after it (docs/protocol/step.md).
constexpr std::uint32_t kLeastPeers = 3;  // as in any manifest
constexpr std::uint64_t kLeastSteps = 6;

base::Status CheckFaults(const SimOptions& options) {
  RETURN_IF_ERROR(Require(!options.unprotected || (options.crashes == 0 && options.blackouts == 0 &&
                                                   options.cut == "none"),
                          "an unprotected run bears no crash and no cut"));
  RETURN_IF_ERROR(
      Require(std::find(std::begin(kCuts), std::end(kCuts), options.cut) != std::end(kCuts),
              "cut must be none, halves, one_way, flapping or flaky"));
  RETURN_IF_ERROR(Require(!options.lose_disk || options.blackouts == 0,
                          "a run in which all peers lose their disks at once is lost: make "
                          "blackouts 0, or let peers keep their disks"));
  const std::uint32_t faulty = options.byzantine + IntrudersLetIn(options);
  if (options.crashes == 0 || faulty < FaultsBorne(options)) return base::OkStatus();
  return base::FailedPrecondition("a crashed peer counts as faulty, and " +
                                  std::to_string(options.peers) + " peers bear " +
                                  std::to_string(FaultsBorne(options)) +
                                  ": give a smaller byzantine or fewer intruders, or crashes 0");
}

}  // namespace

std::string FormatOptions(const SimOptions& options) {
  const SimOptions defaults;
  std::string text;
  for (const SimOption& option : AllOptions()) {
    const std::string value = WriteOption(option, options);
    if (option.only_if_set && value == WriteOption(option, defaults)) continue;
    text += (text.empty() ? "" : " ") + std::string(option.name) + "=" + value;
  }
  for (const auto& [name, value] : options.attack_params) {
    text += " " + std::string(kAttackParamPrefix) + name + "=" + value;
  }
  return text;
}

base::StatusOr<SimOptions> ParseOptions(std::string_view text) {
  SimOptions options;
  for (const std::string_view word : WordsOf(text)) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos ||
        !ReadWord(word.substr(0, equals), word.substr(equals + 1), options)) {
      return base::InvalidArgument(
          "'" + std::string(word) +
          "' is not an option of a simulation, or its value is out of range");
    }
  }
  return options;
}

namespace {

// The members that stay must bear the Byzantine ones, also once the run has dropped its stragglers
// [swarm seed 223839432829609: two of sixteen leave, one is too slow, and 13 do not bear six].
base::Status CheckLeaves(const SimOptions& options) {
  if (options.leaves == 0 && options.attackers_leave == 0) return base::OkStatus();
  RETURN_IF_ERROR(Require(!options.unprotected,
                          "an unprotected run has no members that leave: make leaves and "
                          "attackers_leave 0"));
  const std::uint32_t honest = options.peers - options.byzantine;
  const std::uint32_t gone = options.leaves + options.waits.stragglers;
  const std::uint32_t stay = gone < honest ? options.peers - gone : 0;
  const std::uint32_t t_a = protocol::GenesisAsynchronousFaults(options.mode, options.peers);
  // A peer that is down counts as a fault. Peers crash one after the other, but one that loses its
  // disk signs nothing until blocks admit it, so several may be out at once.
  const std::uint32_t down = options.lose_disk ? options.crashes : std::min(options.crashes, 1U);
  const std::uint32_t faults = options.byzantine + down;
  const wire::Thresholds bounds = protocol::ThresholdsFor(options.mode, stay, t_a);
  const std::uint32_t borne = options.cut == "none" ? bounds.t_s : bounds.t_a;
  const bool enough = stay >= 3 && borne >= faults;
  return Require(options.leaves == 0 || enough,
                 std::to_string(options.leaves) + " of " + std::to_string(options.peers) +
                     " peers leave, and those that stay in time do not bear " +
                     std::to_string(faults) + " faults: give fewer leaves");
}

// The genesis members and the intruders must bear all that are Byzantine, whoever else comes. Of
// the forgers one comes in, of the two that share one use, and counts as Byzantine like the others.
base::Status CheckComes(const SimOptions& options) {
  const std::uint32_t guests = KeysIn(options) - options.peers;
  if (guests == 0) return base::OkStatus();
  RETURN_IF_ERROR(Require(!options.unprotected,
                          "nobody comes into an unprotected run: make comes, turnover, "
                          "intruders and forgers 0"));
  RETURN_IF_ERROR(
      Require(KeysIn(options) <= wire::kMaxPeers,
              "peers and those that come are more than " + std::to_string(wire::kMaxPeers)));
  const std::uint32_t t_a = protocol::GenesisAsynchronousFaults(options.mode, options.peers);
  const std::uint32_t stay = options.peers - std::min(options.peers, options.leaves);
  const std::uint32_t come_in = IntrudersLetIn(options) + (options.forgers > 1 ? 1 : 0);
  const std::uint32_t faulty = options.byzantine + come_in;
  const auto t_s = protocol::ThresholdsFor(options.mode, stay + come_in, t_a).t_s;
  return Require(come_in == 0 || t_s >= faulty,
                 std::to_string(stay) + " peers and " + std::to_string(come_in) +
                     " that come to attack bear " + std::to_string(t_s) + " faults, not " +
                     std::to_string(faulty) +
                     ": give fewer intruders and forgers, or a smaller byzantine");
}

// The manifest's part timeout is the default one.
base::Status CheckWaits(const SimOptions& options) {
  const base::Duration most = protocol::Manifest{}.part_timeout;
  RETURN_IF_ERROR(Require(options.waits.part_floor * 2 <= most,
                          "part_floor must be at most 10 s, half of the longest wait for parts"));
  RETURN_IF_ERROR(Require(options.waits.delta * 2 <= most,
                          "delta must be at most 10 s, half of the longest wait for parts"));
  RETURN_IF_ERROR(Require(options.waits.fastest_percent <= 100,
                          "fastest_percent must be 0 (machines are alike) or 1..100"));
  RETURN_IF_ERROR(Require(
      options.waits.slowest == 0 || (options.waits.fastest_percent > 0 &&
                                     options.waits.slowest <= options.peers - options.byzantine),
      "slowest must be at most the number of honest peers, and needs fastest_percent"));
  RETURN_IF_ERROR(Require(options.waits.again_percent >= 1 && options.waits.again_percent <= 10'000,
                          "again_percent must be 1..10000: what a second pass takes of the first"));
  const std::uint32_t faulty =
      options.byzantine + IntrudersLetIn(options) + std::min(options.crashes, 1U);
  RETURN_IF_ERROR(Require(
      options.waits.stragglers == 0 ||
          (!options.unprotected && options.waits.stragglers + faulty <= FaultsBorne(options)),
      std::to_string(options.waits.stragglers) + " stragglers count as faulty, and " +
          std::to_string(options.peers) + " peers bear " + std::to_string(FaultsBorne(options)) +
          " with those that attack or crash: give fewer"));
  RETURN_IF_ERROR(Require(
      options.waits.straggler_time.ns >= 0 && options.waits.straggler_time <= base::Seconds(600),
      "straggler_time must be 0..600 s"));
  return Require(
      options.waits.gradient_time * 4 <= most * 3,
      "gradient_time must be at most 15 s, three quarters of the longest wait for parts");
}

base::Status CheckCodecs(const SimOptions& options) {
  using protocol::Codec;
  RETURN_IF_ERROR(Require(options.codecs == protocol::Codecs{} || options.exact,
                          "codecs (part_codec, result_codec) need exact 1"));
  RETURN_IF_ERROR(
      Require(protocol::ServesParts(options.codecs.parts), "part_codec must be raw, i8 or i4"));
  const Codec results = options.codecs.results;
  RETURN_IF_ERROR(Require(options.most_batches == 1 || options.exact,
                          "batches and most_batches above 1 need exact 1"));
  RETURN_IF_ERROR(Require(1 <= options.batches && options.batches <= options.most_batches &&
                              options.most_batches <= std::min(2 * options.batches, 255U),
                          "most_batches must be batches (at least 1) to twice as many, and at "
                          "most 255"));
  return Require(protocol::ServesResults(results) && (results == Codec::kRaw || options.tau == 0),
                 "result_codec must be raw or i16, and with i16 tau 0 (automatic)");
}

// As a manifest's Validate, for replays that people change.
base::Status CheckLocalSteps(const SimOptions& options) {
  if (options.inner_steps == 1) return base::OkStatus();
  RETURN_IF_ERROR(Require(options.inner_steps >= 1 && options.inner_steps <= 1024,
                          "inner_steps must be 1 to 1024"));
  RETURN_IF_ERROR(Require(options.exact, "local steps (inner_steps) need exact 1"));
  RETURN_IF_ERROR(Require(options.inner_rate > 0 && options.inner_rate <= 1,
                          "inner_rate must be above 0 and at most 1"));
  return Require(!aggregation::HasMoments(options.optimizer) && options.clip_norm == 0 &&
                     options.schedule != protocol::Schedule::kConstant,
                 "local steps (inner_steps) go with optimizer nesterov or sgd, clip_norm 0 and a "
                 "schedule that is not constant");
}

}  // namespace

base::Status CheckOptions(const SimOptions& options) {
  RETURN_IF_ERROR(Require(
      options.peers >= kLeastPeers && options.peers <= wire::kMaxPeers,
      "peers must be " + std::to_string(kLeastPeers) + ".." + std::to_string(wire::kMaxPeers)));
  RETURN_IF_ERROR(Require(options.byzantine < options.peers,
                          "byzantine is " + std::to_string(options.byzantine) + " and peers " +
                              std::to_string(options.peers) + ": byzantine must be below peers"));
  RETURN_IF_ERROR(Require(options.steps >= kLeastSteps,
                          "steps must be at least " + std::to_string(kLeastSteps) +
                              ": one that trains, and five that settle claims about it"));
  RETURN_IF_ERROR(
      Require(options.liars <= options.byzantine,
              "liars are some of the Byzantine peers: give fewer liars, or more byzantine"));
  RETURN_IF_ERROR(Require(options.nat == 0 || !options.unprotected,
                          "an unprotected run has no carriers: make nat 0"));
  const std::uint32_t dialed = std::max(3U, FaultsBorne(options) + 1);
  RETURN_IF_ERROR(Require(options.nat == 0 || options.nat + dialed <= options.peers,
                          "nat is " + std::to_string(options.nat) + " of " +
                              std::to_string(options.peers) + " peers, and " +
                              std::to_string(dialed) +
                              " must be reachable: three own columns, and one "
                              "of those that carry messages is to be honest"));
  RETURN_IF_ERROR(Require(options.liars == 0 || !options.unprotected,
                          "an unprotected run has no ECHOs: make liars 0"));
  ASSIGN_OR_RETURN(const KnownAttack attack, FindAttack(options.attack));
  RETURN_IF_ERROR(CheckParams(attack, options.attack_params));
  if (!options.unprotected) {
    RETURN_IF_ERROR(protocol::CheckTolerates(options.mode, options.peers, options.byzantine));
  }
  RETURN_IF_ERROR(CheckModel(options));
  RETURN_IF_ERROR(CheckLocalSteps(options));
  RETURN_IF_ERROR(CheckCodecs(options));
  RETURN_IF_ERROR(Require(options.bytes_per_second > 0, "bytes_per_second must be positive"));
  const bool delays_ok = options.delay_min.ns >= 0 && options.delay_max >= options.delay_min &&
                         options.jitter.ns >= 0 && options.fsync_max.ns >= 0 &&
                         options.time_limit.ns >= 0 && options.crash_down.ns >= 0 &&
                         options.cut_at.ns >= 0 && options.cut_for.ns >= 0 &&
                         options.leave_for.ns >= 0 && options.waits.part_floor.ns >= 0 &&
                         options.waits.gradient_time.ns >= 0 && options.waits.delta.ns >= 0;
  RETURN_IF_ERROR(CheckWaits(options));
  RETURN_IF_ERROR(CheckFaults(options));
  RETURN_IF_ERROR(CheckLeaves(options));
  RETURN_IF_ERROR(CheckComes(options));
  RETURN_IF_ERROR(Require(options.loss_permille <= 500 && options.duplicate_permille <= 1000 &&
                              options.stall_permille <= 1000,
                          "loss_permille must be at most 500, the other shares at most 1000"));
  RETURN_IF_ERROR(Require(
      options.skew.ns >= 0 && options.skew <= base::Seconds(86'400) && options.drift_ppm <= 100'000,
      "skew must be at most a day, and drift_ppm at most 100000"));
  RETURN_IF_ERROR(
      Require(options.line_bytes_per_second == 0 || options.line_bytes_per_second >= options.peers,
              "line_bytes_per_second must be 0 or at least the number of peers"));
  return Require(delays_ok, "delays must be at least 0, and delay_max at least delay_min");
}

}  // namespace ostraka::sim
