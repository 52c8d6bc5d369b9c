// unwatched: sends a false gradient when an honest validator is unlikely to check it.
//
// What can be known, and when (docs/protocol/checks.md). The targets of step t are drawn from the
// coin of step t + 1, after the PROOFs of step t are sealed. So nobody knows the draw when it sends
// a gradient. The odds are public: the head gives the number of validators and the members that can
// be drawn, of which some are colluders. In each step as many colluders attack, in turns, as keep
// the chance that one is caught at most `risk`.
//
// In step t + 1 the last member to REVEAL sees all other coins before it shows its own. With abort
// = 1 colluders wait for all honest coins, add their own, and so know the draw before anybody else.
// If an honest validator would check a colluder that attacked, one colluder keeps its coin. It
// loses its membership, and another coin is drawn (docs/protocol/step.md, the coin). In one
// simulation colluders share their coins; on real nodes each knows only those that are shown.
//
// Rule: the draw of validators, and that a kept coin costs more than it gains.
// Cost to honest members: false gradients up to the risk; one more draw for each kept coin.
// Found by: the validator (banned by verdict); a kept coin at REVEAL (dropped and barred).
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/protocol/ground/roles.h"
#include "sim/adversary/frames.h"
#include "sim/adversary/shift.h"
#include "sim/attacks/results/factories.h"

namespace ostraka::sim {
namespace {

class Unwatched final : public Editor {
 public:
  explicit Unwatched(const EditorOptions& options)
      : from_step_(options.from_step),
        scale_(options.Param("scale")),
        risk_(options.Param("risk")),
        abort_(options.Param("abort") != 0),
        manifest_(options.manifest) {}

  void OnInput(EditorTurn& turn, protocol::Input input) override {
    if (const auto* timer = std::get_if<protocol::TimerFired>(&input)) {
      if (timer->id == kFirstReservedTimer) return Decide(turn, true);
    }
    if (const auto* received = std::get_if<protocol::MessageReceived>(&input)) {
      const wire::SignedEnvelope* message = frames_.Open(received->frame);
      if (message) NoteCoin(turn, *message);
    }
    if (Dares(turn, input)) return turn.Deliver(Cheated(turn, std::get<protocol::JobDone>(input)));
    turn.Deliver(input);
    Decide(turn, false);
  }

  void OnAction(EditorTurn& turn, protocol::Action action) override {
    if (const auto* observe = std::get_if<protocol::Observe>(&action)) {
      const auto* done = std::get_if<protocol::StepDone>(&observe->what);
      if (done) view_ = done->block;
    }
    const wire::SignedEnvelope* message = frames_.ReadOwn(turn, action, from_step_);
    if (!abort_ || !message || message->envelope.slot.type != wire::MessageType::kReveal) {
      return turn.Emit(std::move(action));
    }
    const wire::Slot& slot = message->envelope.slot;
    const std::pair<std::uint64_t, std::uint32_t> draw{slot.step, slot.draw};
    const auto fate = shown_.find(draw);  // the decision holds for later requests too
    if (fate != shown_.end()) {
      if (fate->second) turn.Emit(std::move(action));
      return;
    }
    NoteCoin(turn, *message);
    if (held_.empty()) {
      held_draw_ = draw;
      turn.Emit(protocol::SetTimer{kFirstReservedTimer, turn.now() + Patience()});
    }
    held_.push_back(std::move(action));
  }

  base::Digest Fingerprint() const override {
    return crypto::Hasher(crypto::kDomainFingerprint)
        .UpdateU64(held_.size())
        .UpdateU64(shown_.size())
        .Finish();
  }

 private:
  using Draw = std::pair<std::uint64_t, std::uint32_t>;  // step, draw

  // --- the gradient ---

  // The probability that a given worker of this step becomes the target of an honest validator.
  double Odds(const EditorTurn& turn) const {
    const std::vector<base::PeerId>& workers = turn.round()->roles.workers;
    // The number of targets does not depend on the coin.
    const std::size_t drawn =
        protocol::DrawValidators(view_->randomness, *view_, workers, view_->step + 2,
                                 manifest_->validators, manifest_->alarm_validators)
            .size();
    const std::vector<base::PeerId> pool = protocol::InRole(*view_);
    const auto honest = std::count_if(pool.begin(), pool.end(), [&](const base::PeerId& peer) {
      return !turn.coven().Contains(peer);
    });
    return static_cast<double>(drawn) / static_cast<double>(workers.size()) *
           static_cast<double>(honest) / static_cast<double>(pool.size());
  }

