// Attacks that need only the attacker's own gradient, or none.
#include "aggregation/attacks/attack_entries.h"

#include <algorithm>
#include <string>

#include "aggregation/attacks/attack_vectors.h"

namespace ostraka::aggregation {
namespace {

constexpr ParameterInfo kLambda[] = {
    {.name = "lambda",
     .type = ValueType::kReal,
     .meaning = "length over that of the true gradient",
     .default_kind = Default::kValue,
     .default_text = "1000",
     .low = -kAny},
};
constexpr ParameterInfo kGamma[] = {
    {.name = "gamma",
     .type = ValueType::kReal,
     .meaning = "factor on the true gradient; n cancels the other workers in a mean",
     .default_kind = Default::kDerived,
     .default_text = "n",
     .low = -kAny},
};
constexpr ParameterInfo kDelay[] = {
    {.name = "steps",
     .type = ValueType::kInteger,
     .meaning = "age of the gradient that is sent",
     .default_kind = Default::kValue,
     .default_text = "10",
     .low = 1,
     .high = 1e6},
};
constexpr Choice kAround[] = {{"zero", "noise alone"}, {"own", "noise on the true gradient"}};
constexpr ParameterInfo kGaussian[] = {
    {.name = "around",
     .type = ValueType::kChoice,
     .meaning = "the vector to which the noise is added",
     .default_kind = Default::kValue,
     .default_text = "zero",
     .choices = kAround},
    {.name = "mean",
     .type = ValueType::kReal,
     .meaning = "mean of the noise",
     .default_kind = Default::kValue,
     .default_text = "0",
     .low = -kAny,
     .in_rows_unit = true},
    {.name = "sigma",
     .type = ValueType::kReal,
     .meaning = "standard deviation of the noise",
     .default_kind = Default::kValue,
     .default_text = "1",
     .low = 0,
     .in_rows_unit = true},
};
constexpr ParameterInfo kUniform[] = {
    {.name = "low",
     .type = ValueType::kReal,
     .meaning = "smallest value",
     .default_kind = Default::kValue,
     .default_text = "-1",
     .low = -kAny,
     .in_rows_unit = true},
    {.name = "high",
     .type = ValueType::kReal,
     .meaning = "largest value, above low",
     .default_kind = Default::kValue,
     .default_text = "1",
     .low = -kAny,
     .in_rows_unit = true},
};
constexpr ParameterInfo kBits[] = {
    {.name = "coordinates",
     .type = ValueType::kInteger,
     .meaning = "how many are flipped, from the first",
     .default_kind = Default::kValue,
     .default_text = "1000",
     .low = 1},
    {.name = "bit",
     .type = ValueType::kInteger,
     .meaning = "the only bit that is flipped, if not 0: 1 is within the noise between machines",
     .default_kind = Default::kValue,
     .default_text = "0",
     .high = 32},
};

using Vector = std::vector<float>;

base::StatusOr<Vector> None(const Parameters&, const AttackView& view) {
  return Vector(view.own.begin(), view.own.end());
}

base::StatusOr<Vector> ApplySignFlip(const Parameters& parameters, const AttackView& view) {
  return SignFlip(view.own, parameters.Real("lambda"));
}

base::StatusOr<Vector> Replacement(const Parameters& parameters, const AttackView& view) {
  const std::size_t known = view.honest.count() + view.byzantine_count;
  const auto n = static_cast<double>(view.worker_count == 0 ? known : view.worker_count);
  return SignFlip(view.own, -parameters.RealOr("gamma", n));
}

base::StatusOr<Vector> ApplyRandomDirection(const Parameters& parameters, const AttackView& view) {
  const base::TensorLayout whole = {{"gradient", {view.own.size()}}};
  return RandomDirection(view.own, view.layout == nullptr ? whole : *view.layout,
                         parameters.Real("lambda"), view.seed);
}

base::StatusOr<Vector> Delayed(const Parameters& parameters, const AttackView& view) {
  if (view.state == nullptr) return Vector(view.own.begin(), view.own.end());
  std::deque<Vector>& own = view.state->own;
  own.emplace_back(view.own.begin(), view.own.end());
  while (own.size() > parameters.Integer("steps") + 1) own.pop_front();
  if (own.front().size() != view.own.size()) {
    return base::InvalidArgument("attack delayed: earlier gradients had another length");
  }
  return own.front();
}

base::StatusOr<Vector> Gaussian(const Parameters& parameters, const AttackView& view) {
  const bool about_own = parameters.Choice("around") == "own";
  return GaussianAround(about_own ? view.own : std::span<const float>(), view.own.size(),
                        parameters.Real("mean"), parameters.Real("sigma"), RngOf("gaussian", view));
}

base::StatusOr<Vector> ApplyUniform(const Parameters& parameters, const AttackView& view) {
  const double low = parameters.Real("low");
  const double high = parameters.Real("high");
  if (low > high) return base::InvalidArgument("attack uniform needs low <= high");
  return Uniform(view.own.size(), low, high, RngOf("uniform", view));
}

base::StatusOr<Vector> BitFlip(const Parameters& parameters, const AttackView& view) {
  return FlipBits(view.own, parameters.Integer("coordinates"), parameters.Integer("bit"));
}

}  // namespace

const AttackInfo kNoneInfo = {.name = "none",
                              .summary = "the true gradient: an honest worker among the attackers",
                              .definition = "own",
                              .source = "",
                              .knowledge = Knowledge::kOwn,
                              .identical = false,
                              .apply = None};

const AttackInfo kSignFlipInfo = {
    .name = "sign_flip",
    .summary = "the true gradient reversed and lengthened",
    .definition = "-lambda own; ByzFL and others: lambda = 1",
    .source = "Gorbunov, Borzunov, Diskin, Ryabinin, ICML 2022, experiments (BTARD)",
    .parameters = kLambda,
    .knowledge = Knowledge::kOwn,
    .identical = false,
    .apply = ApplySignFlip};

const AttackInfo kReplacementInfo = {
    .name = "replacement",
    .summary = "the true gradient lengthened until it replaces the mean",
    .definition = "gamma own",
    .source = "Bagdasaryan, Veit, Hua, Estrin, Shmatikov, AISTATS 2020 (model replacement)",
    .parameters = kGamma,
    .knowledge = Knowledge::kOwn,
    .identical = false,
    .apply = Replacement};

const AttackInfo kRandomDirectionInfo = {
    .name = "random_direction",
    .summary = "a long vector in one direction that all colluders share",
    .definition = "tensor by tensor lambda |own| u, u a unit vector drawn from the seed alone",
    .source = "Gorbunov, Borzunov, Diskin, Ryabinin, ICML 2022, experiments (BTARD)",
    .parameters = kLambda,
    .knowledge = Knowledge::kOwn,
    .identical = false,
    .apply = ApplyRandomDirection};

const AttackInfo kLabelFlipInfo = {
    .name = "label_flip",
    .summary = "the true gradient of flipped labels",
    .definition = "the gradient with label K - 1 - y for y, which only a trainer can compute",
    .source = "Gorbunov, Borzunov, Diskin, Ryabinin, ICML 2022, experiments (BTARD)",
    .knowledge = Knowledge::kWork,
    .identical = false};

const AttackInfo kAscentInfo = {
    .name = "ascent",
    .summary = "the worker's own steps uphill: the gradient reversed before each of them",
    .definition =
        "the local steps with -g for each gradient g, which only a trainer can compute; without "
        "local steps -own",
    .source = "",
    .knowledge = Knowledge::kWork,
    .identical = false};

const AttackInfo kSkipInnerInfo = {
    .name = "skip_inner",
    .summary = "one local step fewer than is owed: a lazy worker",
    .definition =
        "the first H - 1 of H local steps, which only a trainer can compute; below H = 3 the "
        "worker is honest",
    .source = "",
    .knowledge = Knowledge::kWork,
    .identical = false};

const AttackInfo kDelayedInfo = {
    .name = "delayed",
    .summary = "an old true gradient (steps=1: a lazy worker)",
    .definition = "own of `steps` steps ago; in the first steps the oldest",
    .source =
        "Gorbunov, Borzunov, Diskin, Ryabinin, ICML 2022, experiments (BTARD), there "
        "1000 steps",
    .parameters = kDelay,
    .knowledge = Knowledge::kOwn,
    .identical = false,
    .remembers = true,
    .apply = Delayed};

const AttackInfo kGaussianInfo = {
    .name = "gaussian",
    .summary = "independent noise",
    .definition =
        "around + N(mean, sigma^2), different for every attacker and step; "
        "near-normal, tails end at 6 sigma",
    .source = "Blanchard, El Mhamdi, Guerraoui, Stainer, NIPS 2017, experiments",
    .parameters = kGaussian,
    .knowledge = Knowledge::kOwn,
    .identical = false,
    .apply = Gaussian};

const AttackInfo kUniformInfo = {
    .name = "uniform",
    .summary = "independent uniform noise",
    .definition = "U[low, high), different for every attacker and step",
    .source = "Guerraoui et al., Garfield (code); FedML (code)",
    .parameters = kUniform,
    .knowledge = Knowledge::kOwn,
    .identical = false,
    .apply = ApplyUniform};

const AttackInfo kBitFlipInfo = {
    .name = "bit_flip",
    .summary = "a memory error: bits of the first coordinates flipped",
    .definition =
        "bits 22, 30, 31 and 32 of each of the first coordinates of own, counted from "
        "1 at the lowest; no number or infinite: the largest float",
    .source = "Xie, Koyejo, Gupta, 2018 (Generalized Byzantine-tolerant SGD), 5.1",
    .parameters = kBits,
    .knowledge = Knowledge::kOwn,
    .identical = false,
    .apply = BitFlip};

}  // namespace ostraka::aggregation
