#include "aggregation/attacks.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "aggregation/checks.h"
#include "aggregation/normal_quantile.h"
#include "aggregation/projection.h"
#include "node/base/check.h"
#include "node/base/rng.h"

namespace ostraka::aggregation {
namespace {

constexpr AttackParameter kAlieParameters[] = {
    {"z", std::nullopt, "standard deviations from the mean; default: the largest that hides"}};
constexpr AttackParameter kIpmParameters[] = {
    {"eps", 0.6, "length over that of the honest mean; 0.1 is the stealthy choice"}};
constexpr AttackParameter kScaleParameters[] = {
    {"lambda", 1000.0, "length over that of the true gradient"}};

constexpr AttackInfo kAttacks[] = {
    {"alie", "a little is enough: the honest mean less z standard deviations", false, true,
     kAlieParameters},
    {"ipm", "inner product manipulation: a small step against the honest mean", false, true,
     kIpmParameters},
    {"label_flip", "the true gradient of flipped labels", true, false, {}},
    {"random_direction", "a long vector in one direction that all colluders share", false, false,
     kScaleParameters},
    {"sign_flip", "the true gradient reversed and lengthened", false, false, kScaleParameters},
};

float Saturate(double value) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  return static_cast<float>(std::clamp(value, -kLargest, kLargest));
}

double HonestMean(const Rows& honest, std::size_t coordinate) {
  double sum = 0;
  for (const float* row : honest.row) sum += static_cast<double>(row[coordinate]);
  return sum / static_cast<double>(honest.count());
}

base::Status CheckView(const AttackInfo& attack, const AttackView& view) {
  if (attack.flips_labels) {
    return base::FailedPrecondition(std::string(attack.name) +
                                    " needs a trainer: it is no attack on vectors");
  }
  if (view.own.empty()) return base::InvalidArgument("the attacker's own gradient is empty");
  if (view.layout != nullptr && base::ElementCount(*view.layout) != view.own.size()) {
    return base::InvalidArgument("the layout does not match the attacker's own gradient");
  }
  if (!attack.needs_honest_gradients) return base::OkStatus();
  RETURN_IF_ERROR(CheckRows(view.honest, SerialExecutor()));
  if (view.honest.dimension != view.own.size()) {
    return base::InvalidArgument("honest gradients differ in length from the attacker's own");
  }
  return base::OkStatus();
}

// The value of `name`: given, default, or nullopt where it is to be derived.
std::optional<double> ParameterOf(const AttackInfo& attack, const AttackParameters& given,
                                  std::string_view name) {
  if (const auto found = given.find(name); found != given.end()) return found->second;
  for (const AttackParameter& parameter : attack.parameters) {
    if (parameter.name == name) return parameter.default_value;
  }
  return std::nullopt;
}

base::Status CheckParameters(const AttackInfo& attack, const AttackParameters& given) {
  for (const auto& [name, value] : given) {
    const bool known = std::any_of(attack.parameters.begin(), attack.parameters.end(),
                                   [&name = name](const auto& p) { return p.name == name; });
    if (!known) {
      return base::InvalidArgument("attack " + std::string(attack.name) + " has no parameter " +
                                   name);
    }
    if (!std::isfinite(value)) return base::InvalidArgument("parameter " + name + " is not finite");
  }
  return base::OkStatus();
}

}  // namespace

std::span<const AttackInfo> Attacks() { return kAttacks; }

const AttackInfo* FindAttack(std::string_view name) {
  const auto found = std::find_if(std::begin(kAttacks), std::end(kAttacks),
                                  [&](const AttackInfo& attack) { return attack.name == name; });
  return found == std::end(kAttacks) ? nullptr : found;
}

base::StatusOr<std::vector<float>> ApplyAttack(std::string_view name,
                                               const AttackParameters& parameters,
                                               const AttackView& view) {
  const AttackInfo* attack = FindAttack(name);
  if (attack == nullptr) return base::InvalidArgument("unknown attack " + std::string(name));
  RETURN_IF_ERROR(CheckParameters(*attack, parameters));
  RETURN_IF_ERROR(CheckView(*attack, view));
  const auto value = [&](std::string_view parameter) {
    return ParameterOf(*attack, parameters, parameter);
  };
  if (name == "sign_flip") return SignFlip(view.own, value("lambda").value());
  if (name == "random_direction") {
    const base::TensorLayout whole = {{"gradient", {view.own.size()}}};
    return RandomDirection(view.own, view.layout == nullptr ? whole : *view.layout,
                           value("lambda").value(), view.seed);
  }
  if (name == "ipm") return InnerProductManipulation(view.honest, value("eps").value());
  OSTRAKA_CHECK(name == "alie");
  const std::size_t n = view.honest.count() + view.byzantine_count;
  return Alie(view.honest, value("z").value_or(AlieZ(n, view.byzantine_count)));
}

std::vector<float> SignFlip(std::span<const float> own, double lambda) {
  std::vector<float> sent;
  sent.reserve(own.size());
  for (const float value : own) sent.push_back(Saturate(-lambda * static_cast<double>(value)));
  return sent;
}

std::vector<float> RandomDirection(std::span<const float> own, const base::TensorLayout& layout,
                                   double lambda, std::uint64_t seed) {
  OSTRAKA_CHECK(base::ElementCount(layout) == own.size());
  const base::Rng root(seed);
  std::vector<float> sent(own.size());
  std::size_t offset = 0;
  for (std::size_t k = 0; k < layout.size(); ++k) {
    const std::size_t length = layout[k].element_count();
    const std::span<float> tensor(sent.data() + offset, length);
    base::Rng rng = root.Fork("random_direction", k);
    for (float& value : tensor) value = static_cast<float>(rng.Normal());
    const double drawn = Norm(tensor);
    const double scale = drawn > 0 ? lambda * Norm(own.subspan(offset, length)) / drawn : 0.0;
    for (float& value : tensor) value = Saturate(scale * static_cast<double>(value));
    offset += length;
  }
  return sent;
}

std::vector<float> Alie(const Rows& honest, double z) {
  std::vector<float> sent(honest.dimension);
  for (std::size_t c = 0; c < honest.dimension; ++c) {
    const double mean = HonestMean(honest, c);
    double squares = 0;
    for (const float* row : honest.row) {
      const double difference = static_cast<double>(row[c]) - mean;
      squares += difference * difference;
    }
    const double deviation = std::sqrt(squares / static_cast<double>(honest.count()));
    sent[c] = Saturate(mean - z * deviation);
  }
  return sent;
}

double AlieZ(std::size_t n, std::size_t m) {
  OSTRAKA_CHECK(n > m);
  const double honest = static_cast<double>(n - m);
  const double supporters = static_cast<double>(n / 2 + 1) - static_cast<double>(m);
  const double margin = 0.5 / honest;
  return NormalQuantile(std::clamp((honest - supporters) / honest, margin, 1 - margin));
}

std::vector<float> InnerProductManipulation(const Rows& honest, double eps) {
  std::vector<float> sent(honest.dimension);
  for (std::size_t c = 0; c < honest.dimension; ++c) {
    sent[c] = Saturate(-eps * HonestMean(honest, c));
  }
  return sent;
}

}  // namespace ostraka::aggregation
