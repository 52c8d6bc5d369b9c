// The promise on which evidence rests: messages of a peer that signed one body for each slot and
// revealed what it committed to convict it of nothing, whatever an accuser adds to them.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <memory>

#include "crypto/merkle.h"
#include "node/wire/limits.h"
#include "tests/unit/evidence/scene.h"
#include "tests/unit/wire/generators.h"
#include "tests/unit/wire/samples.h"

namespace ostraka::evidence::soundness_test {
namespace {

using wire::EvidenceFile;

// All messages that an honest peer signed in a run, stored by slot so that there is one body for
// each. Only REJOIN may be signed several times, after the disk was lost.
class HonestHistory {
 public:
  void Sign(wire::Envelope envelope) {
    envelope.sender = HonestKey().id();
    if (envelope.slot.type == wire::MessageType::kRejoin) {
      rejoins_.push_back(*wire::Seal(envelope, HonestKey()).frame);
      return;
    }
    if (by_slot_.contains(envelope.slot)) return;
    by_slot_[envelope.slot] = *wire::Seal(envelope, HonestKey()).frame;
  }
  void SignFrame(const Bytes& frame) {
    const auto opened = wire::Open(std::make_shared<const Bytes>(frame));
    RC_ASSERT(opened.ok());
    by_slot_.emplace(opened->envelope.slot, frame);
  }
  std::vector<Bytes> frames() const {
    std::vector<Bytes> all = rejoins_;
    for (const auto& [slot, frame] : by_slot_) all.push_back(frame);
    return all;
  }

