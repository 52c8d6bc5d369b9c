// Attacks that also need to know the rule.
#include "aggregation/attacks/attack_entries.h"

#include <limits>
#include <string>
#include <utility>

#include "aggregation/attacks/attack_lines.h"
#include "aggregation/attacks/attack_search.h"
#include "aggregation/attacks/attack_vectors.h"

namespace ostraka::aggregation {
namespace {

// The range of a search.
constexpr ParameterInfo RangeParameter(std::string_view meaning, std::string_view default_text,
                                       bool in_rows_unit = false) {
  return {.name = "range",
          .type = ValueType::kReal,
          .meaning = meaning,
          .default_kind = Default::kValue,
          .default_text = default_text,
          .low = 0,
          .high = in_rows_unit ? 1e38 : 1e15,
          .low_open = true,
          .in_rows_unit = in_rows_unit};
}
constexpr ParameterInfo kAlieRange[] = {
    RangeParameter("the largest number of deviations that is tried, either way", "100")};
constexpr ParameterInfo kIpmRange[] = {
    RangeParameter("the largest multiple of the mean that is tried, either way", "100")};
constexpr ParameterInfo kFangRange[] = {RangeParameter(
    "the largest multiple of the way to the extreme that is tried, either way", "100")};
constexpr ParameterInfo kCoordinate[] = {
    {.name = "coordinate",
     .type = ValueType::kInteger,
     .meaning = "the coordinate that is moved, from 0",
     .default_kind = Default::kValue,
     .default_text = "0",
     .low = 0},
    RangeParameter("the furthest that is tried, either way", "1000", true),
};
constexpr ParameterInfo kDirection[] = {PerturbationParameter("the direction from the mean")};
constexpr ParameterInfo kRop[] = {
    {.name = "z",
     .type = ValueType::kReal,
     .meaning = "length of the perturbation",
     .default_kind = Default::kValue,
     .default_text = "1",
     .low = 0,
     .in_rows_unit = true},
    {.name = "lambda",
     .type = ValueType::kReal,
     .meaning = "where it starts: 0 at the last aggregate, 1 at the mean",
     .default_kind = Default::kValue,
     .default_text = "0.9",
     .low = 0,
     .high = 1},
    {.name = "cosine",
     .type = ValueType::kReal,
     .meaning = "of the angle to the last aggregate",
     .default_kind = Default::kValue,
     .default_text = "0",
     .low = -1,
     .high = 1},
};

using Vector = std::vector<float>;

// The rule's result for the honest rows and m copies of `vector`.
base::StatusOr<Vector> AggregateWith(const AttackView& view, const Vector& vector) {
  Rows rows = view.honest;
  rows.row.resize(rows.count() + view.byzantine_count, vector.data());
  Vector out(rows.dimension);
  RETURN_IF_ERROR((*view.victim)(rows, out));
  return out;
}

base::StatusOr<Vector> Rop(const Parameters& parameters, const AttackView& view) {
  StateOf remembered(view);
  AttackState& state = *remembered;
  if (state.aggregate.size() != view.honest.dimension) state.aggregate.clear();
  Vector sent = RelocatedOrthogonal(view.honest, state.aggregate, parameters.Real("z"),
                                    parameters.Real("lambda"), parameters.Real("cosine"));
  ASSIGN_OR_RETURN(state.aggregate, AggregateWith(view, sent));
  return sent;
}

base::StatusOr<Vector> MostDamagingOn(const Line& line, const AttackView& view) {
  ASSIGN_OR_RETURN(Found found,
                   MostDamaging(line, view.honest, view.byzantine_count, *view.victim));
  return std::move(found.vector);
}

Line WithRange(Line line, const Parameters& parameters) {
  line.high = parameters.Real("range");
  line.low = -line.high;
  return line;
}

base::StatusOr<Vector> OptAlie(const Parameters& parameters, const AttackView& view) {
  Moments moments = MomentsOf(view.honest, 0);
  return MostDamagingOn(
      WithRange({std::move(moments.mean), std::move(moments.deviation), {}, 0, 0}, parameters),
      view);
}

base::StatusOr<Vector> OptIpm(const Parameters& parameters, const AttackView& view) {
  const std::vector<double> zero(view.honest.dimension, 0.0);
  return MostDamagingOn(WithRange({zero, MeanOf(view.honest), {}, 0, 0}, parameters), view);
}

base::StatusOr<Vector> OptMinMax(const Parameters& parameters, const AttackView& view) {
  return MostDamagingOn(MinMaxLine(view.honest, parameters.Choice("perturbation")), view);
}

base::StatusOr<Vector> OptMinSum(const Parameters& parameters, const AttackView& view) {
  return MostDamagingOn(MinSumLine(view.honest, parameters.Choice("perturbation")), view);
}

base::StatusOr<Vector> OptFang(const Parameters& parameters, const AttackView& view) {
  return MostDamagingOn(WithRange(FangLine(view.honest), parameters), view);
}

base::StatusOr<Vector> OptCoordinate(const Parameters& parameters, const AttackView& view) {
  const std::uint64_t coordinate = parameters.Integer("coordinate");
  if (coordinate >= view.honest.dimension) {
    return base::InvalidArgument("attack opt_coordinate: coordinate " + std::to_string(coordinate) +
                                 " of " + std::to_string(view.honest.dimension) +
                                 "; they are counted from 0");
  }
  std::vector<double> direction(view.honest.dimension, 0.0);
  direction[coordinate] = 1;
  return MostDamagingOn(
      WithRange({MeanOf(view.honest), std::move(direction), {}, 0, 0}, parameters), view);
}

}  // namespace

const AttackInfo kOptAlieInfo = {
    .name = "opt_alie",
    .summary = "alie with the z that does the most damage to the rule",
    .definition =
        "mean + t deviation, |t| <= range, where |rule - mean| is largest; both "
        "signs, about 400 calls of the rule",
    .source = "Shejwalkar, Houmansadr, NDSS 2021; ByzFL (code), which searches one side",
    .parameters = kAlieRange,
    .knowledge = Knowledge::kRule,
    .apply = OptAlie};

const AttackInfo kOptIpmInfo = {
    .name = "opt_ipm",
    .summary = "ipm with the factor that does the most damage to the rule",
    .definition =
        "t mean, |t| <= range, where |rule - mean| is largest; both signs, about 400 "
        "calls of the rule",
    .source = "ByzFL (code), which searches one side",
    .parameters = kIpmRange,
    .knowledge = Knowledge::kRule,
    .apply = OptIpm};

const AttackInfo kOptFangInfo = {
    .name = "opt_fang",
    .summary = "fang with the distance that does the most damage to the rule",
    .definition =
        "mean + t (extreme - mean), |t| <= range: the extreme against the sign of the "
        "mean for t > 0, the other for t < 0; both signs, about 400 calls of the rule",
    .source = "after Fang, Cao, Jia, Gong, USENIX Security 2020",
    .parameters = kFangRange,
    .knowledge = Knowledge::kRule,
    .apply = OptFang};

const AttackInfo kOptMinMaxInfo = {
    .name = "opt_min_max",
    .summary = "the vector within the limits of min_max that damages the rule most",
    .definition =
        "mean + t p, t within the limits of min_max on either side; both signs, about "
        "400 calls of the rule",
    .source = "Shejwalkar, Houmansadr, NDSS 2021, against a known rule",
    .parameters = kDirection,
    .knowledge = Knowledge::kRule,
    .apply = OptMinMax};

const AttackInfo kOptMinSumInfo = {
    .name = "opt_min_sum",
    .summary = "the vector within the limits of min_sum that damages the rule most",
    .definition =
        "mean + t p, t within the limits of min_sum on either side; both signs, about "
        "400 calls of the rule",
    .source = "Shejwalkar, Houmansadr, NDSS 2021, against a known rule",
    .parameters = kDirection,
    .knowledge = Knowledge::kRule,
    .apply = OptMinSum};

const AttackInfo kOptCoordinateInfo = {
    .name = "opt_coordinate",
    .summary = "moves one coordinate as far as the rule tolerates: the hidden vulnerability",
    .definition =
        "mean + t e_k, |t| <= range, where |rule - mean| is largest; both signs, "
        "about 400 calls of the rule",
    .source = "El Mhamdi, Guerraoui, Rouault, ICML 2018",
    .parameters = kCoordinate,
    .knowledge = Knowledge::kRule,
    .apply = OptCoordinate};

const AttackInfo kRopInfo = {
    .name = "rop",
    .summary =
        "a perturbation orthogonal to the last aggregate: the fall of centered "
        "clipping",
    .definition =
        "lambda mean + (1 - lambda) a + z (cosine a/|a| - sqrt(1 - cosine^2) o/|o|), "
        "a the last aggregate, o the part of the mean that is orthogonal to a",
    .source = "after Ozfatura, Ozfatura, Kupcu, Gunduz 2023",
    .parameters = kRop,
    .knowledge = Knowledge::kRule,
    .remembers = true,
    .apply = Rop};

}  // namespace ostraka::aggregation
