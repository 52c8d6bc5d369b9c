#include "tests/unit/evidence/scene.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <ostream>

#include "crypto/commitment.h"
#include "node/base/check.h"
#include "tests/unit/wire/samples.h"

namespace ostraka::evidence {
namespace {

using wire::EvidenceFile;
using wire::MessageType;
using wire::Slot;

const Digest kRun = wire::Filled(0xa1);
const Digest kEntry = wire::Filled(0xa2);

crypto::Coin CoinOf(const Turn& turn, std::uint32_t draw) {
  return crypto::DeriveCoin(turn.key->seed(), turn.step, draw);
}

std::vector<Digest> CommitmentsOf(const Turn& turn) {
  std::vector<Digest> leaves;
  for (std::uint32_t draw = 0; draw < turn.coin_count; ++draw) {
    leaves.push_back(crypto::CommitCoin(turn.key->id(), turn.step, draw, CoinOf(turn, draw)));
  }
  return leaves;
}

Slot SlotOf(const Turn& turn, MessageType type, std::uint32_t draw) {
  Slot slot = wire::SampleSlot(type);
  slot.run_id = kRun;
  slot.incarnation = turn.incarnation;
  slot.step = turn.step;
  slot.draw = draw;
  return slot;
}

const Turn kCheat = {.key = &CheaterKey(), .incarnation = 0, .step = 9, .coin_count = 4};
const Turn kFair = {.key = &HonestKey(), .incarnation = 0, .step = 9, .coin_count = 4};

// The cheater's second COMMIT of the same slot.
Bytes OtherCommitFrame() {
  wire::Commit commit = CommitOf(kCheat);
  commit.gradient_root = wire::Filled(0x23);
  return FrameWithBody(kCheat, MessageType::kCommit, Encode(commit));
}

Bytes FalseRevealFrame() {
  wire::Reveal reveal = RevealOf(kCheat, 1);
  reveal.opening.coin.value = wire::Filled(0x66);
  return FrameWithBody(kCheat, MessageType::kReveal, Encode(reveal), 1);
}

EvidenceFile Decoded(const base::StatusOr<Bytes>& file) {
  OSTRAKA_CHECK(file.ok());
  const auto decoded = wire::DecodeEvidence(*file);
  OSTRAKA_CHECK(decoded.ok());
  return *decoded;
}

EvidenceFile Equivocation() {
  return Decoded(MakeEquivocation(CommitFrame(kCheat), OtherCommitFrame()));
}
EvidenceFile FalseReveal() {
  return Decoded(MakeFalseReveal(CommitFrame(kCheat), FalseRevealFrame()));
}

template <typename Edit>
Bytes Edited(EvidenceFile file, Edit edit) {
  edit(file);
  return wire::EncodeEvidence(file);
}

void AddEquivocations(std::vector<NamedFile>& files) {
  const EvidenceFile file = Equivocation();
  files.push_back({"proven_equivocation", Outcome::kProven, wire::EncodeEvidence(file)});
  files.push_back({"not_proven_same_message", Outcome::kNotProven,
                   Edited(file, [](EvidenceFile& f) { f.frames[1] = f.frames[0]; })});
  files.push_back({"not_proven_other_slot", Outcome::kNotProven,
                   Edited(file, [](EvidenceFile& f) { ++f.slot.step; })});
  files.push_back({"not_proven_other_accused", Outcome::kNotProven,
                   Edited(file, [](EvidenceFile& f) { f.accused = HonestKey().id(); })});
  files.push_back({"not_proven_bad_signature", Outcome::kNotProven,
                   Edited(file, [](EvidenceFile& f) { f.frames[1][5] ^= 1; })});
  files.push_back({"malformed_frame_order", Outcome::kMalformed,
                   Edited(file, [](EvidenceFile& f) { std::swap(f.frames[0], f.frames[1]); })});
  files.push_back({"malformed_one_frame", Outcome::kMalformed,
                   Edited(file, [](EvidenceFile& f) { f.frames.pop_back(); })});
  files.push_back({"malformed_attachment", Outcome::kMalformed,
                   Edited(file, [](EvidenceFile& f) { f.attachments = {wire::Filled(1)}; })});
  files.push_back({"malformed_frame", Outcome::kMalformed,
                   Edited(file, [](EvidenceFile& f) { f.frames[0].pop_back(); })});
}

void AddFalseReveals(std::vector<NamedFile>& files) {
  const EvidenceFile file = FalseReveal();
  files.push_back({"proven_false_reveal", Outcome::kProven, wire::EncodeEvidence(file)});
  files.push_back(
      {"not_proven_honest_reveal", Outcome::kNotProven, Edited(file, [](EvidenceFile& f) {
         f.accused = HonestKey().id();
         f.frames = {CommitFrame(kFair), RevealFrame(kFair, 1)};
       })});
  files.push_back(
      {"not_proven_commit_of_other_step", Outcome::kNotProven, Edited(file, [](EvidenceFile& f) {
         Turn before = kCheat;
         --before.step;
         f.frames[0] = CommitFrame(before);
       })});
  files.push_back({"not_proven_commit_of_other_incarnation", Outcome::kNotProven,
                   Edited(file, [](EvidenceFile& f) {
                     Turn again = kCheat;
                     ++again.incarnation;
                     f.frames[0] = CommitFrame(again);
                   })});
  files.push_back({"proven_unreadable_reveal", Outcome::kProven, Edited(file, [](EvidenceFile& f) {
                     f.frames[1] = FrameWithBody(kCheat, MessageType::kReveal, Bytes(8, 0xff), 1);
                   })});
  files.push_back(
      {"not_proven_unreadable_commit", Outcome::kNotProven, Edited(file, [](EvidenceFile& f) {
         f.frames[0] = FrameWithBody(kCheat, MessageType::kCommit, Bytes(8, 0xff));
       })});
}

// A file of that kind whose last frame is the alleged offence, whether it shows one or not.
EvidenceFile Claim(EvidenceKind kind, std::vector<Bytes> frames) {
  const auto offence = wire::Open(std::make_shared<const Bytes>(frames.back()));
  OSTRAKA_CHECK(offence.ok());
  EvidenceFile file;
  file.kind = kind;
  file.accused = offence->envelope.sender;
  file.slot = offence->envelope.slot;
  file.frames = std::move(frames);
  return file;
}

void AddClaim(std::vector<NamedFile>& files, const std::string& name, Outcome expected,
              EvidenceKind kind, std::vector<Bytes> frames) {
  files.push_back({name, expected, wire::EncodeEvidence(Claim(kind, std::move(frames)))});
}

// One of each type with a body that does not decode, and one with a body that does.
void AddUnreadables(std::vector<NamedFile>& files) {
  for (const MessageType type : wire::SignedMessageTypes()) {
    if (type == MessageType::kBoot || type == MessageType::kRejoin) continue;
    const std::string name = std::string(wire::MessageTypeName(type));
    const Bytes sample = wire::SampleEnvelope(type).body;
    // The canonical form has one encoding for each value, and none with an extra word.
    Bytes longer = sample;
    longer.insert(longer.end(), 8, 0);
    AddClaim(files, "proven_overlong_" + name, Outcome::kProven, EvidenceKind::kUnreadable,
             {FrameWithBody(kCheat, type, longer)});
    AddClaim(files, "not_proven_readable_" + name, Outcome::kNotProven, EvidenceKind::kUnreadable,
             {FrameWithBody(kCheat, type, sample)});
  }
}

std::vector<Digest> PartRoots() { return {wire::Filled(1), wire::Filled(2), wire::Filled(3)}; }

Bytes PartCommitFrame() {
  wire::Commit commit = CommitOf(kCheat);
  commit.gradient_root = crypto::MerkleRoot(PartRoots());
  return FrameWithBody(kCheat, MessageType::kCommit, Encode(commit));
}

// Part 2 of three.
Bytes PartFrame(const Digest& root) {
  wire::Part part = wire::SamplePart();
  part.root = root;
  part.path = crypto::MerklePath(PartRoots(), 2);
  wire::Envelope envelope = {.slot = SlotOf(kCheat, MessageType::kPart, 0),
                             .entry = kEntry,
                             .sender = CheaterKey().id(),
                             .body = Encode(part)};
  envelope.slot.iteration = 2;
  return *wire::Seal(std::move(envelope), CheaterKey()).frame;
}

void AddFalseParts(std::vector<NamedFile>& files) {
  const EvidenceKind kind = EvidenceKind::kFalsePart;
  AddClaim(files, "proven_false_part", Outcome::kProven, kind,
           {PartCommitFrame(), PartFrame(wire::Filled(9))});
  AddClaim(files, "not_proven_honest_part", Outcome::kNotProven, kind,
           {PartCommitFrame(), PartFrame(PartRoots()[2])});
  wire::Commit validator = CommitOf(kCheat);
  validator.gradient_root.reset();
  AddClaim(
      files, "proven_part_of_a_validator", Outcome::kProven, kind,
      {FrameWithBody(kCheat, MessageType::kCommit, Encode(validator)), PartFrame(PartRoots()[2])});
}

Bytes NumbersFrame(double s, double norm) {
  wire::Proof proof;
  proof.columns.resize(3);
  proof.columns[0].norm = 2;
  proof.columns[1].missing = true;
  proof.columns[2].s = {0, s, 0, 0};
  proof.columns[2].norm = norm;
  return FrameWithBody(kCheat, MessageType::kProof, Encode(proof));
}

void AddImpossibleNumbers(std::vector<NamedFile>& files) {
  const EvidenceKind kind = EvidenceKind::kImpossibleNumbers;
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  AddClaim(files, "proven_sum_above_norm", Outcome::kProven, kind, {NumbersFrame(-1.5, 1)});
  AddClaim(files, "proven_negative_norm", Outcome::kProven, kind, {NumbersFrame(0, -1)});
  AddClaim(files, "proven_nan", Outcome::kProven, kind, {NumbersFrame(nan, 1)});
  AddClaim(files, "proven_infinity", Outcome::kProven, kind, {NumbersFrame(0, infinity)});
  AddClaim(files, "not_proven_sum_at_norm", Outcome::kNotProven, kind, {NumbersFrame(-1, 1)});
}

Bytes SlowFrame(MessageType type, std::uint32_t iteration, Bytes body) {
  wire::Envelope envelope = {.slot = SlotOf(kCheat, type, 0),
                             .entry = kEntry,
                             .sender = CheaterKey().id(),
                             .body = std::move(body)};
  envelope.slot.iteration = iteration;
  return *wire::Seal(std::move(envelope), CheaterKey()).frame;
}

void AddBrokenLocks(std::vector<NamedFile>& files) {
  const EvidenceKind kind = EvidenceKind::kBrokenLock;
  const auto lock = [](std::uint32_t iteration) {
    return SlowFrame(MessageType::kLock, iteration, Encode(wire::Lock{.value = wire::Filled(5)}));
  };
  const auto vote = [](std::uint32_t iteration, std::uint32_t rank) {
    return SlowFrame(MessageType::kVote, iteration,
                     Encode(wire::SealVote{.value = wire::Filled(6), .rank = rank}));
  };
  AddClaim(files, "proven_broken_lock", Outcome::kProven, kind, {lock(2), vote(4, 2)});
  AddClaim(files, "not_proven_lock_respected", Outcome::kNotProven, kind, {lock(2), vote(4, 3)});
  AddClaim(files, "not_proven_vote_before_lock", Outcome::kNotProven, kind, {lock(4), vote(4, 0)});
}

// Four judges build on a block that bans the sample peer.
void AddSealedBans(std::vector<NamedFile>& files) {
  const wire::Block block = BanningBlock();
  const EvidenceFile file =
      Decoded(MakeSealedBan(CheaterKey().id(), block, CommitsBuildingOn(block), RunOfJudges(3)));
  files.push_back({"missing_data_sealed_ban", Outcome::kMissingData, wire::EncodeEvidence(file)});
  files.push_back({"not_proven_ban_of_another", Outcome::kNotProven,
                   Edited(file, [](EvidenceFile& f) { f.accused = HonestKey().id(); })});
  files.push_back(
      {"not_proven_other_block", Outcome::kNotProven, Edited(file, [&](EvidenceFile& f) {
         wire::Block other = block;
         other.tau += 1;
         f.block = wire::EncodeBlock(other);
       })});
  files.push_back({"malformed_judges_out_of_order", Outcome::kMalformed,
                   Edited(file, [](EvidenceFile& f) { std::swap(f.frames[0], f.frames[1]); })});
  files.push_back({"malformed_no_judge", Outcome::kMalformed,
                   Edited(file, [](EvidenceFile& f) { f.frames.clear(); })});
  files.push_back({"malformed_block", Outcome::kMalformed,
                   Edited(file, [](EvidenceFile& f) { f.block.pop_back(); })});
  files.push_back({"malformed_block_where_none_belongs", Outcome::kMalformed,
                   Edited(Equivocation(), [&](EvidenceFile& f) { f.block = file.block; })});
}

void AddFalseStatuses(std::vector<NamedFile>& files) {
  const EvidenceKind kind = EvidenceKind::kFalseStatus;
  wire::Echo echo;
  echo.vector = wire::Filled(5);
  const Bytes echoed = SlowFrame(MessageType::kEcho, 0, Encode(echo));
  const Bytes locked = SlowFrame(MessageType::kLock, 2, Encode(wire::Lock{wire::Filled(5)}));
  const auto status = [](std::uint32_t iteration, std::uint32_t rank, std::uint8_t value) {
    return SlowFrame(MessageType::kStatus, iteration,
                     Encode(wire::SealStatus{.rank = rank, .value = wire::Filled(value)}));
  };
  const auto add = [&](const char* name, Outcome expected, const Bytes& word, const Bytes& said) {
    AddClaim(files, name, expected, kind, {word, said});
  };
  add("proven_status_of_another_echo", Outcome::kProven, echoed, status(1, 0, 6));
  add("proven_status_below_own_lock", Outcome::kProven, locked, status(3, 2, 6));
  add("not_proven_status_of_own_echo", Outcome::kNotProven, echoed, status(1, 0, 5));
  add("not_proven_status_of_a_lock", Outcome::kNotProven, echoed, status(1, 1, 6));
  add("not_proven_status_of_own_lock", Outcome::kNotProven, locked, status(3, 3, 5));
  add("not_proven_status_before_lock", Outcome::kNotProven, locked, status(2, 0, 6));
}

// In one case four judges find that the cheater accused an honest peer.
void AddVerdicts(std::vector<NamedFile>& files) {
  const EvidenceFile file = Decoded(
      MakeVerdict(CheaterKey().id(), ProofsVoting(wire::Verdict::kInnocent), RunOfJudges(3)));
  files.push_back({"missing_data_verdict", Outcome::kMissingData, wire::EncodeEvidence(file)});
  files.push_back({"not_proven_verdict_on_another", Outcome::kNotProven,
                   Edited(file, [](EvidenceFile& f) { f.accused = HonestKey().id(); })});
  files.push_back({"not_proven_verdict_in_other_step", Outcome::kNotProven,
                   Edited(file, [](EvidenceFile& f) { --f.slot.step; })});
  files.push_back(
      {"not_proven_verdicts_of_two_kinds", Outcome::kNotProven, Edited(file, [](EvidenceFile& f) {
         f.frames[0] = *ProofsVoting(wire::Verdict::kGuilty)[0];
       })});
  files.push_back({"malformed_voters_out_of_order", Outcome::kMalformed,
                   Edited(file, [](EvidenceFile& f) { std::swap(f.frames[0], f.frames[1]); })});
  files.push_back({"malformed_verdict_with_block", Outcome::kMalformed,
                   Edited(file, [](EvidenceFile& f) { f.block = {1}; })});
}

// Two votes of one leader iteration.
void AddSlowPath(std::vector<NamedFile>& files) {
  const auto vote = [](std::uint8_t value) {
    return FrameWithBody(kCheat, MessageType::kVote,
                         Encode(wire::SealVote{.value = wire::Filled(value), .rank = 0}));
  };
  files.push_back({"proven_two_votes", Outcome::kProven,
                   wire::EncodeEvidence(Decoded(MakeEquivocation(vote(1), vote(2))))});
}

// A message of a member that lost its store is no evidence, in any form.
void AddRejoin(std::vector<NamedFile>& files) {
  EvidenceFile file;
  file.accused = CheaterKey().id();
  for (const std::uint8_t nonce : {1, 2}) {
    file.frames.push_back(FrameWithBody(kCheat, MessageType::kRejoin,
                                        Encode(wire::Rejoin{.nonce = wire::Filled(nonce)})));
  }
  file.slot = SlotOf(kCheat, MessageType::kRejoin, 0);
  files.push_back({"not_proven_two_rejoins", Outcome::kNotProven, wire::EncodeEvidence(file)});
}

void AddGenesis(std::vector<NamedFile>& files) {
  const Turn start = {.key = &CheaterKey(), .incarnation = 0, .step = 0, .coin_count = 1};
  EvidenceFile file;
  file.accused = CheaterKey().id();
  // The version at the time when tests/vectors was written.
  const auto one = Encode(wire::Boot{.boot_id = wire::Filled(1), .protocol_version = 3});
  const auto two = Encode(wire::Boot{.boot_id = wire::Filled(2), .protocol_version = 3});
  file.frames = {FrameWithBody(start, MessageType::kBoot, one),
                 FrameWithBody(start, MessageType::kBoot, two)};
  file.slot = SlotOf(start, MessageType::kBoot, 0);
  files.push_back({"not_proven_two_boots", Outcome::kNotProven, wire::EncodeEvidence(file)});
}

// Without the model every file that is in order lacks data.
void AddGradients(std::vector<NamedFile>& files) {
  const Bytes bytes = GradientFile(wire::Filled(0x31), wire::Filled(0x32));
  files.push_back({"missing_data_gradient", Outcome::kMissingData, bytes});
  const auto file = wire::DecodeEvidence(bytes);
  OSTRAKA_CHECK(file.ok());
  files.push_back({"not_proven_gradient_on_another_block", Outcome::kNotProven,
                   Edited(*file, [](EvidenceFile& f) {
                     wire::Block other = BlockBeforeGradient();
                     other.randomness = wire::Filled(0x77);
                     f.block = wire::EncodeBlock(other);
                   })});
  files.push_back({"not_proven_gradient_of_an_earlier_block", Outcome::kNotProven,
                   Edited(*file, [](EvidenceFile& f) {
                     wire::Block other = BlockBeforeGradient();
                     --other.step;
                     f.block = wire::EncodeBlock(other);
                   })});
  files.push_back({"not_proven_gradient_without_parameters", Outcome::kNotProven,
                   Edited(*file, [](EvidenceFile& f) {
                     f.frames[0] = GradientCommitFrame(wire::Filled(0x31), std::nullopt);
                   })});
  files.push_back({"not_proven_gradient_of_a_validator", Outcome::kNotProven,
                   Edited(*file, [](EvidenceFile& f) {
                     f.frames[0] = GradientCommitFrame(std::nullopt, wire::Filled(0x32));
                   })});
  files.push_back({"not_proven_gradient_of_another", Outcome::kNotProven,
                   Edited(*file, [](EvidenceFile& f) { f.accused = HonestKey().id(); })});
  files.push_back({"not_proven_gradient_with_bad_signature", Outcome::kNotProven,
                   Edited(*file, [](EvidenceFile& f) { f.frames[0][3] ^= 1; })});
  files.push_back({"malformed_gradient_without_block", Outcome::kMalformed,
                   Edited(*file, [](EvidenceFile& f) { f.block.clear(); })});
}

}  // namespace

wire::Block BanningBlock() {
  wire::Block block = wire::SampleBlock();
  block.genesis = false;
  block.step = kCheat.step;
  block.removals = {
      {CheaterKey().id(), wire::RemovalKind::kVerdict, block.step, {.old_text = "test"}}};
  return block;
}

std::vector<base::SharedBytes> CommitsBuildingOn(const wire::Block& block) {
  std::vector<std::uint8_t> judges;
  for (std::uint8_t judge = 10; judge < 10 + kJudges; ++judge) judges.push_back(judge);
  return CommitsOf(judges, block);
}

std::vector<base::SharedBytes> CommitsOf(const std::vector<std::uint8_t>& members,
                                         const wire::Block& block) {
  std::vector<base::SharedBytes> frames;
  for (const std::uint8_t judge : members) {
    const crypto::SigningKey key = wire::SampleKey(judge);
    Turn turn = {.key = &key, .incarnation = 0, .step = block.step + 1, .coin_count = 2};
    frames.push_back(wire::Seal({.slot = SlotOf(turn, MessageType::kCommit, 0),
                                 .entry = wire::BlockDigest(block),
                                 .sender = key.id(),
                                 .body = Encode(CommitOf(turn))},
                                key)
                         .frame);
  }
  return frames;
}

std::vector<base::SharedBytes> ProofsVoting(wire::Verdict verdict) {
  const wire::CaseId about{.accuser = CheaterKey().id(), .target = HonestKey().id(), .step = 7};
  std::vector<base::SharedBytes> frames;
  for (std::uint8_t judge = 10; judge < 10 + kJudges; ++judge) {
    const crypto::SigningKey key = wire::SampleKey(judge);
    const std::uint64_t step = judge + 1 == 10 + kJudges ? kCheat.step : kCheat.step - 1;
    const Turn turn = {.key = &key, .incarnation = 0, .step = step, .coin_count = 1};
    wire::Proof proof;
    proof.votes = {{about, verdict}};
    frames.push_back(
        std::make_shared<const Bytes>(FrameWithBody(turn, MessageType::kProof, Encode(proof))));
  }
  return frames;
}

KnownRun RunOfJudges(std::size_t faults) {
  KnownRun run{kRun, {CheaterKey().id()}, faults};
  for (std::uint8_t judge = 10; judge < 10 + kJudges; ++judge) {
    run.members.push_back(wire::SampleKey(judge).id());
  }
  std::sort(run.members.begin(), run.members.end());
  return run;
}

const crypto::SigningKey& HonestKey() {
  static const crypto::SigningKey key = wire::SampleKey(2);
  return key;
}

const crypto::SigningKey& CheaterKey() {
  static const crypto::SigningKey key = wire::SampleKey(3);
  return key;
}

wire::Commit CommitOf(const Turn& turn) {
  return {.coins_root = crypto::MerkleRoot(CommitmentsOf(turn)),
          .coin_count = turn.coin_count,
          .gradient_root = wire::Filled(0x22)};
}

wire::Reveal RevealOf(const Turn& turn, std::uint32_t draw) {
  return {.opening = {.coin = CoinOf(turn, draw),
                      .path = crypto::MerklePath(CommitmentsOf(turn), draw)}};
}

Bytes FrameWithBody(const Turn& turn, MessageType type, Bytes body, std::uint32_t draw) {
  return *wire::Seal({.slot = SlotOf(turn, type, draw),
                      .entry = kEntry,
                      .sender = turn.key->id(),
                      .body = std::move(body)},
                     *turn.key)
              .frame;
}

Bytes CommitFrame(const Turn& turn) {
  return FrameWithBody(turn, MessageType::kCommit, Encode(CommitOf(turn)));
}

Bytes RevealFrame(const Turn& turn, std::uint32_t draw) {
  return FrameWithBody(turn, MessageType::kReveal, Encode(RevealOf(turn, draw)), draw);
}

wire::Block BlockBeforeGradient() {
  wire::Block block = BanningBlock();
  block.step = 8;
  block.removals.clear();
  block.drawn.clear();
  block.cases.clear();
  block.closing = 0;
  block.members = RunOfJudges(1).members;
  return block;
}

Bytes GradientCommitFrame(std::optional<Digest> gradient, std::optional<Digest> parameters) {
  wire::Commit commit = CommitOf(kCheat);
  commit.gradient_root = gradient;
  commit.parameters_root = parameters;
  return *wire::Seal({.slot = SlotOf(kCheat, MessageType::kCommit, 0),
                      .entry = wire::BlockDigest(BlockBeforeGradient()),
                      .sender = CheaterKey().id(),
                      .body = Encode(commit)},
                     CheaterKey())
              .frame;
}

Bytes GradientFile(const Digest& gradient, const Digest& parameters) {
  const auto file = MakeFalseGradient(GradientCommitFrame(gradient, parameters),
                                      wire::EncodeBlock(BlockBeforeGradient()));
  OSTRAKA_CHECK(file.ok());
  return *file;
}

std::vector<NamedFile> AllFiles() {
  std::vector<NamedFile> files;
  AddEquivocations(files);
  AddFalseReveals(files);
  AddSlowPath(files);
  AddUnreadables(files);
  AddFalseParts(files);
  AddImpossibleNumbers(files);
  AddBrokenLocks(files);
  AddSealedBans(files);
  AddFalseStatuses(files);
  AddVerdicts(files);
  AddGradients(files);
  AddRejoin(files);
  AddGenesis(files);
  files.push_back({"malformed_empty", Outcome::kMalformed, {}});
  files.push_back({"malformed_text", Outcome::kMalformed, Bytes(64, 'x')});
  return files;
}

void PrintTo(const NamedFile& file, std::ostream* out) { *out << file.name; }

}  // namespace ostraka::evidence
