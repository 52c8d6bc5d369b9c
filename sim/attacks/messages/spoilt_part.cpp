// spoilt_part: an honest owner gets a part that is not finite numbers, which it must refuse.
//
// The part is correctly signed and matches its COMMIT, and the worker's numbers are true of the
// part as it should be. So others see only that the owner left the part out. Members that hold the
// spoilt part must not testify that they held it, since its owner could not accept it.
//
// Rule: testimony in disputes counts acceptable parts only (docs/protocol/removals.md).
// Cost to honest members: one column of a step without that part, twice.
// Found by: the dispute: nobody held a part that its owner could accept; dropped at the second
// time.
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "sim/adversary/frames.h"
#include "sim/adversary/lying.h"
#include "sim/attacks/messages/factories.h"

namespace ostraka::sim {
namespace {

class SpoiltPart final : public LyingEditor<protocol::PackResult> {
 public:
  explicit SpoiltPart(const EditorOptions& options)
      : LyingEditor(options.from_step), shorter_(options.Param("short") != 0), victims_(options) {}

  void OnAction(EditorTurn& turn, protocol::Action action) override {
    const auto* start = std::get_if<protocol::StartJob>(&action);
    const auto* prove = start ? std::get_if<protocol::ProveSpec>(start->spec.get()) : nullptr;
    if (!prove) return turn.Emit(std::move(action));
    protocol::ProveSpec spec = *prove;
    for (protocol::SharedBlob& part : spec.parts) {
      if (part && part == spoilt_part_) part = true_part_;
    }
    turn.Emit(
        protocol::StartJob{start->id, std::make_shared<const protocol::JobSpec>(std::move(spec))});
  }

 private:
  std::optional<protocol::PackResult> Lie(const EditorTurn& turn, const protocol::JobSpec& /*spec*/,
                                          const protocol::PackResult& truth) override {
    const auto victim = turn.round() == nullptr ? std::nullopt : victims_.At(turn, 0);
    const auto column = victim ? turn.round()->roles.PartOwnedBy(*victim) : std::nullopt;
    if (!column || *column >= truth.parts.size()) return std::nullopt;
    protocol::PackResult lie = truth;
    true_part_ = std::exchange(lie.parts[*column], Spoilt(*truth.parts[*column]));
    spoilt_part_ = lie.parts[*column];
    return lie;
  }

  protocol::SharedBlob Spoilt(const crypto::Blob& part) const {
    std::vector<float> values(part.data.size() / sizeof(float) - (shorter_ ? 1 : 0));
    if (!shorter_) values.assign(values.size(), std::numeric_limits<float>::quiet_NaN());
    const base::ByteView bytes = base::AsBytes(std::span<const float>(values));
    return crypto::MakeBlob(base::Bytes(bytes.begin(), bytes.end()));
  }

  bool shorter_;
  Victims victims_;
  protocol::SharedBlob true_part_, spoilt_part_;  // of the current step
};

}  // namespace

std::unique_ptr<Editor> MakeSpoiltPart(const EditorOptions& options) {
  return std::make_unique<SpoiltPart>(options);
}

}  // namespace ostraka::sim
