#include "node/protocol/seal.h"

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/base/check.h"

namespace ostraka::protocol {
namespace {

bool Bit(const base::Bytes& bitmap, std::size_t index) {
  return index / 8 < bitmap.size() && ((bitmap[index / 8] >> (index % 8)) & 1) != 0;
}

void SetBit(base::Bytes& bitmap, std::size_t index) {
  bitmap[index / 8] = static_cast<std::uint8_t>(bitmap[index / 8] | 1U << (index % 8));
}

// The first member whose entry `theirs` has in another state than `mine`; empty if only digests
// differ.
std::string FirstDifference(const wire::Echo& mine, const wire::Echo& theirs,
                            const std::vector<PeerId>& members) {
  // Whole rounds of members only: bits beyond the entries are padding, which may hold anything.
  const std::size_t entries = mine.present.size() * 8 / members.size() * members.size();
  for (std::size_t i = 0; i < entries; ++i) {
    const std::string subject = members[i % members.size()].Short();
    const bool agree_present = Bit(mine.present, i) == Bit(theirs.present, i);
    const bool agree_equivocated = Bit(mine.equivocated, i) == Bit(theirs.equivocated, i);
    if (agree_present && agree_equivocated) continue;
    if (Bit(theirs.equivocated, i)) return "it holds two messages of " + subject;
    if (Bit(mine.equivocated, i)) return "it has not seen that " + subject + " equivocated";
    return Bit(mine.present, i) ? "it lacks a message of " + subject
                                : "it has a message of " + subject + " that did not come here";
  }
  return "it holds another message of one sender than came here";
}

}  // namespace

wire::Echo EchoOf(const SealVector& vector) {
  wire::Echo echo;
  echo.present.assign((vector.size() + 7) / 8, 0);
  echo.equivocated.assign((vector.size() + 7) / 8, 0);
  crypto::Hasher hasher(crypto::kDomainVector);
  hasher.UpdateU64(vector.size());
  for (std::size_t i = 0; i < vector.size(); ++i) {
    hasher.UpdateU64(static_cast<std::uint64_t>(vector[i].state)).Update(vector[i].digest);
    if (vector[i].state == SealEntry::State::kPresent) SetBit(echo.present, i);
    if (vector[i].state == SealEntry::State::kEquivocated) SetBit(echo.equivocated, i);
  }
  echo.vector = hasher.Finish();
  return echo;
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

FastPath TryFastPath(const PeerId& self, const std::vector<PeerId>& members,
                     const std::map<PeerId, wire::Echo>& echoes) {
  const auto own = echoes.find(self);
  OSTRAKA_CHECK(own != echoes.end());
  bool complete = true;
  for (const PeerId& member : members) {
    const auto theirs = echoes.find(member);
    if (theirs == echoes.end()) {
      complete = false;
    } else if (theirs->second.vector != own->second.vector) {
      return {FastPath::State::kImpossible,
              member.Short() + " echoed another vector: " +
                  FirstDifference(own->second, theirs->second, members)};
    }
  }
  return {complete ? FastPath::State::kDecided : FastPath::State::kWaiting, ""};
}

}  // namespace ostraka::protocol
