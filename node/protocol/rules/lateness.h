// Who let the others wait, and what it costs (docs/protocol.md 6; docs/decisions/0012-slowness.md).
//
// Nobody can tell honest slowness from spite, so what is bounded is the sum. PROOF::late_ms states,
// for each member, by how much its own words came after their bar, and then for each member by how
// much more its AGG did (node/protocol/watch/late_watch.h). A block makes of the sealed statements
// one figure a member and kind, takes from the AGG's what others caused, and adds both to
// Block::lateness. A step forgives a little; who is beyond its allowance is
// dropped.
//
// Not framed: a figure is the (bound + 1)-th largest stated, so no larger than one that an honest
// member measured. Not evaded: who is late to more members than the bound has a figure, and what
// one honest member holds all hold a Delta later, so nobody else's word is waited for.
// Only a part goes to one member alone: its owner, whose AGG is late when the part is. So an AGG
// names the worker that its owner waited for (Aggregate::slowest), and the owner is excused
//   up to the figure of the worker's own words, for which nothing excuses the worker;
//   up to part_timeout + 2 Delta if that is not enough and the pair is not in dispute: then it
//   comes into dispute (disputes.h), and from then on all members see when the part comes.
// So each pair has that once, whoever of the two lies, and who is in dispute with more members than
// can lie is dropped.
// What more members than the bound are late by at least is nobody's fault (the network's, perhaps):
// all are charged only what exceeds the (bound + 1)-th largest figure.
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

// How long a pair stays in dispute that came into it by a late part. Ten times as long as others: a
// pair that came into dispute anew every hundred steps would cost a deadline each time.
inline constexpr std::uint64_t kLateDisputeSteps = 1000;
// So many steps forgive the manifest's patience.
inline constexpr std::uint64_t kForgivingSteps = 20;

// 2 part_timeout + 2 Delta in ms: how long seals A and C wait at most.
std::uint64_t DeadlineMs(const Block& view, const Manifest& manifest);
// Lateness in ms beyond which a member is dropped: two deadlines.
std::uint64_t AllowanceMs(const Block& view, const Manifest& manifest);

struct LatenessRuling {
  std::map<PeerId, std::uint64_t> charged_ms;     // members of the view; none of zero
  std::set<std::pair<PeerId, PeerId>> new_pairs;  // worker, aggregator: come into dispute
};
LatenessRuling RuleOnLateness(const SealedStep& sealed, const Block& view,
                              const Manifest& manifest);

// ms of each member of the view after the ruling and one step's forgiveness; none of zero.
std::map<PeerId, std::uint64_t> LatenessAfter(const LatenessRuling& ruling, const Block& view,
                                              const Manifest& manifest);
// Drops whoever is beyond its allowance. Ends no pass.
void DropLate(const std::map<PeerId, std::uint64_t>& lateness, const Block& view,
              const Manifest& manifest, Docket& docket);
// Block::lateness of `members`. One in `joined` begins with half its allowance used; nobody is kept
// beyond its allowance (its drop was forgiven).
std::vector<Lateness> KeptLateness(const std::map<PeerId, std::uint64_t>& lateness,
                                   const Block& view, const Manifest& manifest,
                                   const std::vector<PeerId>& members,
                                   const std::vector<PeerId>& joined);
// Of `block`; zero if it has none.
std::uint64_t LatenessOf(const Block& block, const PeerId& member);

}  // namespace ostraka::protocol
