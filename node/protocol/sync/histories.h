// Whether all that a follower believes is one history of the run. More members than the view's
// bound may sign two: faults beyond the bound do, and so do honest people who start two copies of
// the members' data folders. A follower that believes whichever F + 1 members show it goes from one
// history to the other, and does not know.
//
// Promises [C: CHECKed by CheckInvariants after each change]:
//   H1  F liars make nobody stop: two histories are found only if more than F members of a block
//       that this node believes signed or showed one, and this node believes the other, because it
//       holds it or because more than F signed it, too.
//   H2  Three things show them: two parents of one step, each named in COMMITs of that step by
//       more than F; a believed block that does not name the believed one below it (CatchUp
//       compares them); and a landmark at whose height more than F of its judges have another block
//       (landmark.h). Heads of two histories that come from the same keys more than some steps
//       apart are compared by the latter two alone.
//   H3  At most kLandmarks landmarks are held: that of the view, and the newest. [C]
//
// May not know: requests, states, results.
//
// Memory: that of Attestations, and of kLandmarks landmarks.
//
// What an attacker can do here: with more than F keys of old members, stop who knows nothing newer;
// without this class it could lead it away. It can lie about a landmark, too: who holds so many
// keys is found out only by honest members that say otherwise. A fresh link leaves it nothing to
// forge.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "node/protocol/sync/attestations.h"
#include "node/protocol/sync/landmark.h"

namespace ostraka::protocol {

// Two blocks of one height.
struct TwoHistories {
  struct Branch {
    base::Digest block;
    bool is_known = false;               // it is, or was, believed here
    std::vector<base::PeerId> shown_by;  // sorted
    void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, block, is_known, shown_by); }
  };
  std::uint64_t height = 0;
  Branch one;
  Branch other;
  void HashInto(crypto::Hasher& hasher) const;
  std::string Line() const;  // for people: what differs, who shows which, and what to do
};

class Histories {
 public:
  using CanHear = std::function<bool(const base::PeerId&)>;

  explicit Histories(base::Duration patience) : patience_(patience) {}
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // --- heads ---
  // False if that is held already.
  bool OnAttest(const base::PeerId& member, std::uint64_t step, const base::Digest& parent) {
    return attestations_.Add(member, step, parent);
  }
  bool HasAttest(const base::PeerId& member, std::uint64_t step, const base::Digest& parent) const {
    return attestations_.Contains(member, step, parent);
  }
  // More members of `view` than can be at fault name that block as a parent.
  bool IsAttested(const wire::Block& view, const base::Digest& block) const;

  // --- comparing ---
  // Somebody names `parent` as that of `step`, whose parent is `known` if it is not null. True iff
  // more members of `view` than can be at fault name it.
  bool CompareParents(const wire::Block& view, std::uint64_t step, const base::Digest& parent,
                      const wire::Block* known);
  // The block of `height` is believed to be `known`, and one above it, to which members attest that
  // name `shown_by`, says that it is `named`.
  void FindLink(const wire::Block& view, std::uint64_t height, const base::Digest& known,
                const base::Digest& named, const base::Digest& shown_by);
  std::vector<base::PeerId> WhoNames(const wire::Block& view, const base::Digest& block) const;
  const std::optional<TwoHistories>& found() const { return found_; }

  // --- landmarks ---
  // The way to the head leaves out the block of that height and digest, which was believed. The
  // members of `view` judge it. If there are too many, the oldest goes that is not the view's own.
  void KeepLandmark(const std::shared_ptr<const wire::Block>& view, std::uint64_t height,
                    const base::Digest& digest);
  // Likewise; nothing if `block` is null.
  void KeepLandmark(const std::shared_ptr<const wire::Block>& view,
                    const std::shared_ptr<const wire::Block>& block);
  bool HasRoom() const { return landmarks_.size() < kLandmarks; }
  bool HasLandmarkAt(std::uint64_t height) const;
  // Whom to ask for one block of which height.
  std::vector<std::pair<base::PeerId, std::uint64_t>> Questions(base::Time now,
                                                                const CanHear& can_hear);
  std::optional<base::Time> wake() const;
  bool Waits(base::Time now) const;
  // `from` showed a block.
  void OnBlock(const base::PeerId& from, std::uint64_t height, const base::Digest& digest);
  // `digest` is a landmark's; `from` showed it. Its block need not be decoded.
  bool OnLandmark(const base::PeerId& from, const base::Digest& digest);

  void CheckInvariants() const;  // aborts if H3 is broken

 private:
  static constexpr std::size_t kLandmarks = 4;
  void Find(TwoHistories found);

  const base::Duration patience_;
  Attestations attestations_;
  std::list<Landmark> landmarks_;
  std::optional<TwoHistories> found_;  // the first ones
};

}  // namespace ostraka::protocol
