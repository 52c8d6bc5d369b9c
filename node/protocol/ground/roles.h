// Who does what in a step, and every draw from the coin, as pure functions of sealed data.
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

// Roles of one step. Members in no list hold no role: they are quarantined, and still seal and
// vote.
struct Roles {
  std::vector<PeerId> workers;         // by key
  std::vector<Assignment> validators;  // in draw order
  std::vector<PartRange> parts;        // one a worker; empty if fewer than 3 members are in role
  std::vector<PeerId> owners;          // owners[j] aggregates parts[j]

  bool IsWorker(const PeerId& peer) const;
  // Index of the part that `peer` aggregates.
  std::optional<std::uint32_t> PartOwnedBy(const PeerId& peer) const;
  std::optional<Assignment> AssignmentOf(const PeerId& validator) const;
};

bool IsMember(const std::vector<PeerId>& sorted, const PeerId& peer);

// Accuser and target of open cases, disjoint: greedily in the order of the cases, gradient cases
// first. They hold no role. A case of kNumbers that finds one of its two taken puts nobody out [an
// aggregator that names many, or a liar whom all name, would else put the whole swarm out of role].
// A case of kCover puts nobody out. Each pair holds at least one fault.
std::vector<std::pair<PeerId, PeerId>> QuarantinedPairs(const Block& view);

// Members in no quarantined pair: the ones that may hold a role.
std::vector<PeerId> InRole(const Block& view);

// Faults that an aggregation must still bear: max(t_a, t_s - quarantined pairs - `known_faulty`),
// `known_faulty` being members outside those pairs that seal A proves at fault and that send
// nothing here.
std::uint32_t FaultsAmongWorkers(const Block& view, std::uint32_t known_faulty);

// True iff a validator may be drawn for what `worker` did before: it is in no quarantined pair. Who
// has left answers too, unless it is banned already [else whoever leaves after a misdeed is safe].
bool MayBeTarget(const Block& view, const PeerId& worker);

// r^t: what the coins of `step` make together, by the peers that showed them.
Digest RandomnessOf(const Digest& run_id, std::uint64_t step,
                    const std::map<PeerId, Digest>& coins);

// Validators for step `next_step` from the coin `randomness` of the step before. Drawn from the
// members in role of `view` (the block before that coin: a silence after seeing the coin must not
// change the draw); targets among `workers_proven`, the workers of step next_step - 2 whose PROOFs
// `view` sealed. At most m_t pairs (manifest.h, SparedValidators), all distinct.
std::vector<Assignment> DrawValidators(const Digest& randomness, const Block& view,
                                       const std::vector<PeerId>& workers_proven,
                                       std::uint64_t next_step, std::uint32_t m);

// Roles of step `view.step + 1` (of step 0 after the genesis block): validators of view.drawn that
// are still in role, workers the others in role, parts permuted by view.randomness. Where a block
// put so many out of role that fewer than kFewestWorkers would work, those drawn last work instead
// [one worker among validators would own the whole model, more than a link takes].
Roles AssignRoles(const Block& view, std::uint64_t dimension);

// Seed of the batch of `peer` in `step`: H(run, data source, r^{step-1}, step, peer).
Digest BatchSeed(const Digest& run_id, std::string_view data_source,
                 const Digest& previous_randomness, std::uint64_t step, const PeerId& peer);

// Seed of the four random directions of a part, from the coin of its own step.
Digest DirectionSeed(const Digest& randomness, std::uint64_t step, std::uint32_t part_index);

}  // namespace ostraka::protocol
