// The requests for what a seal lacks: whom to ask, and whom not to ask again (docs/seal.md, 5).
//
// Of the members that have shown that they hold a thing, SealSetup::fault_bound() + 1 are asked at
// once, so an honest one is among them if there is one. The others follow when the owner looks
// again, Delta/2 later.
//
// Promises:
//   A1  A source is asked for a thing at most once between two calls of Restart (each iteration,
//       each repeat, the decision, and every 2 Delta after it). Exception: ECHOs and CLOSEs before
//       the slow path. No message shows which of them a member holds, so every source is asked,
//       each time.
//   A2  No request is sent to this member itself. [C: CHECKed]
//   A3  Requests stay within the limits of the wire: kMaxPullDigests each.
//
// May not know: why a thing is lacking, what has been decided, when to look again.
//
// Memory: for each lack the sources asked since the last Restart; lacks are bounded (lacks.h).
//
// What an attacker can do here: show a thing before honest members do, so that it is asked first.
// Fault bound + 1 are asked at once, so the request to an honest member comes at most Delta/2 later
// if liars fill these places.
//
// Thread safety: none; one owner.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "crypto/hash_into.h"
#include "node/base/time.h"
#include "node/protocol/seal/inside/lacks.h"
#include "node/protocol/seal/inside/setup.h"
#include "node/protocol/seal/seal_io.h"

namespace ostraka::protocol {

class SealAsks {
 public:
  // REQUIRES: `setup` outlives this object.
  explicit SealAsks(const SealSetup& setup) : setup_(setup) {}
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // The next look is at `at`, or at the time set before if that is earlier.
  void LookAt(base::Time at);
  std::optional<base::Time> next_look() const { return next_look_; }
  bool IsDue(base::Time now) const { return next_look_ && *next_look_ <= now; }

  // Every source may be asked again.
  void Restart() { asked_.clear(); }
  // Asks the sources of `lacks`, and sets the next look to `lacks.later`. `slow`: the slow path
  // has begun. True iff sources are left that have not been asked.
  bool Send(const SealLacks& lacks, bool slow, std::vector<SealAsk>& out);

 private:
  const SealSetup& setup_;
  std::map<SealLack, std::set<PeerId>> asked_;
  std::optional<base::Time> next_look_;
};

}  // namespace ostraka::protocol
