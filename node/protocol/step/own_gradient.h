// This member's gradient of a step: computed, cut into parts, committed to (COMMIT), and sent to
// the owners of the columns (PART). A member that is no worker commits to its coins alone.
//
// Promises:
//   G1  One COMMIT a step. If it was said before a crash and the gradient has other bits now,
//       parts_lost() says so, and no part is shown: the others go on without them.
//   G2  A part goes to the owner of its column; to all members, if this worker and that owner are
//       in dispute.
//
// May not know: seals, parts of others, or what is computed from the gradient.
//
// Memory: the gradient, as parts.
//
// What an attacker can do here: nothing; no bytes of others come in.
//
// Thread safety: none; one owner.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "crypto/hash_into.h"
#include "node/protocol/ground/manifest.h"
#include "node/protocol/mail/job_desk.h"
#include "node/protocol/mail/voice.h"
#include "node/protocol/parts/chain.h"
#include "node/protocol/parts/followers.h"
#include "node/protocol/step/disputed_pairs.h"
#include "node/protocol/step/own_coins.h"

namespace ostraka::protocol {

class OwnGradient {
 public:
  struct Uses {
    PeerId self;
    std::shared_ptr<const Manifest> manifest;
    Voice* voice;
    JobDesk* jobs;
    const Chain* chain;
    const Inbox* inbox;
    const Followers* followers;
  };
  OwnGradient(Uses uses, const StepFacts* facts, const DisputedPairs* pairs, OwnCoins coins);
  void HashInto(crypto::Hasher& hasher) const {
    crypto::Feed(hasher, coins_, job_, parts_, parts_lost_);
  }
  friend struct FingerprintProbe;

  // A worker's gradient is computed; another member says its COMMIT now.
  void Begin();
  bool Owns(JobId id) const { return job_ == id; }
  // True: the parts are there.
  bool OnJob(const JobResult& result);

  // By column; empty until they are there.
  const std::vector<SharedBlob>& parts() const { return parts_; }
  bool parts_lost() const { return parts_lost_; }
  const OwnCoins& coins() const { return coins_; }
  void CheckInvariants() const;  // aborts if parts are lost that are not there, or some lack

 private:
  void OnPacked(const PackResult& result);
  void Commit(std::optional<Digest> gradient_root, const std::vector<Digest>& part_roots);
  Draft CommitDraft(std::optional<Digest> gradient_root) const;
  std::vector<PeerId> RecipientsOf(std::uint32_t column) const;

  Uses uses_;
  const StepFacts* facts_;
  const DisputedPairs* pairs_;
  OwnCoins coins_;
  std::optional<JobId> job_;
  std::vector<SharedBlob> parts_;
  bool parts_lost_ = false;
};

}  // namespace ostraka::protocol
