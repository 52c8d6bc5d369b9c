#include "sim/compare/cells/study.h"

#include <cmath>
#include <limits>
#include <utility>

#include "node/base/npy.h"
#include "sim/compare/cells/zip.h"

namespace ostraka::compare {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::vector<double> MeanOf(std::span<const float* const> rows, std::size_t dimension) {
  std::vector<double> mean(dimension);
  for (const float* row : rows) {
    for (std::size_t i = 0; i < dimension; ++i) mean[i] += row[i];
  }
  for (double& value : mean) value /= static_cast<double>(rows.size());
  return mean;
}

double Dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}
double Norm(const std::vector<double>& a) { return std::sqrt(Dot(a, a)); }

double Cosine(const std::vector<double>& a, const std::vector<double>& b) {
  const double lengths = Norm(a) * Norm(b);
  return lengths > 0 ? Dot(a, b) / lengths : kNone;
}

double Spread(std::span<const float* const> rows, const std::vector<double>& mean) {
  double sum = 0;
  for (const float* row : rows) {
    for (std::size_t i = 0; i < mean.size(); ++i) sum += (row[i] - mean[i]) * (row[i] - mean[i]);
  }
  return std::sqrt(sum / static_cast<double>(rows.size()));
}

}  // namespace

void AddStep(double rate, std::span<const float* const> honest,
             std::span<const float* const> attack, std::span<const float> aggregate,
             std::optional<double> selected, Study& study) {
  const std::size_t dimension = aggregate.size();
  const std::vector<double> mean = MeanOf(honest, dimension);
  const std::vector<double> result(aggregate.begin(), aggregate.end());
  std::vector<double> error = result;
  for (std::size_t i = 0; i < dimension; ++i) error[i] -= mean[i];
  study.rate.push_back(rate);
  study.honest_norm.push_back(Norm(mean));
  study.honest_spread.push_back(Spread(honest, mean));
  study.aggregate_norm.push_back(Norm(result));
  study.cos_honest_aggregate.push_back(Cosine(mean, result));
  study.aggregate_error.push_back(Norm(error));
  study.byzantine_selected.push_back(selected.value_or(kNone));
  if (attack.empty()) {
    study.attack_norm.push_back(kNone);
    study.cos_honest_attack.push_back(kNone);
    study.cos_attack_aggregate.push_back(kNone);
    return;
  }
  const std::vector<double> bad = MeanOf(attack, dimension);
  study.attack_norm.push_back(Norm(bad));
  study.cos_honest_attack.push_back(Cosine(mean, bad));
  study.cos_attack_aggregate.push_back(Cosine(bad, result));
}

base::Bytes NpzOf(const Study& study) {
  const std::pair<const char*, const std::vector<double>*> members[] = {
      {"rate", &study.rate},
      {"honest_norm", &study.honest_norm},
      {"honest_spread", &study.honest_spread},
      {"attack_norm", &study.attack_norm},
      {"aggregate_norm", &study.aggregate_norm},
      {"cos_honest_attack", &study.cos_honest_attack},
      {"cos_honest_aggregate", &study.cos_honest_aggregate},
      {"cos_attack_aggregate", &study.cos_attack_aggregate},
      {"aggregate_error", &study.aggregate_error},
      {"byzantine_selected", &study.byzantine_selected}};
  std::vector<ZipFile> files;
  for (const auto& [name, values] : members) {
    const std::string header = base::EncodeNpyHeader(base::NpyType::kFloat64, {values->size()});
    ZipFile& file = files.emplace_back(ZipFile{std::string(name) + ".npy", {}});
    file.bytes.assign(header.begin(), header.end());
    const base::ByteView data = base::AsBytes(std::span<const double>(*values));
    file.bytes.insert(file.bytes.end(), data.begin(), data.end());
  }
  return ZipOf(files);
}

}  // namespace ostraka::compare
