#include "tests/unit/evidence/scene.h"

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

// Two votes of one leader iteration.
void AddSlowPath(std::vector<NamedFile>& files) {
  const auto vote = [](std::uint8_t value) {
    return FrameWithBody(kCheat, MessageType::kVote,
                         Encode(wire::SealVote{.value = wire::Filled(value), .rank = 0}));
  };
  files.push_back({"proven_two_votes", Outcome::kProven,
                   wire::EncodeEvidence(Decoded(MakeEquivocation(vote(1), vote(2))))});
}

// What somebody says who has lost its store is no evidence, however it is put.
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
  const auto one = Encode(wire::Boot{.boot_id = wire::Filled(1)});
  const auto two = Encode(wire::Boot{.boot_id = wire::Filled(2)});
  file.frames = {FrameWithBody(start, MessageType::kBoot, one),
                 FrameWithBody(start, MessageType::kBoot, two)};
  file.slot = SlotOf(start, MessageType::kBoot, 0);
  files.push_back({"not_proven_two_boots", Outcome::kNotProven, wire::EncodeEvidence(file)});
}

}  // namespace

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

std::vector<NamedFile> AllFiles() {
  std::vector<NamedFile> files;
  AddEquivocations(files);
  AddFalseReveals(files);
  AddSlowPath(files);
  AddRejoin(files);
  AddGenesis(files);
  files.push_back({"malformed_empty", Outcome::kMalformed, {}});
  files.push_back({"malformed_text", Outcome::kMalformed, Bytes(64, 'x')});
  return files;
}

void PrintTo(const NamedFile& file, std::ostream* out) { *out << file.name; }

}  // namespace ostraka::evidence
