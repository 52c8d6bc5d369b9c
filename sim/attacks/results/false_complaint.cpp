// false_complaint: says of an honest member that it failed what it owes.
//   kind 0  as an aggregator: never got its part
//   kind 1  as an aggregator: its numbers do not follow from its part
//   kind 2  as a worker: never got its aggregate
// selective_bitmap says of all honest members that no part came: its aggregate is its friends'.
#include <algorithm>
#include <memory>
#include <utility>

#include "sim/adversary/frames.h"
#include "sim/adversary/lying.h"
#include "sim/attacks/results/factories.h"

namespace ostraka::sim {
namespace {

// The part for the own column, from whomever it comes, is not let in.
class NoPart final : public Editor {
 public:
  // Of one victim, or of all who are not in the coven.
  NoPart(const EditorOptions& options, bool of_all)
      : from_step_(options.from_step), of_all_(of_all), victims_(options) {}

  void OnInput(Turn& turn, protocol::Input input) override {
    if (!IsVictimsPart(turn, input)) return turn.Deliver(input);
    turn.Confess();
  }

 private:
  bool IsVictimsPart(const Turn& turn, const protocol::Input& input) {
    const auto* received = std::get_if<protocol::MessageReceived>(&input);
    if (!received || !received->blob || !turn.round()) return false;
    const wire::SignedEnvelope* message = frames_.Open(received->frame);
    if (!message || message->envelope.slot.type != wire::MessageType::kPart) return false;
    // A part of the next step may come early: whose column it is shows only then.
    const wire::Slot& slot = message->envelope.slot;
    return slot.step >= from_step_ && slot.step >= turn.step() &&
           (of_all_ ? !turn.coven().Contains(message->envelope.sender)
                    : message->envelope.sender == victims_.InRole(turn));
  }

  std::uint64_t from_step_;
  bool of_all_;
  Victims victims_;
  FrameReader frames_;
};

class FalseNaming final : public LyingEditor<protocol::CrossCheckResult> {
 public:
  explicit FalseNaming(const EditorOptions& options)
      : LyingEditor(options.from_step), victims_(options) {}

 private:
  std::optional<protocol::CrossCheckResult> Lie(const Turn& turn, const protocol::JobSpec& spec,
                                                const protocol::CrossCheckResult&) override {
    const auto victim = victims_.InRole(turn);
    const auto& claims = std::get<protocol::CrossCheckSpec>(spec).claims;
    const bool about = std::any_of(claims.begin(), claims.end(),
                                   [&](const auto& claim) { return claim.peer == victim; });
    if (!about) return std::nullopt;
    return protocol::CrossCheckResult{{*victim}};
  }

  Victims victims_;
};

class NoResult final : public LyingEditor<protocol::ProveResult> {
 public:
  explicit NoResult(const EditorOptions& options)
      : LyingEditor(options.from_step), victims_(options) {}

 private:
  std::optional<protocol::ProveResult> Lie(const Turn& turn, const protocol::JobSpec&,
                                           const protocol::ProveResult& truth) override {
    const auto victim = victims_.InRole(turn);
    const auto column = victim ? turn.round()->roles.PartOwnedBy(*victim) : std::nullopt;
    if (!column || truth.columns[*column].missing) return std::nullopt;
    protocol::ProveResult lie = truth;
    lie.columns[*column] = {.missing = true, .size = truth.columns[*column].size};
    return lie;
  }

  Victims victims_;
};

}  // namespace

std::unique_ptr<Editor> MakeFalseComplaint(const EditorOptions& options) {
  const int kind = static_cast<int>(options.Param("kind"));
  if (kind == 1) return std::make_unique<FalseNaming>(options);
  if (kind == 2) return std::make_unique<NoResult>(options);
  return std::make_unique<NoPart>(options, false);
}
std::unique_ptr<Editor> MakeSelectiveBitmap(const EditorOptions& options) {
  return std::make_unique<NoPart>(options, true);
}

}  // namespace ostraka::sim
