// Who is admitted: dropped members that return, and keys that come from outside
// (docs/decisions/0027).
//
// A key asks by a REJOIN. Members that hold it and find it in order say so in PROOF: of a key that
// keeps its seat in `joins`, of another one in `arrivals`, with what its invite is counted by. What
// more members than the fault bound say, an honest one has seen. The first block that confirms a
// key makes it a candidate, and the manifest's `probation`-th one in a row admits it.
//
// What bounds an attacker:
//   seats   The run keeps a seat for each member and for each that may return freely. A newcomer
//           needs one beside these. Attack: keys that leave, have others come in their place, and
//           return together.
//   quota   Each admission by an invite counts against its moderator (invite_book.h).
//   keys    A run never knows more than wire::kMaxKeys. Attack: standings without end.
//   again   A key that has come in by an invite comes in by it again, for as long as the invite is
//   in
//           force, at no use and no quota. Attack: keys that take turns in coming and going. So it
//           is a return (standing.h): between two of them lie kBarredSteps.
//   slots   At most wire::kMaxArrivals newcomers are candidates at once; by one invite at most
//           kPlacesOfInvite, and not more than it has uses left. Attack: an invite of one use in
//           many hands, whose holders are candidates for ever and keep all others out. Of those
//           that come again at most kPlacesOfUsers are, by one invite half of them. Attack: to them
//           a candidacy costs nothing, and they need no invite that has uses left.
// Which credential a member has seen it tells by the whole voucher, so one that shows several to
// several members is confirmed by none. A key with another voucher than its candidacy has begins
// anew, behind the candidates.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "node/protocol/ground/manifest.h"
#include "node/protocol/rules/standing.h"
#include "node/wire/limits.h"

namespace ostraka::protocol {

using wire::Arrival;
using wire::Voucher;

// Half of the slots.
inline constexpr std::size_t kPlacesOfInvite = wire::kMaxArrivals / 2;
inline constexpr std::size_t kPlacesOfUsers = wire::kMaxArrivals / 2;

// Null if `peer` is no candidate of `head`.
const Candidate* CandidateOf(const Block& head, const PeerId& peer);

// Seats that `step` may not give away: those of members, and of keys that keep theirs.
std::size_t SeatsTaken(const Block& head, std::uint64_t step);

// Why the key may not come in by the step after `head`, in one line for people; nullopt if it may.
// A key that may return (MayReturn) is refused: it needs no voucher.
std::optional<std::string> RefusalOf(const Block& head, const Manifest& manifest,
                                     const Arrival& arrival, std::uint64_t step);
// Of these reasons those that lie in its voucher or its lack of one, and that no later block takes
// back: true by an old block, too. REQUIRES: not a key of the run.
std::optional<std::string> LastingRefusalOf(const Block& head, const Manifest& manifest,
                                            const Arrival& arrival, std::uint64_t step);
bool MayCome(const Block& head, const Manifest& manifest, const Arrival& arrival,
             std::uint64_t step);

// Until when a key that goes with `head`, or stops at it, may be in the run again, for people.
inline constexpr std::uint64_t kNoStep = UINT64_MAX;
struct WayBack {
  std::uint64_t from = 0;  // it is barred before this step
  // The first step in which the run keeps no seat for it; 0: it has none. For a member: if it is
  // dropped at once.
  std::uint64_t seat_until = 0;
  // The first step in which nothing lets it in any more without a kept seat: the end of an invite
  // that it has used, or shows; kNoStep: the manifest names it; 0: nothing does. A banned key has
  // zeros.
  std::uint64_t door_until = 0;
};
WayBack WayBackOf(const Block& head, const Manifest& manifest, const PeerId& peer,
                  const std::optional<Voucher>& shown);

// What an honest member states in the PROOF of `step`, of those whose REJOINs it holds: who may
// return, by key; and of the others that may come in those that get a slot, those that are
// candidates already before the others. [By key alone, a stranger with a low key pushed out one
// that was halfway.]
using Asking = std::map<PeerId, std::optional<Voucher>>;
std::vector<PeerId> JoinsToState(const Block& head, const Asking& asking, std::uint64_t step);
std::vector<Arrival> ArrivalsToState(const Block& head, const Manifest& manifest,
                                     const Asking& asking, std::uint64_t step);

struct Admissions {
  std::vector<Candidate> candidates;  // by key
  std::vector<PeerId> joined;         // by key
  std::vector<PeerId> came;           // by key: those of `joined` that had no seat
  std::vector<wire::UsedInvite> invites;
  std::vector<wire::Moderator> moderators;
};
// What the step after `head` makes of the sealed confirmations, without those in `losers`. What is
// revoked in the step lets nobody in.
Admissions AdmissionsAfter(const SealedStep& sealed, const Block& head, const Manifest& manifest,
                           const std::map<PeerId, FaultKind>& losers);

}  // namespace ostraka::protocol
