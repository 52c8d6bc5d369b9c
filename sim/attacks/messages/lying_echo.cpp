// lying_echo, double_propose and stale_lock: attacks on the seals themselves.
//
// Rule: agreement (seal.md 4); neither a fast path nor an honest leader may be needed for it.
// Cost to honest members: time, for the slow path.
// Found by: what each class says below.
#include <algorithm>
#include <memory>
#include <utility>

#include "node/base/check.h"
#include "sim/adversary/frames.h"
#include "sim/attacks/messages/factories.h"

namespace ostraka::sim {
namespace {

// Echoes a vector that nobody holds, and does not show it when asked. It sends one ECHO for each
// seal, so there is no evidence. It is dropped: its ECHO is unshown, and came without messages that
// it had to wait for.
class LyingEcho : public Editor {
 public:
  // `confesses`: each such ECHO counts as a misdeed.
  explicit LyingEcho(const EditorOptions& options, bool confesses = true)
      : from_step_(options.from_step), confesses_(confesses), forger_(options.key) {}

  void OnAction(EditorTurn& turn, protocol::Action action) override {
    const wire::SignedEnvelope* message = frames_.ReadOwn(turn, action, from_step_);
    if (!message) return turn.Emit(std::move(action));
    OnOwn(turn, *message, std::get<protocol::Send>(std::move(action)));
  }

 protected:
  virtual void OnOwn(EditorTurn& turn, const wire::SignedEnvelope& message, protocol::Send send) {
    if (message.envelope.slot.type == wire::MessageType::kEcho) {
      if (confesses_ && !forger_.Knows(message.envelope.slot)) turn.Confess();
      send.frame = forger_.Forge(message, Lie(message.envelope.body));
    }
    turn.Emit(std::move(send));
  }

  Forger& forger() { return forger_; }

 private:
  static base::Bytes Lie(const base::Bytes& body) {
    auto echo = wire::Decode<wire::Echo>(body);
    OSTRAKA_CHECK(echo.ok());
    echo->vector.bytes[0] ^= 1;
    for (std::uint8_t& byte : echo->present) byte = 0;
    return wire::Encode(*echo);
  }

  std::uint64_t from_step_;
  bool confesses_;
  Forger forger_;
  FrameReader frames_;
};

// Forces the slow path with a lying ECHO and, as leader, proposes two values, one to each half.
// Only the two PROPOSEs count as the misdeed, because a colluder that never leads leaves no
// evidence. Two PROPOSEs for one slot are evidence; otherwise it is dropped for its ECHO.
class DoublePropose final : public LyingEcho {
 public:
  explicit DoublePropose(const EditorOptions& options)
      : LyingEcho(options, /*confesses=*/false), victims_(options) {}

 private:
  void OnOwn(EditorTurn& turn, const wire::SignedEnvelope& message, protocol::Send send) override {
    if (message.envelope.slot.type != wire::MessageType::kPropose) {
      return LyingEcho::OnOwn(turn, message, std::move(send));
    }
    if (!forger().Knows(message.envelope.slot)) turn.Confess();
    const base::SharedBytes& rival = forger().Forge(message, OtherValue(message.envelope.body));
    if (victims_.InSecondHalf(send.to)) send.frame = rival;
    turn.Emit(std::move(send));
  }

  static base::Bytes OtherValue(const base::Bytes& body) {
    auto propose = wire::Decode<wire::Propose>(body);
    OSTRAKA_CHECK(propose.ok());
    propose->value.bytes[0] ^= 1;
    return wire::Encode(*propose);
  }

  Victims victims_;
};

// Makes honest members lock a value without deciding it, then proposes another one. As leader of an
// iteration it shows its proposal to fewer honest members than a quorum. Colluders vote to those
// members only, so they lock, and withhold their own LOCKs, so nobody decides. A colluder that
// leads the next iteration proposes by the certificate of the ECHOs, which ranks below those locks.
// Honest members do not vote for a proposal below their lock; the leader is dropped for its lying
// ECHO.
class StaleLock final : public LyingEcho {
 public:
  explicit StaleLock(const EditorOptions& options) : LyingEcho(options) {}

  void OnAction(EditorTurn& turn, protocol::Action action) override {
    if (const auto* observe = std::get_if<protocol::Observe>(&action)) {
      const auto* done = std::get_if<protocol::StepDone>(&observe->what);
      if (done) view_ = done->block;
    }
    LyingEcho::OnAction(turn, std::move(action));
  }

 private:
  void OnOwn(EditorTurn& turn, const wire::SignedEnvelope& message, protocol::Send send) override {
    const wire::Slot& slot = message.envelope.slot;
    const bool left_out = IsLeftOut(turn, send.to);
    if (slot.type == wire::MessageType::kLock) return turn.Confess();
    if (slot.type == wire::MessageType::kVote && left_out) return;
    if (slot.type != wire::MessageType::kPropose) {
      return LyingEcho::OnOwn(turn, message, std::move(send));
    }
    if (left_out) return;
    if (slot.iteration > 1) send.frame = forger().Forge(message, ByEchoes(message.envelope.body));
    turn.Emit(std::move(send));
  }

  // Leaves out the first honest members by key, so many that two things hold for the members that
  // get the proposal: with the votes of the coven they make just a quorum, so that they lock; and
  // their LOCKs, with the LOCK that the inner machine withholds, make none [with a quorum of LOCKs
  // the inner machine would decide, and lead no further iteration].
  bool IsLeftOut(const EditorTurn& turn, const base::PeerId& to) const {
    if (!view_ || turn.coven().Contains(to)) return false;
    std::size_t honest = 0;
    std::size_t before = 0;
    for (const base::PeerId& member : view_->members) {
      if (turn.coven().Contains(member)) continue;
      ++honest;
      before += member < to ? 1 : 0;
    }
    const std::size_t colluders = view_->members.size() - honest;
    const std::size_t missing = std::min<std::size_t>(colluders, 2);
    return before + view_->thresholds.quorum() < honest + missing;
  }

  static base::Bytes ByEchoes(const base::Bytes& body) {
    auto propose = wire::Decode<wire::Propose>(body);
    OSTRAKA_CHECK(propose.ok());
    return wire::Encode(wire::Propose{1, propose->value, {}, {}});
  }

  std::shared_ptr<const wire::Block> view_;
};

}  // namespace

std::unique_ptr<Editor> MakeStaleLock(const EditorOptions& options) {
  return std::make_unique<StaleLock>(options);
}
std::unique_ptr<Editor> MakeLyingEcho(const EditorOptions& options) {
  return std::make_unique<LyingEcho>(options);
}
std::unique_ptr<Editor> MakeDoublePropose(const EditorOptions& options) {
  return std::make_unique<DoublePropose>(options);
}

}  // namespace ostraka::sim
