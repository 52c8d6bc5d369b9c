#include "node/wire/canonical.h"
#include "node/wire/codec.h"
#include "ostraka.capnp.h"

namespace ostraka::wire {
namespace {

using internal::AsData;
using internal::BitsDouble;
using internal::CheckCount;
using internal::DoubleBits;
using internal::EncodeCanonical;
using internal::ReadBytes;
using internal::ReadEnum;
using internal::ReadId;
using internal::ReadIds;
using internal::ReadOptionalId;
using internal::Refuse;

// A body never comes but in a frame.
template <typename Schema, typename Body>
base::StatusOr<Body> DecodeBody(std::string_view what, base::ByteView bytes,
                                base::Status (*read)(typename Schema::Reader, Body&)) {
  const auto read_value = [read](typename Schema::Reader root) -> base::StatusOr<Body> {
    Body body;
    RETURN_IF_ERROR(read(root, body));
    return body;
  };
  return internal::DecodeCanonical<Schema, Body>(what, bytes, kMaxFrameBytes, read_value,
                                                 [](const Body& body) { return Encode(body); });
}

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
  return ReadOptionalId(root.getGradientRoot(), "gradient root", out.gradient_root);
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
  return ReadId(root.getCommitsRoot(), "commits root", out.commits_root);
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

base::Status ReadEcho(schema::Echo::Reader root, Echo& out) {
  RETURN_IF_ERROR(ReadId(root.getVector(), "vector", out.vector));
  RETURN_IF_ERROR(ReadBytes(root.getPresent(), "present", kMaxBitmapBytes, out.present));
  return ReadBytes(root.getEquivocated(), "equivocated", kMaxBitmapBytes, out.equivocated);
}

// --- PROOF, list by list -------------------------------------------------------------------------

void WriteColumns(const std::vector<ColumnNumbers>& columns, schema::Proof::Builder root) {
  if (columns.empty()) return;
  auto list = root.initColumns(static_cast<unsigned>(columns.size()));
  for (unsigned i = 0; i < list.size(); ++i) {
    const ColumnNumbers& numbers = columns[i];
    auto item = list[i];
    static_assert(kDirections == 4);
    item.setMissing(numbers.missing);
    item.setS0(DoubleBits(numbers.s[0]));
    item.setS1(DoubleBits(numbers.s[1]));
    item.setS2(DoubleBits(numbers.s[2]));
    item.setS3(DoubleBits(numbers.s[3]));
    item.setNorm(DoubleBits(numbers.norm));
  }
}

base::Status ReadColumn(schema::ColumnNumbers::Reader item, ColumnNumbers& out) {
  out.missing = item.getMissing();
  const std::uint64_t s[kDirections] = {item.getS0(), item.getS1(), item.getS2(), item.getS3()};
  const std::uint64_t norm = item.getNorm();
  if (out.missing && (s[0] | s[1] | s[2] | s[3] | norm) != 0) {
    return Refuse("columns", "numbers of a missing column must be zero");
  }
  for (std::size_t k = 0; k < kDirections; ++k) out.s[k] = BitsDouble(s[k]);
  out.norm = BitsDouble(norm);
  return base::OkStatus();
}

base::Status ReadColumns(schema::Proof::Reader root, std::vector<ColumnNumbers>& out) {
  const auto list = root.getColumns();
  RETURN_IF_ERROR(CheckCount(list.size(), "columns", kMaxParts));
  out.resize(list.size());
  for (unsigned i = 0; i < list.size(); ++i) RETURN_IF_ERROR(ReadColumn(list[i], out[i]));
  return base::OkStatus();
}

void WriteVotes(const std::vector<Vote>& votes, schema::Proof::Builder root) {
  if (votes.empty()) return;
  auto list = root.initVotes(static_cast<unsigned>(votes.size()));
  for (unsigned i = 0; i < list.size(); ++i) {
    auto item = list[i];
    item.setAccuser(AsData(votes[i].accuser));
    item.setTarget(AsData(votes[i].target));
    item.setStep(votes[i].step);
    item.setVerdict(static_cast<schema::Verdict>(votes[i].verdict));
  }
}

base::Status ReadVotes(schema::Proof::Reader root, std::vector<Vote>& out) {
  const auto list = root.getVotes();
  RETURN_IF_ERROR(CheckCount(list.size(), "votes", kMaxVotes));
  out.resize(list.size());
  for (unsigned i = 0; i < list.size(); ++i) {
    const schema::Vote::Reader item = list[i];
    RETURN_IF_ERROR(ReadId(item.getAccuser(), "accuser", out[i].accuser));
    RETURN_IF_ERROR(ReadId(item.getTarget(), "target", out[i].target));
    out[i].step = item.getStep();
    RETURN_IF_ERROR(ReadEnum(item.getVerdict(), "verdict", kVerdictCount, out[i].verdict));
  }
  return base::OkStatus();
}

void WriteEvidence(const std::vector<Bytes>& evidence, schema::Proof::Builder root) {
  if (evidence.empty()) return;
  auto list = root.initEvidence(static_cast<unsigned>(evidence.size()));
  for (unsigned i = 0; i < list.size(); ++i) {
    if (!evidence[i].empty()) list.set(i, AsData(evidence[i]));
  }
}

base::Status ReadEvidence(schema::Proof::Reader root, std::vector<Bytes>& out) {
  const auto list = root.getEvidence();
  RETURN_IF_ERROR(CheckCount(list.size(), "evidence", kMaxInlineEvidence));
  out.resize(list.size());
  for (unsigned i = 0; i < list.size(); ++i) {
    RETURN_IF_ERROR(ReadBytes(list[i], "evidence", kMaxEvidenceBytes, out[i]));
  }
  return base::OkStatus();
}

void WriteConfirmations(const std::vector<Confirmation>& confirmations,
                        schema::Proof::Builder root) {
  if (confirmations.empty()) return;
  auto list = root.initConfirmations(static_cast<unsigned>(confirmations.size()));
  for (unsigned i = 0; i < list.size(); ++i) {
    auto item = list[i];
    item.setEvidence(AsData(confirmations[i].evidence));
    item.setValid(confirmations[i].valid);
  }
}

base::Status ReadConfirmations(schema::Proof::Reader root, std::vector<Confirmation>& out) {
  const auto list = root.getConfirmations();
  RETURN_IF_ERROR(CheckCount(list.size(), "confirmations", kMaxConfirmations));
  out.resize(list.size());
  for (unsigned i = 0; i < list.size(); ++i) {
    const schema::Confirmation::Reader item = list[i];
    RETURN_IF_ERROR(ReadId(item.getEvidence(), "confirmed evidence", out[i].evidence));
    out[i].valid = item.getValid();
  }
  return base::OkStatus();
}

base::Status ReadProof(schema::Proof::Reader root, Proof& out) {
  RETURN_IF_ERROR(ReadColumns(root, out.columns));
  if (root.hasAccusation()) {
    const schema::Accusation::Reader item = root.getAccusation();
    Accusation& accusation = out.accusation.emplace();
    RETURN_IF_ERROR(ReadId(item.getTarget(), "accused", accusation.target));
    accusation.step = item.getStep();
  }
  RETURN_IF_ERROR(ReadVotes(root, out.votes));
  RETURN_IF_ERROR(ReadOptionalId(root.getStateRoot(), "state root", out.state_root));
  RETURN_IF_ERROR(ReadEvidence(root, out.evidence));
  return ReadConfirmations(root, out.confirmations);
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

Bytes Encode(const Proof& body) {
  return EncodeCanonical<schema::Proof>([&](schema::Proof::Builder root) {
    WriteColumns(body.columns, root);
    if (body.accusation) {
      auto accusation = root.initAccusation();
      accusation.setTarget(AsData(body.accusation->target));
      accusation.setStep(body.accusation->step);
    }
    WriteVotes(body.votes, root);
    if (body.state_root) root.setStateRoot(AsData(*body.state_root));
    WriteEvidence(body.evidence, root);
    WriteConfirmations(body.confirmations, root);
  });
}

Bytes Encode(const Echo& body) {
  return EncodeCanonical<schema::Echo>([&](schema::Echo::Builder root) {
    root.setVector(AsData(body.vector));
    if (!body.present.empty()) root.setPresent(AsData(body.present));
    if (!body.equivocated.empty()) root.setEquivocated(AsData(body.equivocated));
  });
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

base::StatusOr<Proof> DecodeProof(base::ByteView body) {
  return DecodeBody<schema::Proof>("PROOF", body, ReadProof);
}

base::StatusOr<Echo> DecodeEcho(base::ByteView body) {
  return DecodeBody<schema::Echo>("ECHO", body, ReadEcho);
}

}  // namespace ostraka::wire
