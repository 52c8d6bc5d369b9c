#include "node/protocol/rules/voids.h"

#include <algorithm>
#include <map>
#include <string>

#include "node/base/planted.h"

namespace ostraka::protocol {
namespace {

// The column's sealed AGG includes workers only, whose COMMITs are all sealed, and nobody whom
// this block bans: that their COMMITs do not make its root is nobody else's doing.
bool RootIsItsOwn(const SealedStep& sealed, const std::vector<PeerId>& senders,
                  const Docket& docket) {
  return std::all_of(senders.begin(), senders.end(), [&](const PeerId& sender) {
    return sealed.roles.IsWorker(sender) && sealed.commit_digests.contains(sender) &&
           docket.Answers(sender);
  });
}

bool MissesItsOwn(const SealedStep& sealed, const PeerId& owner, std::size_t column) {
  const auto proof = sealed.proofs.find(owner);
  return proof != sealed.proofs.end() && column < proof->second.columns.size() &&
         proof->second.columns[column].missing;
}

bool IsByOwnMessage(const SealedStep& sealed, const Block& head, ColumnFate fate,
                    std::size_t column, const Docket& docket) {
  const PeerId& owner = sealed.roles.owners[column];
  const auto senders = IncludedIn(sealed, head, column);
  switch (fate) {
    case ColumnFate::kNoAggregate:
      return sealed.aggregates[column].has_value();
    case ColumnFate::kBadSenders:
      return senders && RootIsItsOwn(sealed, *senders, docket);
    case ColumnFate::kTooFewSenders:
      return senders && !IsMember(*senders, owner);
    case ColumnFate::kMissingNumbers:
      return MissesItsOwn(sealed, owner, column);
    case ColumnFate::kApplied:
    case ColumnFate::kSumCheck:
    case ColumnFate::kNormCheck:
    case ColumnFate::kSizeCheck:
    case ColumnFate::kBlind:
      return false;
  }
  return false;
}

}  // namespace

std::vector<PeerId> VoidedByOwnMessage(const SealedStep& sealed, const Block& head,
                                       const JudgedColumns& columns, const Docket& docket) {
  std::vector<PeerId> voiders;
  if (base::Planted(base::Bug::kVoidsAreFree)) return voiders;
  for (std::size_t j = 0; j < columns.fates.size(); ++j) {
    const ColumnFate fate = columns.fates[j];
    if (!columns.lateness_counts && fate != ColumnFate::kBadSenders) continue;
    if (IsByOwnMessage(sealed, head, fate, j, docket)) voiders.push_back(sealed.roles.owners[j]);
  }
  return voiders;
}

std::vector<Voids> VoidsAfter(const Block& head, const std::vector<PeerId>& voiders,
                              std::uint64_t step) {
  std::map<PeerId, Voids> counts;
  for (const Voids& voids : head.voids) {
    if (step < voids.last_step + kVoidsKept) counts.emplace(voids.peer, voids);
  }
  for (const PeerId& voider : voiders) {
    Voids& voids = counts[voider];
    voids.peer = voider;
    ++voids.count;
    voids.last_step = step;
  }
  std::vector<Voids> all;
  for (const auto& [peer, voids] : counts) all.push_back(voids);
  return all;
}

void DropVoiders(const std::vector<Voids>& voids, std::uint64_t step, Docket& docket) {
  for (const Voids& one : voids) {
    if (one.count <= kVoidsBorne || one.last_step != step) continue;
    docket.Drop(one.peer, {.cause = wire::Cause::kVoidedColumns, .count = one.count});
  }
}

}  // namespace ostraka::protocol
