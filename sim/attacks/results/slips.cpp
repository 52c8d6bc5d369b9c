// Faults of damaged hardware, and attacks that look like them.
//
// slip: one bit of its gradient is wrong in some steps; where = 1: of a part after it was sent;
// where = 2: its check of the numbers of others finds a difference that is none. corrupt_state: one
// bit of its parameters is wrong from one step on.
//
// Rule: in profile exact/1 a first false gradient, number or naming suspends, and another one bans
// (docs/protocol/removals.md); a COMMIT names the parameters (docs/protocol/step.md).
// Cost to honest members: slip: one wrong bit in one row of an aggregate; where = 1: a void column;
// where = 2: a case. corrupt_state: nothing, as its owners leave its parts out.
// Found by: slip: a validator that recomputes the gradient; where = 1: the owner that holds the
// part; where = 2: the voters of the case. corrupt_state: seal A of the next step;
// in other profiles by the root of the state, when a block seals one.
#include <algorithm>
#include <bit>
#include <memory>
#include <optional>
#include <vector>

#include "node/protocol/ground/numbers.h"
#include "sim/adversary/lying.h"
#include "sim/adversary/shift.h"
#include "sim/attacks/results/factories.h"

namespace ostraka::sim {
namespace {

protocol::SharedVector WithAFlippedBit(const protocol::SharedVector& values, unsigned bit) {
  auto flipped = std::make_shared<std::vector<float>>(*values);
  float& value = (*flipped)[flipped->size() / 2];
  value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) ^ (1U << bit));
  return flipped;
}

// The steps in which a bit flips.
class Times {
 public:
  explicit Times(const EditorOptions& options)
      : left_(static_cast<std::uint64_t>(options.Param("steps"))),
        every_(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(options.Param("every")))),
        from_step_(options.from_step) {}
  // True so often and in these steps only; counts. REQUIRES: `step` is not before the first.
  bool Take(std::uint64_t step) {
    if (left_ == 0 || (step - from_step_) % every_ != 0) return false;
    --left_;
    return true;
  }

 private:
  std::uint64_t left_;
  std::uint64_t every_;
  std::uint64_t from_step_;
};

unsigned BitOf(const EditorOptions& options) { return static_cast<unsigned>(options.Param("bit")); }

class Slip final : public LyingEditor<protocol::GradientResult> {
 public:
  explicit Slip(const EditorOptions& options)
      : LyingEditor(options.from_step), bit_(BitOf(options)), times_(options) {}

 private:
  std::optional<protocol::GradientResult> Lie(const EditorTurn& turn, const protocol::JobSpec&,
                                              const protocol::GradientResult& truth) override {
    if (!times_.Take(turn.step())) return std::nullopt;
    return protocol::GradientResult{WithAFlippedBit(truth.gradient, bit_)};
  }

  unsigned bit_;
  Times times_;
};

// States the numbers of a part of which a bit has flipped since it was sent, in one column that
// another member owns.
class SlipOfAPart final : public LyingEditor<protocol::ProveResult> {
 public:
  explicit SlipOfAPart(const EditorOptions& options)
      : LyingEditor(options.from_step), bit_(BitOf(options)), times_(options) {}

 private:
  std::optional<protocol::ProveResult> Lie(const EditorTurn& turn, const protocol::JobSpec& job,
                                           const protocol::ProveResult& truth) override {
    const auto& spec = std::get<protocol::ProveSpec>(job);
    const std::vector<base::PeerId>& owners = turn.round()->roles.owners;
    for (std::size_t j = 0; j < spec.columns.size() && j < owners.size(); ++j) {
      if (turn.coven().Contains(owners[j]) || truth.columns[j].missing) continue;
      if (!times_.Take(turn.step())) return std::nullopt;
      const auto flipped =
          WithAFlippedBit(std::make_shared<const std::vector<float>>(
                              ValuesIn(spec.codec, *spec.parts[j], spec.columns[j].range.size())),
                          bit_);
      protocol::ProveResult slip = truth;
      slip.columns[j] = protocol::NumbersOf(*flipped, spec.columns[j], spec.tau);
      return slip;
    }
    return std::nullopt;
  }

  unsigned bit_;
  Times times_;
};

class SlipOfACheck final : public LyingEditor<protocol::CrossCheckResult> {
 public:
  explicit SlipOfACheck(const EditorOptions& options)
      : LyingEditor(options.from_step), times_(options) {}

 private:
  std::optional<protocol::CrossCheckResult> Lie(const EditorTurn& turn,
                                                const protocol::JobSpec& job,
                                                const protocol::CrossCheckResult& truth) override {
    const auto& spec = std::get<protocol::CrossCheckSpec>(job);
    for (const auto& claim : spec.claims) {
      if (turn.coven().Contains(claim.peer) || !truth.liars.empty()) continue;
      if (!times_.Take(turn.step())) return std::nullopt;
      return protocol::CrossCheckResult{{claim.peer}};
    }
    return std::nullopt;
  }

  Times times_;
};

class CorruptState final : public LyingEditor<protocol::UpdateResult> {
 public:
  explicit CorruptState(const EditorOptions& options) : LyingEditor(options.from_step) {}

 private:
  std::optional<protocol::UpdateResult> Lie(const EditorTurn&, const protocol::JobSpec&,
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
  const double where = options.Param("where");
  if (where == 1) return std::make_unique<SlipOfAPart>(options);
  if (where == 2) return std::make_unique<SlipOfACheck>(options);
  return std::make_unique<Slip>(options);
}

std::unique_ptr<Editor> MakeCorruptState(const EditorOptions& options) {
  return std::make_unique<CorruptState>(options);
}

}  // namespace ostraka::sim
