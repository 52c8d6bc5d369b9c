// What damaged hardware does to an honest member, and what an attacker can pass off as that.
//
// slip: one bit of its gradient is wrong in some steps. corrupt_state: one bit of its parameters is
// wrong from one step on.
//
// Rule: in profile exact/1 a first false gradient suspends, and another one bans (protocol.md 6); a
// COMMIT names the parameters (protocol.md 3).
// Cost to honest members: slip: one wrong bit in one row of an aggregate. corrupt_state: nothing,
// as its owners leave its parts out.
// Found by: slip: a validator that recomputes the gradient. corrupt_state: seal A of the next step;
// in other profiles by the root of the state, when a block seals one.
#include <algorithm>
#include <bit>
#include <memory>
#include <optional>
#include <vector>

#include "sim/adversary/lying.h"
#include "sim/attacks/results/factories.h"

namespace ostraka::sim {
namespace {

protocol::SharedVector WithAFlippedBit(const protocol::SharedVector& values, unsigned bit) {
  auto flipped = std::make_shared<std::vector<float>>(*values);
  float& value = (*flipped)[flipped->size() / 2];
  value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) ^ (1U << bit));
  return flipped;
}

class Slip final : public LyingEditor<protocol::GradientResult> {
 public:
  explicit Slip(const EditorOptions& options)
      : LyingEditor(options.from_step),
        bit_(static_cast<unsigned>(options.Param("bit"))),
        left_(static_cast<std::uint64_t>(options.Param("steps"))),
        every_(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(options.Param("every")))),
        from_step_(options.from_step) {}

 private:
  std::optional<protocol::GradientResult> Lie(const Turn& turn, const protocol::JobSpec&,
                                              const protocol::GradientResult& truth) override {
    if (left_ == 0 || (turn.step() - from_step_) % every_ != 0) return std::nullopt;
    --left_;
    return protocol::GradientResult{WithAFlippedBit(truth.gradient, bit_)};
  }

  unsigned bit_;
  std::uint64_t left_;
  std::uint64_t every_;
  std::uint64_t from_step_;
};

class CorruptState final : public LyingEditor<protocol::UpdateResult> {
 public:
  explicit CorruptState(const EditorOptions& options) : LyingEditor(options.from_step) {}

 private:
  std::optional<protocol::UpdateResult> Lie(const Turn&, const protocol::JobSpec&,
                                            const protocol::UpdateResult& truth) override {
    if (done_) return std::nullopt;
    done_ = true;
    protocol::UpdateResult corrupt = truth;
    corrupt.state.parameters = WithAFlippedBit(truth.state.parameters, 22);
    return corrupt;
  }

  bool done_ = false;
};

}  // namespace

std::unique_ptr<Editor> MakeSlip(const EditorOptions& options) {
  return std::make_unique<Slip>(options);
}

std::unique_ptr<Editor> MakeCorruptState(const EditorOptions& options) {
  return std::make_unique<CorruptState>(options);
}

}  // namespace ostraka::sim
