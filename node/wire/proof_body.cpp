// PROOF, list by list.
#include <algorithm>

#include "node/wire/body_codec.h"
#include "node/wire/case_codec.h"
#include "node/wire/voucher_codec.h"

namespace ostraka::wire {
namespace {

using internal::AsData;
using internal::BitsDouble;
using internal::DoubleBits;
using internal::ReadBytes;
using internal::ReadEnum;
using internal::ReadId;
using internal::ReadList;
using internal::ReadOptionalId;
using internal::Refuse;

void WriteColumn(const ColumnNumbers& numbers, schema::ColumnNumbers::Builder item) {
  static_assert(kDirections == 4);
  item.setMissing(numbers.missing);
  item.setS0(DoubleBits(numbers.s[0]));
  item.setS1(DoubleBits(numbers.s[1]));
  item.setS2(DoubleBits(numbers.s[2]));
  item.setS3(DoubleBits(numbers.s[3]));
  item.setNorm(DoubleBits(numbers.norm));
  item.setSize(DoubleBits(numbers.size));
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
  out.size = BitsDouble(item.getSize());
  return base::OkStatus();
}

void WriteVote(const Vote& vote, schema::Vote::Builder item) {
  internal::WriteCaseId(vote.about, item.initAbout());
  item.setVerdict(static_cast<schema::Verdict>(vote.verdict));
}

base::Status ReadVote(schema::Vote::Reader item, Vote& out) {
  RETURN_IF_ERROR(internal::ReadCaseId(item.getAbout(), out.about));
  return ReadEnum(item.getVerdict(), "verdict", kVerdictCount, out.verdict);
}

void WriteEvidence(const std::vector<Bytes>& evidence, schema::Proof::Builder root) {
  if (evidence.empty()) return;
  auto list = root.initEvidence(static_cast<unsigned>(evidence.size()));
  for (unsigned i = 0; i < list.size(); ++i) {
    if (!evidence[i].empty()) list.set(i, AsData(evidence[i]));
  }
}

base::Status ReadEvidence(capnp::Data::Reader piece, Bytes& out) {
  return ReadBytes(piece, "evidence", kMaxEvidenceBytes, out);
}

// A null pointer means no accusation.
base::Status ReadAccusation(schema::Proof::Reader root, std::optional<Accusation>& out) {
  if (!root.hasAccusation()) return base::OkStatus();
  const schema::Accusation::Reader item = root.getAccusation();
  Accusation& accusation = out.emplace();
  accusation.step = item.getStep();
  return ReadId(item.getTarget(), "accused", accusation.target);
}

// A null pointer means no naming.
base::Status ReadNaming(schema::Proof::Reader root, std::optional<Naming>& out) {
  if (!root.hasNaming()) return base::OkStatus();
  const schema::Naming::Reader item = root.getNaming();
  Naming& naming = out.emplace();
  naming.step = item.getStep();
  RETURN_IF_ERROR(ReadId(item.getTarget(), "named", naming.target));
  return internal::ReadColumnIndex(item.getColumn(), naming.column);
}

// A key is of the run or it is not, so nobody confirms it as both. Attack: a PROOF that names one
// key in both lists counts twice for it.
base::Status ReadArrivals(schema::Proof::Reader root, Proof& out) {
  RETURN_IF_ERROR(
      ReadList(root.getArrivals(), "arrivals", kMaxArrivals, out.arrivals, internal::ReadArrival));
  RETURN_IF_ERROR(internal::CheckAscending(out.arrivals, "arrivals",
                                           [](const Arrival& arrival) { return arrival.peer; }));
  for (const Arrival& arrival : out.arrivals) {
    if (std::binary_search(out.joins.begin(), out.joins.end(), arrival.peer)) {
      return Refuse("arrivals", "names a key of joins");
    }
  }
  return base::OkStatus();
}

base::Status ReadProof(schema::Proof::Reader root, Proof& out) {
  RETURN_IF_ERROR(ReadList(root.getColumns(), "columns", kMaxParts, out.columns, ReadColumn));
  RETURN_IF_ERROR(ReadAccusation(root, out.accusation));
  RETURN_IF_ERROR(ReadNaming(root, out.naming));
  RETURN_IF_ERROR(ReadList(root.getVotes(), "votes", kMaxVotes, out.votes, ReadVote));
  RETURN_IF_ERROR(ReadOptionalId(root.getStateRoot(), "state root", out.state_root));
  RETURN_IF_ERROR(
      ReadList(root.getEvidence(), "evidence", kMaxInlineEvidence, out.evidence, ReadEvidence));
  RETURN_IF_ERROR(ReadBytes(root.getHeld(), "held", kMaxHeldBytes, out.held));
  RETURN_IF_ERROR(ReadBytes(root.getSilent(), "silent", kMaxPeers / 8, out.silent));
  RETURN_IF_ERROR(internal::ReadPeers(root.getJoins(), "joins", out.joins));
  out.lag_us = root.getLagUs();
  RETURN_IF_ERROR(ReadBytes(root.getHasty(), "hasty", kMaxPeers / 8, out.hasty));
  RETURN_IF_ERROR(ReadBytes(root.getUnshown(), "unshown", kMaxPeers / 8, out.unshown));
  RETURN_IF_ERROR(internal::CheckCount(root.getLateMs().size(), "late", 2 * kMaxPeers));
  for (const std::uint64_t ms : root.getLateMs()) out.late_ms.push_back(ms);
  return ReadArrivals(root, out);
}

void WriteProof(const Proof& body, schema::Proof::Builder root) {
  internal::WriteList(
      body.columns, [&](unsigned size) { return root.initColumns(size); }, WriteColumn);
  if (body.accusation) {
    auto accusation = root.initAccusation();
    accusation.setTarget(AsData(body.accusation->target));
    accusation.setStep(body.accusation->step);
  }
  if (body.naming) {
    auto naming = root.initNaming();
    naming.setTarget(AsData(body.naming->target));
    naming.setStep(body.naming->step);
    naming.setColumn(body.naming->column);
  }
  internal::WriteList(
      body.votes, [&](unsigned size) { return root.initVotes(size); }, WriteVote);
  if (body.state_root) root.setStateRoot(AsData(*body.state_root));
  WriteEvidence(body.evidence, root);
  if (!body.held.empty()) root.setHeld(AsData(body.held));
  if (!body.silent.empty()) root.setSilent(AsData(body.silent));
  if (!body.joins.empty()) root.setJoins(AsData(body.joins));
  root.setLagUs(body.lag_us);
  if (!body.hasty.empty()) root.setHasty(AsData(body.hasty));
  if (!body.unshown.empty()) root.setUnshown(AsData(body.unshown));
  if (!body.late_ms.empty()) {
    auto late = root.initLateMs(static_cast<unsigned>(body.late_ms.size()));
    for (unsigned i = 0; i < late.size(); ++i) late.set(i, body.late_ms[i]);
  }
  internal::WriteList(
      body.arrivals, [&](unsigned size) { return root.initArrivals(size); },
      internal::WriteArrival);
}

}  // namespace

Bytes Encode(const Proof& body) {
  return internal::EncodeCanonical<schema::Proof>(
      [&](schema::Proof::Builder root) { WriteProof(body, root); });
}

base::StatusOr<Proof> DecodeProof(base::ByteView body) {
  return internal::DecodeBody<schema::Proof>("PROOF", body, ReadProof);
}

}  // namespace ostraka::wire
