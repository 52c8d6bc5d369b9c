#include "node/wire/block.h"
#include "node/wire/canonical.h"
#include "ostraka.capnp.h"

namespace ostraka::wire {
namespace {

using internal::AsData;
using internal::CheckCount;
using internal::EncodeCanonical;
using internal::ReadEnum;
using internal::ReadId;
using internal::ReadIds;
using internal::ReadOptionalId;
using internal::Refuse;

void WriteRemovals(const std::vector<Removal>& removals, schema::Block::Builder root) {
  if (removals.empty()) return;
  auto list = root.initRemovals(static_cast<unsigned>(removals.size()));
  for (unsigned i = 0; i < list.size(); ++i) {
    auto item = list[i];
    item.setPeer(AsData(removals[i].peer));
    item.setKind(static_cast<schema::RemovalKind>(removals[i].kind));
    item.setStep(removals[i].step);
    const std::string& reason = removals[i].reason;
    // With its size: Cap'n Proto would take a std::string to end at its first NUL.
    if (!reason.empty()) item.setReason(capnp::Text::Reader(reason.c_str(), reason.size()));
  }
}

// Reasons end up on terminals and in logs: one line, and nothing that steers either.
base::Status ReadReason(capnp::Text::Reader text, std::string& out) {
  if (text.size() > kMaxReasonBytes) return Refuse("reason", "too long");
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) return Refuse("reason", "control character");
  }
  out.assign(text.begin(), text.end());
  return base::OkStatus();
}

base::Status ReadRemovals(schema::Block::Reader root, std::vector<Removal>& out) {
  const auto list = root.getRemovals();
  RETURN_IF_ERROR(CheckCount(list.size(), "removals", kMaxPeers));
  out.resize(list.size());
  for (unsigned i = 0; i < list.size(); ++i) {
    const schema::Removal::Reader item = list[i];
    RETURN_IF_ERROR(ReadId(item.getPeer(), "removed peer", out[i].peer));
    RETURN_IF_ERROR(ReadEnum(item.getKind(), "removal kind", kRemovalKindCount, out[i].kind));
    out[i].step = item.getStep();
    RETURN_IF_ERROR(ReadReason(item.getReason(), out[i].reason));
  }
  return base::OkStatus();
}

void WriteCase(const Case& open, schema::Case::Builder item) {
  item.setAccuser(AsData(open.accuser));
  item.setTarget(AsData(open.target));
  item.setAccusedStep(open.accused_step);
  item.setOpenedStep(open.opened_step);
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

void WriteCases(const std::vector<Case>& cases, schema::Block::Builder root) {
  if (cases.empty()) return;
  auto list = root.initCases(static_cast<unsigned>(cases.size()));
  for (unsigned i = 0; i < list.size(); ++i) WriteCase(cases[i], list[i]);
}

base::Status ReadCase(schema::Case::Reader item, Case& out) {
  RETURN_IF_ERROR(ReadId(item.getAccuser(), "accuser", out.accuser));
  RETURN_IF_ERROR(ReadId(item.getTarget(), "target", out.target));
  out.accused_step = item.getAccusedStep();
  out.opened_step = item.getOpenedStep();
  std::vector<PeerId> voters;
  RETURN_IF_ERROR(ReadIds(item.getVoters(), "voters", kMaxPeers, voters));
  const capnp::Data::Reader verdicts = item.getVerdicts();
  if (verdicts.size() != voters.size()) return Refuse("verdicts", "one byte a voter");
  out.ballots.resize(voters.size());
  for (std::size_t i = 0; i < voters.size(); ++i) {
    out.ballots[i].voter = voters[i];
    RETURN_IF_ERROR(ReadEnum(verdicts[i], "verdict", kVerdictCount, out.ballots[i].verdict));
  }
  return base::OkStatus();
}

base::Status ReadCases(schema::Block::Reader root, std::vector<Case>& out) {
  const auto list = root.getCases();
  RETURN_IF_ERROR(CheckCount(list.size(), "cases", kMaxVotes));
  out.resize(list.size());
  for (unsigned i = 0; i < list.size(); ++i) RETURN_IF_ERROR(ReadCase(list[i], out[i]));
  return base::OkStatus();
}

base::Status ReadMembers(schema::Block::Reader root, Block& out) {
  RETURN_IF_ERROR(ReadIds(root.getMembers(), "members", kMaxPeers, out.members));
  const auto not_ascending = [](const PeerId& a, const PeerId& b) { return !(a < b); };
  if (std::adjacent_find(out.members.begin(), out.members.end(), not_ascending) !=
      out.members.end()) {
    return Refuse("members", "must be strictly ascending");
  }
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

base::StatusOr<Block> ReadBlock(schema::Block::Reader root) {
  Block block;
  block.step = root.getStep();
  block.genesis = root.getGenesis();
  RETURN_IF_ERROR(ReadId(root.getDecision(), "decision", block.decision));
  RETURN_IF_ERROR(ReadId(root.getPrevious(), "previous", block.previous));
  RETURN_IF_ERROR(ReadId(root.getRandomness(), "randomness", block.randomness));
  RETURN_IF_ERROR(ReadMembers(root, block));
  block.tau = internal::BitsDouble(root.getTau());
  RETURN_IF_ERROR(ReadColumns(root, block.columns));
  RETURN_IF_ERROR(ReadRemovals(root, block.removals));
  RETURN_IF_ERROR(ReadCases(root, block.cases));
  RETURN_IF_ERROR(ReadOptionalId(root.getStateRoot(), "state root", block.state_root));
  return block;
}

}  // namespace

base::Bytes EncodeBlock(const Block& block) {
  return EncodeCanonical<schema::Block>([&](schema::Block::Builder root) {
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
    WriteRemovals(block.removals, root);
    WriteCases(block.cases, root);
    if (block.state_root) root.setStateRoot(AsData(*block.state_root));
  });
}

base::StatusOr<Block> DecodeBlock(base::ByteView bytes) {
  return internal::DecodeCanonical<schema::Block, Block>("block", bytes, kMaxBlockBytes, ReadBlock,
                                                         EncodeBlock);
}

}  // namespace ostraka::wire
