// A recording as plain structs, and their bytes (node/wire/recording.capnp): what one machine was
// given and what it said. Checks only the form; node/protocol/recording gives it a meaning.
//
// Thread safety: plain values and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "node/base/bytes.h"
#include "node/base/status.h"
#include "node/wire/messages.h"

namespace ostraka::wire {

inline constexpr std::uint32_t kRecordingVersion = 2;
// Of one entry of a recording. Cap'n Proto reads no more than 512 MiB.
inline constexpr std::size_t kMaxRecordedBytes = std::size_t{384} << 20;
inline constexpr std::size_t kMaxRecords = 1 << 16;  // of one list
inline constexpr std::size_t kMaxRecordedTensors = 1 << 16;
inline constexpr std::size_t kMaxTensorName = 1024;
inline constexpr std::size_t kMaxProgramName = 256;

struct RecordedTensor {
  std::string name;
  std::vector<std::uint64_t> shape;
};

// With what the machine was made.
struct RecordingHead {
  std::uint32_t version = kRecordingVersion;
  std::uint32_t protocol_version = 0;
  std::uint32_t draft = 0;
  Bytes manifest;  // the manifest's file
  PeerId self;
  std::vector<RecordedTensor> layout;
  Bytes state;  // before the first step, as a node stores it
  std::optional<Credential> credential = {};
  Bytes anchor;  // EncodeBlock; empty: the genesis
  std::uint64_t guest_bytes_a_second = 0;
  std::string program;  // the version of ostraka that recorded
};

// What a store kept, as the machine was given it at its start.
struct RecordedRow {
  std::uint8_t kind = 0;
  Bytes key;
  Bytes value;
  bool has_blob = false;
  Bytes blob;
};
struct RecordedStore {
  std::vector<RecordedRow> blocks;
  std::vector<RecordedRow> slots;
  std::optional<RecordedRow> state = {};
  std::vector<RecordedRow> results;
  bool member = false;
  std::optional<std::uint64_t> asks_since = {};
  std::optional<std::string> fork = {};  // never an empty line
  std::optional<RecordedRow> handover = {};
  std::vector<RecordedRow> state_parts;
};

struct RecordedWishes {
  enum class Dials : std::uint8_t { kNotTold = 0, kNotOnly = 1, kOnly = 2 };
  Dials dials = Dials::kNotTold;
  bool leaves = false;
  std::uint64_t leave_from = 0;
  std::uint64_t leave_until = 0;
  bool tells_revocations = false;
  std::vector<Revocation> revocations;
  std::uint8_t compute_percent = 0;  // 0: not told
};
inline constexpr std::uint8_t kDialsCount = 3;

struct RecordedResult {
  std::uint8_t kind = 0;  // which of protocol::JobResult
  Digest hash;            // of a result that a replay computes again; else zero
  Bytes gradient;         // float32, little-endian
  // Of a recomputation.
  bool accuse = false;
  bool convict = false;
  double worst_ratio = 0;
  bool false_gradient = false;
  bool unsure = false;
  std::string failure;  // of a job that failed
};

// What one call of the machine was given: written before the call, so that it is there when the
// call ends the process.
struct RecordedInput {
  std::uint64_t at = 0;    // ns
  std::uint8_t input = 0;  // which of protocol::Input
  PeerId peer;             // of a message or a link
  bool up = false;         // a link
  std::uint64_t id = 0;    // of a timer, a job or a store; Started: the store's nonce
  Bytes frame;             // a message
  bool has_blob = false;
  Bytes blob;
  std::optional<RecordedStore> store = {};    // Started, unless the store was empty
  std::optional<RecordedWishes> wishes = {};  // Started, Told
  // A job, unless the machine had stopped it: then the result says nothing.
  std::optional<RecordedResult> result = {};
};

// What the machine then asked for: written after the call.
struct RecordedOutcome {
  Digest actions;  // node/protocol/ground/transcript.h
  std::vector<Bytes>
      said;  // signed frames of the machine's own key that it sent for the first time
};

struct RecordedCall {
  RecordedInput given;
  std::optional<RecordedOutcome> outcome = {};  // none: the process ended within the call
};

// Canonical bytes. A value over the limits encodes to bytes that the decoders refuse.
Bytes EncodeRecordingHead(const RecordingHead& head);
Bytes EncodeRecordedInput(const RecordedInput& turn);
Bytes EncodeRecordedOutcome(const RecordedOutcome& outcome);
// Take any bytes; return InvalidArgument with a reason. Frames, blocks and records are not decoded.
base::StatusOr<RecordingHead> DecodeRecordingHead(base::ByteView bytes);
base::StatusOr<RecordedInput> DecodeRecordedInput(base::ByteView bytes);
base::StatusOr<RecordedOutcome> DecodeRecordedOutcome(base::ByteView bytes);

}  // namespace ostraka::wire
