// two_faced: two honest machines with one key, one for each half of the members.
//
// What the attacker does: it copies a running node's data folder and starts the copy as well.
// Neither machine lies: each follows the protocol with all that this peer receives. But they draw
// different coins, so from COMMIT on each half sees a different member, consistent in all seals,
// votes and proofs. The machines do not learn of each other: a machine stops when it meets its own
// signature on a message that it never signed. With apart = 1 both have the same coins, and the
// second gets only its half's messages: its messages differ where it has to go on without the
// others.
// Rule: one message for each slot (docs/protocol.md 2).
// Cost to honest members: slow paths in the step where it begins.
// Found by: evidence, in the step in which any member gets two messages for one slot. With apart =
// 1 most messages are equal, so it is only contained.
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "sim/adversary/frames.h"
#include "sim/attacks/messages/factories.h"
#include "sim/engine/checker.h"
#include "sim/engine/disk.h"

namespace ostraka::sim {
namespace {

class TwoFaced final : public Editor {
 public:
  explicit TwoFaced(const EditorOptions& options)
      : from_step_(options.from_step),
        apart_(options.Param("apart") != 0),
        another_(options.another),
        halves_(options) {}

  void OnInput(EditorTurn& turn, protocol::Input input) override {
    if (const auto* started = std::get_if<protocol::Started>(&input)) {
      other_seed_ = started->private_seed;
      if (!apart_) other_seed_.bytes[0] ^= 1;
      // Only a store whose writes this editor has seen can be copied, so a restarted peer is
      // honest.
      if (started->restored) another_ = {};
    } else if (const auto* link = std::get_if<protocol::LinkChanged>(&input)) {
      link->up ? (void)links_.insert(link->peer) : (void)links_.erase(link->peer);
    }
    if (const auto own = OfOther(input)) return StepOther(turn, *own);
    if (!IsRival(turn, input, first_said_)) turn.Deliver(input);
    if (other_ && OtherHears(input) && !IsRival(turn, input, other_said_)) StepOther(turn, input);
  }

  void OnAction(EditorTurn& turn, protocol::Action action) override {
    if (const auto* store = std::get_if<protocol::Store>(&action); store && !other_) {
      disk_.Apply(*store);
    }
    if (std::holds_alternative<protocol::Send>(action)) return OnSend(turn, std::move(action));
    const auto* done = Observed<protocol::StepDone>(action);
    const bool splits = done && !other_ && another_ && HeightOf(*done->block) >= from_step_;
    const std::uint64_t step = splits ? HeightOf(*done->block) : 0;
    turn.Emit(std::move(action));
    if (splits) Split(turn, step);
  }

  base::Digest Fingerprint() const override {
    return crypto::Hasher(crypto::kDomainFingerprint)
        .Update(other_ ? other_->Fingerprint() : base::Digest{})
        .UpdateU64(split_at_)
        .UpdateU64(seen_from_.value_or(0))
        .UpdateU64(held_.size())
        .Finish();
  }

 private:
  using Said = std::set<std::pair<std::uint64_t, base::Digest>>;  // step and digest of own messages
  static constexpr std::uint64_t kRememberedSteps = 8;

  static void Note(Said& said, const wire::SignedEnvelope& message) {
    const std::uint64_t step = message.envelope.slot.step;
    said.emplace(step, message.digest);
    while (said.begin()->first + kRememberedSteps < step) said.erase(said.begin());
  }

  bool OtherHears(const protocol::Input& input) const {
    if (const auto* message = std::get_if<protocol::MessageReceived>(&input)) {
      return !apart_ || !seen_from_ || halves_.InSecondHalf(message->from);
    }
    return std::holds_alternative<protocol::LinkChanged>(input);
  }

  // True for a message of this peer, signed since there are two machines, that is not in `said`:
  // the other machine signed it.
  bool IsRival(const EditorTurn& turn, const protocol::Input& input, const Said& said) {
    const auto* message = std::get_if<protocol::MessageReceived>(&input);
    const wire::SignedEnvelope* opened =
        message && other_ ? incoming_.Open(message->frame) : nullptr;
    return opened && opened->envelope.sender == turn.self() &&
           !wire::IsService(opened->envelope.slot.type) &&
           opened->envelope.slot.step >= split_at_ &&
           !said.contains({opened->envelope.slot.step, opened->digest});
  }

  // Starts the second machine from the first one's store, before the first begins a new step.
  void Split(EditorTurn& turn, std::uint64_t step) {
    split_at_ = step;
    other_ = another_();
    StepOther(turn, protocol::Started{other_seed_, 0, disk_.Restored()});
    for (const base::PeerId& peer : links_) StepOther(turn, protocol::LinkChanged{peer, true});
  }

