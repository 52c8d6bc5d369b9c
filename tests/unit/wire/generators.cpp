#include "tests/unit/wire/generators.h"

#include <rapidcheck.h>

#include <algorithm>
#include <bit>

#include "node/wire/limits.h"

namespace ostraka::wire {
namespace {

// Small counts are as likely as the limit: rapidcheck's own sizes would never reach 256.
std::size_t AnyCount(std::size_t max) {
  const auto small = rc::gen::inRange<std::size_t>(0, std::min<std::size_t>(max, 4) + 1);
  return *rc::gen::weightedOneOf<std::size_t>(
      {{6, small}, {2, rc::gen::inRange<std::size_t>(0, max + 1)}, {1, rc::gen::just(max)}});
}

template <typename Draw>
auto ListOf(std::size_t max, Draw draw) {
  std::vector<decltype(draw())> items(AnyCount(max));
  for (auto& item : items) item = draw();
  return items;
}

template <typename Draw>
auto Maybe(Draw draw) {
  std::optional<decltype(draw())> value;
  if (*rc::gen::arbitrary<bool>()) value = draw();
  return value;
}

// 32 bytes of one drawn word each: cheap, and zero is among them.
template <typename Id>
Id AnyId() {
  const auto word = *rc::gen::arbitrary<std::uint64_t>();
  Id id;
  for (std::size_t i = 0; i < Id::kSize; ++i) {
    id.bytes[i] = static_cast<std::uint8_t>(word >> 8 * (i % 8));
  }
  return id;
}

// Any bits: NaNs with payloads, infinities and denormals too.
double AnyDouble() {
  return std::bit_cast<double>(
      *rc::gen::oneOf(rc::gen::arbitrary<std::uint64_t>(),
                      rc::gen::element<std::uint64_t>(0, 0x8000000000000000, 0x7ff0000000000001,
                                                      0xfff8000000000000, 0x7ff0000000000000, 1)));
}

template <typename Enum>
Enum AnyEnum(std::uint8_t count) {
  return static_cast<Enum>(*rc::gen::inRange<int>(0, count));
}

template <typename Integer>
Integer AnyInteger() {
  return *rc::gen::oneOf(rc::gen::arbitrary<Integer>(), rc::gen::element<Integer>(0, ~Integer{0}));
}

TensorHeader AnyHeader() {
  return {.element = AnyEnum<ElementType>(kElementTypeCount),
          .codec = AnyEnum<Codec>(kCodecCount),
          .shape = ListOf(kMaxTensorRank, AnyInteger<std::uint64_t>)};
}

ColumnNumbers AnyColumn() {
  ColumnNumbers column;
  column.missing = *rc::gen::weightedElement<bool>({{1, true}, {4, false}});
  if (column.missing) return column;
  for (double& s : column.s) s = AnyDouble();
  column.norm = AnyDouble();
  return column;
}

Accusation AnyAccusation() { return {.target = AnyPeer(), .step = AnyInteger<std::uint64_t>()}; }

Vote AnyVote() {
  return {.accuser = AnyPeer(),
          .target = AnyPeer(),
          .step = AnyInteger<std::uint64_t>(),
          .verdict = AnyEnum<Verdict>(kVerdictCount)};
}

Confirmation AnyConfirmation() {
  return {.evidence = AnyDigest(), .valid = *rc::gen::arbitrary<bool>()};
}

Removal AnyRemoval() {
  const auto printable = rc::gen::inRange<int>(0x20, 0x7f);
  std::string reason(AnyCount(kMaxReasonBytes), ' ');
  for (char& c : reason) c = static_cast<char>(*printable);
  return {.peer = AnyPeer(),
          .kind = AnyEnum<RemovalKind>(kRemovalKindCount),
          .step = AnyInteger<std::uint64_t>(),
          .reason = reason};
}

Case::Ballot AnyBallot() {
  return {.voter = AnyPeer(), .verdict = AnyEnum<Verdict>(kVerdictCount)};
}

Case AnyCase() {
  return {.accuser = AnyPeer(),
          .target = AnyPeer(),
          .accused_step = AnyInteger<std::uint64_t>(),
          .opened_step = AnyInteger<std::uint64_t>(),
          .ballots = ListOf(8, AnyBallot)};
}

}  // namespace

Digest AnyDigest() { return AnyId<Digest>(); }
PeerId AnyPeer() { return AnyId<PeerId>(); }

Bytes AnyBytes(std::size_t max) {
  Bytes bytes(AnyCount(max));
  const auto word = *rc::gen::arbitrary<std::uint64_t>();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::uint8_t>((word >> 8 * (i % 8)) + i);
  }
  return bytes;
}

