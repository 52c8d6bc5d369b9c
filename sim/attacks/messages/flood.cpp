// flood: beside all that an honest member does, it asks each honest one for everything, all the
// time, and sends what has to be looked at before it can be thrown away.
//
// Each message is of a kind that costs its receiver more than its sender: questions with large
// answers, or many; signatures that are not good, or good and of no use; bytes that have to be
// decoded. What they may cost is rationed, link by link (node/protocol/mail/ration.h).
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

constexpr base::Duration kEvery = base::Milliseconds(100);
// One in which it never speaks itself.
constexpr std::uint32_t kNoIteration = 1'000;
// A step that no run comes to, and more blocks than there are.
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

  void OnInput(Turn& turn, protocol::Input input) override {
    const auto* timer = std::get_if<protocol::TimerFired>(&input);
    if (timer && timer->id == kFirstReservedTimer) return Pour(turn);
    turn.Deliver(input);
    const bool begins = !poured_in_ && turn.round() != nullptr && turn.step() >= from_step_;
    if (begins) Pour(turn);
  }

  void OnAction(Turn& turn, protocol::Action action) override {
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
  // So much as was due since the last time.
  void Pour(Turn& turn) {
    if (turn.step() != poured_in_) left_ = most_ > 0 ? most_ : HUGE_VAL;
    poured_in_ = turn.step();
    owed_ += rate_ * static_cast<double>(kEvery.ns) / static_cast<double>(base::Seconds(1).ns);
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
    turn.Emit(protocol::SetTimer{kFirstReservedTimer, turn.now() + kEvery});
  }

  // To whom is still to say.
  Send Next(const Turn& turn) const {
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
  static std::uint64_t StepBefore(const Turn& turn) { return turn.step() - (turn.step() > 0); }
  // Nobody is there, not even one who is late: what is signed of it is no second message of a slot
  // that somebody may hold.
  static std::uint64_t OtherStep(const Turn& turn) {
    constexpr std::uint64_t kLongAgo = 4;
    return turn.step() < kLongAgo ? kFarAhead : turn.step() - kLongAgo;
  }
  base::Digest AnyDigest() const {
    return crypto::Hasher(crypto::kDomainFingerprint).UpdateU64(poured_).Finish();
  }

  // Every kind of PULL in turn, each for as much as it may ask for.
  Send Question(const Turn& turn) const {
    const std::uint64_t round = poured_ / 3;
    wire::Pull pull;
    pull.kind = static_cast<PullKind>(round % wire::kPullKindCount);
    pull.index = round / wire::kPullKindCount % 2;  // columns, and pieces of a state
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

  // Under its own name or an honest one's.
  Send Signed(const Turn& turn) const {
    wire::Envelope envelope;
    envelope.sender = turn.self();
    bool forge = false;
    switch (poured_ / 3 % 5) {
      case 0:  // of a seal that is over: it pretends to need help
        envelope.slot = Slot(StepBefore(turn), Phase::kC, MessageType::kStatus);
        envelope.slot.iteration = kNoIteration;
        break;
      case 1:  // of another history
        envelope.slot = Slot(OtherStep(turn), Phase::kA, MessageType::kAggregate);
        envelope.entry = AnyDigest();
        break;
      case 2:  // of a step far ahead
        envelope.slot = Slot(turn.step() + kFarAhead, Phase::kA, MessageType::kCommit);
        break;
      case 3:  // another's ballot, which has not its signature
        envelope.slot = Slot(turn.step(), Phase::kA, MessageType::kVote);
        envelope.slot.iteration = 1;
        forge = true;
        break;
      default:  // another's COMMIT, likewise
        envelope.slot = Slot(turn.step() + 1, Phase::kA, MessageType::kCommit);
        envelope.entry = AnyDigest();
        forge = true;
    }
    const base::SharedBytes frame = wire::Seal(std::move(envelope), *key_).frame;
    const base::PeerId other = victims_.At(turn, poured_).value_or(turn.self());
    return {{}, forge ? InNameOf(other, turn.self(), frame) : frame, nullptr};
  }

  // What nobody asked for, and nobody can read.
  Send Rubbish(const Turn& turn) const {
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
  double most_;  // and in a step
  std::shared_ptr<const protocol::Manifest> manifest_;
  std::shared_ptr<const crypto::SigningKey> key_;
  Victims victims_;
  std::vector<base::PeerId> members_;  // of the newest block
  double owed_ = 0;
  std::optional<std::uint64_t> poured_in_;  // the step of `left_`; nullopt: not begun
  double left_ = 0;
  std::uint64_t poured_ = 0;
};

}  // namespace

std::unique_ptr<Editor> MakeFlood(const EditorOptions& options) {
  return std::make_unique<Flood>(options);
}

}  // namespace ostraka::sim
