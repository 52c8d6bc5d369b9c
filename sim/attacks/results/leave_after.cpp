// leave_after: another gradient, and then it is gone before it can be asked.
//
// With steps = 0 it goes on until an honest validator is drawn for what it did, which all know a
// step before the accusation: from then on it says nothing. With steps = k it leaves after k steps,
// before anybody is drawn for the last. Then it says nothing for ever; with back = 1 only until it
// is dropped: it asks to rejoin, and begins anew if it is let in.
#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "sim/adversary/frames.h"
#include "sim/adversary/lying.h"
#include "sim/adversary/shift.h"
#include "sim/attacks/results/factories.h"

namespace ostraka::sim {
namespace {

class LeaveAfter final : public LyingEditor<protocol::GradientResult> {
 public:
  explicit LeaveAfter(const EditorOptions& options)
      : LyingEditor(options.from_step),
        scale_(options.Param("scale")),
        steps_(static_cast<std::size_t>(options.Param("steps"))),
        back_(options.Param("back") != 0) {}

  void OnAction(Turn& turn, protocol::Action action) override {
    if (const auto* observe = std::get_if<protocol::Observe>(&action)) {
      if (std::holds_alternative<protocol::StepStarted>(observe->what)) {
        gone_ = gone_ || WantsToGo(turn);
      } else if (back_ && std::holds_alternative<protocol::Away>(observe->what)) {
        gone_ = false;
        cheated_.clear();
      }
    }
    if (!gone_ || !IsSilentAbout(turn, action)) turn.Emit(std::move(action));
  }

  base::Digest Fingerprint() const override {
    return crypto::Hasher(crypto::kDomainFingerprint)
        .UpdateU64(gone_ ? 1 : 0)
        .UpdateU64(cheated_.size())
        .Finish();
  }

 private:
  // Who comes back asks questions, or it would not learn how the run goes on without it.
  bool IsSilentAbout(const Turn& turn, const protocol::Action& action) {
    if (!back_) return std::holds_alternative<protocol::Send>(action);
    return frames_.ReadOwn(turn, action, 0) != nullptr;
  }

  std::optional<protocol::GradientResult> Lie(const Turn& turn, const protocol::JobSpec& spec,
                                              const protocol::GradientResult& truth) override {
    const auto* job = std::get_if<protocol::GradientSpec>(&spec);
    if (gone_ || job == nullptr || job->owner != turn.self() || !truth.gradient) {
      return std::nullopt;
    }
    cheated_.insert(job->step);
    return protocol::GradientResult{ShiftedBy(*truth.gradient, scale_)};
  }

  bool WantsToGo(const Turn& turn) const {
    if (steps_ > 0) return cheated_.size() >= steps_;
    const auto& drawn = turn.round()->roles.validators;
    return std::any_of(drawn.begin(), drawn.end(), [&](const protocol::Assignment& assignment) {
      return assignment.target == turn.self() && cheated_.contains(assignment.step) &&
             !turn.coven().Contains(assignment.validator);
    });
  }

  double scale_;
  std::size_t steps_;
  bool back_;
  FrameReader frames_;
  std::set<std::uint64_t> cheated_;  // steps
  bool gone_ = false;
};

}  // namespace

std::unique_ptr<Editor> MakeLeaveAfter(const EditorOptions& options) {
  return std::make_unique<LeaveAfter>(options);
}

}  // namespace ostraka::sim
