// How members leave by their own word (docs/decisions/0027).
//
// A member says so by a flag in COMMIT, as often as it likes. Seal A fixes it before the coin is
// drawn that gives the next step its owners and validators. Attack: of a flag in PROOF, colluders
// that know the coin would choose among the sets of owners that they could leave behind. The block
// lists it as leaving: it holds no role any more, and seals, votes and shows as ever. It goes with
// a later block, as soon as nothing is to come of what it did. Attack: it falsifies numbers,
// accuses falsely or covers a liar, and leaves before its case opens.
//
// Thread safety: pure functions.
#pragma once

#include <vector>

#include "node/protocol/ground/manifest.h"
#include "node/protocol/rules/columns.h"
#include "node/protocol/rules/docket.h"

namespace ostraka::protocol {

// The members that the step after `head` lists as leaving, by key, before any is lost or goes:
// those of the head, and of those whose sealed COMMIT says so the first by key, as long as the
// others bear a fault, if the genesis does, and enough can be dialed to own columns and to spare a
// validator. Nothing that is said when the coin is known changes it.
std::vector<PeerId> LeaversIn(const SealedStep& sealed, const Block& head,
                              const Manifest& manifest);

// The faults that the run bears once `member`, and those that are leaving, have gone: for people.
std::uint32_t BorneWithout(const PeerId& member, const Block& head, const Manifest& manifest);

// Whether the step after `head` would list `member` if nobody else said so: for people.
bool MayBeListed(const PeerId& member, const Block& head, const Manifest& manifest);

// `head` as the draw of the validators of the step after next sees it: with these as leaving, and
// with the members that it admits, which hold a role then.
Block HeadOfTheDraw(const Block& head, std::vector<PeerId> leavers, const Manifest& manifest);

// Which of the `leavers` go with `block`, by key: those that the head lists, that stay by `docket`,
// owe no name, are no party of an open case, are no target of a validator, and would not have to
// show a part after a conviction. In one block at most as many as leave F + 1 honest members of the
// head's view, so that a member that is a block behind finds enough who attest to the new one; and
// never the last three members. Nobody goes in a closing step. REQUIRES: `block` has its cases,
// drawn validators and owing members.
std::vector<PeerId> GoingWith(const Block& block, const Block& head,
                              const std::vector<PeerId>& leavers, const Docket& docket);

}  // namespace ostraka::protocol
