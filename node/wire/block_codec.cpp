#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/wire/aggregated_codec.h"
#include "node/wire/block.h"
#include "node/wire/canonical.h"
#include "node/wire/case_codec.h"
#include "node/wire/voucher_codec.h"
#include "ostraka.capnp.h"

namespace ostraka::wire {
namespace {

using internal::AsData;
using internal::CheckAscending;
using internal::CheckCount;
using internal::EncodeCanonical;
using internal::ReadEnum;
using internal::ReadId;
using internal::ReadIds;
using internal::ReadList;
using internal::ReadOptionalId;
using internal::ReadPeers;
using internal::Refuse;
using internal::WriteList;

void WriteRemoval(const Removal& removal, schema::Removal::Builder item) {
  item.setPeer(AsData(removal.peer));
  item.setKind(static_cast<schema::RemovalKind>(removal.kind));
  item.setStep(removal.step);
  const std::string& reason = removal.reason;
  // Pass the size: Cap'n Proto would end a std::string at its first NUL.
  if (!reason.empty()) item.setReason(capnp::Text::Reader(reason.c_str(), reason.size()));
}

// Reasons appear on terminals and in logs: refuse line breaks and control characters.
base::Status ReadReason(capnp::Text::Reader text, std::string& out) {
  if (text.size() > kMaxReasonBytes) return Refuse("reason", "too long");
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) return Refuse("reason", "control character");
  }
  out.assign(text.begin(), text.end());
  return base::OkStatus();
}

base::Status ReadRemoval(schema::Removal::Reader item, Removal& out) {
  RETURN_IF_ERROR(ReadId(item.getPeer(), "removed peer", out.peer));
  RETURN_IF_ERROR(ReadEnum(item.getKind(), "removal kind", kRemovalKindCount, out.kind));
  out.step = item.getStep();
  return ReadReason(item.getReason(), out.reason);
}

// `Builder` is any struct with a `covering` list.
template <typename Builder>
void WriteCoverings(const std::vector<Covering>& covering, Builder item) {
  const auto write = [](const Covering& one, schema::Covering::Builder builder) {
    builder.setColumn(one.column);
    builder.setOwner(AsData(one.owner));
  };
  WriteList(
      covering, [&](unsigned size) { return item.initCovering(size); }, write);
}

base::Status ReadCoverings(capnp::List<schema::Covering>::Reader list, std::vector<Covering>& out) {
  const auto read = [](schema::Covering::Reader reader, Covering& one) {
    RETURN_IF_ERROR(internal::ReadColumnIndex(reader.getColumn(), one.column));
    return ReadId(reader.getOwner(), "owner", one.owner);
  };
  RETURN_IF_ERROR(ReadList(list, "covering", kMaxParts, out, read));
  return CheckAscending(out, "covering", [](const Covering& one) { return one.column; });
}

void WriteCase(const Case& open, schema::Case::Builder item) {
  internal::WriteCaseId(open.id, item.initId());
  item.setOpenedStep(open.opened_step);
  item.setFaultBound(open.fault_bound);
  WriteCoverings(open.covering, item);
  if (open.ballots.empty()) return;
  std::vector<PeerId> voters;
  Bytes verdicts;
  voters.reserve(open.ballots.size());
  verdicts.reserve(open.ballots.size());
  for (const Case::Ballot& ballot : open.ballots) {
    voters.push_back(ballot.voter);
    verdicts.push_back(static_cast<std::uint8_t>(ballot.verdict));
  }
  item.setVoters(AsData(voters));
  item.setVerdicts(AsData(verdicts));
}

base::Status ReadCase(schema::Case::Reader item, Case& out) {
  RETURN_IF_ERROR(internal::ReadCaseId(item.getId(), out.id));
  out.opened_step = item.getOpenedStep();
  out.fault_bound = item.getFaultBound();
  std::vector<PeerId> voters;
  RETURN_IF_ERROR(ReadIds(item.getVoters(), "voters", kMaxPeers, voters));
  const capnp::Data::Reader verdicts = item.getVerdicts();
  if (verdicts.size() != voters.size()) return Refuse("verdicts", "one byte a voter");
  out.ballots.resize(voters.size());
  for (std::size_t i = 0; i < voters.size(); ++i) {
    out.ballots[i].voter = voters[i];
    RETURN_IF_ERROR(ReadEnum(verdicts[i], "verdict", kVerdictCount, out.ballots[i].verdict));
  }
  return ReadCoverings(item.getCovering(), out.covering);
}