  bool Dares(const EditorTurn& turn, const protocol::Input& input) const {
    const auto* done = std::get_if<protocol::JobDone>(&input);
    const auto spec = done ? turn.SpecOf(done->id) : nullptr;
    const auto* job = spec ? std::get_if<protocol::GradientSpec>(spec.get()) : nullptr;
    if (!job || job->owner != turn.self() || job->step < from_step_ || !turn.round() || !view_) {
      return false;
    }
    if (!std::holds_alternative<protocol::GradientResult>(*done->result)) return false;
    std::vector<base::PeerId> friends;
    for (const base::PeerId& worker : turn.round()->roles.workers) {
      if (turn.coven().Contains(worker)) friends.push_back(worker);
    }
    const auto place = std::find(friends.begin(), friends.end(), turn.self());
    if (place == friends.end()) return false;
    const double odds = Odds(turn);
    const double bearable = odds > 0 ? std::min(risk_ / odds, double(friends.size()))
                                     : static_cast<double>(friends.size());
    const auto turn_of =
        (static_cast<std::uint64_t>(place - friends.begin()) + job->step) % friends.size();
    return turn_of < static_cast<std::uint64_t>(bearable);
  }

  protocol::JobDone Cheated(EditorTurn& turn, const protocol::JobDone& done) const {
    const auto& truth = std::get<protocol::GradientResult>(*done.result);
    turn.Confess();
    turn.coven().whispers(turn.step()).guilty.insert(turn.self());
    return {done.id, std::make_shared<const protocol::JobResult>(
                         protocol::GradientResult{ShiftedBy(*truth.gradient, scale_)})};
  }

  // --- the coin ---

  // Honest members do not ask for a REVEAL before two Delta have passed (docs/protocol/step.md).
  base::Duration Patience() const {
    return view_ ? base::Microseconds(static_cast<std::int64_t>(view_->delta_us))
                 : manifest_->delta;
  }

  static void NoteCoin(const EditorTurn& turn, const wire::SignedEnvelope& message) {
    const wire::Slot& slot = message.envelope.slot;
    if (slot.type != wire::MessageType::kReveal || slot.step != turn.step()) return;
    const auto* reveal = message.As<wire::Reveal>();
    if (reveal == nullptr) return;
    turn.coven().whispers(slot.step).coins[slot.draw][message.envelope.sender] =
        reveal->opening.coin.value;
  }

  // The validators and targets that the coin gives; nullopt until every coin of the draw that can
  // still be shown is known.
  std::optional<std::vector<protocol::Assignment>> Foresee(const EditorTurn& turn) const {
    if (!view_) return std::nullopt;
    const Coven::Whispers& known = turn.coven().whispers(held_draw_.first);
    const auto coins = known.coins.find(held_draw_.second);
    const auto shows = [&](const base::PeerId& member) {
      return std::none_of(known.keeper.begin(), known.keeper.end(), [&](const auto& keeper) {
        return keeper.first < held_draw_.second && keeper.second == member;
      });
    };
    for (const base::PeerId& member : view_->members) {
      if (shows(member) && !coins->second.contains(member)) return std::nullopt;
    }
    const base::Digest randomness =
        protocol::RandomnessOf(manifest_->run_id, held_draw_.first, coins->second);
    return protocol::DrawValidators(randomness, *view_, view_->proven, held_draw_.first + 1,
                                    manifest_->validators, manifest_->alarm_validators);
  }

  // Shows or keeps the own coin as soon as all others are known; at the latest when `now_or_never`.
  // One kept coin is enough: the first colluder that decides keeps it.
  void Decide(EditorTurn& turn, bool now_or_never) {
    if (held_.empty()) return;
    const auto drawn = Foresee(turn);
    if (!drawn && !now_or_never) return;
    const bool keep = drawn && IsCaught(turn, *drawn) &&
                      turn.coven()
                          .whispers(held_draw_.first)
                          .keeper.try_emplace(held_draw_.second, turn.self())
                          .second;
    shown_[held_draw_] = !keep;
    while (shown_.size() > kRemembered) shown_.erase(shown_.begin());
    const std::vector<protocol::Action> held = std::exchange(held_, {});
    if (keep) return turn.Confess();
    for (const protocol::Action& action : held) turn.Emit(action);
  }

  static bool IsCaught(const EditorTurn& turn, const std::vector<protocol::Assignment>& drawn) {
    return std::any_of(drawn.begin(), drawn.end(), [&](const protocol::Assignment& assignment) {
      return !turn.coven().Contains(assignment.validator) &&
             turn.coven().whispers(assignment.step).guilty.contains(assignment.target);
    });
  }

  static constexpr std::size_t kRemembered = 16;  // draws that others may still ask about

  std::uint64_t from_step_;
  double scale_;
  double risk_;
  bool abort_;
  std::shared_ptr<const protocol::Manifest> manifest_;
  FrameReader frames_;
  std::shared_ptr<const wire::Block> view_;  // the parent of the step in progress
  Draw held_draw_{};
  std::vector<protocol::Action> held_;  // the own REVEAL for each member, until decided
  std::map<Draw, bool> shown_;          // true: shown; false: kept
};

}  // namespace

std::unique_ptr<Editor> MakeUnwatched(const EditorOptions& options) {
  return std::make_unique<Unwatched>(options);
}

}  // namespace ostraka::sim
