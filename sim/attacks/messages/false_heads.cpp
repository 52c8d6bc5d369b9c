// stale_head: to who is away it shows the head of one step for ever, with the COMMITs that attested
// to it, and nothing newer.
// long_range: from its step on all colluders sign COMMITs of a far later step, which name a false
// block as the newest; each who follows the run, or asks to come in, gets that block and these
// COMMITs, also after the colluders have left.
//
// false_past: to who is away it shows a false block for each of the past that it is asked for, and
// a COMMIT of that step that names the newest block. [One such COMMIT made followers find two
// histories.]
//
// Rule: a head is believed if more members of the newest block that a follower holds attest to it
// than can be at fault (catch_up.h). A newcomer holds the genesis or its anchor.
// Cost to who is away: one answer of each colluder. Found by: nothing; contained. The promise ends
// where more than the bound of that block's members collude, as when they leave and sell their
// keys: then who comes stops where it is shown two histories (histories.h), and needs a newer
// anchor.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "sim/adversary/frames.h"
#include "sim/attacks/messages/guest_factories.h"
#include "sim/engine/checker.h"

namespace ostraka::sim {
namespace {

using base::PeerId;
using wire::MessageType;

// The newest block that the machine inside has, and so who is away from the run.
class HeadWatch {
 public:
  void See(const protocol::Action& action) {
    const auto* done = Observed<protocol::StepDone>(action);
    if (done != nullptr) head_ = done->block;
  }
  const wire::Block* head() const { return head_.get(); }
  bool IsAway(const PeerId& peer) const {
    return head_ != nullptr &&
           !std::binary_search(head_->members.begin(), head_->members.end(), peer);
  }

 private:
  std::shared_ptr<const wire::Block> head_;
};

class StaleHead final : public Editor {
 public:
  explicit StaleHead(const EditorOptions& options) : from_step_(options.from_step) {}

  void OnAction(EditorTurn& turn, protocol::Action action) override {
    watch_.See(action);
    const auto* send = std::get_if<protocol::Send>(&action);
    if (send == nullptr || !watch_.IsAway(send->to) || turn.step() < from_step_) {
      return turn.Emit(std::move(action));
    }
    const wire::SignedEnvelope* message = frames_.Open(send->frame);
    if (message == nullptr) return turn.Emit(std::move(action));
    const wire::Slot& slot = message->envelope.slot;
    if (slot.type == MessageType::kPull) return turn.Emit(std::move(action));
    if (ShowsHead(*message)) {
      if (!shown_) shown_ = Shown{slot.step, *send};
      if (slot.step > shown_->step) turn.Confess();
      protocol::Send old = shown_->send;
      old.to = send->to;
      return turn.Emit(std::move(old));
    }
    // The COMMITs of the step after a block attest to it.
    const std::uint64_t last = shown_ ? shown_->step + 1 : from_step_ + 1;
    if (slot.step <= last) return turn.Emit(std::move(action));
    turn.Confess();
  }

  base::Digest Fingerprint() const override {
    return crypto::Hasher(crypto::kDomainFingerprint).UpdateU64(shown_ ? shown_->step : 0).Finish();
  }

 private:
  struct Shown {
    std::uint64_t step = 0;
    protocol::Send send;
  };
  static bool ShowsHead(const wire::SignedEnvelope& message) {
    if (message.envelope.slot.type != MessageType::kBlock) return false;
    const auto* block = message.As<wire::BlockMessage>();
    return block != nullptr && block->head;
  }

  std::uint64_t from_step_;
  HeadWatch watch_;
  FrameReader frames_;
  std::optional<Shown> shown_;
};

// So far that no run gets there: for an own COMMIT of that step they would be banned.
constexpr std::uint64_t kPastAnyRun = 1'000'000;

class LongRange final : public Editor {
 public:
  explicit LongRange(const EditorOptions& options)
      : from_step_(options.from_step), run_id_(options.manifest->run_id), key_(options.key) {}

  void OnInput(EditorTurn& turn, protocol::Input input) override {
    const auto* received = std::get_if<protocol::MessageReceived>(&input);
    const std::optional<PeerId> asks =
        received != nullptr ? WhoAsks(*received) : std::optional<PeerId>();
    turn.Deliver(input);
    if (asks && false_head_ && !turn.coven().Contains(*asks)) Show(turn, *asks);
  }

  void OnAction(EditorTurn& turn, protocol::Action action) override {
    watch_.See(action);
    if (!false_head_ && watch_.head() != nullptr && HeightOf(*watch_.head()) == from_step_) {
      Forge();
    }
    turn.Emit(std::move(action));
  }

  base::Digest Fingerprint() const override {
    return crypto::Hasher(crypto::kDomainFingerprint).UpdateU64(false_head_ ? 1 : 0).Finish();
  }

 private:
  // Only who is away says these.
  std::optional<PeerId> WhoAsks(const protocol::MessageReceived& received) {
    const wire::SignedEnvelope* message = frames_.Open(received.frame);
    if (message == nullptr) return std::nullopt;
    if (message->envelope.slot.type == MessageType::kRejoin) return received.from;
    if (message->envelope.slot.type != MessageType::kPull) return std::nullopt;
    const auto* pull = message->As<wire::Pull>();
    const bool asks = pull != nullptr && (pull->kind == wire::PullKind::kFollow ||
                                          pull->kind == wire::PullKind::kBlock);
    return asks ? std::optional(received.from) : std::nullopt;
  }

