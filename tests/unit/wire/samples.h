// One fixed value of every message, for the golden vectors of tests/vectors/wire, the seeds of the
// fuzzers' corpora, and the valid frames that hostile tests damage.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "crypto/sign.h"
#include "node/wire/block.h"
#include "node/wire/codec.h"
#include "node/wire/evidence_codec.h"
#include "node/wire/messages.h"
#include "node/wire/recording_codec.h"

namespace ostraka::wire {

// 32 times `byte`.
template <typename Id = Digest>
Id Filled(std::uint8_t byte) {
  Id id;
  id.bytes.fill(byte);
  return id;
}

// The key of the seed of 32 times `byte`.
crypto::SigningKey SampleKey(std::uint8_t byte);

Boot SampleBoot();
Commit SampleCommit();           // a worker's
Commit SampleValidatorCommit();  // no gradient
Commit SampleDialerCommit();     // of a member that only dials
Commit SampleExactCommit();      // with the root of its parameters
Part SamplePart();
Aggregate SampleAggregate();
Result SampleResult();
Reveal SampleReveal();
CaseId SampleCaseId();
Proof SampleProof();  // something in every field; NaN payload, infinity, -0 and a denormal
Echo SampleEcho();
SealStatus SampleStatus();
Propose SamplePropose();        // of an unlocked value, by the statuses
Propose SampleLockedPropose();  // of a locked one
SealVote SampleSealVote();
Lock SampleLock();
Rejoin SampleRejoin();
Rejoin SampleGuestRejoin();      // with a credential
Rejoin SampleObservingRejoin();  // with one that lets nobody in
Voucher SampleVoucher();
Proof SampleArrivalProof();
Block SampleArrivalBlock();
Block SampleRevokedBlock();  // an invite, and all of a moderator
Block SampleUsersBlock();    // with the keys that came in by an invite
Block SamplePartBlock();     // with a wait for parts that follows the run
Pull SamplePull();
Vector SampleVector();
BlockMessage SampleBlockMessage();
Chunk SampleChunk();
Forward SampleForward();
Block SampleBlock();
Block SampleClosingBlock();
Block SampleReasonBlock();
Block SampleLeavingBlock();  // one goes, another has gone
Commit SampleLeaverCommit();
Commit SampleCountingCommit();     // with a count of batches
Commit SampleRevokingCommit();     // an invite
Commit SampleRevokingAllCommit();  // all of a moderator's
Block SampleCountBlock();          // with members that average more batches
Block SampleReachBlock();          // members that only dial, or may not change that yet
Block SampleExactBlock();          // a suspended member, and a vote of twice

// A slot in which messages of `type` are sent.
Slot SampleSlot(MessageType type);
// The sample body of `type` in its slot, from SampleKey(1).
Envelope SampleEnvelope(MessageType type);
// SampleEnvelope as a frame: signed, or a service's.
base::SharedBytes SampleFrame(MessageType type);
// Both frames are of SampleKey(1) and differ in their body.
EvidenceFile SampleEvidence();
// Of a recording; every field of a turn stands in one of these.
RecordingHead SampleRecordingHead();
RecordedInput SampleRecordedStart();
RecordedInput SampleRecordedMessage();
RecordedInput SampleRecordedResult();
RecordedOutcome SampleRecordedOutcome();

std::vector<MessageType> AllMessageTypes();
std::vector<MessageType> SignedMessageTypes();  // all but services

// Every sample as bytes, by the name of its vector file.
struct NamedBytes {
  std::string name;
  Bytes bytes;
};
std::vector<NamedBytes> AllSamples();

}  // namespace ostraka::wire