void WriteAssignment(const Assignment& drawn, schema::Assignment::Builder item) {
  item.setValidator(AsData(drawn.validator));
  item.setTarget(AsData(drawn.target));
  item.setStep(drawn.step);
  WriteCoverings(drawn.covering, item);
}

base::Status ReadAssignment(schema::Assignment::Reader item, Assignment& out) {
  RETURN_IF_ERROR(ReadId(item.getValidator(), "validator", out.validator));
  RETURN_IF_ERROR(ReadId(item.getTarget(), "target", out.target));
  out.step = item.getStep();
  return ReadCoverings(item.getCovering(), out.covering);
}

void WriteDispute(const Dispute& dispute, schema::Dispute::Builder item) {
  item.setWorker(AsData(dispute.worker));
  item.setAggregator(AsData(dispute.aggregator));
  item.setSince(dispute.since);
}

base::Status ReadDispute(schema::Dispute::Reader item, Dispute& out) {
  RETURN_IF_ERROR(ReadId(item.getWorker(), "worker", out.worker));
  RETURN_IF_ERROR(ReadId(item.getAggregator(), "aggregator", out.aggregator));
  out.since = item.getSince();
  return base::OkStatus();
}

void WriteStanding(const Standing& standing, schema::Standing::Builder item) {
  item.setPeer(AsData(standing.peer));
  item.setBanned(standing.banned);
  item.setDrops(standing.drops);
  item.setLastDropStep(standing.last_drop_step);
  item.setBarredUntil(standing.barred_until);
  item.setErred(standing.erred);
  item.setLeftStep(standing.left_step);
  item.setReturnedStep(standing.returned_step);
  item.setCameStep(standing.came_step);
}

base::Status ReadStanding(schema::Standing::Reader item, Standing& out) {
  RETURN_IF_ERROR(ReadId(item.getPeer(), "peer", out.peer));
  out.banned = item.getBanned();
  out.drops = item.getDrops();
  out.last_drop_step = item.getLastDropStep();
  out.barred_until = item.getBarredUntil();
  out.erred = item.getErred();
  out.left_step = item.getLeftStep();
  out.returned_step = item.getReturnedStep();
  out.came_step = item.getCameStep();
  return base::OkStatus();
}

void WriteCandidate(const Candidate& candidate, schema::Candidate::Builder item) {
  item.setPeer(AsData(candidate.peer));
  item.setSince(candidate.since);
  item.setConfirmed(candidate.confirmed);
  if (candidate.voucher) internal::WriteVoucher(*candidate.voucher, item.initVoucher());
}

base::Status ReadCandidate(schema::Candidate::Reader item, Candidate& out) {
  RETURN_IF_ERROR(ReadId(item.getPeer(), "peer", out.peer));
  out.since = item.getSince();
  out.confirmed = item.getConfirmed();
  if (!item.hasVoucher()) return base::OkStatus();
  return internal::ReadVoucher(item.getVoucher(), out.voucher.emplace());
}

void WriteUsedInvite(const UsedInvite& invite, schema::UsedInvite::Builder item) {
  item.setInvite(AsData(invite.invite));
  item.setUsed(invite.used);
  item.setEndsStep(invite.ends_step);
  item.setRevoked(invite.revoked);
  if (!invite.users.empty()) item.setUsers(AsData(invite.users));
}

base::Status ReadUsedInvite(schema::UsedInvite::Reader item, UsedInvite& out) {
  RETURN_IF_ERROR(ReadId(item.getInvite(), "invite", out.invite));
  out.used = item.getUsed();
  out.ends_step = item.getEndsStep();
  out.revoked = item.getRevoked();
  RETURN_IF_ERROR(ReadPeers(item.getUsers(), "users", out.users));
  if (out.users.size() > (out.revoked ? 0 : out.used)) return Refuse("users", "more than uses");
  return base::OkStatus();
}

