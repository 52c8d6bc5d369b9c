#include "sim/compare/cells/result.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "node/base/check.h"

namespace ostraka::compare {
namespace {

using nlohmann::json;

// Infinite losses are read back as NaN; both mean that the model diverged.
double RealOf(const json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

json JsonOfFacts(const ProtocolFacts& facts) {
  json removals = json::array();
  for (const ProtocolFacts::Removal& removal : facts.removals) {
    removals.push_back({removal.step, removal.byzantine, removal.kind});
  }
  return {{"removals", removals},
          {"detection_steps", facts.detection_steps ? json(*facts.detection_steps) : json(nullptr)},
          {"steps", facts.steps},
          {"slow_seals", facts.slow_seals}};
}

ProtocolFacts FactsOf(const json& json_facts) {
  ProtocolFacts facts;
  for (const json& removal : json_facts.at("removals")) {
    facts.removals.push_back({removal.at(0), removal.at(1), removal.at(2)});
  }
  const json& detection = json_facts.at("detection_steps");
  if (!detection.is_null()) facts.detection_steps = detection.get<std::uint64_t>();
  facts.steps = json_facts.at("steps");
  facts.slow_seals = json_facts.at("slow_seals");
  return facts;
}

}  // namespace

json JsonOfReal(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

const Point& FinalOf(const CellResult& result) {
  OSTRAKA_CHECK(!result.curve.empty());
  return result.curve.back();
}

double BestTestAccuracy(const CellResult& result) {
  double best = 0;
  for (const Point& point : result.curve) best = std::max(best, point.test_accuracy);
  return best;
}

double WorstTestAccuracyFrom(const CellResult& result, std::uint64_t attack_from) {
  double worst = FinalOf(result).test_accuracy;
  for (const Point& point : result.curve) {
    if (point.step > attack_from) worst = std::min(worst, point.test_accuracy);
  }
  return worst;
}

json JsonOf(const CellResult& result) {
  json curve = json::array();
  for (const Point& point : result.curve) {
    curve.push_back({point.step, JsonOfReal(point.validation_accuracy),
                     JsonOfReal(point.validation_loss), JsonOfReal(point.test_accuracy),
                     JsonOfReal(point.test_loss)});
  }
  json out = {{"curve", curve}, {"bytes", result.bytes}};
  if (result.byzantine_selected) out["byzantine_selected"] = *result.byzantine_selected;
  if (result.protocol) out["protocol"] = JsonOfFacts(*result.protocol);
  return out;
}

base::StatusOr<CellResult> ResultOf(const json& from) {
  try {
    CellResult result;
    for (const json& point : from.at("curve")) {
      result.curve.push_back({point.at(0), RealOf(point.at(1)), RealOf(point.at(2)),
                              RealOf(point.at(3)), RealOf(point.at(4))});
    }
    if (result.curve.empty()) return base::InvalidArgument("a result without a curve");
    result.bytes = from.at("bytes");
    if (from.contains("byzantine_selected")) {
      result.byzantine_selected = from.at("byzantine_selected").get<double>();
    }
    if (from.contains("protocol")) result.protocol = FactsOf(from.at("protocol"));
    return result;
  } catch (const json::exception& error) {
    return base::InvalidArgument(std::string("no result of a cell: ") + error.what());
  }
}

}  // namespace ostraka::compare