  // The first half gets the first machine's messages. So does the second half, until the other
  // machine begins a step; of that step and later ones it gets only the other machine's.
  void OnSend(EditorTurn& turn, protocol::Action action) {
    const auto& send = std::get<protocol::Send>(action);
    const wire::SignedEnvelope* own = frames_.ReadOwn(turn, action, split_at_);
    if (own && other_) Note(first_said_, *own);
    if (!other_ || !halves_.InSecondHalf(send.to)) return turn.Emit(std::move(action));
    if (seen_from_) return;
    if (!own) return turn.Emit(std::move(action));
    held_.emplace_back(own->envelope.slot.step, send);
  }

  // A timer or job of the other machine, with the id that the other machine gave it.
  std::optional<protocol::Input> OfOther(const protocol::Input& input) {
    if (const auto* timer = std::get_if<protocol::TimerFired>(&input)) {
      if (timer->id < kFirstReservedTimer) return std::nullopt;
      return protocol::TimerFired{timer->id - kFirstReservedTimer};
    }
    if (const auto* done = std::get_if<protocol::JobDone>(&input)) {
      const auto job = jobs_.extract(done->id);
      if (job.empty()) return std::nullopt;
      return protocol::JobDone{job.mapped(), done->result};
    }
    return std::nullopt;
  }

  // Its stores are durable at once, since it never restarts.
  void StepOther(EditorTurn& turn, const protocol::Input& input) {
    std::deque<protocol::Input> inputs = {input};
    for (; !inputs.empty(); inputs.pop_front()) {
      protocol::Outbox said;
      other_->Step(turn.now(), inputs.front(), said);
      for (protocol::Action& action : said.actions()) {
        if (const auto* store = std::get_if<protocol::Store>(&action)) {
          inputs.push_back(protocol::Stored{store->id});
        } else {
          OnOthersAction(turn, std::move(action));
        }
      }
    }
  }

  void OnOthersAction(EditorTurn& turn, protocol::Action action) {
    if (std::holds_alternative<protocol::Send>(action)) {
      OnOthersSend(turn, std::move(action));
    } else if (auto* timer = std::get_if<protocol::SetTimer>(&action)) {
      turn.Emit(protocol::SetTimer{timer->id + kFirstReservedTimer, timer->at});
    } else if (const auto* cancelled = std::get_if<protocol::CancelTimer>(&action)) {
      turn.Emit(protocol::CancelTimer{cancelled->id + kFirstReservedTimer});
    } else if (const auto* job = std::get_if<protocol::StartJob>(&action)) {
      jobs_.emplace(turn.StartOwnJob(*job->spec), job->id);
    } else if (const auto* started = Observed<protocol::StepStarted>(action);
               started && !seen_from_) {
      ShowOther(turn, started->step);
    }
  }

  void ShowOther(EditorTurn& turn, std::uint64_t step) {
    seen_from_ = step;
    for (auto& [of_step, send] : std::exchange(held_, {})) {
      if (of_step < step) turn.Emit(std::move(send));
    }
  }

  // Until it takes part, it asks all members for the state of the run; then it contacts its half
  // only.
  void OnOthersSend(EditorTurn& turn, protocol::Action action) {
    const base::PeerId& to = std::get<protocol::Send>(action).to;
    const wire::SignedEnvelope* own = frames_.ReadOwn(turn, action, split_at_);
    if (own) Note(other_said_, *own);
    if (seen_from_ ? !halves_.InSecondHalf(to) : own != nullptr) return;
    if (own) turn.Confess();
    turn.Emit(std::move(action));
  }

  std::uint64_t from_step_;
  bool apart_;
  std::function<std::unique_ptr<protocol::Machine>()> another_;
  Victims halves_;
  FrameReader frames_;
  FrameReader incoming_;
  base::Digest other_seed_;
  std::set<base::PeerId> links_;  // links that are up
  Disk disk_;                     // of the first machine
  std::unique_ptr<protocol::Machine> other_;
  std::uint64_t split_at_ = 0;  // the first step that the other machine may take part in
  std::optional<std::uint64_t> seen_from_;  // the first step that it takes part in
  // Messages that the first machine signs meanwhile for the second half, by step.
  std::deque<std::pair<std::uint64_t, protocol::Send>> held_;
  std::map<protocol::JobId, protocol::JobId> jobs_;  // id here -> id in the other machine
  Said first_said_;
  Said other_said_;
};

}  // namespace

std::unique_ptr<Editor> MakeTwoFaced(const EditorOptions& options) {
  return std::make_unique<TwoFaced>(options);
}

}  // namespace ostraka::sim
