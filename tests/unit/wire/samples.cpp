#include "tests/unit/wire/samples.h"

#include <bit>
#include <limits>

#include "node/base/check.h"

namespace ostraka::wire {
namespace {

ColumnNumbers SampleColumn() {
  return {.missing = false,
          .s = {std::bit_cast<double>(std::uint64_t{0x7ff0dead0000beef}),  // a signalling NaN
                -std::numeric_limits<double>::infinity(), -0.0,
                std::numeric_limits<double>::denorm_min()},
          .norm = 0.1,
          .size = 0.3};
}

Bytes BodyOf(MessageType type) {
  switch (type) {
    case MessageType::kBoot:
      return Encode(SampleBoot());
    case MessageType::kCommit:
      return Encode(SampleCommit());
    case MessageType::kPart:
      return Encode(SamplePart());
    case MessageType::kAggregate:
      return Encode(SampleAggregate());
    case MessageType::kResult:
      return Encode(SampleResult());
    case MessageType::kReveal:
      return Encode(SampleReveal());
    case MessageType::kProof:
      return Encode(SampleProof());
    case MessageType::kEcho:
      return Encode(SampleEcho());
    case MessageType::kStatus:
      return Encode(SampleStatus());
    case MessageType::kPropose:
      return Encode(SamplePropose());
    case MessageType::kVote:
      return Encode(SampleSealVote());
    case MessageType::kLock:
      return Encode(SampleLock());
    case MessageType::kClose:
      return Encode(Close{});
    case MessageType::kRejoin:
      return Encode(SampleRejoin());
    case MessageType::kPull:
      return Encode(SamplePull());
    case MessageType::kVector:
      return Encode(SampleVector());
    case MessageType::kBlock:
      return Encode(SampleBlockMessage());
    case MessageType::kChunk:
      return Encode(SampleChunk());
    case MessageType::kForward:
      return Encode(SampleForward());
  }
  OSTRAKA_CHECK(false);
}

}  // namespace

crypto::SigningKey SampleKey(std::uint8_t byte) {
  OSTRAKA_CHECK(crypto::Initialize().ok());
  return crypto::SigningKey::FromSeed(Bytes(crypto::SigningKey::kSeedSize, byte));
}

// The version of the golden bytes; a newer version must not change them.
Boot SampleBoot() { return {.boot_id = Filled(0x11), .protocol_version = 3}; }

Commit SampleCommit() {
  return {.coins_root = Filled(0x21), .coin_count = 4, .gradient_root = Filled(0x22)};
}

Commit SampleValidatorCommit() {
  return {.coins_root = Filled(0x21), .coin_count = 4, .gradient_root = std::nullopt};
}

Commit SampleExactCommit() {
  return {.coins_root = Filled(0x21),
          .coin_count = 4,
          .gradient_root = Filled(0x22),
          .parameters_root = Filled(0x23)};
}

Part SamplePart() {
  return {.header = {.element = ElementType::kFloat32, .codec = Codec::kRaw, .shape = {1250, 3}},
          .root = Filled(0x31),
          .path = {Filled(0x32), Filled(0x33), Filled(0x34)}};
}

Aggregate SampleAggregate() {
  return {.part_index = 5,
          .result_root = Filled(0x41),
          .included = {0xfb},
          .leaves_root = Filled(0x42),
          .commits_root = Filled(0x43),
          .slowest = Filled<PeerId>(0x44)};
}

Result SampleResult() {
  return {.header = {.element = ElementType::kFloat32, .codec = Codec::kRaw, .shape = {}},
          .root = Filled(0x51)};
}

Reveal SampleReveal() {
  return {.opening = {.coin = {.value = Filled(0x61), .salt = Filled(0x62)},
                      .path = {Filled(0x63), Filled(0x64)}}};
}

CaseId SampleCaseId() {
  return {.kind = CaseKind::kNumbers,
          .accuser = Filled<PeerId>(0x72),
          .target = Filled<PeerId>(0x73),
          .step = 38,
          .column = 1};
}

Proof SampleProof() {
  const ColumnNumbers missing = {.missing = true, .s = {}, .norm = 0, .size = 0.7};
  return {.columns = {SampleColumn(), missing, ColumnNumbers{}},
          .accusation = Accusation{.target = Filled<PeerId>(0x71), .step = 40},
          .naming = Naming{.target = Filled<PeerId>(0x72), .step = 41, .column = 2},
          .votes = {{.about = SampleCaseId(), .verdict = Verdict::kGuilty},
                    {.about = {.kind = CaseKind::kGradient,
                               .accuser = Filled<PeerId>(0x74),
                               .target = Filled<PeerId>(0x75)},
                     .verdict = Verdict::kAbstain}},
          .state_root = Filled(0x76),
          .evidence = {Bytes{1, 2, 3}, Bytes{}},
          .held = {0x05},
          .silent = {0x00, 0x10},
          .joins = {Filled<PeerId>(0x77), Filled<PeerId>(0x78)},
          .lag_us = 1234,
          .hasty = {0x02},
          .unshown = {0x04},
          .late_ms = {0, 1500, 0}};
}

Echo SampleEcho() {
  return {.vector = Filled(0x81), .present = {0xff, 0xfd}, .equivocated = {0x00, 0x02}};
}

SealStatus SampleStatus() { return {.rank = 2, .value = Filled(0xb1)}; }

Propose SamplePropose() {
  return {.rank = 0, .value = Filled(0xb2), .statuses = {0x0e}, .statuses_root = Filled(0xb3)};
}

Propose SampleLockedPropose() {
  return {.rank = 1, .value = Filled(0xb2), .statuses = {}, .statuses_root = {}};
}

SealVote SampleSealVote() { return {.value = Filled(0xb4), .rank = 1}; }

Lock SampleLock() { return {.value = Filled(0xb5)}; }

Rejoin SampleRejoin() { return {.nonce = Filled(0xb6)}; }

Rejoin SampleGuestRejoin() {
  Rejoin rejoin = SampleRejoin();
  Credential& credential = rejoin.credential.emplace();
  credential.invite = {.moderator = Filled<PeerId>(0xc1),
                       .holder = Filled<PeerId>(0xc2),
                       .uses = 3,
                       .ends_step = 900};
  credential.by_moderator.bytes.fill(0xc3);
  credential.by_holder.bytes.fill(0xc4);
  return rejoin;
}

Rejoin SampleObservingRejoin() {
  Rejoin rejoin = SampleGuestRejoin();
  rejoin.credential->invite.kind = InviteKind::kObserve;
  rejoin.credential->invite.anchor = Filled(0xc8);
  return rejoin;
}

Voucher SampleVoucher() {
  return {.invite = Filled(0xc5), .moderator = Filled<PeerId>(0xc1), .uses = 3, .ends_step = 900};
}

Proof SampleArrivalProof() {
  Proof proof = SampleProof();
  proof.arrivals = {{.peer = Filled<PeerId>(0x79), .voucher = SampleVoucher()},
                    {.peer = Filled<PeerId>(0x7a)}};
  return proof;
}

Pull SamplePull() {
  return {.kind = PullKind::kDigests,
          .type = MessageType::kReveal,
          .members = {0x09},
          .digests = {Filled(0xb7), Filled(0xb8)},
          .index = 3};
}

Vector SampleVector() {
  return {.entries = {{.state = 1, .digest = Filled(0xb9)},
                      {.state = 0, .digest = {}},
                      {.state = 2, .digest = {}},
                      {.state = 1, .digest = Filled(0xba)}}};
}

BlockMessage SampleBlockMessage() { return {.digest = Filled(0xbb), .head = true}; }

Forward SampleForward() {
  return {.from = Filled<PeerId>(0xbb), .to = Filled<PeerId>(0xbc), .frame = {1, 2, 3}};
}

Chunk SampleChunk() { return {.step = 40, .index = 2, .count = 7}; }

namespace {

// The fields that the next step needs.
void FillNext(Block& block) {
  block.drawn = {{.validator = Filled<PeerId>(0x02),
                  .target = Filled<PeerId>(0x01),
                  .step = 42,
                  .covering = {{.column = 1, .owner = Filled<PeerId>(0x02)}}}};
  block.proven = {Filled<PeerId>(0x01), Filled<PeerId>(0x03)};
  block.owing = {Filled<PeerId>(0x02)};
  block.disputes = {
      {.worker = Filled<PeerId>(0x01), .aggregator = Filled<PeerId>(0x02), .since = 7},
      {.worker = Filled<PeerId>(0x01), .aggregator = Filled<PeerId>(0x03), .since = 6}};
  block.standings = {{.peer = Filled<PeerId>(0x04),
                      .banned = true,
                      .drops = 0,
                      .last_drop_step = 0,
                      .barred_until = 0},
                     {.peer = Filled<PeerId>(0x05),
                      .banned = false,
                      .drops = 2,
                      .last_drop_step = 42,
                      .barred_until = 52}};
  block.candidates = {{.peer = Filled<PeerId>(0x07), .since = 39, .confirmed = 41}};
  block.joined = {Filled<PeerId>(0x03)};
  block.last_removal_step = 42;
  block.delta_us = 250000;
  block.lateness = {{.peer = Filled<PeerId>(0x01), .ms = 2500}};
  block.voids = {{.peer = Filled<PeerId>(0x02), .count = 2, .last_step = 41}};
}

}  // namespace

Block SampleBlock() {
  Block block;
  block.step = 42;
  block.decision = Filled(0x91);
  block.previous = Filled(0x92);
  block.randomness = Filled(0x93);
  block.members = {Filled<PeerId>(0x01), Filled<PeerId>(0x02), Filled<PeerId>(0x03)};
  block.thresholds = {.n = 3, .t_s = 1, .t_a = 0};
  block.tau = 0.25;
  block.columns = {ColumnFate::kApplied, ColumnFate::kSumCheck, ColumnFate::kNormCheck};
  block.removals = {{.peer = Filled<PeerId>(0x04),
                     .kind = RemovalKind::kEvidence,
                     .step = 42,
                     .reason = {.old_text = "signed two different messages for one slot"}},
                    {.peer = Filled<PeerId>(0x05), .kind = RemovalKind::kDrop, .step = 42}};
  block.cases = {{.id = {.kind = CaseKind::kGradient,
                         .accuser = Filled<PeerId>(0x01),
                         .target = Filled<PeerId>(0x02),
                         .step = 40},
                  .opened_step = 42,
                  .ballots = {{.voter = Filled<PeerId>(0x03), .verdict = Verdict::kInnocent}},
                  .covering = {{.column = 0, .owner = Filled<PeerId>(0x01)},
                               {.column = 2, .owner = Filled<PeerId>(0x03)}}},
                 {.id = {.kind = CaseKind::kCover,
                         .accuser = Filled<PeerId>(0x03),
                         .target = Filled<PeerId>(0x06),
                         .step = 1,
                         .column = 2},
                  .opened_step = 2,
                  .ballots = {},
                  .covering = {}}};
  block.state_root = Filled(0x94);
  block.result_roots = {Filled(0x95), Digest{}, Digest{}};
  block.aggregated = {
      {.owner = Filled<PeerId>(0x01), .senders = {Filled<PeerId>(0x01), Filled<PeerId>(0x03)}},
      {.owner = Filled<PeerId>(0x02), .senders = {}},
      {.owner = Filled<PeerId>(0x03), .senders = {Filled<PeerId>(0x02), Filled<PeerId>(0x03)}}};
  FillNext(block);
  return block;
}

Block SampleExactBlock() {
  Block block = SampleBlock();
  block.standings.front().erred = true;
  block.cases.front().ballots.front().verdict = Verdict::kTwice;
  return block;
}

Block SampleReasonBlock() {
  Block block = SampleBlock();
  block.removals[0].reason = {.cause = Cause::kTwoMessages, .entry = MessageType::kCommit};
  block.removals[1].reason = {.cause = Cause::kFalseNumbers,
                              .first_fault = true,
                              .other = Filled<PeerId>(0x06),
                              .step = 40,
                              .part = 2,
                              .count = 3,
                              .of = 5};
  return block;
}

Block SampleClosingBlock() {
  Block block = SampleBlock();
  block.closing = 3;
  return block;
}

Commit SampleDialerCommit() {
  Commit commit = SampleCommit();
  commit.only_dials = true;
  return commit;
}

Commit SampleLeaverCommit() {
  Commit commit = SampleCommit();
  commit.leaving = true;
  return commit;
}

Commit SampleRevokingCommit() {
  Commit commit = SampleCommit();
  Revocation& revocation = commit.revokes.emplace();
  revocation.moderator = Filled<PeerId>(0xc1);
  revocation.invite = SampleGuestRejoin().credential->invite;
  revocation.by_moderator.bytes.fill(0xc7);
  return commit;
}

Commit SampleRevokingAllCommit() {
  Commit commit = SampleRevokingCommit();
  commit.revokes->invite.reset();
  return commit;
}

Block SampleLeavingBlock() {
  Block block = SampleBlock();
  block.leaving = {Filled<PeerId>(0x01), Filled<PeerId>(0x02)};
  block.left = {Filled<PeerId>(0x05)};
  block.cases.front().fault_bound = 1;
  block.t_s_in_role = 1;
  block.standings.back().left_step = 42;
  block.standings.back().returned_step = 30;
  return block;
}

Block SampleArrivalBlock() {
  Block block = SampleBlock();
  block.candidates.front().voucher = SampleVoucher();
  block.standings.back().came_step = 30;
  block.invites = {{.invite = Filled(0xc5), .used = 2, .ends_step = 900},
                   {.invite = Filled(0xc6), .used = 1, .ends_step = 901}};
  block.moderators = {{.peer = Filled<PeerId>(0xc1), .admitted = 3}};
  block.peak_t_s = 2;
  block.peak_step = 41;
  return block;
}

Block SampleRevokedBlock() {
  Block block = SampleArrivalBlock();
  block.invites.back().revoked = true;
  block.moderators.back().revoked = true;
  return block;
}

Block SampleUsersBlock() {
  Block block = SampleRevokedBlock();
  block.invites.front().users = {Filled<PeerId>(0x02), Filled<PeerId>(0x07)};
  block.candidates.front().voucher->kind = InviteKind::kObserve;
  return block;
}

Block SamplePartBlock() {
  Block block = SampleArrivalBlock();
  block.part_us = 4'000'000;
  return block;
}

Commit SampleCountingCommit() {
  Commit commit = SampleCommit();
  commit.next_batches = 3;
  return commit;
}

Block SampleCountBlock() {
  Block block = SamplePartBlock();
  block.batch_counts = {{.peer = Filled<PeerId>(0x01), .count = 2},
                        {.peer = Filled<PeerId>(0x02), .count = 255}};
  block.drawn.front().works = true;
  block.alarm_until = 150;
  return block;
}

Block SampleReachBlock() {
  Block block = SampleBlock();
  block.reach = {{.peer = Filled<PeerId>(0x01), .only_dials = true, .changes_from = 140},
                 {.peer = Filled<PeerId>(0x02), .only_dials = false, .changes_from = 141}};
  return block;
}

Slot SampleSlot(MessageType type) {
  Slot slot;
  slot.run_id = Filled(0xa1);
  slot.incarnation = 1;
  slot.step = 42;
  slot.type = type;
  switch (type) {
    case MessageType::kBoot:
      slot.phase = Phase::kGenesis;
      slot.step = 0;
      break;
    case MessageType::kCommit:
    case MessageType::kAggregate:
      slot.phase = Phase::kA;
      break;
    case MessageType::kPart:
    case MessageType::kResult:
      slot.phase = Phase::kA;
      slot.iteration = 5;
      break;
    case MessageType::kReveal:
    case MessageType::kEcho:
    case MessageType::kClose:
      slot.phase = Phase::kB;
      slot.draw = 2;
      break;
    case MessageType::kProof:
    case MessageType::kRejoin:
      slot.phase = Phase::kC;
      break;
    case MessageType::kStatus:
    case MessageType::kPropose:
    case MessageType::kVote:
    case MessageType::kLock:
      slot.phase = Phase::kB;
      slot.draw = 2;
      slot.iteration = 3;
      break;
    case MessageType::kPull:
    case MessageType::kVector:
    case MessageType::kBlock:
    case MessageType::kChunk:
    case MessageType::kForward:
      slot.phase = Phase::kB;
      slot.draw = 2;
      break;
  }
  return slot;
}

Envelope SampleEnvelope(MessageType type) {
  return {.slot = SampleSlot(type),
          .entry = Filled(0xa2),
          .sender = SampleKey(1).id(),
          .body = BodyOf(type)};
}

base::SharedBytes SampleFrame(MessageType type) {
  const Envelope envelope = SampleEnvelope(type);
  return IsService(type) ? EncodeService(envelope) : Seal(envelope, SampleKey(1)).frame;
}

EvidenceFile SampleEvidence() {
  const crypto::SigningKey key = SampleKey(1);
  Envelope first = SampleEnvelope(MessageType::kCommit);
  Envelope second = first;
  second.body = Encode(SampleValidatorCommit());
  if (DigestOf(second) < DigestOf(first)) std::swap(first, second);
  return {.kind = EvidenceKind::kEquivocation,
          .accused = key.id(),
          .slot = first.slot,
          .frames = {*Seal(first, key).frame, *Seal(second, key).frame},
          .attachments = {}};
}

RecordingHead SampleRecordingHead() {
  RecordingHead head;
  head.protocol_version = kProtocolVersion;
  head.draft = kProtocolDraft;
  head.manifest = {1, 2, 3};
  head.self = SampleKey(1).id();
  head.layout = {{"w", {4, 2}}, {"b", {2}}};
  head.state = Bytes(88, 7);
  head.credential = SampleGuestRejoin().credential;
  head.anchor = {4, 5};
  head.guest_bytes_a_second = 6;
  head.program = "1.2.3";
  return head;
}

RecordedInput SampleRecordedStart() {
  const RecordedRow with_value{.kind = 1, .key = {1}, .value = {2}, .blob = {}};
  const RecordedRow with_blob{.kind = 3, .key = {3}, .value = {}, .has_blob = true, .blob = {4, 5}};
  RecordedInput turn;
  turn.at = 9;
  turn.id = 8;
  turn.store = RecordedStore{.blocks = {with_value},
                             .slots = {with_value, with_value},
                             .state = with_blob,
                             .results = {with_blob},
                             .member = true,
                             .asks_since = 0,
                             .fork = "a line",
                             .handover = with_value,
                             .state_parts = {with_blob}};
  turn.wishes = RecordedWishes{.dials = RecordedWishes::Dials::kOnly,
                               .leaves = true,
                               .leave_from = 3,
                               .leave_until = 9,
                               .tells_revocations = true,
                               .revocations = {*SampleRevokingCommit().revokes}};
  return turn;
}

RecordedInput SampleRecordedMessage() {
  RecordedInput turn;
  turn.at = 10;
  turn.input = 1;
  turn.peer = SampleKey(2).id();
  turn.up = true;
  turn.frame = *SampleFrame(MessageType::kCommit);
  turn.has_blob = true;
  turn.blob = {1, 2, 3};
  return turn;
}

RecordedOutcome SampleRecordedOutcome() {
  return {.actions = Filled<Digest>(3),
          .said = {*SampleFrame(MessageType::kReveal), *SampleFrame(MessageType::kProof)}};
}

RecordedInput SampleRecordedResult() {
  RecordedInput turn;
  turn.input = 4;
  turn.result = RecordedResult{.kind = 5,
                               .hash = Filled<Digest>(2),
                               .gradient = {0, 0, 128, 63},
                               .accuse = true,
                               .convict = true,
                               .worst_ratio = 1.5,
                               .false_gradient = true,
                               .unsure = true,
                               .failure = "no memory"};
  return turn;
}

std::vector<MessageType> AllMessageTypes() {
  std::vector<MessageType> types;
  for (std::uint8_t i = 0; i < kMessageTypeCount; ++i) types.push_back(static_cast<MessageType>(i));
  return types;
}

std::vector<MessageType> SignedMessageTypes() {
  std::vector<MessageType> types = AllMessageTypes();
  std::erase_if(types, IsService);
  return types;
}

std::vector<NamedBytes> AllSamples() {
  std::vector<NamedBytes> samples = {
      {"boot", Encode(SampleBoot())},
      {"commit", Encode(SampleCommit())},
      {"commit_validator", Encode(SampleValidatorCommit())},
      {"commit_exact", Encode(SampleExactCommit())},
      {"part", Encode(SamplePart())},
      {"aggregate", Encode(SampleAggregate())},
      {"result", Encode(SampleResult())},
      {"reveal", Encode(SampleReveal())},
      {"proof", Encode(SampleProof())},
      {"proof_empty", Encode(Proof{})},
      {"echo", Encode(SampleEcho())},
      {"status", Encode(SampleStatus())},
      {"propose", Encode(SamplePropose())},
      {"propose_locked", Encode(SampleLockedPropose())},
      {"vote", Encode(SampleSealVote())},
      {"lock", Encode(SampleLock())},
      {"close", Encode(Close{})},
      {"rejoin", Encode(SampleRejoin())},
      {"pull", Encode(SamplePull())},
      {"vector", Encode(SampleVector())},
      {"vector_empty", Encode(Vector{})},
      {"block_message", Encode(SampleBlockMessage())},
      {"chunk", Encode(SampleChunk())},
      {"forward", Encode(SampleForward())},
      {"forward_empty", Encode(Forward{.from = SampleForward().from, .to = SampleForward().to})},
      {"commit_dialer", Encode(SampleDialerCommit())},
      {"commit_leaver", Encode(SampleLeaverCommit())},
      {"commit_counting", Encode(SampleCountingCommit())},
      {"commit_revoking", Encode(SampleRevokingCommit())},
      {"commit_revoking_all", Encode(SampleRevokingAllCommit())},
      {"block_revoked", EncodeBlock(SampleRevokedBlock())},
      {"block_reach", EncodeBlock(SampleReachBlock())},
      {"rejoin_guest", Encode(SampleGuestRejoin())},
      {"rejoin_observing", Encode(SampleObservingRejoin())},
      {"block_users", EncodeBlock(SampleUsersBlock())},
      {"proof_arrival", Encode(SampleArrivalProof())},
      {"block_arrival", EncodeBlock(SampleArrivalBlock())},
      {"block_part", EncodeBlock(SamplePartBlock())},
      {"block_count", EncodeBlock(SampleCountBlock())},
      {"block_leaving", EncodeBlock(SampleLeavingBlock())},
      {"block", EncodeBlock(SampleBlock())},
      {"block_closes", EncodeBlock(SampleClosingBlock())},
      {"block_exact", EncodeBlock(SampleExactBlock())},
      {"block_reason", EncodeBlock(SampleReasonBlock())},
      {"evidence", EncodeEvidence(SampleEvidence())},
      {"core_unsigned", *EncodeUnsigned(SampleEnvelope(MessageType::kCommit))},
  };
  for (const MessageType type : AllMessageTypes()) {
    samples.push_back({std::string("frame_") + MessageTypeName(type), *SampleFrame(type)});
  }
  return samples;
}

}  // namespace ostraka::wire
