// "Memory" of seal.h as numbers: the most that one Seal holds, by its number of unmuted members. A
// Seal CHECKs them; they follow from its own limits, whatever members send.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>

#include "node/protocol/seal/inside/window.h"
#include "node/protocol/seal/seal_ballots.h"

namespace ostraka::protocol {

// A kept frame has a canonical body that decoded: two bitmaps of 64 bytes at most, and a few
// hashes. The envelope and the signature are of fixed size.
inline constexpr std::size_t kMostFrameBytes = 1024;

// An iteration has two STATUSes of each member and two PROPOSEs.
constexpr std::size_t MostClaims(std::size_t unmuted) { return 2 * unmuted + 2; }

// Locks that are named: claims of this iteration and of the one before, the VOTEs of the proposals
// held, and the own ECHO.
constexpr std::size_t MostNames(std::size_t unmuted) {
  return 2 * MostClaims(unmuted) + 2 * kIterationsHeld + 1;
}

// Each member has a CLOSE, an ECHO, two STATUSes and a VOTE of each iteration held, its LOCKs, and
// a ballot for each lock that is known: named, by a LOCK, the own one, or that of the leading ECHO.
constexpr std::size_t MostFrames(std::size_t unmuted) {
  const std::size_t locks = Locks::kLocksOfOne * unmuted;
  const std::size_t known = MostNames(unmuted) + locks + 2;
  return unmuted * (2 + 3 * kIterationsHeld + known) + locks + 2 * kIterationsHeld;
}

// Values that are named: by an ECHO of each member, the proposals held, the own ECHO, the own lock
// and the decision.
constexpr std::size_t MostNamedValues(std::size_t unmuted) {
  return unmuted + 2 * kIterationsHeld + 3;
}

// One vector of each of these; and three that are not named yet or any more: the own ECHO, the own
// merge, and one that an own lock named.
constexpr std::size_t MostVectors(std::size_t unmuted) { return MostNamedValues(unmuted) + 3; }

}  // namespace ostraka::protocol