// Of all invites together.
base::Status CheckUsers(capnp::List<schema::UsedInvite>::Reader invites) {
  std::size_t bytes = 0;
  for (const auto& invite : invites) bytes += invite.getUsers().size();
  return CheckCount(bytes / PeerId::kSize, "users", kMaxInviteUsers);
}

void WriteModerator(const Moderator& moderator, schema::Moderator::Builder item) {
  item.setPeer(AsData(moderator.peer));
  item.setAdmitted(moderator.admitted);
  item.setRevoked(moderator.revoked);
}

base::Status ReadModerator(schema::Moderator::Reader item, Moderator& out) {
  RETURN_IF_ERROR(ReadId(item.getPeer(), "moderator", out.peer));
  out.admitted = item.getAdmitted();
  out.revoked = item.getRevoked();
  return base::OkStatus();
}

void WriteLateness(const Lateness& lateness, schema::Lateness::Builder item) {
  item.setPeer(AsData(lateness.peer));
  item.setMs(lateness.ms);
}

base::Status ReadLateness(schema::Lateness::Reader item, Lateness& out) {
  RETURN_IF_ERROR(ReadId(item.getPeer(), "peer", out.peer));
  out.ms = item.getMs();
  return base::OkStatus();
}

void WriteVoids(const Voids& voids, schema::Voids::Builder item) {
  item.setPeer(AsData(voids.peer));
  item.setCount(voids.count);
  item.setLastStep(voids.last_step);
}

base::Status ReadVoids(schema::Voids::Reader item, Voids& out) {
  RETURN_IF_ERROR(ReadId(item.getPeer(), "peer", out.peer));
  out.count = item.getCount();
  out.last_step = item.getLastStep();
  return base::OkStatus();
}

void WriteReach(const Reach& reach, schema::Reach::Builder item) {
  item.setPeer(AsData(reach.peer));
  item.setOnlyDials(reach.only_dials);
  item.setChangesFrom(reach.changes_from);
}

base::Status ReadReach(schema::Reach::Reader item, Reach& out) {
  RETURN_IF_ERROR(ReadId(item.getPeer(), "peer", out.peer));
  out.only_dials = item.getOnlyDials();
  out.changes_from = item.getChangesFrom();
  return base::OkStatus();
}

base::Status ReadView(schema::Block::Reader root, Block& out) {
  RETURN_IF_ERROR(ReadPeers(root.getMembers(), "members", out.members));
  out.thresholds = {root.getN(), root.getTS(), root.getTA()};
  if (out.thresholds.t_s > out.thresholds.n || out.thresholds.t_a > out.thresholds.n) {
    return Refuse("thresholds", "more faults than members");
  }
  return base::OkStatus();
}

base::Status ReadColumns(schema::Block::Reader root, std::vector<ColumnFate>& out) {
  const capnp::Data::Reader columns = root.getColumns();
  RETURN_IF_ERROR(CheckCount(columns.size(), "columns", kMaxParts));
  out.resize(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    RETURN_IF_ERROR(ReadEnum(columns[i], "column fate", kColumnFateCount, out[i]));
  }
  return base::OkStatus();
}

// The records of pairs and peers, ordered by key.
base::Status ReadRecords(schema::Block::Reader root, Block& out) {
  const auto peer_of = [](const auto& record) { return record.peer; };
  RETURN_IF_ERROR(
      ReadList(root.getDisputes(), "disputes", kMaxDisputes, out.disputes, ReadDispute));
  RETURN_IF_ERROR(CheckAscending(out.disputes, "disputes", [](const Dispute& dispute) {
    return std::pair(dispute.worker, dispute.aggregator);
  }));
  RETURN_IF_ERROR(
      ReadList(root.getStandings(), "standings", kMaxKeys, out.standings, ReadStanding));
  RETURN_IF_ERROR(CheckAscending(out.standings, "standings", peer_of));
  RETURN_IF_ERROR(
      ReadList(root.getCandidates(), "candidates", kMaxCandidates, out.candidates, ReadCandidate));
  RETURN_IF_ERROR(CheckAscending(out.candidates, "candidates", peer_of));
  RETURN_IF_ERROR(ReadList(root.getLateness(), "lateness", kMaxPeers, out.lateness, ReadLateness));
  RETURN_IF_ERROR(CheckAscending(out.lateness, "lateness", peer_of));
  RETURN_IF_ERROR(ReadList(root.getVoids(), "voids", kMaxKeys, out.voids, ReadVoids));
  RETURN_IF_ERROR(CheckAscending(out.voids, "voids", peer_of));
  RETURN_IF_ERROR(ReadList(root.getReach(), "reach", kMaxKeys, out.reach, ReadReach));
  return CheckAscending(out.reach, "reach", peer_of);
}

