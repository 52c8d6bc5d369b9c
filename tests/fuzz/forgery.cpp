#include "tests/fuzz/forgery.h"

#include "node/base/check.h"
#include "node/wire/codec.h"

namespace ostraka::fuzz {
namespace {

using base::Bytes;
using base::Digest;
using base::PeerId;

void Spoil(Digest& digest, ByteSource& source) {
  digest.bytes[source.Below(Digest::kSize)] ^= source.Byte();
}

void Spoil(Bytes& bitmap, ByteSource& source) {
  if (source.Byte() % 4 == 0) return bitmap.resize(source.Below(8));
  if (!bitmap.empty()) bitmap[source.Below(bitmap.size())] ^= source.Byte();
}

void Spoil(std::vector<Digest>& path, ByteSource& source) {
  if (source.Byte() % 4 == 0) return path.resize(source.Below(5));
  if (!path.empty()) Spoil(path[source.Below(path.size())], source);
}

void Spoil(wire::TensorHeader& header, ByteSource& source) {
  if (source.Flip()) return header.shape.push_back(source.Integer(8));
  if (!header.shape.empty()) header.shape[0] = source.Integer(8);
}

PeerId AnyMember(const ForgerView& view, ByteSource& source) {
  return view.members[source.Below(view.members.size())];
}

// A step, mostly near the present one.
std::uint64_t AnyStep(const ForgerView& view, ByteSource& source) {
  return source.Byte() % 8 == 0 ? source.Integer(8) : view.step - source.Below(4);
}

void Edit(wire::Boot& boot, const ForgerView&, ByteSource& source) {
  if (source.Flip()) return Spoil(boot.boot_id, source);
  boot.protocol_version = source.Byte();
}

void Edit(wire::Commit& commit, const ForgerView&, ByteSource& source) {
  switch (source.Below(7)) {
    case 6:
      commit.only_dials = !commit.only_dials;
      return;
    case 0:
      return Spoil(commit.coins_root, source);
    case 1:
      commit.coin_count = source.Byte();
      return;
    case 2:
      return commit.gradient_root.reset();
    case 3:
      return commit.parameters_root.reset();
    case 4:
      return Spoil(commit.parameters_root.emplace(), source);
    default:
      return Spoil(commit.gradient_root.emplace(), source);
  }
}

void Edit(wire::Part& part, const ForgerView&, ByteSource& source) {
  switch (source.Below(3)) {
    case 0:
      return Spoil(part.header, source);
    case 1:
      return Spoil(part.root, source);
    default:
      return Spoil(part.path, source);
  }
}

void Edit(wire::Aggregate& aggregate, const ForgerView&, ByteSource& source) {
  switch (source.Below(6)) {
    case 0:
      aggregate.part_index = source.Byte();
      return;
    case 1:
      return Spoil(aggregate.included, source);
    case 2:
      aggregate.result_root = {};
      return;
    case 3:
      return Spoil(aggregate.result_root, source);
    case 4:
      return Spoil(aggregate.leaves_root, source);
    default:
      return Spoil(aggregate.commits_root, source);
  }
}

void Edit(wire::Result& result, const ForgerView&, ByteSource& source) {
  if (source.Flip()) return Spoil(result.header, source);
  Spoil(result.root, source);
}

void Edit(wire::Reveal& reveal, const ForgerView&, ByteSource& source) {
  switch (source.Below(3)) {
    case 0:
      return Spoil(reveal.opening.coin.value, source);
    case 1:
      return Spoil(reveal.opening.coin.salt, source);
    default:
      return Spoil(reveal.opening.path, source);
  }
}

void EditColumns(std::vector<wire::ColumnNumbers>& columns, ByteSource& source) {
  if (source.Byte() % 4 == 0) return columns.resize(source.Below(6));
  if (columns.empty()) return;
  wire::ColumnNumbers& numbers = columns[source.Below(columns.size())];
  switch (source.Below(4)) {
    case 0:
      numbers = {};
      numbers.missing = true;
      return;
    case 1:
      numbers.norm = source.Double();
      return;
    case 2:
      numbers.s[source.Below(numbers.s.size())] = source.Double();
      return;
    default:  // small lies, which pass the checks of range
      numbers.norm *= 1.0 + source.Byte() / 1024.0;
      numbers.s[source.Below(numbers.s.size())] *= source.Byte() / 128.0 - 1.0;
      return;
  }
}

wire::CaseId AnyCase(const ForgerView& view, ByteSource& source) {
  return {static_cast<wire::CaseKind>(source.Below(wire::kCaseKindCount)), AnyMember(view, source),
          AnyMember(view, source), AnyStep(view, source),
          static_cast<std::uint32_t>(source.Below(6))};
}

void Edit(wire::Proof& proof, const ForgerView& view, ByteSource& source) {
  switch (source.Below(10)) {
    case 0:
      return EditColumns(proof.columns, source);
    case 1:
      proof.accusation = {AnyMember(view, source), AnyStep(view, source)};
      return;
    case 2:
      proof.votes.push_back(
          {AnyCase(view, source), static_cast<wire::Verdict>(source.Below(wire::kVerdictCount))});
      return;
    case 3:
      return Spoil(proof.state_root.emplace(), source);
    case 4: {
      Bytes file;
      if (!view.evidence.empty()) file = view.evidence[source.Below(view.evidence.size())];
      if (!file.empty() && source.Flip()) file[source.Below(file.size())] ^= source.Byte();
      return proof.evidence.push_back(std::move(file));
    }
    case 5:
      proof.naming = {AnyMember(view, source), AnyStep(view, source),
                      static_cast<std::uint32_t>(source.Below(6))};
      return;
    case 6:
      return Spoil(proof.held, source);
    case 7:
      return Spoil(proof.silent, source);
    case 8:
      return proof.joins.push_back(AnyMember(view, source));
    default:
      proof.lag_us = source.Integer(8);
      return;
  }
}

void Edit(wire::Echo& echo, const ForgerView&, ByteSource& source) {
  switch (source.Below(3)) {
    case 0:
      return Spoil(echo.vector, source);
    case 1:
      return Spoil(echo.present, source);
    default:
      return Spoil(echo.equivocated, source);
  }
}

// A rank of the slow path's, mostly one that a seal may see.
std::uint32_t AnyRank(ByteSource& source) {
  return static_cast<std::uint32_t>(source.Byte() % 8 == 0 ? source.Integer(4) : source.Below(4));
}

void Edit(wire::SealStatus& status, const ForgerView&, ByteSource& source) {
  if (source.Flip()) return Spoil(status.value, source);
  status.rank = AnyRank(source);
}

void Edit(wire::Propose& propose, const ForgerView&, ByteSource& source) {
  switch (source.Below(4)) {
    case 0:
      return Spoil(propose.value, source);
    case 1:
      return Spoil(propose.statuses, source);
    case 2:
      return Spoil(propose.statuses_root, source);
    default:
      propose.rank = AnyRank(source);
      return;
  }
}

void Edit(wire::SealVote& vote, const ForgerView&, ByteSource& source) {
  if (source.Flip()) return Spoil(vote.value, source);
  vote.rank = AnyRank(source);
}

void Edit(wire::Lock& lock, const ForgerView&, ByteSource& source) { Spoil(lock.value, source); }
void Edit(wire::Close& /*close*/, const ForgerView&, ByteSource& /*source*/) {}

void Edit(wire::Rejoin& rejoin, const ForgerView&, ByteSource& source) {
  Spoil(rejoin.nonce, source);
}

void Edit(wire::Pull& pull, const ForgerView&, ByteSource& source) {
  switch (source.Below(5)) {
    case 0:
      pull.kind = static_cast<wire::PullKind>(source.Below(wire::kPullKindCount));
      return;
    case 1:
      pull.type = static_cast<wire::MessageType>(source.Below(wire::kMessageTypeCount));
      return;
    case 2:
      return Spoil(pull.members, source);
    case 3:
      return Spoil(pull.digests, source);
    default:
      pull.index = source.Integer(8);
      return;
  }
}

void Edit(wire::Vector& vector, const ForgerView&, ByteSource& source) {
  if (source.Byte() % 4 == 0) return vector.entries.resize(source.Below(20));
  if (vector.entries.empty()) return;
  wire::VectorEntry& entry = vector.entries[source.Below(vector.entries.size())];
  if (source.Flip()) return Spoil(entry.digest, source);
  entry = {static_cast<std::uint8_t>(source.Below(3)), {}};
}

void Edit(wire::BlockMessage& block, const ForgerView&, ByteSource& source) {
  if (source.Flip()) return Spoil(block.digest, source);
  block.head = !block.head;
}

void Edit(wire::Chunk& chunk, const ForgerView&, ByteSource& source) {
  chunk.step = source.Integer(8);
  chunk.index = source.Below(4);
  chunk.count = source.Flip() ? source.Integer(8) : chunk.index + source.Below(4);
}

void Edit(wire::Forward& forward, const ForgerView& view, ByteSource& source) {
  switch (source.Below(3)) {
    case 0:
      if (!view.members.empty()) forward.from = view.members[source.Below(view.members.size())];
      return;
    case 1:
      if (!view.members.empty()) forward.to = view.members[source.Below(view.members.size())];
      return;
    default:
      if (forward.frame.empty()) return;
      forward.frame[source.Below(forward.frame.size())] ^= source.Byte();
  }
}

// `decoded` is the body of an honest message, or of an earlier forgery that may be unreadable.
template <typename Body>
Bytes Forged(base::StatusOr<Body> decoded, const ForgerView& view, ByteSource& source) {
  Body body = decoded.ok() ? *std::move(decoded) : Body{};
  for (std::size_t edits = 1 + source.Below(3); edits > 0; --edits) Edit(body, view, source);
  return wire::Encode(body);
}

}  // namespace

Bytes ForgeBody(wire::MessageType type, const Bytes& body, const ForgerView& view,
                ByteSource& source) {
  if (source.Byte() % 16 == 15) {
    const base::ByteView raw = source.Take(source.Below(64));
    return {raw.begin(), raw.end()};
  }
  switch (type) {
    case wire::MessageType::kBoot:
      return Forged(wire::Decode<wire::Boot>(body), view, source);
    case wire::MessageType::kCommit:
      return Forged(wire::Decode<wire::Commit>(body), view, source);
    case wire::MessageType::kPart:
      return Forged(wire::Decode<wire::Part>(body), view, source);
    case wire::MessageType::kAggregate:
      return Forged(wire::Decode<wire::Aggregate>(body), view, source);
    case wire::MessageType::kResult:
      return Forged(wire::Decode<wire::Result>(body), view, source);
    case wire::MessageType::kReveal:
      return Forged(wire::Decode<wire::Reveal>(body), view, source);
    case wire::MessageType::kProof:
      return Forged(wire::Decode<wire::Proof>(body), view, source);
    case wire::MessageType::kEcho:
      return Forged(wire::Decode<wire::Echo>(body), view, source);
    case wire::MessageType::kStatus:
      return Forged(wire::Decode<wire::SealStatus>(body), view, source);
    case wire::MessageType::kPropose:
      return Forged(wire::Decode<wire::Propose>(body), view, source);
    case wire::MessageType::kVote:
      return Forged(wire::Decode<wire::SealVote>(body), view, source);
    case wire::MessageType::kLock:
      return Forged(wire::Decode<wire::Lock>(body), view, source);
    case wire::MessageType::kClose:
      return Forged(wire::Decode<wire::Close>(body), view, source);
    case wire::MessageType::kRejoin:
      return Forged(wire::Decode<wire::Rejoin>(body), view, source);
    case wire::MessageType::kPull:
      return Forged(wire::Decode<wire::Pull>(body), view, source);
    case wire::MessageType::kVector:
      return Forged(wire::Decode<wire::Vector>(body), view, source);
    case wire::MessageType::kBlock:
      return Forged(wire::Decode<wire::BlockMessage>(body), view, source);
    case wire::MessageType::kChunk:
      return Forged(wire::Decode<wire::Chunk>(body), view, source);
    case wire::MessageType::kForward:
      return Forged(wire::Decode<wire::Forward>(body), view, source);
  }
  OSTRAKA_CHECK(false);
}

}  // namespace ostraka::fuzz
