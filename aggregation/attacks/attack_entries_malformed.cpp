// Attacks on arithmetic and on parsers: values and lengths that no gradient has.
#include "aggregation/attacks/attack_entries.h"

#include <algorithm>
#include <limits>

namespace ostraka::aggregation {
namespace {

constexpr ParameterInfo kSpoiled[] = {
    {.name = "coordinates",
     .type = ValueType::kInteger,
     .meaning = "how many are spoiled, from the first",
     .default_kind = Default::kDerived,
     .default_text = "d",
     .low = 1},
};
constexpr ParameterInfo kLength[] = {
    {.name = "length",
     .type = ValueType::kInteger,
     .meaning = "the value that is sent; the other coordinates are zero",
     .default_kind = Default::kDerived,
     .default_text = "d - 1",
     .low = 0,
     .high = 1e10},
};

using Vector = std::vector<float>;

Vector WithFirst(const AttackView& view, const Parameters& parameters, float value) {
  Vector sent(view.own.begin(), view.own.end());
  const std::uint64_t count = parameters.IntegerOr("coordinates", sent.size());
  std::fill_n(sent.begin(), std::min<std::uint64_t>(count, sent.size()), value);
  return sent;
}

base::StatusOr<Vector> Inf(const Parameters& parameters, const AttackView& view) {
  return WithFirst(view, parameters, std::numeric_limits<float>::infinity());
}

base::StatusOr<Vector> Nan(const Parameters& parameters, const AttackView& view) {
  return WithFirst(view, parameters, std::numeric_limits<float>::quiet_NaN());
}

base::StatusOr<Vector> WrongLength(const Parameters& parameters, const AttackView& view) {
  const std::uint64_t length = parameters.IntegerOr("length", view.own.size() - 1);
  Vector sent(view.own.begin(), view.own.end());
  sent.resize(length, 0.0F);
  return sent;
}

base::StatusOr<Vector> Huge(const Parameters&, const AttackView& view) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  Vector sent;
  sent.reserve(view.own.size());
  for (const float value : view.own) sent.push_back(value > 0 ? -kLargest : kLargest);
  return sent;
}

}  // namespace

const AttackInfo kInfInfo = {.name = "inf",
                             .summary = "infinities instead of numbers",
                             .definition = "+infinity in the first coordinates, own in the others",
                             .source = "",
                             .parameters = kSpoiled,
                             .knowledge = Knowledge::kOwn,
                             .identical = false,
                             .malformed = true,
                             .apply = Inf};

const AttackInfo kNanInfo = {.name = "nan",
                             .summary = "no numbers",
                             .definition = "NaN in the first coordinates, own in the others",
                             .source = "",
                             .parameters = kSpoiled,
                             .knowledge = Knowledge::kOwn,
                             .identical = false,
                             .malformed = true,
                             .apply = Nan};

const AttackInfo kWrongLengthInfo = {.name = "wrong_length",
                                     .summary = "a vector that is too short or too long",
                                     .definition = "own, cut or filled up with zeros",
                                     .source = "",
                                     .parameters = kLength,
                                     .knowledge = Knowledge::kOwn,
                                     .identical = false,
                                     .malformed = true,
                                     .apply = WrongLength};

const AttackInfo kHugeInfo = {
    .name = "huge",
    .summary = "the largest finite floats: sums of their squares overflow in float32",
    .definition = "-sign(own) 3.4e38",
    .source = "",
    .knowledge = Knowledge::kOwn,
    .identical = false,
    .apply = Huge};

}  // namespace ostraka::aggregation