// Who was let in, and by what.
base::Status ReadAdmissions(schema::Block::Reader root, Block& out) {
  RETURN_IF_ERROR(CheckCount(root.getInvites().size(), "invites", kMaxUsedInvites));
  RETURN_IF_ERROR(CheckUsers(root.getInvites()));
  RETURN_IF_ERROR(
      ReadList(root.getInvites(), "invites", kMaxUsedInvites, out.invites, ReadUsedInvite));
  RETURN_IF_ERROR(CheckAscending(out.invites, "invites",
                                 [](const UsedInvite& invite) { return invite.invite; }));
  RETURN_IF_ERROR(
      ReadList(root.getModerators(), "moderators", kMaxModerators, out.moderators, ReadModerator));
  RETURN_IF_ERROR(CheckAscending(out.moderators, "moderators",
                                 [](const Moderator& moderator) { return moderator.peer; }));
  out.peak_t_s = root.getPeakTS();
  out.peak_step = root.getPeakStep();
  return base::OkStatus();
}

// A count of trained steps can be taken from every block that was read (TrainedSteps).
base::Status ReadClosing(schema::Block::Reader root, Block& out) {
  out.closing = root.getClosing();
  if (out.closing > kClosingSteps + 1 || out.closing > out.step + 1 ||
      (out.genesis && out.closing > 0)) {
    return base::InvalidArgument("a block says that its run closes, and no run closes there");
  }
  return base::OkStatus();
}

// What the next step needs besides the membership.
base::Status ReadNext(schema::Block::Reader root, Block& out) {
  RETURN_IF_ERROR(ReadList(root.getDrawn(), "drawn", kMaxPeers, out.drawn, ReadAssignment));
  RETURN_IF_ERROR(ReadPeers(root.getProven(), "proven", out.proven));
  RETURN_IF_ERROR(ReadPeers(root.getOwing(), "owing", out.owing));
  RETURN_IF_ERROR(ReadRecords(root, out));
  RETURN_IF_ERROR(ReadPeers(root.getJoined(), "joined", out.joined));
  RETURN_IF_ERROR(ReadPeers(root.getLeaving(), "leaving", out.leaving));
  RETURN_IF_ERROR(ReadPeers(root.getLeft(), "left", out.left));
  out.t_s_in_role = root.getTSInRole();
  if (root.getAnyRemoval()) out.last_removal_step = root.getLastRemovalStep();
  out.delta_us = root.getDeltaUs();
  out.part_us = root.getPartUs();
  RETURN_IF_ERROR(ReadAdmissions(root, out));
  return ReadClosing(root, out);
}

base::StatusOr<Block> ReadBlock(schema::Block::Reader root) {
  Block block;
  block.step = root.getStep();
  block.genesis = root.getGenesis();
  RETURN_IF_ERROR(ReadId(root.getDecision(), "decision", block.decision));
  RETURN_IF_ERROR(ReadId(root.getPrevious(), "previous", block.previous));
  RETURN_IF_ERROR(ReadId(root.getRandomness(), "randomness", block.randomness));
  RETURN_IF_ERROR(ReadView(root, block));
  block.tau = internal::BitsDouble(root.getTau());
  RETURN_IF_ERROR(ReadColumns(root, block.columns));
  RETURN_IF_ERROR(ReadList(root.getRemovals(), "removals", kMaxKeys, block.removals, ReadRemoval));
  RETURN_IF_ERROR(ReadList(root.getCases(), "cases", kMaxCases, block.cases, ReadCase));
  RETURN_IF_ERROR(ReadOptionalId(root.getStateRoot(), "state root", block.state_root));
  RETURN_IF_ERROR(ReadIds(root.getResultRoots(), "result roots", kMaxParts, block.result_roots));
  RETURN_IF_ERROR(internal::ReadAggregated(root, block.aggregated));
  RETURN_IF_ERROR(ReadNext(root, block));
  return block;
}

