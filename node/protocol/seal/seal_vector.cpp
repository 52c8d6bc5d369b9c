#include "node/protocol/seal/seal_vector.h"

#include "crypto/domains.h"
#include "crypto/hash.h"

namespace ostraka::protocol {
namespace {

using State = SealEntry::State;

void SetBit(base::Bytes& bitmap, std::size_t index) {
  bitmap[index / 8] = static_cast<std::uint8_t>(bitmap[index / 8] | 1U << (index % 8));
}

}  // namespace

bool BitAt(const base::Bytes& bitmap, std::size_t index) {
  return index / 8 < bitmap.size() && ((bitmap[index / 8] >> (index % 8)) & 1) != 0;
}

State StateIn(const wire::Echo& echo, std::size_t index) {
  if (BitAt(echo.equivocated, index)) return State::kEquivocated;
  return BitAt(echo.present, index) ? State::kPresent : State::kAbsent;
}

Digest HashOf(const SealVector& vector) {
  crypto::Hasher hasher(crypto::kDomainVector);
  hasher.UpdateU64(vector.size());
  for (const SealEntry& entry : vector) {
    hasher.UpdateU64(static_cast<std::uint64_t>(entry.state)).Update(entry.digest);
  }
  return hasher.Finish();
}

wire::Echo EchoOf(const SealVector& vector) {
  wire::Echo echo;
  echo.vector = HashOf(vector);
  echo.present.assign((vector.size() + 7) / 8, 0);
  echo.equivocated.assign((vector.size() + 7) / 8, 0);
  for (std::size_t i = 0; i < vector.size(); ++i) {
    if (vector[i].state == State::kPresent) SetBit(echo.present, i);
    if (vector[i].state == State::kEquivocated) SetBit(echo.equivocated, i);
  }
  return echo;
}

wire::Vector WireOf(const SealVector& vector) {
  wire::Vector out;
  out.entries.reserve(vector.size());
  for (const SealEntry& entry : vector) {
    out.entries.push_back({static_cast<std::uint8_t>(entry.state), entry.digest});
  }
  return out;
}

std::optional<SealVector> VectorOf(const wire::Vector& vector) {
  SealVector out;
  out.reserve(vector.entries.size());
  for (const wire::VectorEntry& entry : vector.entries) {
    if (entry.state > static_cast<std::uint8_t>(State::kEquivocated)) return std::nullopt;
    const auto state = static_cast<State>(entry.state);
    if (state != State::kPresent && !entry.digest.is_zero()) return std::nullopt;
    out.push_back({state, entry.digest});
  }
  return out;
}

Digest DecisionDigest(const wire::Slot& seal_slot, const Digest& vector, const Digest& previous) {
  return crypto::Hasher(crypto::kDomainDecision)
      .Update(seal_slot.run_id)
      .UpdateU64(seal_slot.incarnation)
      .UpdateU64(seal_slot.step)
      .UpdateU64(static_cast<std::uint64_t>(seal_slot.phase))
      .UpdateU64(seal_slot.draw)
      .Update(vector)
      .Update(previous)
      .Finish();
}

std::string DifferenceOf(const wire::Echo& mine, const wire::Echo& theirs, std::size_t entries,
                         const std::vector<PeerId>& members) {
  for (std::size_t i = 0; i < entries; ++i) {
    const std::string subject = members[i % members.size()].Short();
    const bool agree_present = BitAt(mine.present, i) == BitAt(theirs.present, i);
    const bool agree_equivocated = BitAt(mine.equivocated, i) == BitAt(theirs.equivocated, i);
    if (agree_present && agree_equivocated) continue;
    if (BitAt(theirs.equivocated, i)) return "it holds two messages of " + subject;
    if (BitAt(mine.equivocated, i)) return "it has not seen that " + subject + " equivocated";
    return BitAt(mine.present, i) ? "it lacks a message of " + subject
                                  : "it has a message of " + subject + " that did not come here";
  }
  return "it holds another message of one sender than came here";
}

void SealEntry::HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, state, digest); }

}  // namespace ostraka::protocol
