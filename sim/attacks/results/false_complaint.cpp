// false_complaint: claims that one honest member failed its duty.
//   kind 0  as an aggregator: the victim's part never came
//   kind 1  as an aggregator: the victim's numbers do not follow from its part
//   kind 2  as a worker: the victim's aggregate never came
// selective_bitmap: as an aggregator, claims that no honest part came. Its aggregate contains only
// the parts of colluders.
//
// Rule: disputes, which must not remove a member on one peer's word (docs/protocol/removals.md),
// and naming (docs/protocol/checks.md).
// Cost to honest members: a missing part or a void column for a step; a case for each naming.
// Found by: other members that held the part or the aggregate (dropped at the second time); for
// kind 1 the exhibit (banned by verdict); for selective_bitmap more disputes than the fault bound
// allows.
#include <algorithm>
#include <memory>
#include <utility>

#include "sim/adversary/frames.h"
#include "sim/adversary/lying.h"
#include "sim/attacks/results/factories.h"

namespace ostraka::sim {
namespace {

// Withholds parts for the own column from the inner machine, directly sent or forwarded.
class NoPart final : public Editor {
 public:
  // Parts of one victim, or (`of_all`) of all members outside the coven.
  NoPart(const EditorOptions& options, bool of_all)
      : from_step_(options.from_step), of_all_(of_all), victims_(options) {}

  void OnInput(EditorTurn& turn, protocol::Input input) override {
    if (!IsVictimsPart(turn, input)) return turn.Deliver(input);
    // In a dispute a worker shows its part to all: who owns no column complains of nobody by it.
    if (turn.round()->roles.PartOwnedBy(turn.self())) turn.Confess();
  }

 private:
  bool IsVictimsPart(const EditorTurn& turn, const protocol::Input& input) {
    const auto* received = std::get_if<protocol::MessageReceived>(&input);
    if (!received || !received->blob || !turn.round()) return false;
    const wire::SignedEnvelope* message = frames_.Open(received->frame);
    if (!message || message->envelope.slot.type != wire::MessageType::kPart) return false;
    // A part of the next step may come early, before roles tell whose column it is for.
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

class FalseNaming final : public LyingEditor<protocol::JobResult> {
 public:
  explicit FalseNaming(const EditorOptions& options)
      : LyingEditor(options.from_step), victims_(options) {}

 private:
  std::optional<protocol::JobResult> Lie(const EditorTurn& turn, const protocol::JobSpec& spec,
                                         const protocol::JobResult&) override {
    const auto* compared = std::get_if<protocol::CrossCheckSpec>(&spec);
    return compared != nullptr ? victims_.Named(turn, *compared) : std::nullopt;
  }

  Victims victims_;
};

class NoResult final : public LyingEditor<protocol::ProveResult> {
 public:
  explicit NoResult(const EditorOptions& options)
      : LyingEditor(options.from_step), victims_(options) {}

 private:
  std::optional<protocol::ProveResult> Lie(const EditorTurn& turn, const protocol::JobSpec&,
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
