// Which members can be dialed from outside, by what each declares of itself, and who carries the
// messages of two that cannot (docs/decisions/0024).
//
// A declaration is a flag in COMMIT. Seal A fixes it before the coin of its step is drawn, and it
// counts from the next step on, whose owners that coin orders. Attack: a flag that is chosen after
// the coin is known would choose among the owners. That a member only dials counts at once: one
// that cannot be dialed owes nobody a path. That it can be dialed after all counts once in
// kReachSteps steps. Nobody votes on a flag. Attack: colluders that vouch for each other, or deny
// an honest member.
//
// May not know: links, or what anybody has seen of a member.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "node/protocol/ground/manifest.h"
#include "node/wire/block.h"

namespace ostraka::protocol {

using wire::Block;
using wire::Reach;

inline constexpr std::uint64_t kReachSteps = 100;

// What `head` says of `peer`: it cannot be dialed.
bool OnlyDials(const Block& head, const PeerId& peer);
// Two members that cannot be linked, as neither can be dialed. Their messages go by way of others.
inline bool Apart(const Block& head, const PeerId& a, const PeerId& b) {
  return OnlyDials(head, a) && OnlyDials(head, b);
}

// Members of `head` that can be dialed, by key.
std::vector<PeerId> ReachableIn(const Block& head);
// Members of `head` with which `self` can have a link, as far as the run says, by key: those of
// which it can get bulk data, which is never carried. `self` is one of them, if it is a member. All
// members if there is no other one: then a declaration is all that speaks against asking them.
std::vector<PeerId> LinkableIn(const Block& head, const PeerId& self);

// All members that can carry a message between `a` and `b`, the first choice first: an order that
// differs from pair to pair, and that both of the pair share.
std::vector<PeerId> CarriersOf(const Block& head, const PeerId& a, const PeerId& b);
// To how many of them a message is given: one of so many is honest. Attack: with two, both are
// colluders for some pair, and the messages of that pair are late wherever a seal counts on time.
std::size_t CarriersNeeded(const Block& head);

// One line for people if so few members can be dialed that the run promises less; nullopt if enough
// can (docs/decisions/0024).
std::optional<std::string> ReachWarning(const Block& head);

// Whether the manifest lists a member that only dials.
bool ListsDialers(const Manifest& manifest);
// Whether what members declare counts in this run: it lists a dialer, or others may come. Elsewhere
// nobody carries, and what members declare changes nothing. [One cheat of four said that it only
// dials. None of the other three could be spared as an owner, so nobody looked at its gradients.]
bool CountsReach(const Manifest& manifest);
// What a run of `manifest` begins with, before any seal: its members, thresholds and numbers.
Block GenesisHead(const Manifest& manifest);
// The members of the manifest that say there that they only dial, by key.
std::vector<Reach> ReachAtGenesis(const Manifest& manifest);
// After a step of number `step`, whose sealed COMMITs declare `only_dials`, by member.
std::vector<Reach> ReachAfter(const Block& head, std::uint64_t step,
                              const std::map<PeerId, bool>& only_dials);

}  // namespace ostraka::protocol
