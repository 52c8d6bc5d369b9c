// This member's gradient of a step: computed, cut into parts, committed to (COMMIT), and sent to
// the owners of the columns (PART). COMMIT holds the root of the coin commitments and, for a
// worker, the Merkle root of its parts; in profile exact/1 also the root of the parameters that
// this member has in the step.
//
// Promises:
//   G1  This member signs one COMMIT per step (Voice::Prepare keeps it so across restarts). If the
//       gradient that is computed again after a crash differs from the signed COMMIT, parts_lost()
//       is true, no PART is sent, and parts() is not to be used. So it is if the parameters do.
//   G2  A part goes to the owner of its column; to all members, if this worker and that owner are
//       in dispute.
//   G3  COMMIT and PARTs go out when the gradient is there, also after seal A: at a late member
//       that is sealed absent but not muted, and at a member that restarted.
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
#include "node/protocol/lasting/chain.h"
#include "node/protocol/lasting/core.h"
#include "node/protocol/lasting/followers.h"
#include "node/protocol/mail/job_desk.h"
#include "node/protocol/mail/secrets.h"
#include "node/protocol/mail/voice.h"
#include "node/protocol/step/disputed_pairs.h"

namespace ostraka::protocol {

class OwnGradient {
 public:
  OwnGradient(Core& core, const Followers& followers, const StepFacts& facts,
              const DisputedPairs& pairs);
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // A worker starts its gradient; another member sends its COMMIT now, or when it has the root of
  // its parameters.
  void Begin();
  bool Owns(JobId id) const { return job_ == id || root_job_ == id; }
  // Returns true if this job has filled parts(). REQUIRES: the job did not fail.
  bool OnJob(const JobResult& result);

  // By column; empty until the gradient is computed and cut. Not to be used before ready().
  const std::vector<SharedBlob>& parts() const { return parts_; }
  // The parts are there, and are those that this member's COMMIT names.
  bool ready() const { return !parts_.empty() && !awaits_root() && !parts_lost_; }
  bool parts_lost() const { return parts_lost_; }
  // Of this member's own parameters: known some time after Begin in profile exact/1, never in
  // others.
  const std::optional<Digest>& parameters_root() const { return parameters_root_; }
  bool awaits_root() const { return root_job_.has_value(); }
  // Aborts unless parts() is empty or complete; on parts_lost() without parts; and on a job that
  // runs on after the parts are there.
  void CheckInvariants() const;

 private:
  // Says COMMIT and PARTs once all that they hold is there.
  void TryCommit();
  void Commit(std::optional<Digest> gradient_root, const std::vector<Digest>& part_roots);
  Draft CommitDraft(std::optional<Digest> gradient_root) const;
  std::vector<PeerId> RecipientsOf(std::uint32_t column) const;

  Core& core_;
  const Followers& followers_;
  const StepFacts& facts_;
  const DisputedPairs& pairs_;
  std::optional<JobId> job_;
  // The own work of this step, whose time says how many batches the next one holds.
  struct Timed {
    Time began;
    std::uint32_t batches = 1;
    void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, began, batches); }
  };
  std::optional<Timed> timed_;  // where counts vary
  std::optional<JobId> root_job_;
  std::vector<SharedBlob> parts_;
  bool parts_lost_ = false;
  std::optional<Digest> parameters_root_;
};

}  // namespace ostraka::protocol
