// Attacks that need the gradients of all honest workers.
#include "aggregation/attacks/attack_entries.h"

#include <algorithm>

#include "aggregation/attacks/attack_lines.h"
#include "aggregation/attacks/attack_mimic.h"
#include "aggregation/attacks/attack_vectors.h"

namespace ostraka::aggregation {
namespace {

constexpr ParameterInfo kAlie[] = {
    {.name = "z",
     .type = ValueType::kReal,
     .meaning = "standard deviations below the mean; derived: the most that hides among the honest",
     .default_kind = Default::kDerived,
     .default_text = "Phi^-1((n - m - s) / (n - m)), s = floor(n/2 + 1) - m",
     .low = -kAny},
    {.name = "ddof",
     .type = ValueType::kInteger,
     .meaning = "the deviation divides by n - m - ddof",
     .default_kind = Default::kValue,
     .default_text = "0",
     .low = 0,
     .high = 1},
};
constexpr ParameterInfo kIpm[] = {
    {.name = "eps",
     .type = ValueType::kReal,
     .meaning = "length over that of the honest mean; 0.1 is the stealthy choice, 2 is ByzFL's",
     .default_kind = Default::kValue,
     .default_text = "0.6",
     .low = -kAny},
};
constexpr ParameterInfo kMimic[] = {
    {.name = "epsilon",
     .type = ValueType::kInteger,
     .meaning = "the worker that is copied until the warm-up is over",
     .default_kind = Default::kValue,
     .default_text = "0",
     .low = 0},
    {.name = "warmup",
     .type = ValueType::kInteger,
     .meaning = "steps in which the best worker to copy is learnt; 0: epsilon for ever",
     .default_kind = Default::kValue,
     .default_text = "0",
     .low = 0},
};
constexpr ParameterInfo kSubtracted[] = {
    PerturbationParameter("the vector that is subtracted from the mean")};
constexpr Choice kTargets[] = {{"trimmed_mean", "against coordinate-wise rules"},
                               {"krum", "against Krum"}};
constexpr ParameterInfo kFang[] = {
    {.name = "target",
     .type = ValueType::kChoice,
     .meaning = "the rule that it targets",
     .default_kind = Default::kValue,
     .default_text = "trimmed_mean",
     .choices = kTargets},
    {.name = "b",
     .type = ValueType::kReal,
     .meaning = "trimmed_mean: largest factor beyond the extreme",
     .default_kind = Default::kValue,
     .default_text = "2",
     .low = 1},
};

using Vector = std::vector<float>;

base::StatusOr<Vector> ApplyAlie(const Parameters& parameters, const AttackView& view) {
  const std::size_t n = view.honest.count() + view.byzantine_count;
  return Alie(view.honest, parameters.RealOr("z", AlieZ(n, view.byzantine_count)),
              std::min<std::size_t>(parameters.Integer("ddof"), view.honest.count()));
}

base::StatusOr<Vector> Ipm(const Parameters& parameters, const AttackView& view) {
  return InnerProductManipulation(view.honest, parameters.Real("eps"));
}

base::StatusOr<Vector> ApplyMimic(const Parameters& parameters, const AttackView& view) {
  if (!view.honest_ids.empty() && view.honest_ids.size() != view.honest.count()) {
    return base::InvalidArgument("attack mimic: give one identity for every honest row");
  }
  StateOf state(view);
  return Mimic(view.honest, view.honest_ids,
               {parameters.Integer("epsilon"), parameters.Integer("warmup")}, view.seed, *state);
}

base::StatusOr<Vector> MinMax(const Parameters& parameters, const AttackView& view) {
  const Line line = MinMaxLine(view.honest, parameters.Choice("perturbation"));
  return line.At(line.low);
}

base::StatusOr<Vector> MinSum(const Parameters& parameters, const AttackView& view) {
  const Line line = MinSumLine(view.honest, parameters.Choice("perturbation"));
  return line.At(line.low);
}

base::StatusOr<Vector> Fang(const Parameters& parameters, const AttackView& view) {
  if (parameters.Choice("target") == "krum") return FangKrum(view.honest, view.byzantine_count);
  return FangBeyondExtremes(view.honest, parameters.Real("b"), RngOf("fang", view));
}

base::StatusOr<Vector> ApplyAntiCge(const Parameters&, const AttackView& view) {
  return AntiCge(view.honest, view.byzantine_count);
}

base::StatusOr<Vector> SignGuard(const Parameters&, const AttackView& view) {
  return SignHistogram(MeanOf(view.honest), RngOf("sign_histogram", view));
}

}  // namespace

const AttackInfo kAlieInfo = {
    .name = "alie",
    .summary = "a little is enough: the honest mean less z standard deviations",
    .definition = "mean - z deviation, coordinate by coordinate; ByzFL: z=-1.5, ddof=1",
    .source = "Baruch, Baruch, Goldberg, NeurIPS 2019, algorithm 3",
    .parameters = kAlie,
    .knowledge = Knowledge::kHonest,
    .apply = ApplyAlie};

const AttackInfo kIpmInfo = {
    .name = "ipm",
    .summary = "inner product manipulation: a small step against the honest mean",
    .definition = "-eps mean",
    .source = "Xie, Koyejo, Gupta, UAI 2019 (fall of empires)",
    .parameters = kIpm,
    .knowledge = Knowledge::kHonest,
    .apply = Ipm};

const AttackInfo kMimicInfo = {.name = "mimic",
                               .summary = "copies one honest worker, which then counts too often",
                               .definition =
                                   "the row of one worker, by identity; with a warm-up the row "
                                   "furthest along the direction of the greatest variance",
                               .source = "Karimireddy, He, Jaggi, ICLR 2022",
                               .parameters = kMimic,
                               .knowledge = Knowledge::kHonest,
                               .remembers = true,
                               .apply = ApplyMimic};

const AttackInfo kMinMaxInfo = {
    .name = "min_max",
    .summary = "as far from the mean as two honest rows are from each other",
    .definition =
        "mean - g p with the largest g for which no honest row is further away than "
        "the largest distance of two honest rows; exact",
    .source = "Shejwalkar, Houmansadr, NDSS 2021",
    .parameters = kSubtracted,
    .knowledge = Knowledge::kHonest,
    .apply = MinMax};

const AttackInfo kMinSumInfo = {
    .name = "min_sum",
    .summary = "as far in the sum of squares as the honest row in the middle",
    .definition =
        "mean - g p with the largest g for which the sum of squared distances to the honest rows "
        "is at most that of some honest row; exact",
    .source =
        "Shejwalkar, Houmansadr, NDSS 2021; the minimum over rows, as in the authors' "
        "code",
    .parameters = kSubtracted,
    .knowledge = Knowledge::kHonest,
    .apply = MinSum};

const AttackInfo kFangInfo = {
    .name = "fang",
    .summary = "beyond the honest values, or as near as Krum asks",
    .definition =
        "trimmed_mean: beyond the extreme against the sign of the mean by a factor "
        "drawn from [1, b]; krum: -l sign(mean) with the largest l that Krum still "
        "selects",
    .source = "Fang, Cao, Jia, Gong, USENIX Security 2020, 4.2 and 4.3, full knowledge",
    .parameters = kFang,
    .knowledge = Knowledge::kHonest,
    .identical = false,
    .apply = Fang};

const AttackInfo kAntiCgeInfo = {
    .name = "anti_cge",
    .summary =
        "opposite to the rows that comparative gradient elimination keeps, short "
        "enough to be kept",
    .definition =
        "against the sum of the n - 2m smallest honest rows, with the length of the next row",
    .source = "Rouault, ByzantineMomentum (code), anticge",
    .knowledge = Knowledge::kHonest,
    .apply = ApplyAntiCge};

const AttackInfo kSignHistogramInfo = {
    .name = "sign_histogram",
    .summary = "noise with the signs of the mean, in another order",
    .definition = "magnitudes U(0, 1] with as many of each sign as the mean has, shuffled",
    .source = "Li, Ngai, Voigt, Blades (code), against SignGuard",
    .knowledge = Knowledge::kHonest,
    .identical = false,
    .apply = SignGuard};

}  // namespace ostraka::aggregation
