// dawdle: sends one kind of message just before the seal that waits for it gives up, and all others
// on time. So every message is sealed present, REVEAL is on time, and each step takes as long as it
// can.
//
// Rule: the charges for lateness (docs/protocol/waits.md).
// Cost to honest members: up to one deadline a seal, until the attacker is dropped.
// Found by: the sum of its lateness; dropped once honest members waited more than two deadlines for
// it.
#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "sim/adversary/frames.h"
#include "sim/adversary/later.h"
#include "sim/attacks/messages/factories.h"

namespace ostraka::sim {
namespace {

using wire::MessageType;
using wire::Phase;

// Values of the parameter `what`.
enum class What : std::uint8_t {
  kAggAndProof = 0,
  kProof = 1,
  kPartToOne = 2,  // to one honest owner, a different one in each step
  kPartToAll = 3,
  kResult = 4,
  kResultToHalf = 5,  // to every second member; the others get it on time
};

class Dawdle final : public Editor {
 public:
  explicit Dawdle(const EditorOptions& options)
      : from_step_(options.from_step),
        what_(static_cast<What>(static_cast<int>(options.Param("what")))),
        until_(options.Param("until")),
        turns_(options.Param("turns") != 0),
        victims_(options),
        manifest_(options.manifest),
        delta_(options.manifest->delta) {}

  void OnInput(EditorTurn& turn, protocol::Input input) override {
    if (!later_.OnInput(turn, input)) turn.Deliver(input);
  }

  void OnAction(EditorTurn& turn, protocol::Action action) override {
    if (const auto* observe = std::get_if<protocol::Observe>(&action)) See(turn, observe->what);
    const auto due = HeldUntil(turn, action);
    if (!due || *due <= turn.now()) return turn.Emit(std::move(action));
    turn.Confess();
    // A request for the result is answered by the held result itself, so no extra frame is held.
    if (wire::IsService(frames_.Read(action)->envelope.slot.type)) return later_.Arm(turn);
    later_.Hold(turn, *due, std::move(action));
  }

  base::Digest Fingerprint() const override {
    return crypto::Hasher(crypto::kDomainFingerprint).UpdateU64(later_.size()).Finish();
  }

 private:
  void See(EditorTurn& turn, const protocol::Observation& what) {
    if (const auto* done = std::get_if<protocol::StepDone>(&what)) {
      delta_ = base::Microseconds(static_cast<std::int64_t>(done->block->delta_us));
    } else if (std::holds_alternative<protocol::StepStarted>(what)) {
      opened_a_ = turn.now();
      opened_c_.reset();
    } else if (const auto* sealed = std::get_if<protocol::Sealed>(&what)) {
      if (sealed->phase != static_cast<std::uint8_t>(Phase::kB)) return;
      opened_c_ = turn.now();
      if (what_ < What::kResult) return;
      // Results are ready before phase C opens and anybody waits for them; they get their dates
      // now.
      std::multimap<base::Time, protocol::Action> dated;
      for (auto& [due, action] : later_.held()) {
        dated.emplace(*After(opened_c_, PartTimer()), std::move(action));
      }
      later_.held() = std::move(dated);
      later_.Arm(turn);
    }
  }

  bool IsMyTurn(const EditorTurn& turn) const {
    if (!turns_) return true;
    std::uint64_t before = 0;
    std::uint64_t colluders = 0;
    for (const protocol::Member& member : manifest_->members) {
      if (!turn.coven().Contains(member.id)) continue;
      before += member.id < turn.self() ? 1 : 0;
      ++colluders;
    }
    return turn.step() % colluders == before;
  }

  // Nullopt: it is sent at once.
  std::optional<base::Time> HeldUntil(EditorTurn& turn, const protocol::Action& action) {
    const wire::SignedEnvelope* message = frames_.Read(action);
    if (!message || !turn.round() || turn.step() < from_step_ || !IsMyTurn(turn)) {
      return std::nullopt;
    }
    const wire::Slot& slot = message->envelope.slot;
    const bool result = what_ == What::kResult || what_ == What::kResultToHalf;
    const base::PeerId& to = std::get<protocol::Send>(action).to;
    const bool answer = slot.type == MessageType::kChunk && slot.phase == Phase::kA && result;
    if (slot.step != turn.step()) return std::nullopt;
    if (!answer && message->envelope.sender != turn.self()) return std::nullopt;
    const base::Duration timer = PartTimer();
    const base::Duration deadline = manifest_->part_timeout * 2 + delta_ * 2;
    switch (slot.type) {
      case MessageType::kAggregate:
        return what_ == What::kAggAndProof ? After(opened_a_, deadline) : std::nullopt;
      case MessageType::kProof:
        return what_ <= What::kProof ? After(opened_c_, deadline) : std::nullopt;
      case MessageType::kPart:
        if (what_ == What::kPartToAll) return After(opened_a_, timer);
        if (what_ != What::kPartToOne || to != victims_.At(turn, turn.step())) return std::nullopt;
        return After(opened_a_, timer);
      case MessageType::kResult:
      case MessageType::kChunk:
        if (!result || (what_ == What::kResultToHalf && !victims_.InSecondHalf(to))) {
          return std::nullopt;
        }
        // Nobody waits for a result until phase C opens.
        return opened_c_ ? After(opened_c_, timer) : turn.now() + deadline * 2;
      default:
        return std::nullopt;
    }
  }

  base::Duration PartTimer() const { return manifest_->part_timeout + delta_ * 2; }

  std::optional<base::Time> After(std::optional<base::Time> opened, base::Duration wait) const {
    if (!opened) return std::nullopt;
    return *opened +
           base::Duration{static_cast<std::int64_t>(until_ * static_cast<double>(wait.ns))};
  }

  std::uint64_t from_step_;
  What what_;
  double until_;  // share of the time for which members wait
  bool turns_;
  Victims victims_;
  std::shared_ptr<const protocol::Manifest> manifest_;
  base::Duration delta_;  // of the head
  std::optional<base::Time> opened_a_, opened_c_;
  FrameReader frames_;
  Later later_;
};

}  // namespace

std::unique_ptr<Editor> MakeDawdle(const EditorOptions& options) {
  return std::make_unique<Dawdle>(options);
}

}  // namespace ostraka::sim
