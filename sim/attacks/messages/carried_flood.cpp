// forward mode = 5: has honest members carry as much as their rations allow, to each honest member
// that only dials: long signed messages and requests, of no use to anybody.
//
// Rule: what is carried waits in a lane of its own, in which each sender has its share, and is
// dropped where too much waits (node/net/records/carried_lane.h). Without it, the colluders
// together fill the carriers' queues to a member with a slow line (--line-rate), and these close
// their links with it. Cost to honest members: what the slow line is shared by. Found by: nothing,
// as it harms nobody.
#include <memory>
#include <utility>
#include <vector>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/protocol/mail/ration.h"
#include "node/protocol/mail/voice.h"
#include "node/wire/codec.h"
#include "sim/attacks/messages/factories.h"

namespace ostraka::sim {
namespace {

using protocol::Ration;
using protocol::Send;
using wire::MessageType;
using wire::Phase;

constexpr int kPoursASecond = 10;
constexpr base::Duration kPourEvery = base::Milliseconds(1000 / kPoursASecond);
// Of one message, beside its body.
constexpr std::size_t kEnvelopeBytes = 512;
// A step of which nobody holds another message of this one.
constexpr std::uint64_t kUnheldStep = 1'000'000;

class CarriedFlood final : public Editor {
 public:
  explicit CarriedFlood(const EditorOptions& options)
      : from_step_(options.from_step), manifest_(options.manifest), key_(options.key) {}

  void OnInput(EditorTurn& turn, protocol::Input input) override {
    const auto* timer = std::get_if<protocol::TimerFired>(&input);
    if (timer && timer->id == kFirstReservedTimer) return Pour(turn);
    turn.Deliver(input);
    if (poured_ == 0 && turn.round() != nullptr && turn.step() >= from_step_) Pour(turn);
  }

  base::Digest Fingerprint() const override {
    return crypto::Hasher(crypto::kDomainFingerprint).UpdateU64(poured_).Finish();
  }

 private:
  wire::Slot Slot(std::uint64_t step, MessageType type) const {
    wire::Slot slot = protocol::ServiceSlot(step, Phase::kA, type);
    slot.run_id = manifest_->run_id;
    return slot;
  }
  base::SharedBytes Signed() const {
    wire::Envelope envelope;
    envelope.slot = Slot(kUnheldStep + poured_, MessageType::kProof);
    envelope.slot.phase = Phase::kC;
    envelope.sender = key_->id();
    envelope.body.assign(Ration::kForwardedBytesASecond / kPoursASecond - kEnvelopeBytes, 1);
    return wire::Seal(std::move(envelope), *key_).frame;
  }
  base::SharedBytes Request() const {
    base::Bytes body(Ration::kForwardedServiceBytesASecond / kPoursASecond - kEnvelopeBytes, 1);
    return wire::EncodeService(
        {Slot(0, MessageType::kPull), base::Digest{}, key_->id(), std::move(body)});
  }

  void Pour(EditorTurn& turn) {
    ++poured_;
    turn.Confess();
    const std::vector<base::SharedBytes> frames = {Signed(), Request()};
    for (const protocol::Member& to : manifest_->members) {
      if (!to.only_dials || turn.coven().Contains(to.id)) continue;
      for (const base::SharedBytes& frame : frames) {
        const base::SharedBytes forward =
            wire::EncodeService({Slot(0, MessageType::kForward), base::Digest{}, key_->id(),
                                 wire::Encode(wire::Forward{key_->id(), to.id, *frame})});
        for (const protocol::Member& carrier : manifest_->members) {
          const bool honest = !turn.coven().Contains(carrier.id);
          if (honest && !carrier.only_dials) turn.Emit(Send{carrier.id, forward, nullptr});
        }
      }
    }
    turn.Emit(protocol::SetTimer{kFirstReservedTimer, turn.now() + kPourEvery});
  }

  std::uint64_t from_step_;
  std::shared_ptr<const protocol::Manifest> manifest_;
  std::shared_ptr<const crypto::SigningKey> key_;
  std::uint64_t poured_ = 0;
};

}  // namespace

std::unique_ptr<Editor> MakeCarriedFlood(const EditorOptions& options) {
  return std::make_unique<CarriedFlood>(options);
}

}  // namespace ostraka::sim
