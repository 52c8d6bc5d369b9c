// late: sends everything `deltas` Delta late; with victim = 1 only to one honest member.
//
// Rule: deadlines of the seals and the charges for lateness (docs/protocol/waits.md).
// Cost to honest members: time, up to 2 Delta a message.
// Found by: a deadline that it misses; sealed absent and dropped. Below that it is contained.
#include <deque>
#include <memory>
#include <utility>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "sim/adversary/frames.h"
#include "sim/attacks/messages/factories.h"

namespace ostraka::sim {
namespace {

class Late final : public Editor {
 public:
  explicit Late(const EditorOptions& options)
      : from_step_(options.from_step),
        deltas_(options.Param("deltas")),
        victim_only_(options.Param("victim") != 0),
        victims_(options),
        delta_(options.manifest->delta) {}

  void OnInput(EditorTurn& turn, protocol::Input input) override {
    const auto* timer = std::get_if<protocol::TimerFired>(&input);
    if (!timer || timer->id != kFirstReservedTimer) return turn.Deliver(input);
    while (!held_.empty() && held_.front().due <= turn.now()) {
      turn.Emit(std::move(held_.front().action));
      held_.pop_front();
    }
    if (!held_.empty()) turn.Emit(protocol::SetTimer{kFirstReservedTimer, held_.front().due});
  }

  void OnAction(EditorTurn& turn, protocol::Action action) override {
    if (const auto* observe = std::get_if<protocol::Observe>(&action)) {
      const auto* done = std::get_if<protocol::StepDone>(&observe->what);
      if (done) delta_ = base::Microseconds(static_cast<std::int64_t>(done->block->delta_us));
    }
    const bool own = frames_.ReadOwn(turn, action, from_step_) != nullptr;
    if (!own || (victim_only_ && std::get<protocol::Send>(action).to != victims_.At(turn))) {
      return turn.Emit(std::move(action));
    }
    turn.Confess();
    base::Time due =
        turn.now() +
        base::Duration{static_cast<std::int64_t>(deltas_ * static_cast<double>(delta_.ns))};
    // Keeps the order when Delta has just become smaller.
    if (!held_.empty()) due = std::max(due, held_.back().due);
    if (held_.empty()) turn.Emit(protocol::SetTimer{kFirstReservedTimer, due});
    held_.push_back({due, std::move(action)});
  }

  base::Digest Fingerprint() const override {
    return crypto::Hasher(crypto::kDomainFingerprint).UpdateU64(held_.size()).Finish();
  }

 private:
  struct Held {
    base::Time due;
    protocol::Action action;
  };
  std::uint64_t from_step_;
  double deltas_;
  bool victim_only_;
  Victims victims_;
  base::Duration delta_;  // of the head
  FrameReader frames_;
  std::deque<Held> held_;  // in the order of their due times
};

}  // namespace

std::unique_ptr<Editor> MakeLate(const EditorOptions& options) {
  return std::make_unique<Late>(options);
}

}  // namespace ostraka::sim
