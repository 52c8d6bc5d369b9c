// Cases (protocol.md 5): what opens one, who votes, and what it ends with. Each has one loser.
//
//   kind      opened by                           decided by              after     undecided
//   gradient  a validator, of its target          > half of the eligible  8 blocks  drops accuser
//   numbers   an aggregator, of a sender          DecidingBallots         3 blocks  drops accuser
//   cover     a conviction, of who aggregated it  more than the faults    3 blocks  drops target
//
// Eligible are the members that are no party. The target of a gradient case need not be a member:
// whoever leaves answers for what it had sealed. The first ballot of a voter counts; votes in the
// block that opens a case are none. Who was admitted since the step that a case is about has no
// vote (a ballot of kAbstain says so): it holds nothing of that step. An undecided case between
// members drops one of them only if the honest among the others could have decided it; else it ends
// without a loser. (A gradient case opens two blocks after its step, and its block sees admissions
// of the last one: who was admitted by the block of the accused step itself counts as knowing.)
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "node/protocol/ground/roles.h"
#include "node/protocol/rules/columns.h"
#include "node/protocol/rules/docket.h"

namespace ostraka::protocol {

using wire::Case;

// Blocks that a case may take before it ends undecided.
inline constexpr std::uint64_t kGradientCaseBlocks = 8;
inline constexpr std::uint64_t kNumbersCaseBlocks = 3;
inline constexpr std::uint64_t kCoverCaseBlocks = 3;
std::uint64_t BlocksOf(wire::CaseKind kind);

// The convicted worker of a kCover case is no member; so only its target is a party.
bool IsParty(const Case& open, const PeerId& peer);

// The view's cases with the sealed votes of this step. Ballots of who has left are struck.
std::vector<Case> CountBallots(const SealedStep& sealed, const Block& view);

enum class Ruling : std::uint8_t { kPending, kGuilty, kInnocent, kUndecided };
// What `open` stands at in block `step` of `view`'s members.
Ruling RuleOn(const Case& open, const Block& view, std::uint64_t step);

// Ballots that decide a case of kNumbers. One of its two parties is at fault, so among the others
// are fewer faults than this and at least as many honest members.
std::uint32_t DecidingBallots(const Thresholds& thresholds);

// True iff `namer` may say in the step after `view` that the one whom `naming` names lied to it: of
// the view's step, its own column, and a sender whose part is in that column. Whether V2 failed
// does not matter. The one named may have left meanwhile; then it opens nothing.
bool NamingIsInOrder(const PeerId& namer, const wire::Naming& naming, const Block& view);

// Namings in order of this step, by namer.
std::map<PeerId, wire::Naming> NamingsInOrder(const SealedStep& sealed, const Block& view);

// Whom a verdict on `worker` for the view's step will ask for the part: owners of applied columns
// that include it, but not those who name somebody of that column in this step [an honest owner to
// whom two lied names one, and must not answer for the other].
std::vector<wire::Covering> CoveringOf(const PeerId& worker, const Block& view,
                                       const std::map<PeerId, wire::Naming>& namings);

// Cases that the accusations and namings of this step and `convicted` (gradient cases that ended
// guilty in this block) open among those who stay, in the order gradient, numbers, cover and each
// by id. The target of a gradient case may have left: what convicts it is sealed, and to leave must
// be no way out of a ban. `open` are those that stay open; beyond kMaxCases nothing is opened, and
// nobody is blamed.
std::vector<Case> OpenCases(const SealedStep& sealed, const Block& view,
                            const std::vector<Case>& open, const std::vector<Case>& convicted,
                            const Docket& docket);

// --- the passes of a block over its docket (judgement.cpp) ---

// Bans by verdict, and, a pass later, drops of those whose case ended undecided though the other
// party stays.
void RuleOnCases(const std::vector<Case>& cases, const Block& view, std::uint64_t step,
                 Docket& docket);
// Drops owners in view.owing that name nobody.
void DropSilentOwers(const SealedStep& sealed, const Block& view, Docket& docket);

}  // namespace ostraka::protocol
