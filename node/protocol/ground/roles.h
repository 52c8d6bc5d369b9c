// The roles of a step and every draw from the coin, as pure functions of sealed data.
//
// Thread safety: pure functions and plain values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "node/protocol/ground/state.h"
#include "node/wire/block.h"

namespace ostraka::protocol {

using wire::Assignment;
using wire::Block;
using wire::Thresholds;

// Roles of one step. A member in no list is quarantined: it holds no role, and still seals and
// votes.
struct Roles {
  std::vector<PeerId> workers;         // by key
  std::vector<Assignment> validators;  // in draw order; those that work and are in role work too
  std::vector<PartRange> parts;        // one per owner; empty if the step has fewer than 3 of them
  std::vector<PeerId> owners;          // owners[j] aggregates parts[j]: see AssignRoles

  bool IsWorker(const PeerId& peer) const;
  // Index of the part that `peer` aggregates.
  std::optional<std::uint32_t> PartOwnedBy(const PeerId& peer) const;
  std::optional<Assignment> AssignmentOf(const PeerId& validator) const;
};

bool IsMember(const std::vector<PeerId>& sorted, const PeerId& peer);

// Four sets of members take part in a step, and each rule names the one that it means. They are
// nearly equal today, and need not stay so:
//   sealers  agree on the messages of each phase (SealersOf), and count in n
//   workers  compute gradients (Roles::workers)
//   owners   aggregate the parts (Roles::owners)
//   voters   judge an open case (VotersIn, node/protocol/rules/cases.h)
// The sealers of the step after `head`, by key: entry i of a seal's vector is that of sealer i.
inline const std::vector<PeerId>& SealersOf(const Block& head) { return head.members; }

// Accuser and target of open cases, which hold no role. The pairs are disjoint, chosen greedily in
// the order of the cases, gradient cases first. A case of which one party is taken already adds no
// pair. Attack: an aggregator that accuses many, or a liar that all accuse, would otherwise put the
// whole swarm out of role. A case of kCover adds no pair. Each pair holds at least one fault.
std::vector<std::pair<PeerId, PeerId>> QuarantinedPairs(const Block& head);

// Members that may hold a role: in no quarantined pair, not leaving, and not admitted by `head`.
// Rationale of the last: whether the F + 1st member confirms a return is chosen when the coin that
// orders the owners and draws the validators is known.
std::vector<PeerId> InRole(const Block& head);

// n' of `head`: its members but for those that it admits, and for those that are leaving and in no
// quarantined pair. A view of these comes anyway, so f <= t_s(n') is what a run assumes from the
// flag on, and in it each pair holds a fault, whichever of the two it is.
std::size_t MembersInView(const Block& head);

// Faults that an aggregation must still bear: max(t_a, t_s - quarantined pairs - `known_faulty`),
// with t_s and t_a of n'. Attack: with those of n, in mode majority two that leave at n = 16 void
// the whole step, as 14 work and the t_s of 16 asks for 15. `known_faulty` counts members outside
// the pairs that seal A proves faulty and that contribute nothing to the aggregation.
std::uint32_t FaultsAmongWorkers(const Block& head, std::uint32_t known_faulty);

// True iff a validator may be drawn for a past step of `worker`, and then judge it: it is in no
// pair of a gradient case, and not banned. A member that is leaving, or a former member, may be
// a target too. Attack: otherwise a member that leaves after a misdeed is safe. A case of kNumbers
// excuses neither a target nor a drawn validator. Attack: a liar saw that the coin had drawn
// a validator for it, and named somebody in the same step, or a friend named the liar or the
// validator. The pair held no role when the check was due, nothing was drawn for that step again,
// and the namer, which showed no part, lost its place for some steps.
bool MayBeTarget(const Block& head, const PeerId& worker);

// r^t: the randomness of `step`, from the coins revealed in it, by peer.
Digest RandomnessOf(const Digest& run_id, std::uint64_t step,
                    const std::map<PeerId, Digest>& coins);

// Validators for step `next_step`, drawn by the coin `randomness` of the step before from the
// members in role of `head`, the block before that coin. (Attack: if the pool came from a later
// block, a member could change the draw by silence after it saw the coin.) Targets are drawn from
// `workers_proven`, the workers of step next_step - 2 whose PROOFs `head` sealed. At most m_t pairs
// (manifest.h, SparedValidators), all distinct.
//
// While `head` has an alarm for `next_step`, at least `alarm` are drawn, but no more than half of
// those in role; those beyond m_t work as well. Attack: near n / 2 few can be spared, and each step
// until a liar's turn comes it lies once more. Whether there is an alarm follows from `head`, not
// from the block that is made. Attack: a colluding validator would accuse falsely to have targets
// drawn anew when it knows the coin. A false alarm costs its accuser its place.
//
// As many are drawn as without the open cases of kNumbers, with the same bound; those beyond m_t
// work as well. Attack: of five members one lies, names another in the same step, and for the coin
// that draws among the gradients of that step nobody can be spared.
std::vector<Assignment> DrawValidators(const Digest& randomness, const Block& head,
                                       const std::vector<PeerId>& workers_proven,
                                       std::uint64_t next_step, std::uint32_t m,
                                       std::uint32_t alarm = 0);

// Roles of step `head.step + 1` (of step 0 after the genesis block). Validators are the members of
// head.drawn that are neither leaving nor in a gradient case, workers the others in role and
// validators in role that work as well. Owners are the workers that can be dialed (reach.h), so
// that no bulk data needs a path between two members behind NATs. A validator that is drawn works
// as well if fewer than kFewestOwners owners would remain without it. Rationale: a single owner
// would own the whole model, more than a link carries. Attack: when it worked instead, one of four
// or five members that was silent, or named another, after it saw the coin was not judged. If fewer
// than that may own among those in role, the step has validators alone. The step that closes a run
// has no roles.
//
// head.randomness orders all keys, and the owners follow in that order, so who is struck out
// changes no other owner's place among the rest. Attack: members that could choose to leave after
// they saw the coin would choose among the permutations of all subsets.
Roles AssignRoles(const Block& head, std::uint64_t dimension);
// The same in a run of an earlier protocol version, for evidence of it. Until version 7 a member
// works in the step after the block that admits it, and until version 6 it owns a column there as
// well.
Roles AssignRolesIn(std::uint32_t version, const Block& head, std::uint64_t dimension);

// Seed of the batch of `peer` in `step`: H(run, data source, r^{step-1}, step, peer).
Digest BatchSeed(const Digest& run_id, std::string_view data_source,
                 const Digest& previous_randomness, std::uint64_t step, const PeerId& peer);

// Seed of the four random directions of a part, from the coin of its own step.
Digest DirectionSeed(const Digest& randomness, std::uint64_t step, std::uint32_t part_index);

}  // namespace ostraka::protocol
