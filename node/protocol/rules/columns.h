// The column rule (docs/protocol/checks.md): which parts of a step are applied. A function of
// sealed data.
//
// A column is applied iff its S_j names only peers whose COMMIT is sealed present and names the
// parameters of the run (profile exact/1), the sealed COMMIT digests hash to its root, |S_j| >= 2b
// + 1, every i in S_j has sealed numbers that an honest peer can have stated, the aggregate is no
// larger than their sizes allow and not so large that nothing can be checked (sizes.h), and V2 and
// V3 pass; else it is void: its coordinates of parameters and optimiser state stay as they are, on
// all peers.
//
// Members that seal A proves at fault lower the column's b only if they are outside S_j: a member
// that sends its parts and withholds its AGG is still among the senders.
//
// Thread safety: pure functions.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "node/protocol/ground/hash_into.h"
#include "node/protocol/ground/manifest.h"
#include "node/protocol/ground/numbers.h"
#include "node/protocol/ground/roles.h"
#include "node/wire/messages.h"

namespace ostraka::protocol {

using wire::ColumnFate;

// The messages of a step that seals A and C fixed, decoded once.
struct SealedStep {
  std::uint64_t step = 0;
  Roles roles;
  double tau = 0;
  std::map<PeerId, Digest> commit_digests;  // COMMITs sealed present
  std::map<PeerId, wire::Commit> commits;   // of those, the well-formed ones
  // One a part; nullopt if the AGG is absent, equivocated or malformed. An AGG that says that it
  // has no result (a zero root) stands here too: the workers that it leaves out are in dispute with
  // it.
  std::vector<std::optional<wire::Aggregate>> aggregates;
  std::set<PeerId> faulty_in_a;  // members in role: absent or equivocated in seal A, or astray
  // Profile exact/1: the parameters that more than F sealed COMMITs name, and more than name any
  // others; and the members whose COMMIT names others.
  std::optional<Digest> parameters_root;
  std::set<PeerId> astray;
  std::map<PeerId, wire::Proof> proofs;  // sealed present and well-formed

  // The roles follow from the head; COMMITs and PROOFs count by their digests, those of PROOFs in
  // StepReading::proofs.
  void HashInto(crypto::Hasher& hasher) const;

  // True iff the column's sealed AGG gives a result: one that all wait for.
  bool GivesResult(std::size_t column) const;
};

// Members that the column's sealed AGG includes; nullopt if there is none or it cannot be read.
std::optional<std::vector<PeerId>> IncludedIn(const SealedStep& sealed, const Block& head,
                                              std::size_t column);

// Fates from everything that needs no aggregate: kApplied here means "applied if the aggregate
// passes".
std::vector<ColumnFate> JudgeWithoutAggregates(const SealedStep& sealed, const Block& head);

// The size check, V2 and V3, in this order, on the columns that `fates` still has applied.
// `results[j]` is of ghat[j] there. [V3 is last: an aggregate that is far from all rows would
// else be void before its owner can owe a name for it.]
void JudgeAggregates(const SealedStep& sealed, const Block& head, const Manifest& manifest,
                     const std::vector<ResultSize>& results, std::vector<ColumnFate>& fates);

// True iff the fate's owner owes a name: honest, it was lied to by one of its senders.
bool OwesAName(ColumnFate fate);

}  // namespace ostraka::protocol
