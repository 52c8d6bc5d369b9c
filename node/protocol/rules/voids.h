// The party that pays for a void column (docs/protocol/checks.md), and the count of columns that a
// member voided by its own message.
//
//   fate             cause                                            payer
//   no_aggregate     AGG sealed absent; two; malformed                owner: dropped; banned
//                    its result is zero: it formed none               owner: counted here
//   bad_senders      the bitmap names one that is no worker, or none  owner: banned
//                    a COMMIT of an included one is absent, or two    that worker: dropped; banned
//                    the COMMITs are there and do not make the root   owner: counted here, but not
//                                                                     if an included one is banned
//   too_few_senders  a worker with a COMMIT is left out               the pair: in dispute
//                    the owner left out itself                        owner: counted here
//   missing_numbers  a sender's PROOF is absent; two, malformed,      sender: dropped; banned
//                    impossible
//                    a sender misses the aggregate                    the pair: in dispute
//                    the owner misses its own                         owner: counted here
//   sum_check,       the numbers contradict the aggregate             owner: owes a name
//   size_check
//   norm_check       an honest row is farther than Delta_max          none: by the manifest
//   blind            an honest row is far beyond tau                  none: tau follows
//
// "Counted here": an honest member may do this after a crash that lost its parts or its aggregate.
// So the first kVoidsBorne cost nothing, and no count bans. Attack: a worker that signs two COMMITs
// can make an honest owner build its root on the one that is not sealed. But then that owner holds
// both, and its PROOF in the same block bans the worker; so a ban of an included worker excuses.
// In a step that is excused for a short wait (part_wait.h) only a wrong root counts: an owner whose
// parts or whose aggregate came too late had no time. [In a run whose least wait was shorter than a
// gradient, honest members were dropped for voids.]
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "node/protocol/rules/columns.h"
#include "node/protocol/rules/docket.h"

namespace ostraka::protocol {

using wire::Voids;

// kVoidsBorne columns cost a member nothing; kVoidsKept steps after the last one all are forgotten.
inline constexpr std::uint32_t kVoidsBorne = 2;
inline constexpr std::uint64_t kVoidsKept = 1000;

struct JudgedColumns {
  const std::vector<ColumnFate>& fates;
  bool lateness_counts = true;  // false in a step that is excused (part_wait.h)
};
// Owners that voided their column of this step by their own message, by column. `docket` holds the
// bans that the seals prove.
std::vector<PeerId> VoidedByOwnMessage(const SealedStep& sealed, const Block& head,
                                       const JudgedColumns& columns, const Docket& docket);

// The head's counts that live on, with one more for each of `voiders`, by key.
std::vector<Voids> VoidsAfter(const Block& head, const std::vector<PeerId>& voiders,
                              std::uint64_t step);

// Drops each member that voided more than kVoidsBorne columns, the last one in `step`. Ends no
// pass.
void DropVoiders(const std::vector<Voids>& voids, std::uint64_t step, Docket& docket);

}  // namespace ostraka::protocol
