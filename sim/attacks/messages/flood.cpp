// flood: does all that an honest member does, and also sends every honest member requests for
// everything and messages that must be examined before they can be discarded.
//
// Each message costs its receiver more than its sender: requests with large or many answers;
// signatures that are invalid, or valid and useless; bytes that have to be decoded.
//
// Rule: rations for each link (node/protocol/mail/ration.h).
// Cost to honest members: at most the ration of the attacker's own link.
// Found by: nothing; contained. The checker `queues` fails if an answer exceeds the ration.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/wire/bitmap.h"
#include "node/wire/codec.h"
#include "node/wire/limits.h"
#include "sim/adversary/frames.h"
#include "sim/attacks/messages/factories.h"

namespace ostraka::sim {
namespace {

using protocol::Send;
using wire::MessageType;
using wire::Phase;
using wire::PullKind;

constexpr base::Duration kFloodsEvery = base::Milliseconds(100);
// An iteration for which the attacker itself signs nothing.
constexpr std::uint32_t kNoIteration = 1'000;
// A step that no run reaches, and a number above that of all blocks.
constexpr std::uint64_t kFarAhead = 1'000'000;

class Flood final : public Editor {
 public:
  explicit Flood(const EditorOptions& options)
      : from_step_(options.from_step),
        rate_(options.Param("rate")),
        most_(options.Param("most")),
        manifest_(options.manifest),
        key_(options.key),
        victims_(options) {}

  void OnInput(EditorTurn& turn, protocol::Input input) override {
    const auto* timer = std::get_if<protocol::TimerFired>(&input);
    if (timer && timer->id == kFirstReservedTimer) return Pour(turn);
    turn.Deliver(input);
    const bool begins = !poured_in_ && turn.round() != nullptr && turn.step() >= from_step_;
    if (begins) Pour(turn);
  }

  void OnAction(EditorTurn& turn, protocol::Action action) override {
    if (const auto* observe = std::get_if<protocol::Observe>(&action)) {
      const auto* done = std::get_if<protocol::StepDone>(&observe->what);
      if (done) members_ = done->block->members;
    }
    turn.Emit(std::move(action));
  }

  base::Digest Fingerprint() const override {
    return crypto::Hasher(crypto::kDomainFingerprint).UpdateU64(poured_).Finish();
  }

 private:
  // Sends the messages that fell due since the last call.
  void Pour(EditorTurn& turn) {
    if (turn.step() != poured_in_) left_ = most_ > 0 ? most_ : HUGE_VAL;
    poured_in_ = turn.step();
    owed_ +=
        rate_ * static_cast<double>(kFloodsEvery.ns) / static_cast<double>(base::Seconds(1).ns);
    owed_ = std::min(owed_, left_);
    if (owed_ >= 1) turn.Confess();
    for (; owed_ >= 1; --owed_) {
      --left_;
      ++poured_;
      Send message = Next(turn);
      for (const protocol::Member& member : manifest_->members) {
        message.to = member.id;
        if (!turn.coven().Contains(member.id)) turn.Emit(message);
      }
    }
    turn.Emit(protocol::SetTimer{kFirstReservedTimer, turn.now() + kFloodsEvery});
  }

  // The next message; the caller fills in the receiver.
  Send Next(const EditorTurn& turn) const {
    switch (poured_ % 3) {
      case 0:
        return Question(turn);
      case 1:
        return Signed(turn);
      default:
        return Rubbish(turn);
    }
  }

  wire::Slot Slot(std::uint64_t step, Phase phase, MessageType type) const {
    return {.run_id = manifest_->run_id,
            .incarnation = 0,
            .step = step,
            .phase = phase,
            .type = type,
            .draw = 0,
            .iteration = 0};
  }
  static std::uint64_t StepBefore(const EditorTurn& turn) {
    return turn.step() - (turn.step() > 0);
  }
  // A step in which no member is active, not even a late one. So a message signed for it is no
  // second message for a slot of which somebody may hold the first.
  static std::uint64_t OtherStep(const EditorTurn& turn) {
    constexpr std::uint64_t kLongAgo = 4;
    return turn.step() < kLongAgo ? kFarAhead : turn.step() - kLongAgo;
  }
  base::Digest AnyDigest() const {
    return crypto::Hasher(crypto::kDomainFingerprint).UpdateU64(poured_).Finish();
  }