  // Equal for all colluders: they make it of the same true block.
  void Forge() {
    wire::Block block = *watch_.head();
    block.previous = wire::BlockDigest(block);
    block.step += kPastAnyRun;
    block.randomness.bytes[0] ^= 1;
    block.state_root.reset();
    false_head_ = crypto::MakeBlob(wire::EncodeBlock(block));
    digest_ = wire::DigestOfBlock(false_head_->data);
    step_ = block.step;
    wire::Commit commit;
    commit.coin_count = 1;
    wire::Slot slot{.run_id = run_id_, .step = step_ + 1, .phase = wire::Phase::kA};
    slot.type = MessageType::kCommit;
    commit_ = wire::Seal({slot, *digest_, key_->id(), wire::Encode(commit)}, *key_).frame;
  }

  void Show(EditorTurn& turn, const PeerId& to) {
    turn.Confess();
    wire::Slot slot{.run_id = run_id_, .step = step_, .phase = wire::Phase::kC};
    slot.type = MessageType::kBlock;
    const auto frame = wire::EncodeService(
        {slot, base::Digest{}, key_->id(), wire::Encode(wire::BlockMessage{*digest_, true})});
    turn.Emit(protocol::Send{to, frame, false_head_});
    turn.Emit(protocol::Send{to, commit_, nullptr});
  }

  std::uint64_t from_step_;
  base::Digest run_id_;
  std::shared_ptr<const crypto::SigningKey> key_;
  HeadWatch watch_;
  FrameReader frames_;
  protocol::SharedBlob false_head_;  // null: not forged yet
  std::optional<base::Digest> digest_;
  std::uint64_t step_ = 0;  // of the false block
  base::SharedBytes commit_;
};

class FalsePast final : public Editor {
 public:
  explicit FalsePast(const EditorOptions& options)
      : from_step_(options.from_step), run_id_(options.manifest->run_id), key_(options.key) {}

  void OnInput(EditorTurn& turn, protocol::Input input) override {
    const auto* received = std::get_if<protocol::MessageReceived>(&input);
    const bool may_lie = received != nullptr && turn.step() >= from_step_ &&
                         watch_.IsAway(received->from) && !turn.coven().Contains(received->from);
    const auto asked = may_lie ? StepAskedFor(*received) : std::optional<std::uint64_t>();
    if (!asked) return turn.Deliver(std::move(input));
    Show(turn, received->from, *asked);
  }

  void OnAction(EditorTurn& turn, protocol::Action action) override {
    watch_.See(action);
    turn.Emit(std::move(action));
  }

  base::Digest Fingerprint() const override {
    return crypto::Hasher(crypto::kDomainFingerprint).UpdateU64(shown_).Finish();
  }

 private:
  std::optional<std::uint64_t> StepAskedFor(const protocol::MessageReceived& received) {
    const wire::SignedEnvelope* message = frames_.Open(received.frame);
    if (message == nullptr || message->envelope.slot.type != MessageType::kPull) {
      return std::nullopt;
    }
    const auto* pull = message->As<wire::Pull>();
    const bool asks = pull != nullptr && pull->kind == wire::PullKind::kBlock;
    return asks ? std::optional(message->envelope.slot.step) : std::nullopt;
  }

  void Show(EditorTurn& turn, const PeerId& to, std::uint64_t step) {
    turn.Confess();
    ++shown_;
    wire::Block block = *watch_.head();
    block.step = step;
    block.decision.bytes[0] ^= 1;
    const auto encoded = crypto::MakeBlob(wire::EncodeBlock(block));
    wire::Slot slot{.run_id = run_id_, .step = step, .phase = wire::Phase::kC};
    slot.type = MessageType::kBlock;
    const base::Digest digest = wire::DigestOfBlock(encoded->data);
    const auto frame = wire::EncodeService(
        {slot, base::Digest{}, key_->id(), wire::Encode(wire::BlockMessage{digest, false})});
    turn.Emit(protocol::Send{to, frame, encoded});
    wire::Slot commits{.run_id = run_id_, .step = step + 1, .phase = wire::Phase::kA};
    commits.type = MessageType::kCommit;
    wire::Commit commit;
    commit.coin_count = 1;
    const base::Digest newest = wire::BlockDigest(*watch_.head());
    turn.Emit(protocol::Send{
        to, wire::Seal({commits, newest, key_->id(), wire::Encode(commit)}, *key_).frame, nullptr});
  }

  std::uint64_t from_step_;
  base::Digest run_id_;
  std::shared_ptr<const crypto::SigningKey> key_;
  HeadWatch watch_;
  FrameReader frames_;
  std::uint64_t shown_ = 0;
};

}  // namespace

std::unique_ptr<Editor> MakeStaleHead(const EditorOptions& options) {
  return std::make_unique<StaleHead>(options);
}
std::unique_ptr<Editor> MakeLongRange(const EditorOptions& options) {
  return std::make_unique<LongRange>(options);
}
std::unique_ptr<Editor> MakeFalsePast(const EditorOptions& options) {
  return std::make_unique<FalsePast>(options);
}

}  // namespace ostraka::sim
