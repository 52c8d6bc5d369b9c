#include "node/wire/evidence_codec.h"

#include "evidence.capnp.h"
#include "node/wire/canonical.h"
#include "node/wire/slot_codec.h"

namespace ostraka::wire {
namespace {

using internal::AsData;

base::Status ReadFrames(capnp::List<capnp::Data>::Reader list, std::vector<Bytes>& out) {
  RETURN_IF_ERROR(internal::CheckCount(list.size(), "frames", kMaxEvidenceFrames));
  out.resize(list.size());
  for (unsigned i = 0; i < list.size(); ++i) {
    RETURN_IF_ERROR(internal::ReadBytes(list[i], "frame", kMaxFrameBytes, out[i]));
  }
  return base::OkStatus();
}

base::StatusOr<EvidenceFile> ReadFile(schema::Evidence::Reader root) {
  EvidenceFile file;
  if (root.getVersion() != kEvidenceVersion) return internal::Refuse("version", "not supported");
  RETURN_IF_ERROR(internal::ReadEnum(root.getKind(), "kind", kEvidenceKindCount, file.kind));
  RETURN_IF_ERROR(internal::ReadId(root.getAccused(), "accused", file.accused));
  RETURN_IF_ERROR(internal::ReadSlot(root.getSlot(), file.slot));
  RETURN_IF_ERROR(ReadFrames(root.getFrames(), file.frames));
  RETURN_IF_ERROR(internal::ReadIds(root.getAttachments(), "attachments", kMaxEvidenceAttachments,
                                    file.attachments));
  RETURN_IF_ERROR(internal::ReadBytes(root.getBlock(), "block", kMaxEvidenceFileBytes, file.block));
  return file;
}

template <typename Builder>
void WriteFrames(const std::vector<Bytes>& frames, Builder root) {
  if (frames.empty()) return;
  auto list = root.initFrames(static_cast<unsigned>(frames.size()));
  for (unsigned i = 0; i < list.size(); ++i) {
    if (!frames[i].empty()) list.set(i, AsData(frames[i]));
  }
}

base::StatusOr<Handover> ReadHandover(schema::Handover::Reader root) {
  Handover handover;
  if (root.getVersion() != kEvidenceVersion) return internal::Refuse("version", "not supported");
  RETURN_IF_ERROR(
      internal::ReadBytes(root.getBlock(), "block", kMaxEvidenceFileBytes, handover.block));
  RETURN_IF_ERROR(ReadFrames(root.getFrames(), handover.frames));
  return handover;
}

}  // namespace

Bytes EncodeEvidence(const EvidenceFile& file) {
  return internal::EncodeCanonical<schema::Evidence>([&](schema::Evidence::Builder root) {
    root.setVersion(kEvidenceVersion);
    root.setKind(static_cast<schema::EvidenceKind>(file.kind));
    root.setAccused(AsData(file.accused));
    internal::WriteSlot(file.slot, root.initSlot());
    WriteFrames(file.frames, root);
    if (!file.attachments.empty()) root.setAttachments(AsData(file.attachments));
    if (!file.block.empty()) root.setBlock(AsData(file.block));
  });
}

base::StatusOr<EvidenceFile> DecodeEvidence(base::ByteView bytes) {
  return internal::DecodeCanonical<schema::Evidence, EvidenceFile>(
      "evidence", bytes, kMaxEvidenceFileBytes, ReadFile, EncodeEvidence);
}

Bytes EncodeHandover(const Handover& handover) {
  return internal::EncodeCanonical<schema::Handover>([&](schema::Handover::Builder root) {
    root.setVersion(kEvidenceVersion);
    if (!handover.block.empty()) root.setBlock(AsData(handover.block));
    WriteFrames(handover.frames, root);
  });
}

base::StatusOr<Handover> DecodeHandover(base::ByteView bytes) {
  return internal::DecodeCanonical<schema::Handover, Handover>(
      "handover", bytes, kMaxEvidenceFileBytes, ReadHandover, EncodeHandover);
}

}  // namespace ostraka::wire