Slot AnySlot() {
  Slot slot;
  slot.run_id = AnyDigest();
  slot.incarnation = AnyInteger<std::uint32_t>();
  slot.step = AnyInteger<std::uint64_t>();
  slot.type = AnyEnum<MessageType>(kMessageTypeCount);
  switch (slot.type) {
    case MessageType::kBoot:
      break;
    case MessageType::kCommit:
    case MessageType::kAggregate:
      slot.phase = Phase::kA;
      break;
    case MessageType::kPart:
    case MessageType::kResult:
      slot.phase = Phase::kA;
      slot.iteration = *rc::gen::inRange<std::uint32_t>(0, kMaxParts);
      break;
    case MessageType::kReveal:
      slot.phase = Phase::kB;
      slot.draw = AnyInteger<std::uint32_t>();
      break;
    case MessageType::kProof:
      slot.phase = Phase::kC;
      break;
    case MessageType::kEcho:
      slot.phase = AnyEnum<Phase>(kPhaseCount);
      if (slot.phase == Phase::kB) slot.draw = AnyInteger<std::uint32_t>();
      break;
  }
  return slot;
}

Boot AnyBoot() { return {.boot_id = AnyDigest(), .protocol_version = AnyInteger<std::uint32_t>()}; }

Commit AnyCommit() {
  return {.coins_root = AnyDigest(),
          .coin_count = *rc::gen::inRange<std::uint32_t>(1, kMaxCoins + 1),
          .gradient_root = Maybe(AnyDigest)};
}

Part AnyPart() {
  return {.header = AnyHeader(), .root = AnyDigest(), .path = ListOf(kMaxMerklePath, AnyDigest)};
}

Aggregate AnyAggregate() {
  return {.part_index = *rc::gen::inRange<std::uint32_t>(0, kMaxParts),
          .result_root = AnyDigest(),
          .included = AnyBytes(kMaxPeers / 8),
          .leaves_root = AnyDigest(),
          .commits_root = AnyDigest()};
}

Result AnyResult() { return {.header = AnyHeader(), .root = AnyDigest()}; }

Reveal AnyReveal() {
  return {.opening = {.coin = {.value = AnyDigest(), .salt = AnyDigest()},
                      .path = ListOf(kMaxMerklePath, AnyDigest)}};
}

Proof AnyProof() {
  return {.columns = ListOf(kMaxParts, AnyColumn),
          .accusation = Maybe(AnyAccusation),
          .votes = ListOf(kMaxVotes, AnyVote),
          .state_root = Maybe(AnyDigest),
          .evidence = ListOf(kMaxInlineEvidence, [] { return AnyBytes(kMaxEvidenceBytes); }),
          .confirmations = ListOf(kMaxConfirmations, AnyConfirmation)};
}

Echo AnyEcho() {
  return {.vector = AnyDigest(),
          .present = AnyBytes(kMaxBitmapBytes),
          .equivocated = AnyBytes(kMaxBitmapBytes)};
}

Envelope AnyEnvelope() {
  return {.slot = AnySlot(),
          .entry = AnyDigest(),
          .sender = AnyPeer(),
          .body = AnyBytes(kMaxSmallBodyBytes)};
}

Block AnyBlock() {
  Block block;
  block.step = AnyInteger<std::uint64_t>();
  block.genesis = *rc::gen::arbitrary<bool>();
  block.decision = AnyDigest();
  block.previous = AnyDigest();
  block.randomness = AnyDigest();
  block.members = ListOf(kMaxPeers, AnyPeer);
  std::sort(block.members.begin(), block.members.end());
  block.members.erase(std::unique(block.members.begin(), block.members.end()), block.members.end());
  block.thresholds.n = AnyInteger<std::uint32_t>();
  block.thresholds.t_s = std::min(AnyInteger<std::uint32_t>(), block.thresholds.n);
  block.thresholds.t_a = std::min(AnyInteger<std::uint32_t>(), block.thresholds.n);
  block.tau = AnyDouble();
  block.columns = ListOf(kMaxParts, [] { return AnyEnum<ColumnFate>(kColumnFateCount); });
  block.removals = ListOf(8, AnyRemoval);
  block.cases = ListOf(8, AnyCase);
  block.state_root = Maybe(AnyDigest);
  return block;
}

EvidenceFile AnyEvidenceFile() {
  return {.kind = AnyEnum<EvidenceKind>(kEvidenceKindCount),
          .accused = AnyPeer(),
          .slot = AnySlot(),
          .frames = ListOf(kMaxEvidenceFrames, [] { return AnyBytes(2048); }),
          .attachments = ListOf(kMaxEvidenceAttachments, AnyDigest)};
}

}  // namespace ostraka::wire
