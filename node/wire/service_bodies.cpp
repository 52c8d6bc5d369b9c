// Services: requests between neighbours, and their answers.
#include "node/wire/body_codec.h"

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
using internal::Refuse;

// VectorEntry::state.
constexpr std::uint8_t kPresent = 1;
constexpr std::uint8_t kStateCount = 3;

base::Status ReadPull(schema::Pull::Reader root, Pull& out) {
  RETURN_IF_ERROR(ReadEnum(root.getKind(), "pull kind", kPullKindCount, out.kind));
  RETURN_IF_ERROR(ReadEnum(root.getType(), "type", kMessageTypeCount, out.type));
  RETURN_IF_ERROR(ReadBytes(root.getMembers(), "members", kMaxPeers / 8, out.members));
  RETURN_IF_ERROR(ReadIds(root.getDigests(), "digests", kMaxPullDigests, out.digests));
  out.index = root.getIndex();
  return base::OkStatus();
}

base::Status ReadVector(schema::Vector::Reader root, Vector& out) {
  const capnp::Data::Reader states = root.getStates();
  RETURN_IF_ERROR(CheckCount(states.size(), "entries", kMaxVectorEntries));
  std::vector<Digest> digests;
  RETURN_IF_ERROR(ReadIds(root.getDigests(), "digests", kMaxVectorEntries, digests));
  if (digests.size() != states.size()) return Refuse("digests", "one an entry");
  out.entries.resize(states.size());
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (states[i] >= kStateCount) return Refuse("state", "unknown value");
    if (states[i] != kPresent && !digests[i].is_zero()) {
      return Refuse("digests", "only of entries that are present");
    }
    out.entries[i] = {states[i], digests[i]};
  }
  return base::OkStatus();
}

base::Status ReadBlockMessage(schema::BlockMessage::Reader root, BlockMessage& out) {
  RETURN_IF_ERROR(ReadId(root.getDigest(), "digest", out.digest));
  out.head = root.getHead();
  return base::OkStatus();
}

base::Status ReadChunk(schema::Chunk::Reader root, Chunk& out) {
  out.step = root.getStep();
  out.index = root.getIndex();
  out.count = root.getCount();
  return out.index < out.count ? base::OkStatus() : Refuse("index", "beyond the last chunk");
}

base::Status ReadForward(schema::Forward::Reader root, Forward& out) {
  RETURN_IF_ERROR(ReadId(root.getFrom(), "from", out.from));
  RETURN_IF_ERROR(ReadId(root.getTo(), "to", out.to));
  return ReadBytes(root.getFrame(), "frame", kMaxForwardedBytes, out.frame);
}

}  // namespace

Bytes Encode(const Pull& body) {
  return EncodeCanonical<schema::Pull>([&](schema::Pull::Builder root) {
    root.setKind(static_cast<schema::PullKind>(body.kind));
    root.setType(static_cast<schema::MessageType>(body.type));
    if (!body.members.empty()) root.setMembers(AsData(body.members));
    if (!body.digests.empty()) root.setDigests(AsData(body.digests));
    root.setIndex(body.index);
  });
}

Bytes Encode(const Vector& body) {
  Bytes states;
  std::vector<Digest> digests;
  states.reserve(body.entries.size());
  digests.reserve(body.entries.size());
  for (const VectorEntry& entry : body.entries) {
    states.push_back(entry.state);
    digests.push_back(entry.digest);
  }
  return EncodeCanonical<schema::Vector>([&](schema::Vector::Builder root) {
    if (states.empty()) return;
    root.setStates(AsData(states));
    root.setDigests(AsData(digests));
  });
}

Bytes Encode(const BlockMessage& body) {
  return EncodeCanonical<schema::BlockMessage>([&](schema::BlockMessage::Builder root) {
    root.setDigest(AsData(body.digest));
    root.setHead(body.head);
  });
}

Bytes Encode(const Chunk& body) {
  return EncodeCanonical<schema::Chunk>([&](schema::Chunk::Builder root) {
    root.setStep(body.step);
    root.setIndex(body.index);
    root.setCount(body.count);
  });
}

Bytes Encode(const Forward& body) {
  return EncodeCanonical<schema::Forward>([&](schema::Forward::Builder root) {
    root.setFrom(AsData(body.from));
    root.setTo(AsData(body.to));
    if (!body.frame.empty()) root.setFrame(AsData(body.frame));
  });
}

base::StatusOr<Pull> DecodePull(base::ByteView body) {
  return DecodeBody<schema::Pull>("PULL", body, ReadPull);
}

base::StatusOr<Vector> DecodeVector(base::ByteView body) {
  return DecodeBody<schema::Vector>("VECTOR", body, ReadVector);
}

base::StatusOr<BlockMessage> DecodeBlockMessage(base::ByteView body) {
  return DecodeBody<schema::BlockMessage>("BLOCK", body, ReadBlockMessage);
}

base::StatusOr<Chunk> DecodeChunk(base::ByteView body) {
  return DecodeBody<schema::Chunk>("CHUNK", body, ReadChunk);
}

base::StatusOr<Forward> DecodeForward(base::ByteView body) {
  return DecodeBody<schema::Forward>("FORWARD", body, ReadForward);
}

}  // namespace ostraka::wire
