// Cases (docs/protocol/checks.md): how one opens, is voted on and ends. A case has one loser.
//
//   kind      opened by                           decided by              ends in   undecided
//   gradient  a validator, against its target     > half of the eligible  8 blocks  drops accuser
//   numbers   an aggregator, against a sender     DecidingBallots         3 blocks  drops accuser
//   cover     a conviction, against an            > fault bound           3 blocks  drops target
//             aggregator of the convicted part
//
// At most two gradient cases begin with a block, as each costs every member a recomputation before
// its next gradient is due. Those for which there is no room open all the same, which takes their
// parties out of all roles, and begin with one of the next kLongestCaseWait blocks; their votes and
// their time count from there (Case::opened_step). Attack: seven liars found at once had members
// recompute seven gradients in one step, and all their PROOFs came late.
//
// Eligible are the members that are no party and can know of the disputed step: those that its
// block or a later one admitted hold no data about it, and a ballot of kAbstain records this. The
// fault bound of a case is that of the members that can know, so at most that of the block before
// it opened. Attack: honest newcomers, two of whom raise the bound of sixteen members, would leave
// a liar undecided. The target of a gradient case need not be a member: a former member answers for
// what it had sealed. The first ballot of a voter counts; votes in the block that opens a case do
// not count. An undecided case between members drops one of them only if an honest voter found the
// target of a gradient case innocent, or the honest among the others could have decided another
// case; otherwise it ends without a loser.
//
// In profile exact/1 the loser of a gradient or a numbers case is suspended by its first fault, and
// banned by the next one or if the voters found it guilty `twice`. So there a gradient case that
// a majority has found guilty goes on while it may still turn out as twice.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "node/protocol/ground/observation.h"
#include "node/protocol/ground/roles.h"
#include "node/protocol/rules/columns.h"
#include "node/protocol/rules/docket.h"

namespace ostraka::protocol {

using wire::Case;

// Blocks that a case may take before it ends undecided.
inline constexpr std::uint64_t kGradientCaseBlocks = 8;
inline constexpr std::uint64_t kNumbersCaseBlocks = 3;
inline constexpr std::uint64_t kCoverCaseBlocks = 3;
inline constexpr std::size_t kGradientCasesABlock = 2;
// Blocks for which an open gradient case may wait until it begins. What it is about is held for
// kPastSteps: two until it opens, these, and those that it may take. An accusation that finds no
// room in them opens no case, and costs nobody anything.
inline constexpr std::uint64_t kLongestCaseWait = 2;
std::uint64_t BlocksOf(wire::CaseKind kind);

// Votes in the case are asked for: it begins with `head`, or has begun before.
bool HasBegun(const Case& open, const Block& head);
// The gradient cases for which members may recompute in the step after `head`: those that begin
// with it; in profile exact/1 also those that began less than kLookBlocks blocks ago, as voters
// that found the target guilty then look at other steps of it.
std::vector<const Case*> CasesInWork(const Block& head, bool exact);
inline constexpr std::uint64_t kLookBlocks = 5;
bool HasVoted(const Case& open, const PeerId& voter);

// At which other steps of a target voters look that found it guilty in a gradient case: up to so
// many before the step that the case is about, and after it. None in profile tolerant. With local
// steps none before: each look takes H gradients, and needs the parameters of its step.
struct LookRange {
  std::uint64_t before = 0;
  std::uint64_t after = 0;
};
LookRange LooksIn(const Manifest& manifest);

// The convicted worker of a kCover case is not a member, so only the target is a party.
bool IsParty(const Case& open, const PeerId& peer);
// Members that may vote in the case, by key: those that are no party and have not been admitted
// since the step that it is about.
std::vector<PeerId> VotersIn(const Case& open, const Block& head);

// The head's cases with the sealed votes of this step. Ballots of former members are struck.
std::vector<Case> CountBallots(const SealedStep& sealed, const Block& head);

enum class Ruling : std::uint8_t { kPending, kGuilty, kInnocent, kUndecided };
// The state of `open` in the block of `step`, among the members of `head`. `exact`: the run is of
// profile exact/1.
Ruling RuleOn(const Case& open, const Block& head, std::uint64_t step, bool exact);

// The cases of the head that the sealed votes of this step decide, in the head's order: for people.
// A loser that another rule bans in an earlier pass loses by that rule.
std::vector<RuledCase> RuledCases(const SealedStep& sealed, const Block& head, bool exact);

// The ballots that decide a case of kNumbers with so many eligible voters, among whom and the two
// parties there are at most `faults` faulty members. One of the parties is faulty, so there are
// fewer faulty voters than this; and at least this many honest ones, if the `faults` are fewer than
// half.
std::uint32_t DecidingBallots(std::uint32_t faults, std::size_t voters);

// True iff `namer` may claim in the step after `head` that the target of `naming` lied to it: for
// the head's step, its own column, and a sender whose part is in that column and whose PROOF is
// sealed. Whether V2 failed does not matter. The target may have left meanwhile; the naming then
// opens no case.
bool NamingIsInOrder(const PeerId& namer, const wire::Naming& naming, const Block& head);

// Namings in order of this step, by namer.
std::map<PeerId, wire::Naming> NamingsInOrder(const SealedStep& sealed, const Block& head);

// The owners that answer for the part of `worker` if a verdict on the head's step convicts it:
// those of applied columns that include it, except owners that name a sender of their column in
// this step. Rationale: an honest owner to which two senders lied names one, and must not answer
// for the other.
std::vector<wire::Covering> CoveringOf(const PeerId& worker, const Block& head,
                                       const std::map<PeerId, wire::Naming>& namings);

// The cases that open in this block among the peers that stay: by the accusations and namings of
// this step and by `convicted`, the gradient cases that ended guilty in this block. Ordered
// gradient, numbers, cover, each by id. The target of a gradient case may have left: the evidence
// is sealed, and leaving must not avoid a ban. `open` are the cases that stay open; beyond
// kMaxCases no case opens, and no member is blamed for that.
std::vector<Case> OpenCases(const SealedStep& sealed, const Block& head,
                            const std::vector<Case>& open, const std::vector<Case>& convicted,
                            const Docket& docket);

// --- the passes of a block over its docket (judgement.cpp) ---

// Bans by verdict and, a pass later, drops by cases that ended undecided, if the target stays. In
// profile exact/1 the loser of a gradient or numbers case is suspended instead, if it is the first
// that it loses and it was not found guilty of more (Verdict::kTwice).
void RuleOnCases(const std::vector<Case>& cases, const Block& head, std::uint64_t step,
                 const Manifest& manifest, Docket& docket);
// Drops the owners in head.owing that name no sender.
void DropSilentOwers(const SealedStep& sealed, const Block& head, Docket& docket);

}  // namespace ostraka::protocol
