// pause: sends false gradients, but none while an alarm has more validators drawn.
//
// Rule: validators are drawn without an alarm too, and each lie may be the one that is seen.
// Cost to honest members: the false gradients, and alarms in which nothing is found.
// Found by: the validator (banned by verdict), about as late as in a run without alarms.
#include <memory>
#include <optional>
#include <variant>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "sim/adversary/lying.h"
#include "sim/adversary/shift.h"
#include "sim/attacks/results/factories.h"

namespace ostraka::sim {
namespace {

class Pause final : public LyingEditor<protocol::GradientResult> {
 public:
  explicit Pause(const EditorOptions& options)
      : LyingEditor(options.from_step), scale_(options.Param("scale")) {}

  void OnAction(EditorTurn& turn, protocol::Action action) override {
    if (const auto* observe = std::get_if<protocol::Observe>(&action)) {
      const auto* done = std::get_if<protocol::StepDone>(&observe->what);
      if (done != nullptr) alarm_until_ = done->block->alarm_until;
    }
    turn.Emit(std::move(action));
  }

  base::Digest Fingerprint() const override {
    return crypto::Hasher(crypto::kDomainFingerprint).UpdateU64(alarm_until_).Finish();
  }

 private:
  std::optional<protocol::GradientResult> Lie(const EditorTurn& turn, const protocol::JobSpec& spec,
                                              const protocol::GradientResult& truth) override {
    const auto* job = std::get_if<protocol::GradientSpec>(&spec);
    if (job == nullptr || job->owner != turn.self() || !truth.gradient ||
        job->step < alarm_until_) {
      return std::nullopt;
    }
    return protocol::GradientResult{ShiftedBy(*truth.gradient, scale_)};
  }

  double scale_;
  std::uint64_t alarm_until_ = 0;  // Block::alarm_until of the head
};

}  // namespace

std::unique_ptr<Editor> MakePause(const EditorOptions& options) {
  return std::make_unique<Pause>(options);
}

}  // namespace ostraka::sim
