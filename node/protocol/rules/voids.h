// Who pays for a void column (protocol.md 5), and the count of columns that a member voided by its
// own word.
//
//   fate             because                                          who pays
//   no_aggregate     AGG sealed absent; two; malformed                the owner: dropped; banned
//                    its result is zero: it formed none               the owner: counted here
//   bad_senders      the bitmap names no worker, or is none           the owner: banned
//                    a COMMIT of an included one is absent, or two    that one: dropped; banned
//                    the COMMITs are there, and do not make the root  the owner: counted here,
//                    unless
//                                                                     an included one is banned now
//   too_few_senders  a worker with a COMMIT is left out               the pair: in dispute
//                    the owner left out itself                        the owner: counted here
//   missing_numbers  a sender's PROOF is absent; two, malformed,      the sender: dropped; banned
//                    impossible
//                    a sender misses the aggregate                    the pair: in dispute
//                    the owner misses its own                         the owner: counted here
//   sum_check,       the numbers contradict the aggregate             the owner owes a name
//   size_check
//   norm_check       an honest row is farther than Delta_max          nobody: the manifest asks it
//   blind            an honest row is far beyond tau                  nobody: tau follows
//
// What is counted here an honest member does when a crash took its parts or its aggregate from it,
// so the first two cost nothing, and nothing here bans. [A worker that shows two COMMITs can have
// an honest owner build its root on the one that is not sealed; but then that owner holds both, and
// its PROOF in the same block bans the worker. So a ban of an included one excuses.]
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "node/protocol/rules/columns.h"
#include "node/protocol/rules/docket.h"

namespace ostraka::protocol {

using wire::Voids;

// Columns that cost a member nothing, and steps after the last one at which all are forgotten.
inline constexpr std::uint32_t kVoidsBorne = 2;
inline constexpr std::uint64_t kVoidsKept = 1000;

// Owners that voided their column of this step by their own word, by column. `docket` has the
// bans of what the seals prove.
std::vector<PeerId> VoidedByOwnWord(const SealedStep& sealed, const Block& view,
                                    const std::vector<ColumnFate>& fates, const Docket& docket);

// The view's counts that live on, with one more for each of `voiders`, by key.
std::vector<Voids> VoidsAfter(const Block& view, const std::vector<PeerId>& voiders,
                              std::uint64_t step);

// Drops whoever voided more than kVoidsBorne columns, the last of them in `step`. Ends no pass.
void DropVoiders(const std::vector<Voids>& voids, std::uint64_t step, Docket& docket);

}  // namespace ostraka::protocol
