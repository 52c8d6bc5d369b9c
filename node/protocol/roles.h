// Who does what in a step, and every draw from the coin, as pure functions of sealed data.
//
// Thread safety: pure functions and plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "node/protocol/state.h"
#include "node/wire/block.h"

namespace ostraka::protocol {

using wire::Block;
using wire::Thresholds;

// A validator of one step and the worker whose step it recomputes.
struct Assignment {
  PeerId validator;
  PeerId target;
  std::uint64_t step = 0;  // of the gradient to recompute
};

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

// Members that no open case names: the ones that may hold a role.
std::vector<PeerId> InRole(const Block& view);

// Faults that an aggregation must still bear: max(t_a, t_s - pairs in open cases - `known_faulty`),
// `known_faulty` being members outside those pairs that seal A shows absent or equivocated.
// (Each quarantined pair holds at least one fault, and a known fault sends nothing.)
std::uint32_t FaultsAmongWorkers(const Block& view, std::uint32_t known_faulty);

// Validators for step `next_step` from the coin `randomness` of the step before. Drawn from the
// members in role of `view` (the block before that coin: a silence after seeing the coin must not
// change the draw); targets among `workers_proven`, the workers of step next_step - 2 whose PROOFs
// `view` sealed. At most m_t = max(0, min(m, R - 2b - 1, R - 3)) pairs, all distinct.
std::vector<Assignment> DrawValidators(const Digest& randomness, const Block& view,
                                       const std::vector<PeerId>& workers_proven,
                                       std::uint64_t next_step, std::uint32_t m);

// Roles of step `view.step + 1` (of step 0 after the genesis block): validators of `drawn` that are
// still in role, workers the others in role, parts permuted by view.randomness.
Roles AssignRoles(const Block& view, const std::vector<Assignment>& drawn, std::uint64_t dimension);

// Seed of the batch of `peer` in `step`: H(run, data source, r^{step-1}, step, peer).
Digest BatchSeed(const Digest& run_id, std::string_view data_source,
                 const Digest& previous_randomness, std::uint64_t step, const PeerId& peer);

// Seed of the four random directions of a part, from the coin of its own step.
Digest DirectionSeed(const Digest& randomness, std::uint64_t step, std::uint32_t part_index);

}  // namespace ostraka::protocol
