#include "node/cli/options/update_choices.h"

#include <string_view>

namespace ostraka::cli {
namespace {

template <typename Values, typename Value>
std::vector<std::string> NamesOf(const Values& values, std::string_view (*name_of)(Value)) {
  std::vector<std::string> names;
  for (const Value value : values) names.emplace_back(name_of(value));
  return names;
}

}  // namespace

std::vector<std::string> OptimizerNames() {
  return NamesOf(aggregation::AllOptimizers(), aggregation::OptimizerName);
}

std::vector<std::string> ScheduleNames() {
  return NamesOf(protocol::kAllSchedules, protocol::ScheduleName);
}

std::vector<std::string> PartCodecNames() {
  return NamesOf(protocol::kPartCodecs, protocol::CodecName);
}

std::vector<std::string> ResultCodecNames() {
  return NamesOf(protocol::kResultCodecs, protocol::CodecName);
}

base::StatusOr<aggregation::Optimizer> OptimizerOf(const std::string& name) {
  const auto optimizer = aggregation::FindOptimizer(name);
  if (optimizer) return *optimizer;
  return base::InvalidArgument("--optimizer must be sgd, nesterov, adamw or lamb, not '" + name +
                               "'");
}

base::StatusOr<protocol::Schedule> ScheduleOf(const std::string& name) {
  const auto schedule = protocol::FindSchedule(name);
  if (schedule) return *schedule;
  return base::InvalidArgument("--schedule must be linear, constant, cosine or wsd, not '" + name +
                               "'");
}

base::StatusOr<protocol::Codec> CodecOf(const std::string& name) {
  const auto codec = protocol::FindCodec(name);
  if (codec) return *codec;
  return base::InvalidArgument("a codec must be raw, i16 (results), i8 or i4 (parts), not '" +
                               name + "'");
}

}  // namespace ostraka::cli
