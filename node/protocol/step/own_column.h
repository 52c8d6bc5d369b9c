// The column that this member owns in a step: the parts that workers send it, their robust
// aggregate, and the AGG and RESULT that state it.
//
// Promises:
//   O1  A part is included only if it is good (part_check.h) under the one COMMIT of its sender
//       that was held when the part was judged. A bad part leaves a suspicion, and evidence if it
//       is not under that COMMIT. Attack: a second COMMIT after that leaves the part included. It
//       voids the column if seal A shows it, and bans its signer.
//   O2  The aggregate is computed once: when each worker's part is held or refused, or when the
//       wait for parts ends (Close).
//   O3  The AGG says which parts are included. If there is none, or the work fails, it says that
//       there is no result: the column is void, and nothing that others sent stops this member.
//
// May not know: seals, coins, or other columns.
//
// Memory: a part for each worker, of this member's column alone (a model's size together).
//
// What an attacker can do here: send no part, or a bad one; it is left out.
//
// Thread safety: none; one owner.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>

#include "crypto/hash_into.h"
#include "node/protocol/ground/manifest.h"
#include "node/protocol/mail/job_desk.h"
#include "node/protocol/mail/voice.h"
#include "node/protocol/parts/chain.h"
#include "node/protocol/parts/charges.h"
#include "node/protocol/parts/reports.h"
#include "node/protocol/step/step_facts.h"

namespace ostraka::protocol {

class OwnColumn {
 public:
  struct Uses {
    PeerId self;
    std::shared_ptr<const Manifest> manifest;
    Voice* voice;
    Journal* journal;
    JobDesk* jobs;
    Chain* chain;
    const Inbox* inbox;
    Charges* charges;
    const Reports* reports;
  };
  struct Held {
    SharedBlob blob;
    Digest commit;  // of the COMMIT that the part is under
    base::SharedBytes frame;
    void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, blob, commit, frame); }
  };

  // A member that owns no column has an empty one, which does nothing.
  OwnColumn(Uses uses, const StepFacts* facts);
  void HashInto(crypto::Hasher& hasher) const {
    crypto::Feed(hasher, held_, refused_, to_judge_, closed_, started_, job_);
  }
  friend struct FingerprintProbe;

  bool owned() const { return facts_->my_part.has_value(); }
  // A message of phase A of `sender` has come.
  void Note(const PeerId& sender) { to_judge_.insert(sender); }
  // Looks at what has come, and aggregates once the parts are complete.
  void Try();
  // The wait for parts ends.
  void Close() { closed_ = true; }
  bool closed() const { return closed_; }

  bool Owns(JobId id) const { return job_ == id; }
  // A failed job is no fault of this member: the column is void (O3).
  void OnJob(const JobResult& result);
  // After a restart: the frame of the RESULT is restored, its bulk data the store has.
  void SendResultAgain();

  // By worker: parts that are included, and workers whose part never can be.
  const std::map<PeerId, Held>& held() const { return held_; }
  bool IsSettled(const PeerId& worker) const {
    return held_.contains(worker) || refused_.contains(worker);
  }
  void CheckInvariants() const;  // aborts if O1 or O2 is broken

 private:
  void Judge();
  void JudgePartOf(const PeerId& worker);
  void StartAggregation();
  void State(const SharedBlob& result);
  Draft ResultDraft(const SharedBlob& result) const;
  std::optional<PeerId> SlowestSender() const;

  Uses uses_;
  const StepFacts* facts_;
  std::map<PeerId, Held> held_;
  std::set<PeerId> refused_;
  std::set<PeerId> to_judge_;  // of whom something came since: only their parts are looked at
  bool closed_ = false;
  bool started_ = false;
  std::optional<JobId> job_;
};

}  // namespace ostraka::protocol
