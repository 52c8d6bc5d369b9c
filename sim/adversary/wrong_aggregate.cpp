// wrong_aggregate: AGG and RESULT carry an aggregate that is not CenteredClip's. near_tolerance:
// one that is off by so little that the sum check is at its limit.
#include <cmath>

#include "sim/adversary/editors.h"
#include "sim/adversary/lying.h"
#include "sim/adversary/shift.h"

namespace ostraka::sim {
namespace {

// Every coordinate moved by `scale` times the aggregate's root mean square.
class WrongAggregate final : public LyingEditor<protocol::AggregateResult> {
 public:
  explicit WrongAggregate(const EditorOptions& options)
      : LyingEditor(options.from_step), scale_(options.Param("scale")) {}

 private:
  std::optional<protocol::AggregateResult> Lie(const Turn&, const protocol::JobSpec& spec,
                                               const protocol::AggregateResult& truth) override {
    const std::vector<float> values = FloatsIn(*truth.result);
    return Shifted(std::get<protocol::AggregateSpec>(spec), values, scale_ * ScaleOf(values));
  }

  double scale_;
};

// The check allows sums of 8 |S| (eps + 2^-23 |ghat|) / sqrt(p) over |S| projections on directions
// of p entries +-1/sqrt(p): this shift makes them `times` that, times a standard normal number
// each.
class NearTolerance final : public LyingEditor<protocol::AggregateResult> {
 public:
  explicit NearTolerance(const EditorOptions& options)
      : LyingEditor(options.from_step), times_(options.Param("times")) {}

 private:
  std::optional<protocol::AggregateResult> Lie(const Turn&, const protocol::JobSpec& spec,
                                               const protocol::AggregateResult& truth) override {
    const auto& aggregate = std::get<protocol::AggregateSpec>(spec);
    const std::vector<float> values = FloatsIn(*truth.result);
    double squares = 0;
    for (const float value : values) squares += double{value} * value;
    const double allowed = 8 * (aggregate.eps + 0x1.0p-23 * std::sqrt(squares));
    const double shift = times_ * allowed / std::sqrt(static_cast<double>(values.size()));
    return Shifted(aggregate, values, shift);
  }

  double times_;
};

}  // namespace

std::unique_ptr<Editor> MakeNearTolerance(const EditorOptions& options) {
  return std::make_unique<NearTolerance>(options);
}
std::unique_ptr<Editor> MakeWrongAggregate(const EditorOptions& options) {
  return std::make_unique<WrongAggregate>(options);
}

}  // namespace ostraka::sim
