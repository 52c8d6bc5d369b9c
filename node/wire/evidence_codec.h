// An evidence file and a handover as plain structs, and their bytes (node/wire/evidence.capnp).
// Checks only the form; proofs/evidence judges whether a file proves anything.
//
// Thread safety: plain values and pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "node/base/bytes.h"
#include "node/base/status.h"
#include "node/wire/messages.h"

namespace ostraka::wire {

inline constexpr std::uint32_t kEvidenceVersion = 1;

enum class EvidenceKind : std::uint8_t {
  kEquivocation = 0,       // two frames of one slot and sender with different digests
  kFalseReveal = 1,        // a COMMIT and a REVEAL that does not open it
  kUnreadable = 2,         // a message whose body does not decode
  kFalsePart = 3,          // a COMMIT and a PART that is not under its root
  kImpossibleNumbers = 4,  // a PROOF with numbers that no gradient has
  kBrokenLock = 5,         // a LOCK and a later VOTE that ignores it
  kSealedBan = 6,          // a block that bans, and COMMITs that build on it
  kFalseStatus = 7,        // an ECHO or LOCK, and a STATUS that denies it
  kVerdict = 8,            // PROOFs that vote against the accused in one case
  kGradient = 9,           // a COMMIT of a false gradient, and the block that draws its batch
};
inline constexpr std::uint8_t kEvidenceKindCount = 10;
const char* EvidenceKindName(EvidenceKind kind);  // as in JSON: equivocation, false_reveal, ...

struct EvidenceFile {
  std::uint32_t version = kEvidenceVersion;
  EvidenceKind kind = EvidenceKind::kEquivocation;
  PeerId accused;
  Slot slot;                        // of the offence; slot.run_id names the run
  std::vector<Bytes> frames;        // signed frames exactly as received
  std::vector<Digest> attachments;  // digests of bulk data; no kind needs any yet
  // EncodeBlock, of kSealedBan of the block that bans, of kGradient of the block that the COMMIT
  // builds on; else empty.
  Bytes block = {};
};

// Leads a reader from the members of one view of a run to those of a later block.
struct Handover {
  std::uint32_t version = kEvidenceVersion;
  Bytes block;                // EncodeBlock of that block
  std::vector<Bytes> frames;  // COMMITs of the next step, signed frames exactly as received
};

// Canonical bytes: equal claims with equal frames give equal files. Takes any value; one over the
// limits encodes to bytes that DecodeEvidence refuses.
Bytes EncodeEvidence(const EvidenceFile& file);
// Takes any bytes; returns InvalidArgument with a reason. Does not decode the frames.
base::StatusOr<EvidenceFile> DecodeEvidence(base::ByteView bytes);

// As for evidence, with its limits.
Bytes EncodeHandover(const Handover& handover);
base::StatusOr<Handover> DecodeHandover(base::ByteView bytes);

}  // namespace ostraka::wire
