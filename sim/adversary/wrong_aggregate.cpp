// wrong_aggregate: AGG and RESULT carry an aggregate that is not CenteredClip's.
#include <cmath>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "crypto/merkle.h"
#include "sim/adversary/editors.h"
#include "sim/adversary/lying.h"

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
    std::vector<float> values(truth.result->data.size() / sizeof(float));
    std::memcpy(values.data(), truth.result->data.data(), values.size() * sizeof(float));
    double squares = 0;
    for (const float value : values) squares += double{value} * value;
    const double rms = std::sqrt(squares / static_cast<double>(values.size()));
    const auto shift = static_cast<float>(scale_ * (rms > 0 ? rms : 1));
    for (float& value : values) value += shift;
    const base::ByteView bytes = base::AsBytes(std::span<const float>(values));
    base::Bytes data(bytes.begin(), bytes.end());
    const bool hash = std::get<protocol::AggregateSpec>(spec).hash;
    return protocol::AggregateResult{
        hash ? crypto::MakeBlob(std::move(data))
             : std::make_shared<const crypto::Blob>(crypto::Blob{std::move(data), {}})};
  }

  double scale_;
};

}  // namespace

std::unique_ptr<Editor> MakeWrongAggregate(const EditorOptions& options) {
  return std::make_unique<WrongAggregate>(options);
}

}  // namespace ostraka::sim
