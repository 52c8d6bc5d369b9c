// wrong_aggregate: AGG and RESULT carry an aggregate that is not CenteredClip's.
#include <cmath>

#include "sim/adversary/editors.h"
#include "sim/adversary/lying.h"
#include "sim/adversary/shift.h"

namespace ostraka::sim {
namespace {

// Every coordinate moved by `scale` times the aggregate's root mean square (by `scale` if that is
// zero): a shift in one direction, whose size does not depend on how far training has come.
class WrongAggregate final : public LyingEditor<protocol::AggregateResult> {
 public:
  explicit WrongAggregate(const EditorOptions& options)
      : LyingEditor(options.from_step), scale_(options.Param("scale")) {}

 private:
  std::optional<protocol::AggregateResult> Lie(const Turn&, const protocol::JobSpec& spec,
                                               const protocol::AggregateResult& truth) override {
    const std::vector<float> values = FloatsIn(*truth.result);
    double squares = 0;
    for (const float value : values) squares += double{value} * value;
    const double rms = std::sqrt(squares / static_cast<double>(values.size()));
    return Shifted(std::get<protocol::AggregateSpec>(spec), values, scale_ * (rms > 0 ? rms : 1));
  }

  double scale_;
};

}  // namespace

std::unique_ptr<Editor> MakeWrongAggregate(const EditorOptions& options) {
  return std::make_unique<WrongAggregate>(options);
}

}  // namespace ostraka::sim
