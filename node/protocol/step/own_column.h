// The column that this member owns in a step: the parts that workers send it, their robust
// aggregate, and the AGG and RESULT that state it.
//
// Promises:
//   O1  A part is included only if PartFault accepts it under the one COMMIT of its sender that was
//       held at that time. A bad part is refused, raises a suspicion, and is offered as evidence
//       (charges.h keeps it if the two messages prove a fault). The part of a worker with two
//       COMMITs is refused without either. A second COMMIT that comes later does not remove the
//       part: if seal A shows both, the column is void and the signer is banned.
//       In profile exact/1 no part is judged before this member knows its own parameters, and one
//       whose COMMIT names others is refused without either: it is of no use to this model.
//   O2  The aggregate is computed once: when each worker's part is held or refused, or when the
//       wait for parts ends (Close). It is not computed again if the AGG was said before a restart.
//   O3  The AGG says which parts are included. If there is none, or the work fails, it says that
//       there is no result, and the column is void: bad input from others never makes this member
//       stop.
//
// May not know: seals, coins, or other columns.
//
// Memory: the parts of this member's column alone (workers x the column's size).
//
// What an attacker can do here: send no part, or a bad part, which is left out.
//
// Thread safety: none; one owner.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>

#include "crypto/hash_into.h"
#include "node/protocol/ground/manifest.h"
#include "node/protocol/lasting/chain.h"
#include "node/protocol/lasting/charges.h"
#include "node/protocol/lasting/core.h"
#include "node/protocol/lasting/reports.h"
#include "node/protocol/mail/job_desk.h"
#include "node/protocol/mail/voice.h"
#include "node/protocol/step/step_facts.h"

namespace ostraka::protocol {

class OwnColumn {
 public:
  struct Held {
    SharedBlob blob;
    Digest commit;  // of the COMMIT that the part is under
    base::SharedBytes frame;
    void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, blob, commit, frame); }
  };

  // A member that owns no column has an empty one, which does nothing.
  OwnColumn(Core& core, Charges& charges, const Reports& reports, const StepFacts& facts);
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  bool owned() const { return facts_.my_column.has_value(); }
  // `sender`'s message of phase A has come.
  void Note(const PeerId& sender) { to_judge_.insert(sender); }
  // The root of this member's own parameters, in profile exact/1.
  void Expect(const Digest& parameters_root) { parameters_root_ = parameters_root; }
  // Judges what has come, and aggregates once the parts are complete.
  void Try();
  // The wait for parts ends.
  void Close() { closed_ = true; }
  bool closed() const { return closed_; }

  bool Owns(JobId id) const { return job_ == id; }
  // A failed job is no fault of this member: the column is void (O3).
  void OnJob(const JobResult& result);
  // After a restart: sends the RESULT again; the store still has its bulk data.
  void SendResultAgain();

  // By worker: the good parts held. They are the AGG's parts, unless the AGG was said before a
  // restart: parts are judged after it too.
  const std::map<PeerId, Held>& held() const { return held_; }
  // The worker's part is held, or refused for good.
  bool IsJudged(const PeerId& worker) const {
    return held_.contains(worker) || refused_.contains(worker);
  }
  // Aborts if a part is both held and refused, or if the work began without a column or before it
  // might (O2).
  void CheckInvariants() const;

 private:
  void Judge();
  bool HasOwnParameters(const Inbox::Version& commit) const;
  void JudgePartOf(const PeerId& worker);
  void StartAggregation();
  void State(const SharedBlob& result);
  Draft ResultDraft(const SharedBlob& result) const;
  std::optional<PeerId> SlowestSender() const;

  Core& core_;
  Charges& charges_;
  const Reports& reports_;
  const StepFacts& facts_;
  std::map<PeerId, Held> held_;
  std::set<PeerId> refused_;
  std::set<PeerId> to_judge_;  // workers with new phase A messages; only these are judged again
  bool closed_ = false;
  bool started_ = false;
  std::optional<JobId> job_;
  std::optional<Digest> parameters_root_;
};

}  // namespace ostraka::protocol
