#include "sim/setup/option_table.h"

#include <charconv>
#include <optional>
#include <type_traits>

#include "node/protocol/ground/setting.h"

namespace ostraka::sim {

namespace setting = protocol::setting;

namespace {

constexpr bool kAlways = false;
constexpr bool kIfSet = true;

template <auto member>
OptionValue At(SimOptions& options) {
  return &(options.*member);
}
template <auto member>
OptionValue InWaits(SimOptions& options) {
  return &(options.waits.*member);
}

template <typename Value>
OptionWords Words(Value SimOptions::*member, std::optional<Value> (*find)(std::string_view),
                  std::string_view (*name_of)(Value)) {
  return {[=](const SimOptions& o) { return std::string(name_of(o.*member)); },
          [=](std::string_view text, SimOptions& o) {
            const auto found = find(text);
            if (found) o.*member = *found;
            return found.has_value();
          }};
}

OptionWords ModeWords() {
  return {[](const SimOptions& o) { return std::string(protocol::ModeName(o.mode)); },
          [](std::string_view text, SimOptions& o) {
            const auto mode = protocol::ParseMode(text);
            if (mode.ok()) o.mode = *mode;
            return mode.ok();
          }};
}

template <auto member>
OptionWords CodecWords() {
  return {[](const SimOptions& o) { return std::string(protocol::CodecName(o.codecs.*member)); },
          [](std::string_view text, SimOptions& o) {
            const auto codec = protocol::FindCodec(text);
            if (codec) o.codecs.*member = *codec;
            return codec.has_value();
          }};
}

template <typename Number>
std::string FormatNumber(Number value) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  return {buffer, end};
}

template <typename Number>
bool ParseNumber(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

std::string Write(const std::string& value) { return value; }
std::string Write(bool value) { return value ? "1" : "0"; }
std::string Write(base::Duration value) { return FormatNumber(value.ns); }
template <typename Number>
std::string Write(Number value) {
  return FormatNumber(value);
}

bool Read(std::string_view text, std::string& value) {
  value = text;
  return true;
}
bool Read(std::string_view text, bool& value) {
  value = text == "1";
  return text == "0" || text == "1";
}
bool Read(std::string_view text, base::Duration& value) { return ParseNumber(text, value.ns); }
template <typename Number>
bool Read(std::string_view text, Number& value) {
  return ParseNumber(text, value);
}

}  // namespace

const std::vector<SimOption>& AllOptions() {
  static const std::vector<SimOption> kOptions = {
      {"seed", At<&SimOptions::seed>},
      {"peers", At<&SimOptions::peers>, kAlways, "--peers", "number of peers"},
      {"byzantine", At<&SimOptions::byzantine>, kAlways, "--byzantine",
       "number of Byzantine peers among them, or fewer if so few peers bear no more"},
      {"attack", At<&SimOptions::attack>, kAlways, "--attack",
       "their attack; an unknown name lists the known ones"},
      {"attack_from_step", At<&SimOptions::attack_from_step>, kAlways, "--attack-from",
       "honest before this step"},
      {"liars", At<&SimOptions::liars>, kIfSet, "--liars",
       "number of Byzantine peers that only make each seal slow"},
      {"nat", At<&SimOptions::nat>, kIfSet, "--nat",
       "number of peers, drawn, that cannot be dialed: no two of them get a link"},
      {"leaves", At<&SimOptions::leaves>, kIfSet, "--leaves",
       "number of honest peers, drawn, that leave the run and come back"},
      {"leave_for_ns", At<&SimOptions::leave_for>, kIfSet, "--leave-for",
       "seconds for which each is away"},
      {"attackers_leave", At<&SimOptions::attackers_leave>, kIfSet, "--attackers-leave",
       "the attackers say that they leave from this step on; 0: never"},
      {"comes", At<&SimOptions::comes>, kIfSet, "--comes",
       "number of honest keys that come in from outside, half of them by invite"},
      {"intruders", At<&SimOptions::intruders>, kIfSet, "--intruders",
       "number of attackers that come in by one public invite"},
      {"forgers", At<&SimOptions::forgers>, kIfSet, "--forgers",
       "number of keys that ask to come in by what lets nobody in"},
      {"turnover", At<&SimOptions::turnover>, kIfSet, "--turnover",
       "number of honest keys that come one after the other, each time with the oldest member "
       "leaving"},
      {"await_removal", At<&SimOptions::await_removal>},
      {"premises", At<&SimOptions::premises>, kIfSet},
      {"mode", ModeWords()},
      {"unprotected", At<&SimOptions::unprotected>, kAlways, "--unprotected",
       "plain averaging without checks"},
      {"steps", At<&SimOptions::steps>, kAlways, setting::kSteps.flag, setting::kSteps.help},
      {"validators", At<&SimOptions::validators>, kAlways, setting::kValidators.flag,
       setting::kValidators.help},
      {"alarm_validators", At<&SimOptions::alarm_validators>, kIfSet,
       setting::kAlarmValidators.flag, setting::kAlarmValidators.help},
      {"model", At<&SimOptions::model>, kIfSet},
      {"dimension", At<&SimOptions::dimension>},
      {"batch_size", At<&SimOptions::batch_size>},
      {"batches", At<&SimOptions::batches>, kIfSet, setting::kBatches.flag, setting::kBatches.help},
      {"most_batches", At<&SimOptions::most_batches>, kIfSet, setting::kMostBatches.flag,
       "and at most, by its pace; more than 1 needs --exact"},
      {"learning_rate", At<&SimOptions::learning_rate>},
      {"optimizer",
       Words(&SimOptions::optimizer, aggregation::FindOptimizer, aggregation::OptimizerName),
       kIfSet},
      {"schedule", Words(&SimOptions::schedule, protocol::FindSchedule, protocol::ScheduleName),
       kIfSet},
      {"momentum", At<&SimOptions::momentum>, kIfSet},
      {"clip_norm", At<&SimOptions::clip_norm>, kIfSet},
      {"inner_steps", At<&SimOptions::inner_steps>, kIfSet},
      {"inner_rate", At<&SimOptions::inner_rate>, kIfSet},
      {"part_codec", CodecWords<&protocol::Codecs::parts>(), kIfSet},
      {"result_codec", CodecWords<&protocol::Codecs::results>(), kIfSet},
      {"tau", At<&SimOptions::tau>},
      {"exact", At<&SimOptions::exact>, kIfSet, "--exact",
       "compute_profile exact/1: gradients are compared bit for bit"},
      {"delay_min_ns", At<&SimOptions::delay_min>},
      {"delay_max_ns", At<&SimOptions::delay_max>},
      {"jitter_ns", At<&SimOptions::jitter>},
      {"bytes_per_second", At<&SimOptions::bytes_per_second>},
      {"line_bytes_per_second", At<&SimOptions::line_bytes_per_second>, kIfSet, "--line-rate",
       "bytes a second of each link to a peer that only dials, without bulk data; 0: no limit"},
      {"uplink_bytes_per_second", At<&SimOptions::uplink_bytes_per_second>, kIfSet, "--uplink",
       "bytes per second of all links out of a peer together, as `node --bandwidth`; 0: no limit"},
      {"fsync_max_ns", At<&SimOptions::fsync_max>},
      {"loss_permille", At<&SimOptions::loss_permille>, kAlways, "--loss",
       "of 1000 messages, the number lost and sent again"},
      {"duplicate_permille", At<&SimOptions::duplicate_permille>, kAlways, "--duplicates",
       "of 1000 messages, the number that arrive twice"},
      {"stall_permille", At<&SimOptions::stall_permille>, kAlways, "--stalls",
       "of 1000 stores, the number that take 5 times as long"},
      {"skew_ns", At<&SimOptions::skew>, kAlways, "--skew", "most seconds by which clocks differ"},
      {"drift_ppm", At<&SimOptions::drift_ppm>, kAlways, "--drift",
       "most ppm by which clocks are fast or slow"},
      {"spared_kills", At<&SimOptions::spared_kills>},
      {"crashes", At<&SimOptions::crashes>, kAlways, "--crashes",
       "number of kills of honest peers, spread over the run"},
      {"crash_down_ns", At<&SimOptions::crash_down>, kAlways, "--crash-down",
       "most seconds until a killed peer restarts"},
      {"blackouts", At<&SimOptions::blackouts>, kAlways, "--blackouts",
       "number of times at which all honest peers are killed at once"},
      {"lose_disk", At<&SimOptions::lose_disk>, kAlways, "--lose-disk",
       "killed peers lose their disk, and are killed once more soon after"},
      {"cut", At<&SimOptions::cut>, kAlways, "--cut",
       "cut of the network: none, halves, one_way, flapping or flaky"},
      {"cut_at_ns", At<&SimOptions::cut_at>, kAlways, "--cut-at", "second at which it begins"},
      {"cut_for_ns", At<&SimOptions::cut_for>, kAlways, "--cut-for", "seconds that it lasts"},
      {"delta_ns", InWaits<&SimWaits::delta>, kIfSet, "--delta",
       "seconds: four times what a message takes at most, as the manifest says; 0: as usual, 1"},
      {"part_floor_ns", InWaits<&SimWaits::part_floor>, kIfSet, "--part-floor",
       "seconds: the wait for parts follows the run, not below this; 0: it does not"},
      {"gradient_time_ns", InWaits<&SimWaits::gradient_time>, kIfSet, "--gradient-time",
       "seconds that a gradient takes at least, or all local steps of a step"},
      {"fastest_percent", InWaits<&SimWaits::fastest_percent>, kIfSet, "--fastest",
       "machines differ: the fastest may take this percentage of --gradient-time, the slowest all "
       "of it; 0: all are alike"},
      {"slowest", InWaits<&SimWaits::slowest>, kIfSet, "--slowest",
       "so many honest peers take all of it, and all others --fastest; 0: drawn"},
      {"again_percent", InWaits<&SimWaits::again_percent>, kIfSet, "--again",
       "profile exact/1: most per cent of a gradient's time for computing a second time"},
      {"stragglers", InWaits<&SimWaits::stragglers>, kIfSet, "--stragglers",
       "number of honest peers, drawn, whose gradients take --straggler-time: they may be dropped, "
       "and count as faulty"},
      {"straggler_time_ns", InWaits<&SimWaits::straggler_time>, kIfSet, "--straggler-time",
       "seconds, at most 600; a run waits 20, or less with --part-floor"},
      {"time_limit_ns", At<&SimOptions::time_limit>},
  };
  return kOptions;
}

std::string WriteOption(const SimOption& option, const SimOptions& options) {
  if (const auto* words = std::get_if<OptionWords>(&option.value)) return words->write(options);
  SimOptions copy = options;  // the place is one to write to
  return std::visit([](const auto* value) { return Write(*value); },
                    std::get<0>(option.value)(copy));
}

bool ReadOption(const SimOption& option, std::string_view text, SimOptions& options) {
  if (const auto* words = std::get_if<OptionWords>(&option.value)) {
    return words->read(text, options);
  }
  return std::visit([text](auto* value) { return Read(text, *value); },
                    std::get<0>(option.value)(options));
}

}  // namespace ostraka::sim
