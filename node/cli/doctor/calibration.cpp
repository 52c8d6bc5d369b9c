#include "node/cli/doctor/calibration.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "aggregation/kernels/projection.h"
#include "crypto/merkle.h"
#include "node/base/check.h"
#include "node/protocol/ground/numbers.h"
#include "node/protocol/ground/state.h"

namespace ostraka::cli {
namespace {

std::span<const float> PartOf(const std::vector<float>& gradient,
                              const protocol::PartRange& range) {
  return std::span(gradient).subspan(range.begin, range.size());
}

crypto::SharedBlob MeanOf(const Gradients& gradients, const protocol::PartRange& range) {
  std::vector<float> mean(range.size());
  for (std::uint64_t i = 0; i < range.size(); ++i) {
    double sum = 0;
    for (const auto& gradient : gradients) sum += static_cast<double>(gradient[range.begin + i]);
    mean[i] = static_cast<float>(sum / static_cast<double>(gradients.size()));
  }
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(mean.data());
  return crypto::MakeBlob(base::Bytes(bytes, bytes + mean.size() * sizeof(float)));
}

std::vector<protocol::Column> ColumnsOf(const Gradients& gradients, std::uint32_t parts) {
  std::vector<protocol::Column> columns;
  for (const auto& range : protocol::CutParts(gradients.front().size(), parts)) {
    protocol::Column column;
    column.part_index = static_cast<std::uint32_t>(columns.size());
    column.range = range;
    column.result = MeanOf(gradients, range);
    column.direction_seed.bytes[0] = static_cast<std::uint8_t>(columns.size());
    columns.push_back(std::move(column));
  }
  return columns;
}

double LowerMedianNorm(const Gradients& gradients, const std::vector<protocol::Column>& columns) {
  std::vector<double> norms;
  for (const auto& gradient : gradients) {
    for (const auto& column : columns) {
      norms.push_back(protocol::NumbersOf(PartOf(gradient, column.range), column, 1).norm);
    }
  }
  const auto middle = norms.begin() + static_cast<std::ptrdiff_t>((norms.size() - 1) / 2);
  std::nth_element(norms.begin(), middle, norms.end());
  return *middle;
}

std::string Scientific(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1e", value);
  return text;
}

}  // namespace

double NoiseBetween(const Gradients& stated, const Gradients& recomputed, std::uint32_t parts) {
  OSTRAKA_CHECK(!stated.empty() && stated.size() == recomputed.size());
  const auto finite = [](const std::vector<float>& gradient) {
    return std::all_of(gradient.begin(), gradient.end(), [](float x) { return std::isfinite(x); });
  };
  if (!std::all_of(stated.begin(), stated.end(), finite) ||
      !std::all_of(recomputed.begin(), recomputed.end(), finite)) {
    return std::numeric_limits<double>::infinity();
  }
  const std::vector<protocol::Column> columns = ColumnsOf(recomputed, parts);
  const double tau = LowerMedianNorm(recomputed, columns);
  double worst = 0;
  for (std::size_t i = 0; i < stated.size(); ++i) {
    for (const auto& column : columns) {
      const auto mine = PartOf(recomputed[i], column.range);
      if (tau == 0 && aggregation::Norm(mine) == 0) continue;  // no movement on either path
      const auto said = protocol::NumbersOf(PartOf(stated[i], column.range), column, tau);
      const auto own = protocol::NumbersOf(mine, column, tau);
      worst = std::max(worst, protocol::DeviationRatio(said, own, tau, 1, mine.size()));
    }
  }
  return worst;
}

double WorstNoise(const Gradients& stated, const Gradients& recomputed, std::uint32_t parts) {
  OSTRAKA_CHECK(stated.size() == recomputed.size());
  double worst = 0;
  for (std::size_t begin = 0; begin < stated.size(); begin += kProbeWorkers) {
    const auto place = [begin](const Gradients& all) {
      const std::size_t end = std::min<std::size_t>(begin + kProbeWorkers, all.size());
      return Gradients(all.begin() + static_cast<std::ptrdiff_t>(begin),
                       all.begin() + static_cast<std::ptrdiff_t>(end));
    };
    worst = std::max(worst, NoiseBetween(place(stated), place(recomputed), parts));
  }
  return worst;
}

double CalibrationFacts::noise() const {
  double worst = 0;
  for (const PathNoise& path : paths) worst = std::max(worst, path.noise);
  return worst;
}

Finding JudgeCalibration(const CalibrationFacts& facts) {
  if (!facts.problem.empty()) {
    // A built-in model that this machine lacks a library for is of no run.
    const Severity severity = facts.from_manifest ? Severity::kSerious : Severity::kWarning;
    return {"eps_g", severity, facts.model + ": not measured: " + facts.problem,
            "correct that, and calibrate again"};
  }
  std::string paths;
  for (const PathNoise& path : facts.paths) {
    paths += (paths.empty() ? "" : ", ") + path.path + " " + Scientific(path.noise);
  }
  const double noise = facts.noise();
  if (facts.exact && noise == 0) {
    return {"eps_g", Severity::kOk,
            facts.model + ": equal in every bit by the kernels for " + paths, ""};
  }
  if (facts.exact) {
    return {"eps_g", Severity::kSerious,
            facts.model + ": kernels differ (" + paths +
                "), and compute_profile exact/1 allows no difference",
            "leave this machine out, and test its memory"};
  }
  const double least = kNoiseMargin * noise;
  const std::string text = facts.model + ": noise " + Scientific(noise) + " between code paths (" +
                           paths + "), so eps_g must be " + Scientific(least) + " or more; " +
                           (facts.from_manifest ? "the manifest's is " : "the default is ") +
                           Scientific(facts.eps_g);
  if (!(facts.eps_g >= 2 * noise)) {
    return {"eps_g", Severity::kSerious, text + ": an honest node on this machine would be accused",
            "write a manifest with eps_g = " + Scientific(least) + ", or leave this machine out"};
  }
  if (facts.eps_g < least) {
    return {"eps_g", Severity::kWarning, text + ": the margin is small",
            "write the next manifest with eps_g = " + Scientific(least)};
  }
  if (facts.from_manifest && noise > 0 && facts.eps_g > kGenerous * noise) {
    return {"eps_g", Severity::kWarning,
            text + ": attackers may move each gradient by more than honest machines differ",
            "write the next manifest with eps_g = " + Scientific(least) +
                " if the other members' machines measure no more"};
  }
  return {"eps_g", Severity::kOk, text, ""};
}

}  // namespace ostraka::cli
