#include "node/wire/evidence_codec.h"

#include "evidence.capnp.h"
#include "node/wire/record_codec.h"

namespace ostraka::wire {

Bytes EncodeEvidence(const EvidenceFile& file) {
  return internal::EncodeRecord<schema::Evidence>(file);
}

base::StatusOr<EvidenceFile> DecodeEvidence(base::ByteView bytes) {
  return internal::DecodeRecord<schema::Evidence, EvidenceFile>("evidence", bytes,
                                                                kMaxEvidenceFileBytes);
}

Bytes EncodeHandover(const Handover& handover) {
  return internal::EncodeRecord<schema::Handover>(handover);
}

base::StatusOr<Handover> DecodeHandover(base::ByteView bytes) {
  return internal::DecodeRecord<schema::Handover, Handover>("handover", bytes,
                                                            kMaxEvidenceFileBytes);
}

}  // namespace ostraka::wire