  // Every kind of PULL in turn, each for the largest amount that it allows.
  Send Question(const EditorTurn& turn) const {
    const std::uint64_t round = poured_ / 3;
    wire::Pull pull;
    pull.kind = static_cast<PullKind>(round % wire::kPullKindCount);
    pull.index = round / wire::kPullKindCount % 2;  // columns, or pieces of a state
    wire::Slot slot = Slot(StepBefore(turn), Phase::kA, MessageType::kPull);
    if (pull.kind == PullKind::kMessages) {
      constexpr std::array kTypes = {MessageType::kCommit, MessageType::kEcho, MessageType::kLock};
      pull.type = kTypes[round / wire::kPullKindCount % kTypes.size()];
      pull.members = wire::BitmapOf(members_, members_);
      slot.step = turn.step();
    } else if (pull.kind == PullKind::kDigests) {
      pull.digests.assign(wire::kMaxPullDigests, AnyDigest());
      slot.step = turn.step();
    } else if (pull.kind == PullKind::kVector) {
      pull.digests = {AnyDigest()};
    } else if (pull.kind == PullKind::kBlock) {
      slot.phase = Phase::kC;
      pull.index = kFarAhead;
    }
    return {{}, wire::EncodeService({slot, {}, turn.self(), wire::Encode(pull)}), nullptr};
  }

  // A message in its own name, or forged in an honest member's.
  Send Signed(const EditorTurn& turn) const {
    wire::Envelope envelope;
    envelope.sender = turn.self();
    bool forge = false;
    switch (poured_ / 3 % 5) {
      case 0:  // from a seal that is over, as if the sender needed help
        envelope.slot = Slot(StepBefore(turn), Phase::kC, MessageType::kStatus);
        envelope.slot.iteration = kNoIteration;
        break;
      case 1:  // from another history
        envelope.slot = Slot(OtherStep(turn), Phase::kA, MessageType::kAggregate);
        envelope.entry = AnyDigest();
        break;
      case 2:  // from a step far ahead
        envelope.slot = Slot(turn.step() + kFarAhead, Phase::kA, MessageType::kCommit);
        break;
      case 3:  // a ballot in another member's name, without its signature
        envelope.slot = Slot(turn.step(), Phase::kA, MessageType::kVote);
        envelope.slot.iteration = 1;
        forge = true;
        break;
      default:  // a COMMIT in another member's name, without its signature
        envelope.slot = Slot(turn.step() + 1, Phase::kA, MessageType::kCommit);
        envelope.entry = AnyDigest();
        forge = true;
    }
    const base::SharedBytes frame = wire::Seal(std::move(envelope), *key_).frame;
    const base::PeerId other = victims_.At(turn, poured_).value_or(turn.self());
    return {{}, forge ? InNameOf(other, turn.self(), frame) : frame, nullptr};
  }

  // Unrequested and unreadable messages.
  Send Rubbish(const EditorTurn& turn) const {
    const base::Digest noise = AnyDigest();
    const base::Bytes bytes(noise.bytes.begin(), noise.bytes.end());
    const auto service = [&](Phase phase, MessageType type, base::Bytes body) -> Send {
      return {{},
              wire::EncodeService({Slot(turn.step(), phase, type), {}, turn.self(), body}),
              crypto::MakeBlob(bytes)};
    };
    switch (poured_ / 3 % 4) {
      case 0:
        return {{}, std::make_shared<const base::Bytes>(bytes), nullptr};
      case 1:
        return service(Phase::kC, MessageType::kBlock,
                       wire::Encode(wire::BlockMessage{noise, true}));
      case 2:
        return service(Phase::kA, MessageType::kChunk,
                       wire::Encode(wire::Chunk{turn.step(), poured_ % 8, 8}));
      default:
        return service(Phase::kB, MessageType::kVector, bytes);
    }
  }

  std::uint64_t from_step_;
  double rate_;  // messages a second to each honest member
  double most_;  // limit for a step
  std::shared_ptr<const protocol::Manifest> manifest_;
  std::shared_ptr<const crypto::SigningKey> key_;
  Victims victims_;
  std::vector<base::PeerId> members_;  // members of the head
  double owed_ = 0;
  std::optional<std::uint64_t> poured_in_;  // the step of `left_`; nullopt: not started
  double left_ = 0;
  std::uint64_t poured_ = 0;
};

}  // namespace

std::unique_ptr<Editor> MakeFlood(const EditorOptions& options) {
  return std::make_unique<Flood>(options);
}

}  // namespace ostraka::sim
