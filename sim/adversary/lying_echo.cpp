// lying_echo and double_propose: lies in the seals themselves. Neither fast path nor honest leaders
// need them, so what they cost is time.
#include <memory>
#include <utility>

#include "node/base/check.h"
#include "sim/adversary/editors.h"
#include "sim/adversary/frames.h"

namespace ostraka::sim {
namespace {

// Its ECHO names a vector that nobody holds and shows nothing of what it has. One ECHO for a seal,
// so no evidence.
class LyingEcho : public Editor {
 public:
  explicit LyingEcho(const EditorOptions& options)
      : from_step_(options.from_step), forger_(options.key) {}

  void OnAction(Turn& turn, protocol::Action action) override {
    const wire::SignedEnvelope* message = frames_.ReadOwn(turn, action, from_step_);
    if (!message) return turn.Emit(std::move(action));
    OnOwn(turn, *message, std::get<protocol::Send>(std::move(action)));
  }

 protected:
  virtual void OnOwn(Turn& turn, const wire::SignedEnvelope& message, protocol::Send send) {
    if (message.envelope.slot.type == wire::MessageType::kEcho) {
      if (!forger_.Knows(message.envelope.slot)) turn.Confess();
      send.frame = forger_.Forge(message, Lie(message.envelope.body));
    }
    turn.Emit(std::move(send));
  }

  Forger& forger() { return forger_; }

 private:
  static base::Bytes Lie(const base::Bytes& body) {
    auto echo = wire::DecodeEcho(body);
    OSTRAKA_CHECK(echo.ok());
    echo->vector.bytes[0] ^= 1;
    for (std::uint8_t& byte : echo->present) byte = 0;
    return wire::Encode(*echo);
  }

  std::uint64_t from_step_;
  Forger forger_;
  FrameReader frames_;
};

// Forces the slow path with a lying ECHO and, when it leads, proposes one value to each half.
class DoublePropose final : public LyingEcho {
 public:
  explicit DoublePropose(const EditorOptions& options) : LyingEcho(options), victims_(options) {}

 private:
  void OnOwn(Turn& turn, const wire::SignedEnvelope& message, protocol::Send send) override {
    if (message.envelope.slot.type != wire::MessageType::kPropose) {
      return LyingEcho::OnOwn(turn, message, std::move(send));
    }
    if (!forger().Knows(message.envelope.slot)) turn.Confess();
    const base::SharedBytes& rival = forger().Forge(message, OtherValue(message.envelope.body));
    if (victims_.InSecondHalf(send.to)) send.frame = rival;
    turn.Emit(std::move(send));
  }

  static base::Bytes OtherValue(const base::Bytes& body) {
    auto propose = wire::DecodePropose(body);
    OSTRAKA_CHECK(propose.ok());
    propose->value.bytes[0] ^= 1;
    return wire::Encode(*propose);
  }

  Victims victims_;
};

}  // namespace

std::unique_ptr<Editor> MakeLyingEcho(const EditorOptions& options) {
  return std::make_unique<LyingEcho>(options);
}
std::unique_ptr<Editor> MakeDoublePropose(const EditorOptions& options) {
  return std::make_unique<DoublePropose>(options);
}

}  // namespace ostraka::sim
