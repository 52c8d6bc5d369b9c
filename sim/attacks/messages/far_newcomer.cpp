// far_newcomer: an intruder whose line is long: each message takes `deltas` Delta more to it and
// from it; moves = 1: only once it is a member, so that nothing about its line keeps it out. It
// says nothing false. Genesis members are honest.
//
// Rule: a newcomer is confirmed if it answers within Delta / 2, and names one of the newest 8
// blocks; a member that is too late for the seals is sealed absent and dropped; disputes with a
// newcomer count for it alone (decisions/0027). Cost to honest members: time, up to the deadlines
// of the seals of a few steps. Found by: the deadlines that it misses. Near enough, it is a member
// like others; contained.
#include <algorithm>
#include <deque>
#include <memory>
#include <utility>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "sim/adversary/frames.h"
#include "sim/attacks/messages/guest_factories.h"

namespace ostraka::sim {
namespace {

class FarNewcomer final : public Editor {
 public:
  explicit FarNewcomer(const EditorOptions& options)
      : way_(base::Duration{static_cast<std::int64_t>(
            options.Param("deltas") * static_cast<double>(options.manifest->delta.ns))}),
        moves_(options.Param("moves") != 0),
        comes_(std::none_of(
            options.manifest->members.begin(), options.manifest->members.end(),
            [&](const protocol::Member& member) { return member.id == options.key->id(); })) {}

  void OnInput(EditorTurn& turn, protocol::Input input) override {
    const auto* timer = std::get_if<protocol::TimerFired>(&input);
    if (timer != nullptr && timer->id == kFirstReservedTimer) return Release(turn);
    if (!IsFar(turn) || !std::holds_alternative<protocol::MessageReceived>(input)) {
      return turn.Deliver(input);
    }
    coming_.push_back({turn.now() + way_, std::move(input)});
    Arm(turn);
  }

  void OnAction(EditorTurn& turn, protocol::Action action) override {
    if (!IsFar(turn) || !std::holds_alternative<protocol::Send>(action)) {
      return turn.Emit(std::move(action));
    }
    if (turn.round() != nullptr) turn.Confess();
    going_.push_back({turn.now() + way_, std::move(action)});
    Arm(turn);
  }

  base::Digest Fingerprint() const override {
    return crypto::Hasher(crypto::kDomainFingerprint)
        .UpdateU64(coming_.size())
        .UpdateU64(going_.size())
        .Finish();
  }

 private:
  template <typename What>
  struct OnTheWay {
    base::Time due;
    What what;
  };

  bool IsFar(const EditorTurn& turn) const {
    return comes_ && (!moves_ || turn.round() != nullptr);
  }

  void Release(EditorTurn& turn) {
    while (!coming_.empty() && coming_.front().due <= turn.now()) {
      const protocol::Input input = std::move(coming_.front().what);
      coming_.pop_front();
      turn.Deliver(input);
    }
    while (!going_.empty() && going_.front().due <= turn.now()) {
      turn.Emit(std::move(going_.front().what));
      going_.pop_front();
    }
    Arm(turn);
  }
  void Arm(EditorTurn& turn) const {
    if (coming_.empty() && going_.empty()) return;
    const base::Time due = coming_.empty()  ? going_.front().due
                           : going_.empty() ? coming_.front().due
                                            : std::min(coming_.front().due, going_.front().due);
    turn.Emit(protocol::SetTimer{kFirstReservedTimer, std::max(due, turn.now())});
  }

  base::Duration way_;
  bool moves_;
  bool comes_;                                    // no member of the genesis
  std::deque<OnTheWay<protocol::Input>> coming_;  // in the order of their due times
  std::deque<OnTheWay<protocol::Action>> going_;
};

}  // namespace

std::unique_ptr<Editor> MakeFarNewcomer(const EditorOptions& options) {
  return std::make_unique<FarNewcomer>(options);
}

}  // namespace ostraka::sim
