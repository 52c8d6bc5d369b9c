// What is fixed before a seal opens: its options, and the lists and numbers that follow from them.
// All parts of one Seal read it; none changes it.
//
// Promises [C: CHECKed on construction]:
//   S1  members() is sorted by key, none is there twice, and the number of entries is a multiple of
//       theirs. [C]
//   S2  unmuted() is members() without the muted ones, and not empty; others() is unmuted() without
//       this member; both by key. Muted members count in n; of the lists only members() has them.
//       [C: not empty]
//   S3  LeaderOf is a permutation of unmuted(), repeated, and the same at all members: it follows
//       from the leader seed, the phase and the draw alone.
//   S4  n = members().size(), t_a <= t_s and t_a + 2 t_s < n, so force_count() is above t_s. [C]
//
// May not know: messages, time.
//
// Memory: a few lists of the members.
//
// What an attacker can do here: nothing. It all follows from the last block and from sealed facts;
// the seed is drawn by the coin, so nobody chooses which iterations it leads. (Thresholds follow
// from the manifest and the number of members: ground/manifest.h. Blocks that were not computed
// here are compared with that before they are believed.)
//
// Thread safety: none; one owner. Constant after construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "node/base/ids.h"
#include "node/base/time.h"
#include "node/protocol/seal/seal_io.h"
#include "node/wire/messages.h"

namespace ostraka::protocol {

class SealSetup {
 public:
  explicit SealSetup(SealOptions options);

  const PeerId& self() const { return options_.self; }
  // This member is not among the unmuted: it only watches, and sends nothing of its own.
  bool muted() const { return muted_; }
  base::Duration delta() const { return options_.delta; }
  // How long a message may still be under way before it is asked for.
  base::Duration moment() const { return options_.moment; }
  std::size_t entries() const { return options_.entries; }

  const std::vector<PeerId>& members() const { return options_.members; }
  const std::vector<PeerId>& unmuted() const { return unmuted_; }
  const std::vector<PeerId>& others() const { return others_; }
  bool IsUnmuted(const PeerId& peer) const;
  // REQUIRES: a member.
  std::size_t IndexOf(const PeerId& member) const;

  std::size_t quorum() const { return quorum_; }            // Q = n - t_s
  std::size_t force_count() const { return force_count_; }  // supporters force a value: Q - t_a
  std::size_t fault_bound() const { return fault_bound_; }  // max(t_s, t_a)

  // REQUIRES: iteration >= 1.
  const PeerId& LeaderOf(std::uint32_t iteration) const;
  // The type of the message that fills entry `index` of the vector.
  wire::MessageType TypeOfEntry(std::size_t index) const;

 private:
  const SealOptions options_;
  std::vector<PeerId> unmuted_;
  std::vector<PeerId> others_;
  std::vector<PeerId> leaders_;  // of iterations 1, 2, ..., repeating
  std::size_t quorum_ = 0;
  std::size_t force_count_ = 0;
  std::size_t fault_bound_ = 0;
  bool muted_ = false;
};

}  // namespace ostraka::protocol