void WriteNext(const Block& block, schema::Block::Builder root) {
  WriteList(
      block.drawn, [&](unsigned size) { return root.initDrawn(size); }, WriteAssignment);
  if (!block.proven.empty()) root.setProven(AsData(block.proven));
  if (!block.owing.empty()) root.setOwing(AsData(block.owing));
  WriteList(
      block.disputes, [&](unsigned size) { return root.initDisputes(size); }, WriteDispute);
  WriteList(
      block.standings, [&](unsigned size) { return root.initStandings(size); }, WriteStanding);
  WriteList(
      block.candidates, [&](unsigned size) { return root.initCandidates(size); }, WriteCandidate);
  if (!block.joined.empty()) root.setJoined(AsData(block.joined));
  if (!block.leaving.empty()) root.setLeaving(AsData(block.leaving));
  if (!block.left.empty()) root.setLeft(AsData(block.left));
  root.setTSInRole(block.t_s_in_role);
  root.setAnyRemoval(block.last_removal_step.has_value());
  root.setLastRemovalStep(block.last_removal_step.value_or(0));
  root.setDeltaUs(block.delta_us);
  root.setClosing(block.closing);
  WriteList(
      block.lateness, [&](unsigned size) { return root.initLateness(size); }, WriteLateness);
  WriteList(
      block.voids, [&](unsigned size) { return root.initVoids(size); }, WriteVoids);
  WriteList(
      block.reach, [&](unsigned size) { return root.initReach(size); }, WriteReach);
  WriteList(
      block.invites, [&](unsigned size) { return root.initInvites(size); }, WriteUsedInvite);
  WriteList(
      block.moderators, [&](unsigned size) { return root.initModerators(size); }, WriteModerator);
  root.setPeakTS(block.peak_t_s);
  root.setPeakStep(block.peak_step);
  root.setPartUs(block.part_us);
}

void WriteBlock(const Block& block, schema::Block::Builder root) {
  root.setStep(block.step);
  root.setGenesis(block.genesis);
  root.setDecision(AsData(block.decision));
  root.setPrevious(AsData(block.previous));
  root.setRandomness(AsData(block.randomness));
  if (!block.members.empty()) root.setMembers(AsData(block.members));
  root.setN(block.thresholds.n);
  root.setTS(block.thresholds.t_s);
  root.setTA(block.thresholds.t_a);
  root.setTau(internal::DoubleBits(block.tau));
  if (!block.columns.empty()) {
    root.setColumns(AsData(base::AsBytes(std::span<const ColumnFate>(block.columns))));
  }
  WriteList(
      block.removals, [&](unsigned size) { return root.initRemovals(size); }, WriteRemoval);
  WriteList(
      block.cases, [&](unsigned size) { return root.initCases(size); }, WriteCase);
  if (block.state_root) root.setStateRoot(AsData(*block.state_root));
  if (!block.result_roots.empty()) root.setResultRoots(AsData(block.result_roots));
  internal::WriteAggregated(block.aggregated, root);
  WriteNext(block, root);
}

}  // namespace

base::Bytes EncodeBlock(const Block& block) {
  return EncodeCanonical<schema::Block>(
      [&](schema::Block::Builder root) { WriteBlock(block, root); });
}

base::StatusOr<Block> DecodeBlock(base::ByteView bytes) {
  return internal::DecodeCanonical<schema::Block, Block>("block", bytes, kMaxBlockBytes, ReadBlock,
                                                         EncodeBlock);
}

base::Digest BlockDigest(const Block& block) { return DigestOfBlock(EncodeBlock(block)); }

base::Digest DigestOfBlock(base::ByteView encoded) {
  return crypto::Hash(crypto::kDomainBlock, encoded);
}

}  // namespace ostraka::wire
