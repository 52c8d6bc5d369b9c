// How fast this machine works, by its own clock, and so how many batches it averages in the next
// step. A choice and no rule: others see the count alone.
//
// Promises [C: CHECKed]:
//   P1  The choice is one that the run allows (batches.h), and where counts do not vary 0.
//
//   P2  It remembers kPaces steps at most. [C]
//
// Memory: kPaces durations.
//
// What an attacker can do here: nothing; no bytes of others come in.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <deque>

#include "crypto/hash_into.h"
#include "node/base/check.h"
#include "node/base/time.h"
#include "node/protocol/ground/manifest.h"

namespace ostraka::protocol {

class OwnPace {
 public:
  static constexpr std::size_t kPaces = 8;

  // The own work of a step took so long, with so many batches in each gradient.
  void Note(base::Duration took, std::uint32_t batches);
  // Commit::next_batches: as many as take four fifths of the work's time (WorkIn), of which the
  // owner gives `percent`; by the median pace of the last steps, which one slow step does not move.
  // Without any the least: a count too small costs a step of a fast machine, one too large an
  // absence.
  std::uint16_t NextBatches(const Manifest& manifest, std::uint32_t percent) const;
  void CheckInvariants() const { OSTRAKA_CHECK(a_batch_.size() <= kPaces); }  // P2
  void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, a_batch_); }

 private:
  std::deque<base::Duration> a_batch_;  // the newest last; at most kPaces
};

}  // namespace ostraka::protocol
