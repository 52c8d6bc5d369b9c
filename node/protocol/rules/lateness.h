// Lateness: the time for which a member kept the others waiting, and its cost
// (docs/protocol/waits.md; docs/decisions/0012-slowness.md).
//
// Honest slowness cannot be told from malice, so the sum is bounded. PROOF::late_ms states for each
// member by how much its messages but AGG came after their bar, and then for each member by how
// much more its AGG did (node/protocol/watch/late_watch.h). From the sealed statements a block
// computes one figure for each member and kind, subtracts from the AGG's figure what others caused,
// and adds both to Block::lateness. Each step forgives a little. A member beyond its allowance is
// dropped.
//
// Attack: framing. A figure is the (fault bound + 1)-th largest that others state, so it is at most
// one that an honest member measured.
// Attack: evasion. A member that is late to more members than the fault bound has a figure. A
// message that one honest member holds, all hold a Delta later, so no other message is waited for.
//
// Only a part goes to one member alone: its owner, whose AGG is late if the part is. So an AGG
// names the worker that its owner waited for (Aggregate::slowest), and the owner is excused
//   up to the figure of the worker's own messages, for which nothing excuses the worker;
//   up to the wait for parts + 2 Delta if that is not enough and the pair is not in dispute: then
//   the pair comes into dispute (disputes.h), and from then on all members see when the part comes.
// So each pair has the second excuse once, whichever of the two lies; and a member in dispute with
// more members than can lie is dropped.
//
// If more members than the fault bound are late, their common lateness is charged to none of them
// (the network may have caused it): each is charged only what exceeds the (fault bound + 1)-th
// largest figure.
//
// Thread safety: pure functions of sealed data.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "node/protocol/ground/manifest.h"
#include "node/protocol/rules/columns.h"
#include "node/protocol/rules/docket.h"

namespace ostraka::protocol {

using wire::Lateness;

// The number of steps for which a late part puts a pair in dispute. Ten times that of other
// disputes: a pair that came into dispute anew every hundred steps would cost a deadline each time.
inline constexpr std::uint64_t kLateDisputeSteps = 1000;
// The number of steps that forgive the manifest's patience.
inline constexpr std::uint64_t kForgivingSteps = 20;

// 2 part_timeout + 2 Delta in ms: the longest wait of seals A and C.
std::uint64_t DeadlineMs(const Block& head, const Manifest& manifest);
// Lateness in ms beyond which a member is dropped: two deadlines.
std::uint64_t AllowanceMs(const Block& head, const Manifest& manifest);

struct LatenessRuling {
  std::map<PeerId, std::uint64_t> charged_ms;     // of members of the head; never zero
  std::set<std::pair<PeerId, PeerId>> new_pairs;  // (worker, aggregator) that come into dispute
};
LatenessRuling RuleOnLateness(const SealedStep& sealed, const Block& head,
                              const Manifest& manifest);

// By member of the head, in ms: its lateness after the ruling and one step's forgiveness; never
// zero.
std::map<PeerId, std::uint64_t> LatenessAfter(const LatenessRuling& ruling, const Block& head,
                                              const Manifest& manifest);
// Drops each member beyond its allowance. Ends no pass.
void DropLate(const std::map<PeerId, std::uint64_t>& lateness, const Block& head,
              const Manifest& manifest, Docket& docket);
// Block::lateness of `members`. A member in `joined` begins with half its allowance used. A member
// beyond its allowance whose drop was forgiven keeps exactly its allowance.
std::vector<Lateness> KeptLateness(const std::map<PeerId, std::uint64_t>& lateness,
                                   const Block& head, const Manifest& manifest,
                                   const std::vector<PeerId>& members,
                                   const std::vector<PeerId>& joined);
// The lateness of `member` in `block`, in ms; zero if it has none.
std::uint64_t LatenessOf(const Block& block, const PeerId& member);

}  // namespace ostraka::protocol
