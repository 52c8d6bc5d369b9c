// wrong_aggregate: AGG and RESULT carry an aggregate that is not CenteredClip's fixed point.
// near_tolerance: such an aggregate with an error just at the limit of the sum check; with how = 1
// in one coordinate alone, the same in each step, with how = 2 against each coordinate's own value.
//
// wrong_aggregate shifts all coordinates by `scale` root mean squares, or a single coordinate with
// one = 1. The shift grows by the factor `ramp` each step. With cover = 1 colluders state sums that
// hide it and sizes above all others. With cover = 2 they send parts shifted by the same distance,
// and true numbers.
//
// Rule: the size check (docs/protocol/numbers.md) and the sum check V2 (docs/protocol/checks.md).
// Cost to honest members: a void column until the owner is removed; below the limit, an error that
// rounding can make too.
// Found by: V2 or the size check. The column is void, and the owner is dropped because it names no
// worker that lied; with cover the colluders are banned by verdict.
#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/adversary/lying.h"
#include "sim/adversary/shift.h"
#include "sim/attacks/results/cover_up.h"
#include "sim/attacks/results/factories.h"

namespace ostraka::sim {
namespace {

// Clamped to finite floats: a non-finite aggregate would not count as one at all.
float Added(float value, double shift) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  return static_cast<float>(std::clamp(double{value} + shift, -kLargest, kLargest));
}

// Computes the shift of each coordinate.
class Shift {
 public:
  explicit Shift(const EditorOptions& options)
      : from_step_(options.from_step),
        scale_(options.Param("scale")),
        ramp_(options.Param("ramp")),
        one_(options.Param("one") != 0) {}

  std::vector<float> Of(const EditorTurn& turn, std::vector<float> values) const {
    const auto steps = static_cast<double>(turn.step() - std::min(turn.step(), from_step_));
    const double shift = scale_ * std::pow(ramp_, steps) * ScaleOf(values);
    const std::size_t count = one_ ? 1 : values.size();
    for (std::size_t c = 0; c < count; ++c) values[c] = Added(values[c], shift);
    return values;
  }

 private:
  std::uint64_t from_step_;
  double scale_;
  double ramp_;
  bool one_;
};

class WrongAggregate final : public LyingEditor<protocol::AggregateResult> {
 public:
  explicit WrongAggregate(const EditorOptions& options)
      : LyingEditor(options.from_step), shift_(options) {}

 private:
  std::optional<protocol::AggregateResult> Lie(const EditorTurn& turn,
                                               const protocol::JobSpec& spec,
                                               const protocol::AggregateResult& truth) override {
    const auto& aggregate = std::get<protocol::AggregateSpec>(spec);
    return Shifted(aggregate, shift_.Of(turn, ResultOf(aggregate, truth)), 0);
  }

  Shift shift_;
};

class FarParts final : public LyingEditor<protocol::GradientResult> {
 public:
  explicit FarParts(const EditorOptions& options)
      : LyingEditor(options.from_step), shift_(options) {}

 private:
  std::optional<protocol::GradientResult> Lie(const EditorTurn& turn, const protocol::JobSpec&,
                                              const protocol::GradientResult& truth) override {
    return protocol::GradientResult{
        std::make_shared<const std::vector<float>>(shift_.Of(turn, *truth.gradient))};
  }

  Shift shift_;
};

// The sum check allows sums of 8 |S| (eps + 2^-23 |ghat| + quantum) / sqrt(p), over |S| projections
// on directions of p entries +-1/sqrt(p). The shift makes each sum `times` that limit, times a
// standard normal number, or with how = 1 times 1: such a coordinate is steered for ever where
// times < 1. With how = 2 and times = 1/8 an aggregator rounds all against the gradient, by half of
// what the codec's steps are.
class NearTolerance final : public LyingEditor<protocol::AggregateResult> {
 public:
  explicit NearTolerance(const EditorOptions& options)
      : LyingEditor(options.from_step),
        times_(options.Param("times")),
        how_(static_cast<How>(options.Param("how"))) {}

 private:
  enum class How : std::uint8_t { kAll, kOne, kAgainst };

  std::optional<protocol::AggregateResult> Lie(const EditorTurn&, const protocol::JobSpec& spec,
                                               const protocol::AggregateResult& truth) override {
    const auto& aggregate = std::get<protocol::AggregateSpec>(spec);
    std::vector<float> values = ResultOf(aggregate, truth);
    const protocol::ResultSize size =
        protocol::SizeOf(aggregate.codecs.results, *truth.result, aggregate.size);
    const double allowed = 8 * (aggregate.eps + 0x1.0p-23 * size.norm + size.quantum);
    const double shift = times_ * allowed / std::sqrt(static_cast<double>(values.size()));
    if (how_ == How::kAll) return Shifted(aggregate, values, shift);
    if (how_ == How::kOne) {
      values[0] = Added(values[0], times_ * allowed);
    } else {
      for (float& value : values) value = Added(value, value < 0 ? shift : -shift);
    }
    return AsResult(aggregate, values);
  }

  double times_;
  How how_;
};

}  // namespace

std::unique_ptr<Editor> MakeNearTolerance(const EditorOptions& options) {
  return std::make_unique<NearTolerance>(options);
}

std::vector<std::unique_ptr<Editor>> MakeWrongAggregate(const EditorOptions& options) {
  std::vector<std::unique_ptr<Editor>> editors;
  const int cover = static_cast<int>(options.Param("cover"));
  if (cover == 1) {
    CoverStyle style;
    style.lie = [shift = Shift(options)](const EditorTurn& turn,
                                         const protocol::AggregateSpec& spec,
                                         const protocol::AggregateResult& truth) {
      return std::optional(Shifted(spec, shift.Of(turn, ResultOf(spec, truth)), 0));
    };
    style.claim_size = true;
    editors.push_back(MakeCovered(options, std::move(style)));
    return editors;
  }
  if (cover == 2) editors.push_back(std::make_unique<FarParts>(options));
  editors.push_back(std::make_unique<WrongAggregate>(options));
  return editors;
}

}  // namespace ostraka::sim
