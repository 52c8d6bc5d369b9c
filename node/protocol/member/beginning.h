// How a member begins: at the genesis of the run (node/protocol/lasting/genesis_seal.h), or from
// what its store kept.
//
// Promises:
//   B1  After a restart the stored blocks are applied as far as every result is there, with the
//       root that its block names; the rest comes from the other members.
//   B2  Nothing of the store is believed that cannot be read, or is filed under another key than
//       its own: the caller gets a Status. A result that is not the one that its block names
//       counts as lost: it is neither applied nor served, and the right one takes its place.
//   B3  A store that is younger than the run is told to the follower before anything is signed.
//
// May not know: steps, seals but the first, or what becomes of the member afterwards.
//
// Memory: the results of the blocks that are replayed (kPastSteps steps).
//
// What an attacker can do here: show a block that is not the run's. One voice is not enough to
// leave the genesis for: a liar's block must not keep anybody from the beginning.
//
// Thread safety: none; one owner.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "crypto/hash_into.h"
#include "node/protocol/ground/manifest.h"
#include "node/protocol/lasting/charges.h"
#include "node/protocol/lasting/core.h"
#include "node/protocol/lasting/genesis_seal.h"
#include "node/protocol/member/follower.h"

namespace ostraka::protocol {

class Beginning {
 public:
  Beginning(Core& core, GenesisSeal& genesis, Follower& follower, Charges& charges,
            SharedBlock anchor)
      : core_(core),
        genesis_(genesis),
        follower_(follower),
        charges_(charges),
        anchor_(std::move(anchor)) {}
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // --- genesis ---
  void BeginGenesis(std::uint64_t store_nonce);
  // This key is of no genesis member: it follows the run from its anchor on, and asks to come in.
  Outcome ComeIn();
  // One step towards the genesis block. kBeginStep: the run begins.
  Outcome TryGenesis();
  // The run has begun without this member's store.
  Outcome LeaveGenesis();
  // To a member, as the run begins. Any number of frames: not in answer to a message.
  void ShowEchoes(const PeerId& to) const;

  // --- restart ---
  // Takes in what the store kept. The messages that this key signed come back: the caller has them
  // taken in. REQUIRES: restored.fork is unset.
  base::StatusOr<std::vector<wire::SignedEnvelope>> Restore(const Restored& restored);
  // The store has blocks: they are replayed. Else the member is at the genesis.
  bool replays() const { return replays_; }
  Outcome ReplayNext();
  bool Owns(JobId id) const { return replay_.Owns(id) || root_ == id; }
  Outcome OnJob(JobId id, const JobResult& result);
  void CheckInvariants() const;

 private:
  using Blocks = std::map<std::uint64_t, SharedBlock>;  // by height
  static bool HasABeginning(const Restored& restored);
  base::Status RestoreParts(const Restored& restored);
  base::StatusOr<Blocks> RestoreBlocks(const Restored& restored);
  base::Status RestoreState(const Restored& restored, const Blocks& blocks);
  base::Status RestoreResults(const Restored& restored, const Blocks& blocks);
  void PlanReplay(const Blocks& blocks);
  bool IsResultOf(const Block& block, std::uint32_t column, const crypto::Blob& result) const;
  Outcome Replayed();
  Outcome AfterTheEnd();

  Core& core_;
  GenesisSeal& genesis_;
  Follower& follower_;
  Charges& charges_;
  const SharedBlock anchor_;
  Replay replay_;
  bool replays_ = false;
  std::optional<JobId> root_;  // of the last state, if the run is over
};

}  // namespace ostraka::protocol
