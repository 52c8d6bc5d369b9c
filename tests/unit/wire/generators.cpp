#include "tests/unit/wire/generators.h"

#include <rapidcheck.h>

#include <algorithm>
#include <bit>

#include "node/wire/limits.h"

namespace ostraka::wire {
namespace {

// Small counts are as likely as the limit; rapidcheck's own sizes would never reach 256.
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
  column.size = AnyDouble();
  if (column.missing) return column;
  for (double& s : column.s) s = AnyDouble();
  column.norm = AnyDouble();
  return column;
}

Accusation AnyAccusation() { return {.target = AnyPeer(), .step = AnyInteger<std::uint64_t>()}; }

std::uint32_t AnyColumnIndex() { return *rc::gen::inRange<std::uint32_t>(0, kMaxParts); }

Naming AnyNaming() {
  return {.target = AnyPeer(), .step = AnyInteger<std::uint64_t>(), .column = AnyColumnIndex()};
}

CaseId AnyCaseId() {
  CaseId id;
  id.kind = AnyEnum<CaseKind>(kCaseKindCount);
  id.accuser = AnyPeer();
  id.target = AnyPeer();
  id.step = AnyInteger<std::uint64_t>();
  if (id.kind != CaseKind::kGradient) id.column = AnyColumnIndex();
  return id;
}

Vote AnyVote() { return {.about = AnyCaseId(), .verdict = AnyEnum<Verdict>(kVerdictCount)}; }

// Items whose `key` ascends strictly.
template <typename Item, typename Key>
std::vector<Item> Ascending(std::vector<Item> items, Key key) {
  std::sort(items.begin(), items.end(),
            [&](const Item& a, const Item& b) { return key(a) < key(b); });
  const auto last = std::unique(items.begin(), items.end(),
                                [&](const Item& a, const Item& b) { return key(a) == key(b); });
  items.erase(last, items.end());
  return items;
}

std::vector<PeerId> AnyPeers(std::size_t max) {
  return Ascending(ListOf(max, AnyPeer), [](const PeerId& peer) { return peer; });
}

// 0, the limit, and in between.
std::uint32_t AnyRank() {
  return *rc::gen::oneOf(rc::gen::inRange<std::uint32_t>(0, 4),
                         rc::gen::inRange<std::uint32_t>(0, kMaxIterations + 2),
                         rc::gen::just<std::uint32_t>(kMaxIterations + 1));
}

VectorEntry AnyEntry() {
  VectorEntry entry;
  entry.state = *rc::gen::element<std::uint8_t>(0, 1, 2);
  if (entry.state == 1) entry.digest = AnyDigest();
  return entry;
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

std::vector<Covering> AnyCovering() {
  const auto one = [] { return Covering{.column = AnyColumnIndex(), .owner = AnyPeer()}; };
  return Ascending(ListOf(8, one), [](const Covering& covering) { return covering.column; });
}

Case AnyCase() {
  return {.id = AnyCaseId(),
          .opened_step = AnyInteger<std::uint64_t>(),
          .ballots = ListOf(8, AnyBallot),
          .covering = AnyCovering(),
          .fault_bound = AnyInteger<std::uint32_t>()};
}

Assignment AnyAssignment() {
  return {.validator = AnyPeer(),
          .target = AnyPeer(),
          .step = AnyInteger<std::uint64_t>(),
          .covering = AnyCovering()};
}

Dispute AnyDispute() {
  return {.worker = AnyPeer(), .aggregator = AnyPeer(), .since = AnyInteger<std::uint64_t>()};
}

Voucher AnyVoucher() {
  return {.invite = AnyDigest(),
          .moderator = AnyPeer(),
          .uses = *rc::gen::inRange<std::uint32_t>(1, kMaxInviteUses + 1),
          .ends_step = AnyInteger<std::uint64_t>(),
          .kind = AnyEnum<InviteKind>(kInviteKindCount)};
}

Invite AnyInvite() {
  return {.moderator = AnyPeer(),
          .holder = AnyPeer(),
          .uses = *rc::gen::inRange<std::uint32_t>(1, kMaxInviteUses + 1),
          .ends_step = AnyInteger<std::uint64_t>(),
          .kind = AnyEnum<InviteKind>(kInviteKindCount),
          .anchor = Maybe(AnyDigest)};
}

Revocation AnyRevocation() {
  Revocation revocation;
  revocation.invite = Maybe(AnyInvite);
  revocation.moderator = revocation.invite ? revocation.invite->moderator : AnyPeer();
  const Digest word = AnyDigest();
  std::copy(word.bytes.begin(), word.bytes.end(), revocation.by_moderator.bytes.begin());
  return revocation;
}

Credential AnyCredential() {
  Credential credential;
  credential.invite = AnyInvite();
  const Digest word = AnyDigest();
  std::copy(word.bytes.begin(), word.bytes.end(), credential.by_moderator.bytes.begin());
  std::copy(word.bytes.begin(), word.bytes.end(), credential.by_holder.bytes.begin() + 32);
  return credential;
}

std::vector<Arrival> ArrivalsWithout(const std::vector<PeerId>& joins) {
  std::vector<Arrival> arrivals = Ascending(
      ListOf(kMaxArrivals, [] { return Arrival{.peer = AnyPeer(), .voucher = Maybe(AnyVoucher)}; }),
      [](const Arrival& arrival) { return arrival.peer; });
  std::erase_if(arrivals, [&](const Arrival& arrival) {
    return std::binary_search(joins.begin(), joins.end(), arrival.peer);
  });
  return arrivals;
}

Standing AnyStanding() {
  return {.peer = AnyPeer(),
          .banned = *rc::gen::arbitrary<bool>(),
          .drops = AnyInteger<std::uint32_t>(),
          .last_drop_step = AnyInteger<std::uint64_t>(),
          .barred_until = AnyInteger<std::uint64_t>(),
          .erred = *rc::gen::arbitrary<bool>(),
          .left_step = AnyInteger<std::uint64_t>(),
          .returned_step = AnyInteger<std::uint64_t>(),
          .came_step = AnyInteger<std::uint64_t>()};
}

Candidate AnyCandidate() {
  return {.peer = AnyPeer(),
          .since = AnyInteger<std::uint64_t>(),
          .confirmed = AnyInteger<std::uint64_t>(),
          .voucher = Maybe(AnyVoucher)};
}

// Senders come from a small set, like the workers of a run, or from anywhere.
std::vector<Block::Column> AnyAggregated() {
  const std::vector<PeerId> workers = AnyPeers(20);
  return ListOf(8, [&] {
    Block::Column column;
    column.owner = AnyPeer();
    if (*rc::gen::weightedElement<bool>({{1, true}, {4, false}})) {
      column.senders = AnyPeers(8);
      return column;
    }
    for (const PeerId& worker : workers) {
      if (*rc::gen::arbitrary<bool>()) column.senders.push_back(worker);
    }
    return column;
  });
}

UsedInvite AnyUsedInvite() {
  UsedInvite invite{.invite = AnyDigest(),
                    .used = AnyInteger<std::uint32_t>(),
                    .ends_step = AnyInteger<std::uint64_t>(),
                    .revoked = *rc::gen::arbitrary<bool>()};
  if (!invite.revoked) invite.users = AnyPeers(8);
  invite.used = std::max(invite.used, static_cast<std::uint32_t>(invite.users.size()));
  return invite;
}

void FillNext(Block& block) {
  const auto peer_of = [](const auto& record) { return record.peer; };
  block.drawn = ListOf(8, AnyAssignment);
  block.proven = AnyPeers(kMaxPeers);
  block.owing = AnyPeers(kMaxPeers);
  block.disputes = Ascending(ListOf(8, AnyDispute),
                             [](const Dispute& d) { return std::pair(d.worker, d.aggregator); });
  block.standings = Ascending(ListOf(8, AnyStanding), peer_of);
  block.candidates = Ascending(ListOf(8, AnyCandidate), peer_of);
  block.joined = AnyPeers(8);
  block.leaving = AnyPeers(8);
  block.left = AnyPeers(8);
  block.t_s_in_role = AnyInteger<std::uint32_t>();
  block.invites =
      Ascending(ListOf(8, AnyUsedInvite), [](const UsedInvite& invite) { return invite.invite; });
  block.moderators = Ascending(ListOf(8,
                                      [] {
                                        return Moderator{.peer = AnyPeer(),
                                                         .admitted = AnyInteger<std::uint32_t>(),
                                                         .revoked = *rc::gen::arbitrary<bool>()};
                                      }),
                               peer_of);
  block.peak_t_s = AnyInteger<std::uint32_t>();
  block.peak_step = AnyInteger<std::uint64_t>();
  block.part_us = AnyInteger<std::uint64_t>();
  block.reach = Ascending(
      ListOf(8,
             [] {
               return Reach{AnyPeer(), *rc::gen::arbitrary<bool>(), AnyInteger<std::uint64_t>()};
             }),
      peer_of);
  block.last_removal_step = Maybe(AnyInteger<std::uint64_t>);
  block.delta_us = AnyInteger<std::uint64_t>();
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

namespace {

Slot AnySlotOf(MessageType type) {
  Slot slot;
  slot.run_id = AnyDigest();
  slot.incarnation = AnyInteger<std::uint32_t>();
  slot.step = AnyInteger<std::uint64_t>();
  slot.type = type;
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
    case MessageType::kRejoin:
      slot.phase = Phase::kC;
      break;
    case MessageType::kStatus:
    case MessageType::kPropose:
    case MessageType::kVote:
    case MessageType::kLock:
      slot.phase = *rc::gen::element(Phase::kA, Phase::kB, Phase::kC);
      if (slot.phase == Phase::kB) slot.draw = AnyInteger<std::uint32_t>();
      slot.iteration = *rc::gen::inRange<std::uint32_t>(1, kMaxIterations + 1);
      break;
    case MessageType::kClose:
      slot.phase = *rc::gen::element(Phase::kA, Phase::kB, Phase::kC);
      if (slot.phase == Phase::kB) slot.draw = AnyInteger<std::uint32_t>();
      break;
    case MessageType::kEcho:
    case MessageType::kPull:
    case MessageType::kVector:
    case MessageType::kBlock:
    case MessageType::kChunk:
    case MessageType::kForward:
      slot.phase = AnyEnum<Phase>(kPhaseCount);
      if (slot.phase == Phase::kB) slot.draw = AnyInteger<std::uint32_t>();
      break;
  }
  return slot;
}

}  // namespace

Slot AnySlot() { return AnySlotOf(AnyEnum<MessageType>(kMessageTypeCount)); }

Slot AnySignedSlot() {
  MessageType type = AnyEnum<MessageType>(kMessageTypeCount);
  while (IsService(type)) type = AnyEnum<MessageType>(kMessageTypeCount);
  return AnySlotOf(type);
}

Boot AnyBoot() { return {.boot_id = AnyDigest(), .protocol_version = AnyInteger<std::uint32_t>()}; }

Commit AnyCommit() {
  return {.coins_root = AnyDigest(),
          .coin_count = *rc::gen::inRange<std::uint32_t>(1, kMaxCoins + 1),
          .gradient_root = Maybe(AnyDigest),
          .parameters_root = Maybe(AnyDigest),
          .only_dials = *rc::gen::arbitrary<bool>(),
          .leaving = *rc::gen::arbitrary<bool>(),
          .revokes = Maybe(AnyRevocation)};
}

Part AnyPart() {
  return {.header = AnyHeader(), .root = AnyDigest(), .path = ListOf(kMaxMerklePath, AnyDigest)};
}

Aggregate AnyAggregate() {
  return {.part_index = *rc::gen::inRange<std::uint32_t>(0, kMaxParts),
          .result_root = AnyDigest(),
          .included = AnyBytes(kMaxPeers / 8),
          .leaves_root = AnyDigest(),
          .commits_root = AnyDigest(),
          .slowest = Maybe(AnyPeer)};
}

Result AnyResult() { return {.header = AnyHeader(), .root = AnyDigest()}; }

Reveal AnyReveal() {
  return {.opening = {.coin = {.value = AnyDigest(), .salt = AnyDigest()},
                      .path = ListOf(kMaxMerklePath, AnyDigest)}};
}

Proof AnyProof() {
  Proof proof = {.columns = ListOf(kMaxParts, AnyColumn),
                 .accusation = Maybe(AnyAccusation),
                 .naming = Maybe(AnyNaming),
                 .votes = ListOf(kMaxVotes, AnyVote),
                 .state_root = Maybe(AnyDigest),
                 .evidence = ListOf(kMaxInlineEvidence, [] { return AnyBytes(kMaxEvidenceBytes); }),
                 .held = AnyBytes(kMaxHeldBytes),
                 .silent = AnyBytes(kMaxPeers / 8),
                 .joins = AnyPeers(kMaxPeers),
                 .lag_us = AnyInteger<std::uint64_t>(),
                 .hasty = AnyBytes(kMaxPeers / 8),
                 .unshown = AnyBytes(kMaxPeers / 8),
                 .late_ms = ListOf(2 * kMaxPeers, AnyInteger<std::uint64_t>)};
  proof.arrivals = ArrivalsWithout(proof.joins);
  return proof;
}

Echo AnyEcho() {
  return {.vector = AnyDigest(),
          .present = AnyBytes(kMaxBitmapBytes),
          .equivocated = AnyBytes(kMaxBitmapBytes)};
}

Status AnyStatus() { return {.rank = AnyRank(), .value = AnyDigest()}; }

Propose AnyPropose() {
  Propose propose = {.rank = AnyRank(), .value = AnyDigest(), .statuses = {}, .statuses_root = {}};
  if (propose.rank != 0) return propose;
  propose.statuses = AnyBytes(kMaxPeers / 8);
  propose.statuses_root = AnyDigest();
  return propose;
}

SealVote AnySealVote() { return {.value = AnyDigest(), .rank = AnyRank()}; }

Lock AnyLock() { return {.value = AnyDigest()}; }

Rejoin AnyRejoin() { return {.nonce = AnyDigest(), .credential = Maybe(AnyCredential)}; }

Pull AnyPull() {
  return {.kind = AnyEnum<PullKind>(kPullKindCount),
          .type = AnyEnum<MessageType>(kMessageTypeCount),
          .members = AnyBytes(kMaxPeers / 8),
          .digests = ListOf(kMaxPullDigests, AnyDigest),
          .index = AnyInteger<std::uint64_t>()};
}

Vector AnyVector() { return {.entries = ListOf(kMaxVectorEntries, AnyEntry)}; }

BlockMessage AnyBlockMessage() {
  return {.digest = AnyDigest(), .head = *rc::gen::arbitrary<bool>()};
}

Forward AnyForward() { return {.from = AnyPeer(), .to = AnyPeer(), .frame = AnyBytes(2048)}; }

Chunk AnyChunk() {
  Chunk chunk = {.step = AnyInteger<std::uint64_t>(),
                 .index = AnyInteger<std::uint64_t>(),
                 .count = AnyInteger<std::uint64_t>()};
  if (chunk.index > chunk.count) std::swap(chunk.index, chunk.count);
  if (chunk.index == chunk.count) {
    chunk.index = 0;
    chunk.count = 1;
  }
  return chunk;
}

Envelope AnyEnvelope() {
  return {.slot = AnySlot(),
          .entry = AnyDigest(),
          .sender = AnyPeer(),
          .body = AnyBytes(kMaxSmallBodyBytes)};
}

Envelope AnySignedEnvelope() {
  return {.slot = AnySignedSlot(),
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
  block.members = AnyPeers(kMaxPeers);
  block.thresholds.n = AnyInteger<std::uint32_t>();
  block.thresholds.t_s = std::min(AnyInteger<std::uint32_t>(), block.thresholds.n);
  block.thresholds.t_a = std::min(AnyInteger<std::uint32_t>(), block.thresholds.n);
  block.tau = AnyDouble();
  block.columns = ListOf(kMaxParts, [] { return AnyEnum<ColumnFate>(kColumnFateCount); });
  block.removals = ListOf(8, AnyRemoval);
  block.cases = ListOf(8, AnyCase);
  block.state_root = Maybe(AnyDigest);
  const auto most = block.genesis ? 0 : std::min<std::uint64_t>(block.step + 1, kClosingSteps + 1);
  block.closing = *rc::gen::inRange<std::uint16_t>(0, static_cast<std::uint16_t>(most + 1));
  block.result_roots = ListOf(kMaxParts, AnyDigest);
  block.aggregated = AnyAggregated();
  FillNext(block);
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
