// How long a step waits for members that recompute gradients of others: for accusations and votes.
// All of it follows from the head and the manifest, so all members know when whose PROOF is due.
//
// Attack: one lie found made each PROOF wait for as many gradients as cases had opened. Slower
// honest members were charged for it, and lost their places.
// Attack: a PROOF that waits for nothing has no vote in it, as the next gradient goes first
// (UrgencyOf). Then no case is decided in time, and accusers lose their places.
// Attack: with no time for looks a slow run suspends by a first fault who lies in every step.
// What it leaves to liars: who is drawn as a validator, or has not voted in a case in work, may be
// later than others by these times, at no charge. A case costs its accuser or its target the
// place.
//
// Thread safety: pure functions.
#pragma once

#include "node/protocol/ground/manifest.h"
#include "node/protocol/ground/roles.h"
#include "node/protocol/rules/cases.h"
#include "node/wire/block.h"

namespace ostraka::protocol {

// The most gradients that a member recomputes for votes and looks in one step: as many as cases
// begin with a block.
inline constexpr std::size_t kRecomputationsAStep = kGradientCasesABlock;

// What one recomputation may take in the step after `head`: a gradient half of the wait for parts,
// and where counts of batches vary as many times longer as they may (a slow machine recomputes what
// a fast one averaged).
// In profile exact/1 a member that finds a difference computes again, by instructions that take at
// most one and a half times as long.
base::Duration RecomputeTimeAfter(const wire::Block& head, const Manifest& manifest);

// What a case in work gives its voters in the step after `head`: twice that. A gradient that may
// take the whole wait is in time for the owners, so its machine votes too; in profile exact/1 the
// second half is for a look. Attack: with half of the wait for a vote, machines that need more left
// cases undecided, as what gives way to the next gradient begins anew, and honest accusers were
// dropped for it; and with one recomputation of time for a vote and a look, the looks of machines
// that need 0.3 of the wait never ended, and who lied in every step was suspended, not banned.
base::Duration CaseTimeAfter(const wire::Block& head, const Manifest& manifest);

// How much later than others the PROOF of `member` may come in the step after `head`, whose roles
// are `roles`: the time of a recomputation if it is a validator, and that of a case for each in
// work (cases.h) that is its to vote in and lacks its vote, kGradientCasesABlock at most.
base::Duration ProofExtraFor(const PeerId& member, const wire::Block& head, const Roles& roles,
                             const Manifest& manifest);
// The longest wait of seal C in the step after `head`: longer than seal A's by what a validator
// needs more where counts of batches vary, and by the time of a case for each in work,
// kGradientCasesABlock at most.
base::Duration ProofDeadlineAfter(const wire::Block& head, const Manifest& manifest);
// The same with as many cases as can count.
base::Duration LongestProofDeadlineAfter(const wire::Block& head, const Manifest& manifest);

// How much longer than its work members that lie can make every step of a run, for as long as they
// like and at no charge: what lies below the bars of two graces in each of seals A and C, of REVEAL
// and of three ECHOs (node/protocol/watch/late_watch.h), where the liar is quick otherwise; and
// where it validates. For people, who choose deadlines.
struct FreeDelay {
  base::Duration each_step;
  base::Duration as_validator;
};
FreeDelay FreeDelayIn(const Manifest& manifest);

}  // namespace ostraka::protocol