 private:
  std::map<wire::Slot, Bytes> by_slot_;
  std::vector<Bytes> rejoins_;
};

// A few steps of one peer: a COMMIT and reveals of its coins, and messages of any other kind.
HonestHistory AnyHistory() {
  HonestHistory history;
  const auto steps = *rc::gen::inRange(1, 4);
  for (int i = 0; i < steps; ++i) {
    const Turn turn = {.key = &HonestKey(),
                       .incarnation = *rc::gen::inRange<std::uint32_t>(0, 2),
                       .step = *rc::gen::inRange<std::uint64_t>(0, 3),
                       .coin_count = *rc::gen::inRange<std::uint32_t>(1, 9)};
    // A peer that has committed in this slot does not commit to another count.
    const std::size_t before = history.frames().size();
    history.SignFrame(CommitFrame(turn));
    if (history.frames().size() == before) continue;
    for (std::uint32_t draw = 0; draw < turn.coin_count; ++draw) {
      if (*rc::gen::arbitrary<bool>()) history.SignFrame(RevealFrame(turn, draw));
    }
  }
  const auto others = *rc::gen::inRange(0, 4);
  for (int i = 0; i < others; ++i) {
    wire::Envelope envelope = wire::AnySignedEnvelope();
    // COMMITs and REVEALs of an honest peer have the coins above and no other body.
    if (envelope.slot.type == wire::MessageType::kCommit) continue;
    if (envelope.slot.type == wire::MessageType::kReveal) continue;
    history.Sign(envelope);
    if (envelope.slot.type != wire::MessageType::kRejoin) continue;
    envelope.body = Encode(wire::Any<wire::Rejoin>());
    history.Sign(envelope);
  }
  return history;
}

// The generator signs any LOCK and VOTE; an honest peer's votes respect its locks.
bool PassesOverLock(const Bytes& lock, const Bytes& vote) {
  const auto first = wire::Open(std::make_shared<const Bytes>(lock));
  const auto second = wire::Open(std::make_shared<const Bytes>(vote));
  const auto body = wire::Decode<wire::SealVote>(second->envelope.body);
  return body.ok() && body->rank <= first->envelope.slot.iteration;
}

// The changes that an adversary can make to a frame that it cannot sign again.
Bytes Tampered(Bytes frame) {
  const auto edits = *rc::gen::inRange(0, 3);
  for (int i = 0; i < edits && !frame.empty(); ++i) {
    frame[*rc::gen::inRange<std::size_t>(0, frame.size())] = *rc::gen::arbitrary<std::uint8_t>();
  }
  return frame;
}

// A frame that names the honest peer as its sender, signed by somebody else.
Bytes Forged(const Bytes& frame) {
  const auto opened = wire::Open(std::make_shared<const Bytes>(frame));
  wire::Envelope envelope = opened->envelope;
  envelope.body = wire::AnyBytes(64);
  const crypto::Signature signature = CheaterKey().Sign(wire::DigestOf(envelope));
  Bytes forged(signature.bytes.begin(), signature.bytes.end());
  const base::SharedBytes core = wire::EncodeUnsigned(envelope);
  forged.insert(forged.end(), core->begin(), core->end());
  return forged;
}

RC_GTEST_PROP(SoundnessTest, NoPairOfHonestMessagesConvicts, ()) {
  const std::vector<Bytes> frames = AnyHistory().frames();
  for (const Bytes& a : frames) {
    for (const Bytes& b : frames) {
      RC_ASSERT(!MakeEquivocation(a, b).ok());
      RC_ASSERT(!MakeFalseReveal(a, b).ok());
      RC_ASSERT(!MakeBrokenLock(a, b).ok() || PassesOverLock(a, b));
    }
  }
}

RC_GTEST_PROP(SoundnessTest, NoFileAroundHonestMessagesConvicts, ()) {
  const std::vector<Bytes> frames = AnyHistory().frames();
  EvidenceFile file = wire::Any<wire::EvidenceFile>();
  file.accused = HonestKey().id();
  const Bytes a = *rc::gen::elementOf(frames);
  const Bytes b = *rc::gen::elementOf(frames);
  file.frames = {*rc::gen::arbitrary<bool>() ? Forged(a) : Tampered(a),
                 *rc::gen::arbitrary<bool>() ? Forged(b) : Tampered(b)};
  if (*rc::gen::arbitrary<bool>()) file.attachments.clear();
  // Claims that match the second frame pass the most checks.
  const auto opened = wire::Open(std::make_shared<const Bytes>(b));
  if (*rc::gen::arbitrary<bool>()) file.slot = opened->envelope.slot;
  RC_ASSERT(Verify(wire::EncodeEvidence(file)).outcome != Outcome::kProven);
}

// Honest peers sign only parts and numbers that follow from a gradient.
RC_GTEST_PROP(SoundnessTest, HonestPartsAndReadableBodiesConvictNobody, ()) {
  const auto parts = *rc::gen::inRange<std::size_t>(1, 17);
  const auto index = *rc::gen::inRange<std::size_t>(0, parts);
  std::vector<Digest> roots;
  for (std::size_t i = 0; i < parts; ++i) roots.push_back(wire::AnyDigest());
  const Turn turn = {.key = &HonestKey(), .incarnation = 0, .step = 1, .coin_count = 1};
  wire::Commit commit = CommitOf(turn);
  commit.gradient_root = crypto::MerkleRoot(roots);
  wire::Envelope envelope = wire::SampleEnvelope(wire::MessageType::kPart);
  const Bytes commit_frame = FrameWithBody(turn, wire::MessageType::kCommit, Encode(commit));
  const auto opened = wire::Open(std::make_shared<const Bytes>(commit_frame));
  envelope.sender = HonestKey().id();
  envelope.slot.run_id = opened->envelope.slot.run_id;
  envelope.slot.incarnation = turn.incarnation;
  envelope.slot.step = turn.step;
  envelope.slot.iteration = static_cast<std::uint32_t>(index);
  wire::Part part = wire::SamplePart();
  part.root = roots[index];
  part.path = crypto::MerklePath(roots, index);
  envelope.body = Encode(part);
  const Bytes honest = *wire::Seal(envelope, HonestKey()).frame;
  RC_ASSERT(!MakeFalsePart(commit_frame, honest).ok());
  RC_ASSERT(!MakeUnreadable(honest).ok());
  // The opposite: a changed message convicts.
  part.root = wire::AnyDigest();
  envelope.sender = CheaterKey().id();
  envelope.body = Encode(part);
  const Turn cheat = {.key = &CheaterKey(), .incarnation = 0, .step = 1, .coin_count = 1};
  const bool same = part.root == roots[index];
  RC_ASSERT(MakeFalsePart(FrameWithBody(cheat, wire::MessageType::kCommit, Encode(commit)),
                          *wire::Seal(envelope, CheaterKey()).frame)
                .ok() != same);
}

// The opposite; otherwise the properties above would hold for a verifier that never convicts.
RC_GTEST_PROP(SoundnessTest, EveryPairOfDifferentMessagesOfOneSlotConvicts, ()) {
  wire::Envelope first = wire::AnySignedEnvelope();
  first.sender = CheaterKey().id();
  wire::Envelope second = first;
  second.body = wire::AnyBytes(wire::kMaxSmallBodyBytes);
  second.entry = wire::AnyDigest();
  const bool differ = wire::DigestOf(first) != wire::DigestOf(second);
  const bool exempt =
      first.slot.phase == wire::Phase::kGenesis || first.slot.type == wire::MessageType::kRejoin;
  const auto file = MakeEquivocation(*wire::Seal(first, CheaterKey()).frame,
                                     *wire::Seal(second, CheaterKey()).frame);
  RC_ASSERT(file.ok() == (differ && !exempt));
}

RC_GTEST_PROP(SoundnessTest, EveryFalseCoinConvicts, ()) {
  const Turn turn = {.key = &CheaterKey(),
                     .incarnation = 0,
                     .step = *rc::gen::arbitrary<std::uint64_t>(),
                     .coin_count = *rc::gen::inRange<std::uint32_t>(1, 17)};
  const auto draw = *rc::gen::inRange<std::uint32_t>(0, turn.coin_count);
  wire::Reveal reveal = RevealOf(turn, draw);
  reveal.opening.coin.value = wire::AnyDigest();
  const Bytes frame = FrameWithBody(turn, wire::MessageType::kReveal, Encode(reveal), draw);
  const bool honest = reveal.opening.coin.value == RevealOf(turn, draw).opening.coin.value;
  RC_ASSERT(MakeFalseReveal(CommitFrame(turn), frame).ok() != honest);
}

}  // namespace
}  // namespace ostraka::evidence::soundness_test
