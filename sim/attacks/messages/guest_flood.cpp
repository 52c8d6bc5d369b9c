// guest_flood: an intruder that never comes in. It shows its credential, is taken as a guest,
// follows as a newcomer does, and asks each member `rate` questions a second (0: it only follows);
// bulk = 1: only such as are answered with bulk data. It never names a block in REJOIN, so nobody
// confirms it, and it stays as long as it likes. It says nothing false. Genesis members are honest.
//
// Rule: all keys that are no members have one ration together, shared among moderators, then
// invites, then keys (node/protocol/mail/guest_ration.h); their bulk leaves after that of members,
// but for one turn in eight (node/net/link/pacer.h). Cost to honest members: an eighth of their
// line, and what one member may ask. Found by: nothing; contained.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/protocol/lasting/chain_server.h"
#include "node/wire/bitmap.h"
#include "node/wire/codec.h"
#include "sim/adversary/frames.h"
#include "sim/attacks/messages/guest_factories.h"

namespace ostraka::sim {
namespace {

using wire::MessageType;
using wire::Phase;
using wire::PullKind;

constexpr base::Duration kGuestsFloodEvery = base::Milliseconds(50);
constexpr std::uint64_t kColumns = 8;
constexpr std::uint64_t kBack = 64;  // steps for which states are sought

class GuestFlood final : public Editor {
 public:
  explicit GuestFlood(const EditorOptions& options)
      : from_step_(options.from_step),
        rate_(options.Param("rate")),
        bulk_(options.Param("bulk") != 0),
        manifest_(options.manifest),
        comes_(std::none_of(
            options.manifest->members.begin(), options.manifest->members.end(),
            [&](const protocol::Member& member) { return member.id == options.key->id(); })) {
    for (const protocol::Member& member : manifest_->members) members_.push_back(member.id);
  }

  void OnInput(EditorTurn& turn, protocol::Input input) override {
    const auto* timer = std::get_if<protocol::TimerFired>(&input);
    if (timer != nullptr && timer->id == kFirstReservedTimer) return Pour(turn);
    if (const auto* message = std::get_if<protocol::MessageReceived>(&input)) Learn(*message);
    turn.Deliver(input);
    if (comes_ && !pours_ && rate_ > 0 && newest_ > from_step_) {
      pours_ = true;
      Pour(turn);
    }
  }

  void OnAction(EditorTurn& turn, protocol::Action action) override {
    if (comes_) {
      const wire::SignedEnvelope* message = frames_.Read(action);
      const bool asks = message != nullptr && message->envelope.slot.type == MessageType::kRejoin;
      if (asks && !message->envelope.entry.is_zero()) return;
      if (asks) shown_ = std::get<protocol::Send>(action).frame;
    }
    turn.Emit(std::move(action));
  }

  base::Digest Fingerprint() const override {
    return crypto::Hasher(crypto::kDomainFingerprint).UpdateU64(asked_).Finish();
  }

 private:
  void Learn(const protocol::MessageReceived& input) {
    const wire::SignedEnvelope* message = heard_.Open(input.frame);
    if (message == nullptr) return;
    const wire::Slot& slot = message->envelope.slot;
    if (slot.type == MessageType::kCommit) newest_ = std::max(newest_, slot.step);
    const bool state = slot.type == MessageType::kChunk && slot.phase == protocol::kStateChunk;
    if (state) served_ = std::max(served_.value_or(0), slot.step);
  }

  void Pour(EditorTurn& turn) {
    owed_ += rate_ * kGuestsFloodEvery.seconds();
    for (; owed_ >= 1; --owed_) {
      ++asked_;
      const base::SharedBytes question = Question(turn);
      for (const base::PeerId& member : members_) turn.Emit(protocol::Send{member, question, {}});
    }
    // Who gave its place to another shows again why it may follow.
    if (shown_ != nullptr && ++rounds_ % 20 == 0) {
      for (const base::PeerId& member : members_) turn.Emit(protocol::Send{member, shown_, {}});
    }
    turn.Emit(protocol::SetTimer{kFirstReservedTimer, turn.now() + kGuestsFloodEvery});
  }

  base::SharedBytes Question(const EditorTurn& turn) const {
    constexpr PullKind kBulk[] = {PullKind::kState, PullKind::kResult, PullKind::kBlock};
    const std::uint64_t before = newest_ - (newest_ > 0 ? 1 : 0);
    wire::Slot slot{.run_id = manifest_->run_id,
                    .incarnation = 0,
                    .step = before,
                    .phase = Phase::kA,
                    .type = MessageType::kPull,
                    .draw = 0,
                    .iteration = 0};
    wire::Pull pull;
    pull.kind = bulk_ ? kBulk[asked_ % std::size(kBulk)]
                      : static_cast<PullKind>(asked_ % wire::kPullKindCount);
    switch (pull.kind) {
      case PullKind::kMessages: {
        constexpr MessageType kTypes[] = {MessageType::kCommit, MessageType::kEcho,
                                          MessageType::kLock};
        pull.type = kTypes[asked_ / wire::kPullKindCount % std::size(kTypes)];
        pull.members = wire::BitmapOf(members_, members_);
        break;
      }
      case PullKind::kDigests:
        pull.digests.assign(8,
                            crypto::Hasher(crypto::kDomainFingerprint).UpdateU64(asked_).Finish());
        break;
      case PullKind::kVector:
        pull.digests = {base::Digest{turn.self().bytes}};
        break;
      case PullKind::kResult:
        pull.index = asked_ % kColumns;
        break;
      case PullKind::kState:
        slot.step = served_.value_or(newest_ - std::min(newest_, asked_ % kBack));
        pull.index = 1;
        break;
      case PullKind::kBlock:
        slot.phase = Phase::kC;
        pull.index = 64;
        break;
      default:
        break;
    }
    return wire::EncodeService({slot, {}, turn.self(), wire::Encode(pull)});
  }

  std::uint64_t from_step_;
  double rate_;  // questions a second to each member
  bool bulk_;
  std::shared_ptr<const protocol::Manifest> manifest_;
  bool comes_;  // no member of the genesis
  std::vector<base::PeerId> members_;
  FrameReader frames_;
  FrameReader heard_;
  std::uint64_t newest_ = 0;             // step of which a COMMIT came
  std::optional<std::uint64_t> served_;  // step whose state a member has
  base::SharedBytes shown_;              // the REJOIN that asks for nothing
  bool pours_ = false;
  double owed_ = 0;
  std::uint64_t asked_ = 0;
  std::uint64_t rounds_ = 0;
};

}  // namespace

std::unique_ptr<Editor> MakeGuestFlood(const EditorOptions& options) {
  return std::make_unique<GuestFlood>(options);
}

}  // namespace ostraka::sim
