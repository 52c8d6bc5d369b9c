// leave_after: sends a false gradient and leaves before it can be asked about it.
//
// With steps = 0 it attacks until an honest validator is drawn for one of its gradients, which is
// public one step before the accusation; from then on it sends nothing. With steps = k it leaves
// after k steps, before a validator is drawn for the last. Then it is silent for ever; with back =
// 1 only until it is dropped: then it asks to rejoin, and starts again if it is admitted. With
// name = 1 it stays, and names an honest sender of its own column, whose part it does not show, in
// each step after a lie: a case of kNumbers is open when the validator judges.
//
// Rule: cases go on after their subject left; a drop must not protect from a ban
// (docs/protocol/checks.md).
// Cost to honest members: the false gradients, and the wait for an absent member in one step.
// Found by: the validator. Its sealed COMMIT is judged without it, so it is dropped and banned too.
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

class LeaveAfter final : public LyingEditor<protocol::JobResult> {
 public:
  explicit LeaveAfter(const EditorOptions& options)
      : LyingEditor(options.from_step),
        scale_(options.Param("scale")),
        steps_(static_cast<std::size_t>(options.Param("steps"))),
        back_(options.Param("back") != 0),
        names_(options.Param("name") != 0),
        victims_(options) {}

  void OnAction(EditorTurn& turn, protocol::Action action) override {
    if (const auto* observe = std::get_if<protocol::Observe>(&action)) {
      if (std::holds_alternative<protocol::StepStarted>(observe->what)) {
        gone_ = gone_ || (!names_ && WantsToGo(turn));
      } else if (back_ && std::holds_alternative<protocol::Away>(observe->what)) {
        gone_ = false;
        cheated_.clear();
      }
    }
    if (names_ && frames_.ReadShownPart(turn, action) != nullptr) return;
    if (!gone_ || !IsSilentAbout(turn, action)) turn.Emit(std::move(action));
  }

  base::Digest Fingerprint() const override {
    return crypto::Hasher(crypto::kDomainFingerprint)
        .UpdateU64(gone_ ? 1 : 0)
        .UpdateU64(cheated_.size())
        .Finish();
  }

 private:
  // A member that wants to come back still sends questions; without their answers it could not
  // follow the run.
  bool IsSilentAbout(const EditorTurn& turn, const protocol::Action& action) {
    if (!back_) return std::holds_alternative<protocol::Send>(action);
    return frames_.ReadOwn(turn, action, 0) != nullptr;
  }

  std::optional<protocol::JobResult> Lie(const EditorTurn& turn, const protocol::JobSpec& spec,
                                         const protocol::JobResult& truth) override {
    if (const auto* compared = std::get_if<protocol::CrossCheckSpec>(&spec)) {
      return names_ ? victims_.Named(turn, *compared) : std::nullopt;
    }
    const auto* job = std::get_if<protocol::GradientSpec>(&spec);
    const auto* result = std::get_if<protocol::GradientResult>(&truth);
    if (gone_ || job == nullptr || job->owner != turn.self() || result == nullptr ||
        !result->gradient) {
      return std::nullopt;
    }
    cheated_.insert(job->step);
    return protocol::GradientResult{ShiftedBy(*result->gradient, scale_)};
  }

  bool WantsToGo(const EditorTurn& turn) const {
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
  bool names_;
  Victims victims_;
  FrameReader frames_;
  std::set<std::uint64_t> cheated_;  // steps with a false gradient
  bool gone_ = false;
};

}  // namespace

std::unique_ptr<Editor> MakeLeaveAfter(const EditorOptions& options) {
  return std::make_unique<LeaveAfter>(options);
}

}  // namespace ostraka::sim
