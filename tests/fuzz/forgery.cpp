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

// A step near the present one, mostly.
std::uint64_t AnyStep(const ForgerView& view, ByteSource& source) {
  return source.Byte() % 8 == 0 ? source.Integer(8) : view.step - source.Below(4);
}

void Edit(wire::Boot& boot, const ForgerView&, ByteSource& source) {
  if (source.Flip()) return Spoil(boot.boot_id, source);
  boot.protocol_version = source.Byte();
}

void Edit(wire::Commit& commit, const ForgerView&, ByteSource& source) {
  switch (source.Below(4)) {
    case 0:
      return Spoil(commit.coins_root, source);
    case 1:
      commit.coin_count = source.Byte();
      return;
    case 2:
      return commit.gradient_root.reset();
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

void Edit(wire::Proof& proof, const ForgerView& view, ByteSource& source) {
  switch (source.Below(6)) {
    case 0:
      return EditColumns(proof.columns, source);
    case 1:
      proof.accusation = {AnyMember(view, source), AnyStep(view, source)};
      return;
    case 2:
      proof.votes.push_back({AnyMember(view, source), AnyMember(view, source),
                             AnyStep(view, source),
                             static_cast<wire::Verdict>(source.Below(wire::kVerdictCount))});
      return;
    case 3:
      return Spoil(proof.state_root.emplace(), source);
    case 4: {
      Bytes file;
      if (!view.evidence.empty()) file = view.evidence[source.Below(view.evidence.size())];
      if (!file.empty() && source.Flip()) file[source.Below(file.size())] ^= source.Byte();
      return proof.evidence.push_back(std::move(file));
    }
    default:
      proof.confirmations.push_back({Digest{}, source.Flip()});
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

// `decoded` is of an honest body, or of one that was forged before and may be unreadable.
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
      return Forged(wire::DecodeBoot(body), view, source);
    case wire::MessageType::kCommit:
      return Forged(wire::DecodeCommit(body), view, source);
    case wire::MessageType::kPart:
      return Forged(wire::DecodePart(body), view, source);
    case wire::MessageType::kAggregate:
      return Forged(wire::DecodeAggregate(body), view, source);
    case wire::MessageType::kResult:
      return Forged(wire::DecodeResult(body), view, source);
    case wire::MessageType::kReveal:
      return Forged(wire::DecodeReveal(body), view, source);
    case wire::MessageType::kProof:
      return Forged(wire::DecodeProof(body), view, source);
    case wire::MessageType::kEcho:
      return Forged(wire::DecodeEcho(body), view, source);
  }
  OSTRAKA_CHECK(false);
}

}  // namespace ostraka::fuzz
