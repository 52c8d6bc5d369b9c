// The passes of a block after the cases, and what it remembers of the members for later ones
// (docs/protocol/removals.md, docs/protocol/waits.md): voids, withheld results, echoes, slowness,
// disputes, standings.
//
// Thread safety: pure functions; those over a Step add to its losses.
#pragma once

#include <vector>

#include "tests/property/naive_columns.h"

namespace ostraka::protocol::naive {

// Pass 5. The counts of columns that members voided by their own messages, of members or not.
std::vector<wire::Voids> JudgeVoids(Step& step, const std::vector<ColumnFate>& fates);
// Pass 5: results that too many miss; echoes.
void JudgeWithheldResults(Step& step);
void JudgeEchoes(Step& step);

struct Slowness {
  std::map<PeerId, std::uint64_t> late_ms;  // by member of the last block, after this step
  // (worker, owner): their part was late, and nobody can tell by whose fault
  std::set<std::pair<PeerId, PeerId>> new_pairs;
};
// Pass 5.
Slowness JudgeSlowness(Step& step);
// Lateness of `members` after the block, `joined` being those that it admits.
std::vector<wire::Lateness> LatenessAfter(const Step& step, const Slowness& slowness,
                                          const std::vector<PeerId>& members,
                                          const std::vector<PeerId>& joined);

// docs/protocol/waits.md, "The wait for parts". Sets Step::excused, and gives Block::part_us.
std::uint64_t JudgeWait(Step& step);

// Passes 6 and 7. All disputes that live on or begin, by (worker, aggregator).
std::vector<wire::Dispute> JudgeDisputes(Step& step, const Slowness& slowness);

// "A block that would drop more than F members drops nobody; bans stay."
void ForgiveUntimely(Step& step);

// Bans, then drops, each by key. REQUIRES: all passes are over, as for the others below.
std::vector<wire::Removal> RemovalsOf(const Step& step);
// `came`: those of the block's `joined` for which no seat was kept.
std::vector<wire::Standing> StandingsAfter(const Step& step, const wire::Block& block,
                                           const std::vector<PeerId>& came);

}  // namespace ostraka::protocol::naive
