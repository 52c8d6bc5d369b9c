// A block that was believed before the way to the head left it out, and what members say of it:
// does the run that they show build on it? A state that is fetched over a long distance leaves out
// the blocks before it, and with them the proof by hashes.
//
// Promises [C: CHECKed by CheckInvariants after each change]:
//   L1  Each judge, a member of the block from which the follower came, that can be heard is asked
//       for its block of that height, kAsks times at most. [Members of the landmark's own block
//       may have left since: more of these than may lie stopped who knew that.] [C]
//   L2  An answer counts once, for its sender, and the first one counts.
//   L3  It waits until more than F have answered, and as long as one that was asked less than
//       `patience` ago has not; but for kLongest `patience` from the first question, and for twice
//       as long where nobody could be asked. [Nobody keeps a block that is old enough. Silent
//       members whose links come up one after the other would else be waited for one after the
//       other.]
//   L4  Only judges are asked, and only their answers count. [C]
//
// May not know: which answers are enough.
//
// Memory: a block, an answer and a question for each judge.
//
// What an attacker can do here: answer falsely in its own name, or not at all.
//
// Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "node/base/ids.h"
#include "node/base/time.h"
#include "node/protocol/ground/hash_into.h"
#include "node/wire/block.h"

namespace ostraka::protocol {

class Landmark {
 public:
  // The block of that height and digest. Its judges are the members of `judged_by`, which is not
  // above it.
  Landmark(std::shared_ptr<const wire::Block> judged_by, std::uint64_t height,
           const base::Digest& digest, base::Duration patience);
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  const wire::Block& judged_by() const { return *judged_by_; }
  std::uint64_t height() const { return height_; }
  const base::Digest& digest() const { return digest_; }

  // The judges to ask now for the one block of height().
  std::vector<base::PeerId> WhomToAsk(base::Time now,
                                      const std::function<bool(const base::PeerId&)>& can_hear);
  // When WhomToAsk or Waits has news.
  std::optional<base::Time> wake() const { return wake_; }
  // More answers are needed, or may come soon (L3).
  bool Waits(base::Time now) const;
  // `from` has a block of that digest at height().
  void OnAnswer(const base::PeerId& from, const base::Digest& digest);

  // By judge, as far as they have answered.
  const std::map<base::PeerId, base::Digest>& answers() const { return answers_; }
  std::size_t CountOfOthers() const;  // that answered with another block

  void CheckInvariants() const;  // aborts if L1 or L4 is broken

 private:
  struct Asked {
    base::Time first;
    base::Time last;
    std::size_t times = 0;
    void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, first, last, times); }
  };
  void WakeAt(base::Time time);
  base::Time Latest() const;  // it waits no longer. REQUIRES: begun_
  static constexpr std::size_t kAsks = 3;
  static constexpr std::int64_t kAskAgain = 4;                 // in `patience`
  static constexpr std::int64_t kLongest = kAsks * kAskAgain;  // likewise

  const std::shared_ptr<const wire::Block> judged_by_;
  const std::uint64_t height_;
  const base::Digest digest_;
  const base::Duration patience_;
  std::map<base::PeerId, base::Digest> answers_;
  std::map<base::PeerId, Asked> asked_;
  std::optional<base::Time> begun_;  // WhomToAsk was called first
  std::optional<base::Time> since_;  // somebody was asked first
  std::optional<base::Time> wake_;
};

}  // namespace ostraka::protocol
