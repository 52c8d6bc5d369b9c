// Any bytes as the events of a run of four members, one of them a cheat: the messages that arrive,
// when, twice or never; timers, links, the disk and the jobs in any order; deaths and restarts;
// whatever the cheat may sign or request, and frames of others changed on the way. No input may
// make an honest member abort, sign twice, be banned, or hold another block than the other honest
// members (tests/fuzz/machine_world.h).
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "crypto/sign.h"
#include "node/base/check.h"
#include "node/wire/codec.h"
#include "tests/fuzz/byte_source.h"
#include "tests/fuzz/forgery.h"
#include "tests/fuzz/machine_world.h"

namespace ostraka::fuzz {
namespace {

using base::Bytes;

// Both bound the time that one input takes.
constexpr std::size_t kMaxOperations = 200;
constexpr std::size_t kMaxSteps = 5;
constexpr int kLastRounds = 60;

void SpoilFloats(Bytes& bytes, ByteSource& source) {
  if (bytes.size() < 4) return;
  const std::size_t at = source.Below(bytes.size() / 4) * 4;
  const auto value = std::bit_cast<std::array<std::uint8_t, 4>>(source.Float());
  std::copy(value.begin(), value.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
}

crypto::SharedBlob SpoiledBlob(const crypto::SharedBlob& blob, ByteSource& source) {
  Bytes data = blob == nullptr ? Bytes{} : blob->data;
  if (source.Byte() % 4 == 0) data.resize(source.Below(40));
  SpoilFloats(data, source);
  return crypto::MakeBlob(std::move(data));
}

// Runs one input: the operations that it encodes, then everything that is still outstanding.
class Play final : public Cheat {
 public:
  explicit Play(base::ByteView bytes)
      : source_(bytes), world_(*this, 1 + source_.Below(kMaxSteps)) {}

  void Run() {
    for (std::size_t i = 0; i < kMaxOperations && !source_.empty(); ++i) Operate();
    world_.DeliverAll();
    // Members give up on parts or results that never come, seals take their slow path, and absent
    // members come back.
    for (int round = 0; round < kLastRounds; ++round) {
      for (std::size_t member = 0; member < kMembers; ++member) world_.FireTimer(member);
      world_.DeliverAll();
    }
  }

  // Lies in every job of the kinds that it lies in.
  void OnJob(protocol::JobResult& result) override {
    if (auto* gradient = std::get_if<protocol::GradientResult>(&result); gradient && Lies(0)) {
      auto lie = std::make_shared<std::vector<float>>(*gradient->gradient);
      (*lie)[source_.Below(lie->size())] = source_.Float();
      gradient->gradient = std::move(lie);
    } else if (auto* made = std::get_if<protocol::AggregateResult>(&result); made && Lies(1)) {
      made->result = SpoiledBlob(made->result, source_);
    } else if (auto* proved = std::get_if<protocol::ProveResult>(&result); proved && Lies(2)) {
      if (proved->columns.empty()) return;
      proved->columns[source_.Below(proved->columns.size())].norm = source_.Double();
    } else if (auto* judged = std::get_if<protocol::RecomputeResult>(&result); judged && Lies(3)) {
      judged->accuse = !judged->accuse;
      judged->convict = !judged->convict;
    } else if (auto* root = std::get_if<protocol::RootResult>(&result); root && Lies(4)) {
      root->root.bytes[0] ^= source_.Byte();
    }
  }

  bool WantsToForge(const wire::Slot& first) override {
    return ((forged_types_ >> static_cast<unsigned>(first.type)) & 1) != 0;
  }

  Bytes Forge(const wire::Envelope& honest) override {
    // Half of a forged batch stays true, so that a false COMMIT can accompany true PARTs.
    if (source_.Flip()) return honest.body;
    return ForgeBody(honest.slot.type, honest.body, View(), source_);
  }

 private:
  ForgerView View() const { return {world_.members(), world_.step(), world_.evidence()}; }
  bool Lies(unsigned kind) const { return ((lies_ >> kind) & 1) != 0; }
  std::size_t AnyMember() { return source_.Below(kMembers); }

  void Operate() {
    const std::uint8_t operation = source_.Byte();
    if (operation >= 248) return world_.Restart(AnyMember(), operation < 254);
    switch (operation % 14) {
      case 0:
      case 1:
        return DeliverSome(1 + source_.Byte());
      case 2:
        if (world_.under_way() > 0) world_.Deliver(source_.Below(world_.under_way()));
        return;
      case 3:
        if (world_.under_way() > 0) world_.DeliverAgain(source_.Below(world_.under_way()));
        return;
      case 4:
        if (world_.under_way() > 0) world_.Lose(source_.Below(world_.under_way()));
        return;
      case 5:
        return world_.FireTimer(AnyMember());
      case 6:
        return ChangeLink();
      case 7:
        return world_.Wait(base::Milliseconds(static_cast<std::int64_t>(source_.Integer(2))));
      case 8:
        lies_ = source_.Byte();
        return;
      case 9:
        forged_types_ = source_.Byte();
        return;
      case 10:
        return SayMore();
      case 11:
        return Bend();
      case 12:
        return SayAnything();
      default:
        return world_.DeliverAll();
    }
  }

  void DeliverSome(std::size_t count) {
    for (; count > 0 && world_.under_way() > 0; --count) world_.Deliver(0);
  }

  void ChangeLink() {
    const std::size_t member = AnyMember();
    const std::size_t other = AnyMember();
    world_.ChangeLink(member, other, source_.Flip());
  }

  // One of the messages sent lately.
  const Heard& AnyHeard() {
    const auto& heard = world_.heard();
    return heard[heard.size() - 1 - source_.Below(heard.size())];
  }

  // A message of the cheat, true or forged from another's, in addition to its other messages: an
  // equivocation, a message too early or too late, a blob with a message that has none, an invalid
  // signature.
  void SayMore() {
    if (world_.heard().empty()) return;
    const Heard& model = AnyHeard();
    wire::Envelope envelope = model.envelope;
    crypto::SharedBlob blob = model.blob;
    const std::uint8_t how = source_.Byte();
    if ((how & 1) != 0)
      envelope.body = ForgeBody(envelope.slot.type, envelope.body, View(), source_);
    if ((how & 2) != 0) envelope.slot.step += source_.Below(3);
    if ((how & 4) != 0) envelope.slot.iteration = source_.Byte();
    if ((how & 8) != 0) envelope.slot.draw = source_.Byte();
    if ((how & 16) != 0) blob = SpoiledBlob(blob, source_);
    if ((how & 64) != 0) blob = nullptr;
    if ((how & 32) != 0) envelope.entry.bytes[0] ^= source_.Byte();
    base::SharedBytes frame = world_.SignAsCheat(std::move(envelope));
    if ((how & 128) != 0) frame = Bent(*frame, crypto::Signature::kSize);
    // To one member, or to all alike.
    const std::size_t to = source_.Below(kMembers + 1);
    for (std::size_t member = 0; member < kMembers; ++member) {
      if (to == member || to == kMembers) world_.Inject(member, kCheat, frame, blob);
    }
  }

  // With a byte changed among the first `size`.
  base::SharedBytes Bent(const Bytes& frame, std::size_t size) {
    auto bent = std::make_shared<Bytes>(frame);
    (*bent)[source_.Below(size)] ^= source_.Byte();
    return bent;
  }

  // A true frame over another link, with other bulk data, or with a byte changed.
  void Bend() {
    if (world_.heard().empty()) return;
    const Heard heard = AnyHeard();
    const std::size_t to = AnyMember();
    const std::size_t from = AnyMember();
    // Only the link authenticates a service, and nobody changes an honest member's messages on its
    // own link.
    const bool own = heard.envelope.sender == world_.members()[from];
    if (wire::IsService(heard.envelope.slot.type) && own && from != kCheat) return;
    base::SharedBytes frame = heard.frame;
    crypto::SharedBlob blob = heard.blob;
    if (source_.Flip()) frame = Bent(*frame, frame->size());
    if (source_.Flip()) blob = source_.Flip() ? nullptr : SpoiledBlob(blob, source_);
    world_.Inject(to, from, std::move(frame), std::move(blob));
  }

  // A slot and a body of any bytes, signed: past the signature check nothing more needs to be
  // guessed.
  void SayAnything() {
    wire::Envelope envelope;
    if (!world_.heard().empty()) envelope = AnyHeard().envelope;
    envelope.slot.step = source_.Flip() ? source_.Integer(8) : world_.step() + source_.Below(3);
    envelope.slot.phase = static_cast<wire::Phase>(source_.Below(wire::kPhaseCount));
    envelope.slot.type = static_cast<wire::MessageType>(source_.Below(wire::kMessageTypeCount));
    envelope.slot.incarnation = source_.Byte() % 16 == 0 ? source_.Byte() : 0;
    envelope.slot.draw = source_.Byte() % 4 == 0 ? source_.Byte() : 0;
    envelope.slot.iteration = source_.Byte() % 4 == 0 ? source_.Byte() : 0;
    const base::ByteView body = source_.Take(source_.Byte());
    if (!body.empty()) envelope.body.assign(body.begin(), body.end());
    crypto::SharedBlob blob = source_.Flip() ? SpoiledBlob(nullptr, source_) : nullptr;
    world_.Inject(AnyMember(), kCheat, world_.SignAsCheat(std::move(envelope)), std::move(blob));
  }

  ByteSource source_;
  std::uint8_t lies_ = 0;          // a bit for each kind of job, as in OnJob
  std::uint8_t forged_types_ = 0;  // a bit for each wire::MessageType
  MachineWorld world_;
};

}  // namespace
}  // namespace ostraka::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool initialized = ostraka::crypto::Initialize().ok();
  OSTRAKA_CHECK(initialized);
  ostraka::fuzz::Play({data, size}).Run();
  return 0;
}
