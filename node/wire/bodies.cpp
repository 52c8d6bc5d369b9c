// Bodies of the entries of seals A and B and of related slots. PROOF: proof_body.cpp; seal
// messages: seal_bodies.cpp; services: service_bodies.cpp.
#include "node/wire/body_codec.h"
#include "node/wire/voucher_codec.h"

namespace ostraka::wire {
namespace {

using internal::AsData;
using internal::CheckCount;
using internal::DecodeBody;
using internal::EncodeCanonical;
using internal::ReadBytes;
using internal::ReadEnum;
using internal::ReadId;
using internal::ReadIds;
using internal::ReadOptionalId;
using internal::Refuse;

void WriteHeader(const TensorHeader& header, schema::TensorHeader::Builder builder) {
  builder.setElement(static_cast<schema::ElementType>(header.element));
  builder.setCodec(static_cast<schema::Codec>(header.codec));
  if (header.shape.empty()) return;
  auto shape = builder.initShape(static_cast<unsigned>(header.shape.size()));
  for (unsigned i = 0; i < shape.size(); ++i) shape.set(i, header.shape[i]);
}

base::Status ReadHeader(schema::TensorHeader::Reader reader, TensorHeader& out) {
  RETURN_IF_ERROR(ReadEnum(reader.getElement(), "element type", kElementTypeCount, out.element));
  RETURN_IF_ERROR(ReadEnum(reader.getCodec(), "codec", kCodecCount, out.codec));
  const auto shape = reader.getShape();
  RETURN_IF_ERROR(CheckCount(shape.size(), "shape", kMaxTensorRank));
  out.shape.reserve(shape.size());
  for (const std::uint64_t extent : shape) out.shape.push_back(extent);
  return base::OkStatus();
}

base::Status ReadBoot(schema::Boot::Reader root, Boot& out) {
  RETURN_IF_ERROR(ReadId(root.getBootId(), "boot id", out.boot_id));
  out.protocol_version = root.getProtocolVersion();
  return base::OkStatus();
}

base::Status ReadCommit(schema::Commit::Reader root, Commit& out) {
  RETURN_IF_ERROR(ReadId(root.getCoinsRoot(), "coins root", out.coins_root));
  out.coin_count = root.getCoinCount();
  if (out.coin_count == 0 || out.coin_count > kMaxCoins) {
    return Refuse("coin count", "out of range");
  }
  RETURN_IF_ERROR(ReadOptionalId(root.getGradientRoot(), "gradient root", out.gradient_root));
  out.only_dials = root.getOnlyDials();
  out.leaving = root.getLeaving();
  RETURN_IF_ERROR(ReadOptionalId(root.getParametersRoot(), "parameters root", out.parameters_root));
  if (!root.hasRevokes()) return base::OkStatus();
  return internal::ReadRevocation(root.getRevokes(), out.revokes.emplace());
}

base::Status ReadPart(schema::Part::Reader root, Part& out) {
  RETURN_IF_ERROR(ReadHeader(root.getHeader(), out.header));
  RETURN_IF_ERROR(ReadId(root.getRoot(), "root", out.root));
  return ReadIds(root.getPath(), "path", kMaxMerklePath, out.path);
}

base::Status ReadAggregate(schema::Aggregate::Reader root, Aggregate& out) {
  out.part_index = root.getPartIndex();
  if (out.part_index >= kMaxParts) return Refuse("part index", "out of range");
  RETURN_IF_ERROR(ReadId(root.getResultRoot(), "result root", out.result_root));
  RETURN_IF_ERROR(ReadBytes(root.getIncluded(), "included", kMaxPeers / 8, out.included));
  RETURN_IF_ERROR(ReadId(root.getLeavesRoot(), "leaves root", out.leaves_root));
  RETURN_IF_ERROR(ReadId(root.getCommitsRoot(), "commits root", out.commits_root));
  return ReadOptionalId(root.getSlowest(), "slowest", out.slowest);
}

base::Status ReadResult(schema::Result::Reader root, Result& out) {
  RETURN_IF_ERROR(ReadHeader(root.getHeader(), out.header));
  return ReadId(root.getRoot(), "root", out.root);
}

base::Status ReadReveal(schema::Reveal::Reader root, Reveal& out) {
  RETURN_IF_ERROR(ReadId(root.getCoin(), "coin", out.opening.coin.value));
  RETURN_IF_ERROR(ReadId(root.getSalt(), "salt", out.opening.coin.salt));
  return ReadIds(root.getPath(), "path", kMaxMerklePath, out.opening.path);
}

base::Status ReadRejoin(schema::Rejoin::Reader root, Rejoin& out) {
  RETURN_IF_ERROR(ReadId(root.getNonce(), "nonce", out.nonce));
  if (!root.hasCredential()) return base::OkStatus();
  return internal::ReadCredential(root.getCredential(), out.credential.emplace());
}

}  // namespace

Bytes Encode(const Boot& body) {
  return EncodeCanonical<schema::Boot>([&](schema::Boot::Builder root) {
    root.setBootId(AsData(body.boot_id));
    root.setProtocolVersion(body.protocol_version);
  });
}

Bytes Encode(const Commit& body) {
  return EncodeCanonical<schema::Commit>([&](schema::Commit::Builder root) {
    root.setCoinsRoot(AsData(body.coins_root));
    root.setCoinCount(body.coin_count);
    if (body.gradient_root) root.setGradientRoot(AsData(*body.gradient_root));
    if (body.parameters_root) root.setParametersRoot(AsData(*body.parameters_root));
    root.setOnlyDials(body.only_dials);
    root.setLeaving(body.leaving);
    if (body.revokes) internal::WriteRevocation(*body.revokes, root.initRevokes());
  });
}

Bytes Encode(const Part& body) {
  return EncodeCanonical<schema::Part>([&](schema::Part::Builder root) {
    WriteHeader(body.header, root.initHeader());
    root.setRoot(AsData(body.root));
    if (!body.path.empty()) root.setPath(AsData(body.path));
  });
}

Bytes Encode(const Aggregate& body) {
  return EncodeCanonical<schema::Aggregate>([&](schema::Aggregate::Builder root) {
    root.setPartIndex(body.part_index);
    root.setResultRoot(AsData(body.result_root));
    if (!body.included.empty()) root.setIncluded(AsData(body.included));
    root.setLeavesRoot(AsData(body.leaves_root));
    root.setCommitsRoot(AsData(body.commits_root));
    if (body.slowest) root.setSlowest(AsData(*body.slowest));
  });
}

Bytes Encode(const Result& body) {
  return EncodeCanonical<schema::Result>([&](schema::Result::Builder root) {
    WriteHeader(body.header, root.initHeader());
    root.setRoot(AsData(body.root));
  });
}

Bytes Encode(const Reveal& body) {
  return EncodeCanonical<schema::Reveal>([&](schema::Reveal::Builder root) {
    root.setCoin(AsData(body.opening.coin.value));
    root.setSalt(AsData(body.opening.coin.salt));
    if (!body.opening.path.empty()) root.setPath(AsData(body.opening.path));
  });
}

Bytes Encode(const Rejoin& body) {
  return EncodeCanonical<schema::Rejoin>([&](schema::Rejoin::Builder root) {
    root.setNonce(AsData(body.nonce));
    if (body.credential) internal::WriteCredential(*body.credential, root.initCredential());
  });
}

Bytes Encode(const Revocation& revocation) {
  return EncodeCanonical<schema::Revocation>(
      [&](schema::Revocation::Builder root) { internal::WriteRevocation(revocation, root); });
}

base::StatusOr<Revocation> DecodeRevocation(base::ByteView bytes) {
  return DecodeBody<schema::Revocation>("revocation", bytes, internal::ReadRevocation);
}

base::StatusOr<Boot> DecodeBoot(base::ByteView body) {
  return DecodeBody<schema::Boot>("BOOT", body, ReadBoot);
}

base::StatusOr<Commit> DecodeCommit(base::ByteView body) {
  return DecodeBody<schema::Commit>("COMMIT", body, ReadCommit);
}

base::StatusOr<Part> DecodePart(base::ByteView body) {
  return DecodeBody<schema::Part>("PART", body, ReadPart);
}

base::StatusOr<Aggregate> DecodeAggregate(base::ByteView body) {
  return DecodeBody<schema::Aggregate>("AGG", body, ReadAggregate);
}

base::StatusOr<Result> DecodeResult(base::ByteView body) {
  return DecodeBody<schema::Result>("RESULT", body, ReadResult);
}

base::StatusOr<Reveal> DecodeReveal(base::ByteView body) {
  return DecodeBody<schema::Reveal>("REVEAL", body, ReadReveal);
}

base::StatusOr<Rejoin> DecodeRejoin(base::ByteView body) {
  return DecodeBody<schema::Rejoin>("REJOIN", body, ReadRejoin);
}

}  // namespace ostraka::wire
