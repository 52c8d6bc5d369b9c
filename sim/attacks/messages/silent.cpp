// silent, abort_coin, withhold_echo and withhold_result: a message that is owed does not come.
//
// Rule: removal of members that are sealed absent, or that more members miss than the fault bound
// (docs/protocol/removals.md).
// Cost to honest members: one deadline; abort_coin one more draw of the coin; withhold_result
// requests to other members.
// Found by: the seal (absent) or testimony (silent, missing); dropped, and barred for a kept coin.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "sim/adversary/frames.h"
#include "sim/attacks/messages/factories.h"

namespace ostraka::sim {
namespace {

// Sends nothing at all (phase 0), or nothing of phase A, B or C (1, 2, 3).
class Silent final : public Editor {
 public:
  explicit Silent(const EditorOptions& options)
      : from_step_(options.from_step), phase_(static_cast<int>(options.Param("phase"))) {}

  void OnAction(EditorTurn& turn, protocol::Action action) override {
    if (!Swallows(turn, action)) return turn.Emit(std::move(action));
    turn.Confess();
  }

 private:
  bool Swallows(const EditorTurn& turn, const protocol::Action& action) {
    if (phase_ == 0) {
      return std::holds_alternative<protocol::Send>(action) && turn.round() &&
             turn.step() >= from_step_;
    }
    const wire::SignedEnvelope* message = frames_.ReadOwn(turn, action, from_step_);
    return message && static_cast<int>(message->envelope.slot.phase) == phase_;
  }

  std::uint64_t from_step_;
  int phase_;
  FrameReader frames_;
};

// Withholds its REVEAL, as a member would that sees the coins of all others and dislikes the
// result. Colluders take turns, one for each draw, so as to see as many coins as they can; with
// together = 1 all of them withhold the first.
class AbortCoin final : public Editor {
 public:
  explicit AbortCoin(const EditorOptions& options)
      : from_step_(options.from_step), together_(options.Param("together") != 0) {}

  void OnAction(EditorTurn& turn, protocol::Action action) override {
    const wire::SignedEnvelope* message = frames_.ReadOwn(turn, action, from_step_);
    if (!message || message->envelope.slot.type != wire::MessageType::kReveal ||
        message->envelope.slot.draw != MyDraw(turn)) {
      return turn.Emit(std::move(action));
    }
    turn.Confess();
  }

 private:
  std::uint32_t MyDraw(const EditorTurn& turn) const {
    if (together_) return 0;
    const auto& members = turn.coven().members();
    const auto place = std::lower_bound(members.begin(), members.end(), turn.self());
    return static_cast<std::uint32_t>(place - members.begin());
  }

  std::uint64_t from_step_;
  bool together_;
  FrameReader frames_;
};

// Its ECHO reaches nobody, or (half = 1) not every second member.
class WithholdEcho final : public Editor {
 public:
  explicit WithholdEcho(const EditorOptions& options)
      : from_step_(options.from_step), half_(options.Param("half") != 0), victims_(options) {}

  void OnAction(EditorTurn& turn, protocol::Action action) override {
    const wire::SignedEnvelope* message = frames_.ReadOwn(turn, action, from_step_);
    if (!message || message->envelope.slot.type != wire::MessageType::kEcho ||
        (half_ && !victims_.InSecondHalf(std::get<protocol::Send>(action).to))) {
      return turn.Emit(std::move(action));
    }
    turn.Confess();
  }

 private:
  std::uint64_t from_step_;
  bool half_;
  Victims victims_;
  FrameReader frames_;
};

// As an aggregator, sends its result to all but one honest member, or (all = 1) to nobody, not even
// on request.
class WithholdResult final : public Editor {
 public:
  explicit WithholdResult(const EditorOptions& options)
      : from_step_(options.from_step), all_(options.Param("all") != 0), victims_(options) {}

  void OnAction(EditorTurn& turn, protocol::Action action) override {
    const auto* send = std::get_if<protocol::Send>(&action);
    if (!send || !send->blob || turn.step() < from_step_ || !IsOwnResult(turn, action) ||
        !(all_ || send->to == victims_.At(turn))) {
      return turn.Emit(std::move(action));
    }
    turn.Confess();
  }

 private:
  bool IsOwnResult(const EditorTurn& turn, const protocol::Action& action) {
    const wire::SignedEnvelope* message = frames_.Read(action);
    if (!message || message->envelope.sender != turn.self()) return false;
    const wire::Slot& slot = message->envelope.slot;
    if (slot.type == wire::MessageType::kResult) return true;
    // The answer to a request for any column; those of other owners pass.
    if (slot.type != wire::MessageType::kChunk || slot.step != turn.step()) return false;
    const auto* chunk = message->As<wire::Chunk>();
    return chunk != nullptr && turn.round()->roles.PartOwnedBy(turn.self()) == chunk->index;
  }

  std::uint64_t from_step_;
  bool all_;
  Victims victims_;
  FrameReader frames_;
};

}  // namespace

std::unique_ptr<Editor> MakeSilent(const EditorOptions& options) {
  return std::make_unique<Silent>(options);
}
std::unique_ptr<Editor> MakeAbortCoin(const EditorOptions& options) {
  return std::make_unique<AbortCoin>(options);
}
std::unique_ptr<Editor> MakeWithholdEcho(const EditorOptions& options) {
  return std::make_unique<WithholdEcho>(options);
}
std::unique_ptr<Editor> MakeWithholdResult(const EditorOptions& options) {
  return std::make_unique<WithholdResult>(options);
}

}  // namespace ostraka::sim
