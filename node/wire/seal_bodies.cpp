// Messages of a seal: ECHO, CLOSE, and the slow path's STATUS, PROPOSE, VOTE and LOCK.
#include "node/wire/body_codec.h"

namespace ostraka::wire {
namespace {

using internal::AsData;
using internal::DecodeBody;
using internal::EncodeCanonical;
using internal::ReadBytes;
using internal::ReadId;
using internal::Refuse;

base::Status ReadEcho(schema::Echo::Reader root, Echo& out) {
  RETURN_IF_ERROR(ReadId(root.getVector(), "vector", out.vector));
  RETURN_IF_ERROR(ReadBytes(root.getPresent(), "present", kMaxBitmapBytes, out.present));
  return ReadBytes(root.getEquivocated(), "equivocated", kMaxBitmapBytes, out.equivocated);
}

// The maximum, 1 + kMaxIterations, is a lock by the votes of the last iteration.
base::Status ReadRank(std::uint32_t rank, std::uint32_t& out) {
  if (rank > 1 + kMaxIterations) return Refuse("rank", "out of range");
  out = rank;
  return base::OkStatus();
}

base::Status ReadStatus(schema::Status::Reader root, Status& out) {
  RETURN_IF_ERROR(ReadRank(root.getRank(), out.rank));
  return ReadId(root.getValue(), "value", out.value);
}

base::Status ReadPropose(schema::Propose::Reader root, Propose& out) {
  RETURN_IF_ERROR(ReadRank(root.getRank(), out.rank));
  RETURN_IF_ERROR(ReadId(root.getValue(), "value", out.value));
  RETURN_IF_ERROR(ReadBytes(root.getStatuses(), "statuses", kMaxPeers / 8, out.statuses));
  RETURN_IF_ERROR(ReadId(root.getStatusesRoot(), "statuses root", out.statuses_root));
  if (out.rank != 0 && (!out.statuses.empty() || !out.statuses_root.is_zero())) {
    return Refuse("statuses", "only with rank 0");
  }
  return base::OkStatus();
}

base::Status ReadSealVote(schema::SealVote::Reader root, SealVote& out) {
  RETURN_IF_ERROR(ReadId(root.getValue(), "value", out.value));
  return ReadRank(root.getRank(), out.rank);
}

base::Status ReadLock(schema::Lock::Reader root, Lock& out) {
  return ReadId(root.getValue(), "value", out.value);
}

base::Status ReadClose(schema::Close::Reader /*root*/, Close& /*out*/) { return base::OkStatus(); }

}  // namespace

Bytes Encode(const Echo& body) {
  return EncodeCanonical<schema::Echo>([&](schema::Echo::Builder root) {
    root.setVector(AsData(body.vector));
    if (!body.present.empty()) root.setPresent(AsData(body.present));
    if (!body.equivocated.empty()) root.setEquivocated(AsData(body.equivocated));
  });
}

Bytes Encode(const Status& body) {
  return EncodeCanonical<schema::Status>([&](schema::Status::Builder root) {
    root.setRank(body.rank);
    root.setValue(AsData(body.value));
  });
}

Bytes Encode(const Propose& body) {
  return EncodeCanonical<schema::Propose>([&](schema::Propose::Builder root) {
    root.setRank(body.rank);
    root.setValue(AsData(body.value));
    if (!body.statuses.empty()) root.setStatuses(AsData(body.statuses));
    root.setStatusesRoot(AsData(body.statuses_root));
  });
}

Bytes Encode(const SealVote& body) {
  return EncodeCanonical<schema::SealVote>([&](schema::SealVote::Builder root) {
    root.setValue(AsData(body.value));
    root.setRank(body.rank);
  });
}

Bytes Encode(const Lock& body) {
  return EncodeCanonical<schema::Lock>(
      [&](schema::Lock::Builder root) { root.setValue(AsData(body.value)); });
}

Bytes Encode(const Close& /*body*/) {
  return EncodeCanonical<schema::Close>([](schema::Close::Builder /*root*/) {});
}

base::StatusOr<Echo> DecodeEcho(base::ByteView body) {
  return DecodeBody<schema::Echo>("ECHO", body, ReadEcho);
}

base::StatusOr<Status> DecodeStatus(base::ByteView body) {
  return DecodeBody<schema::Status>("STATUS", body, ReadStatus);
}

base::StatusOr<Propose> DecodePropose(base::ByteView body) {
  return DecodeBody<schema::Propose>("PROPOSE", body, ReadPropose);
}

base::StatusOr<SealVote> DecodeSealVote(base::ByteView body) {
  return DecodeBody<schema::SealVote>("VOTE", body, ReadSealVote);
}

base::StatusOr<Lock> DecodeLock(base::ByteView body) {
  return DecodeBody<schema::Lock>("LOCK", body, ReadLock);
}

base::StatusOr<Close> DecodeClose(base::ByteView body) {
  return DecodeBody<schema::Close>("CLOSE", body, ReadClose);
}

}  // namespace ostraka::wire
