// From what the seals of a step decide to the block: the one place where a fault of a member
// becomes a removal (docs/protocol/step.md, docs/protocol/removals.md).
//
// A step is read seal by seal, as they decide; BlockOf reads all of it at once. Both are functions
// of the last block, the manifest and the sealed messages alone, so all members that decide alike
// find the same block.
//
// Promises:
//   S1  The same sealed messages give the same block, whoever reads them and whenever.
//   S2  A member that is absent once, or signed two COMMITs, owes nothing more in this step.
//   S3  A message that no honest member sends, because it is malformed, bans its signer.
//
// May not know: this member's own key, time, links, or anything that is not sealed.
//
// Memory: the messages of one step.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "crypto/sign.h"
#include "node/protocol/ground/manifest.h"
#include "node/protocol/rules/columns.h"
#include "node/protocol/rules/judgement.h"
#include "node/wire/hash_into.h"
#include "node/wire/messages.h"

namespace ostraka::protocol {

// One entry of a sealed vector, with the message that it names.
struct SealedMessage {
  enum class State : std::uint8_t { kAbsent, kPresent, kEquivocated };
  State state = State::kAbsent;
  wire::SharedMessage message;  // set iff present
};
using SealedMessages = std::vector<SealedMessage>;

struct StepReading {
  // Before any seal; every step has as many coins as members.
  StepReading(const Block& head, const Manifest& manifest, std::uint64_t dimension);
  void HashInto(crypto::Hasher& hasher) const;

  // COMMITs of all members of `head`, then their AGGs.
  void ReadSealA(const Block& head, const SealedMessages& sealed_a);
  // REVEALs of the present draw. True if all were good: then the step's coin is known. Else the
  // next draw is revealed, without the members that spoilt this one.
  bool ReadSealB(const Block& head, const Manifest& manifest, const SealedMessages& sealed_b);
  // PROOFs.
  void ReadSealC(const Block& head, const SealedMessages& sealed_c);
  // The evidence that sealed PROOFs carry, judged by what its bytes prove.
  void ReadEvidence(const Manifest& manifest, crypto::Verifier& verifier);
  // REQUIRES: all seals and the evidence are read; `results[j]` is of ghat[j], of each column that
  // JudgeWithoutAggregates has applied.
  Block Judge(const Block& head, const Manifest& manifest, const Digest& decision_c,
              const std::vector<ResultSize>& results, std::vector<ColumnFate>& fates) const;

  // The member owes the REVEAL of this draw: its COMMIT is sealed and complete, and it spoilt no
  // draw before.
  bool MustReveal(const PeerId& peer) const;
  std::size_t RevealersLeft(const Block& head) const;
  // A COMMIT has as many coins as the step, a gradient if and only if its signer is a worker, the
  // root of its signer's parameters if and only if the run is of profile exact/1, and a count of
  // batches that the run allows.
  bool IsComplete(const PeerId& member, const wire::Commit& commit) const;

  // --- what is read so far ---
  SealedStep sealed;
  std::uint32_t coin_count = 0;
  bool exact = false;  // of profile exact/1
  TrainingPlan training;
  std::set<PeerId> absent;       // they owe nothing more in this step
  std::set<PeerId> two_commits;  // banned by the block, and owe nothing more
  std::uint32_t draw = 0;
  std::map<PeerId, Digest> coins;  // of the present draw
  std::set<PeerId> false_revealers;
  Digest randomness;                              // r^t, once seal B is good
  std::map<PeerId, wire::SharedMessage> commits;  // those of sealed.commits, signed
  std::map<PeerId, wire::SharedMessage> proofs;   // those of sealed.proofs, signed
  SealedFaults faults;

  // Sealed messages that prove a fault by themselves, in the order in which they were read.
  std::vector<wire::SharedMessage> unreadable;
  std::vector<wire::SharedMessage> false_reveals;

 private:
  void NoteEntry(wire::Phase phase, const PeerId& member, SealedMessage::State state,
                 wire::MessageType entry);
  void ReadCommit(const PeerId& member, const wire::SharedMessage& message);
  void FindAstray(const Block& head);
  void ReadAggregate(const PeerId& member, std::uint32_t column,
                     const wire::SharedMessage& message);
  bool RevealIsGood(const PeerId& peer, const wire::SignedEnvelope& message);
};

// All that the seals of one step decide.
struct SealedInput {
  SealedMessages a;
  std::vector<SealedMessages> b;  // a draw each
  SealedMessages c;
  Digest decision_c;
  std::vector<ResultSize> results;  // a column each
};
// The block after `head`. Nullopt if the draws do not end with a good one.
std::optional<Block> BlockOf(const Block& head, const Manifest& manifest, std::uint64_t dimension,
                             const SealedInput& input, crypto::Verifier& verifier);

}  // namespace ostraka::protocol
