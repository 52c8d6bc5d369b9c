// Writes the golden vectors of every message and the fuzzers' seeds that derive from them:
//   wire_write_vectors tests
// Use it only after an intended change of format: until then the golden test fails on purpose.
#include <filesystem>
#include <iostream>
#include <string>

#include "node/wire/limits.h"
#include "tests/unit/wire/hostile.h"
#include "tests/unit/wire/samples.h"
#include "tests/unit/wire/vector_file.h"

namespace ostraka::wire {
namespace {

// Seeds are in the repository, so the large bombs stay with the unit tests.
constexpr std::size_t kMaxSeedBytes = 1024;

// A body fuzzer's input is the message type and then the body.
Bytes WithType(MessageType type, const Bytes& body) {
  Bytes input = {static_cast<std::uint8_t>(type)};
  input.insert(input.end(), body.begin(), body.end());
  return input;
}

base::Status WriteAll(const std::string& tests) {
  const std::string corpus = tests + "/fuzz/corpus/";
  for (const std::string folder : {"envelope", "bodies", "block", "recording"}) {
    std::filesystem::create_directories(corpus + folder);
  }
  std::filesystem::create_directories(tests + "/vectors/wire");
  for (const NamedBytes& sample : AllSamples()) {
    RETURN_IF_ERROR(WriteVector(tests + "/vectors/wire/" + sample.name + ".hex",
                                sample.name + ", as tests/unit/wire/samples.cpp fills it",
                                sample.bytes));
    if (sample.name.starts_with("frame_") || sample.name.starts_with("core_")) {
      RETURN_IF_ERROR(WriteRaw(corpus + "envelope/" + sample.name, sample.bytes));
    }
  }
  for (const MessageType type : AllMessageTypes()) {
    RETURN_IF_ERROR(WriteRaw(corpus + "bodies/" + MessageTypeName(type),
                             WithType(type, SampleEnvelope(type).body)));
  }
  Proof columns;
  columns.columns.resize(kMaxParts);
  RETURN_IF_ERROR(WriteRaw(corpus + "bodies/proof_zero_columns",
                           WithType(MessageType::kProof, Encode(columns))));
  RETURN_IF_ERROR(WriteRaw(corpus + "bodies/propose_locked",
                           WithType(MessageType::kPropose, Encode(SampleLockedPropose()))));
  RETURN_IF_ERROR(WriteRaw(corpus + "bodies/rejoin_guest",
                           WithType(MessageType::kRejoin, Encode(SampleGuestRejoin()))));
  RETURN_IF_ERROR(WriteRaw(corpus + "bodies/rejoin_observing",
                           WithType(MessageType::kRejoin, Encode(SampleObservingRejoin()))));
  RETURN_IF_ERROR(WriteRaw(corpus + "bodies/proof_arrival",
                           WithType(MessageType::kProof, Encode(SampleArrivalProof()))));
  for (std::size_t i = 0; const Bomb& bomb : ProofBombs()) {
    if (bomb.proof.size() > kMaxSeedBytes) continue;
    RETURN_IF_ERROR(WriteRaw(corpus + "bodies/bomb_" + std::to_string(i++),
                             WithType(MessageType::kProof, bomb.proof)));
  }
  RETURN_IF_ERROR(WriteRaw(corpus + "block/full", EncodeBlock(SampleBlock())));
  RETURN_IF_ERROR(WriteRaw(corpus + "block/revoked", EncodeBlock(SampleRevokedBlock())));
  RETURN_IF_ERROR(WriteRaw(corpus + "block/users", EncodeBlock(SampleUsersBlock())));
  RETURN_IF_ERROR(WriteRaw(corpus + "block/arrival", EncodeBlock(SampleArrivalBlock())));
  RETURN_IF_ERROR(WriteRaw(corpus + "block/count", EncodeBlock(SampleCountBlock())));
  RETURN_IF_ERROR(WriteRaw(corpus + "block/part", EncodeBlock(SamplePartBlock())));
  RETURN_IF_ERROR(WriteRaw(corpus + "recording/head", EncodeRecordingHead(SampleRecordingHead())));
  RETURN_IF_ERROR(WriteRaw(corpus + "recording/start", EncodeRecordedInput(SampleRecordedStart())));
  RETURN_IF_ERROR(
      WriteRaw(corpus + "recording/message", EncodeRecordedInput(SampleRecordedMessage())));
  RETURN_IF_ERROR(
      WriteRaw(corpus + "recording/result", EncodeRecordedInput(SampleRecordedResult())));
  RETURN_IF_ERROR(
      WriteRaw(corpus + "recording/outcome", EncodeRecordedOutcome(SampleRecordedOutcome())));
  return WriteRaw(corpus + "block/empty", EncodeBlock(Block{}));
}

}  // namespace
}  // namespace ostraka::wire

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: wire_write_vectors TESTS_FOLDER\n";
    return 2;
  }
  const auto status = ostraka::wire::WriteAll(argv[1]);
  if (!status.ok()) std::cerr << ostraka::base::MessageOf(status) << "\n";
  return status.ok() ? 0 : 3;
}
