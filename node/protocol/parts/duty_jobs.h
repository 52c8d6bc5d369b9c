// The jobs of a member's duties (duties.h): recomputations for votes and V1. They may outlast the
// step in which they were asked for: a vote is about its case whenever it is ready, and V1 ends in
// the step after the one that it is about.
//
// Promises:
//   B1  A result is handed to the duty that asked for it, and to no other.
//   B2  One job at a time looks into verdicts (Duties::NextLook), and no PROOF waits for it. So it
//       delays a COMMIT, whose gradient is computed on the same thread, by two gradients at most.
//
// May not know: seals, messages, or who else asks for jobs.
//
// Memory: a record a job, of wire::kMaxCases and two.
//
// What an attacker can do here: have a member recompute what its cases are about (duties.h).
//
// Thread safety: none; one owner.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "node/protocol/mail/job_desk.h"
#include "node/protocol/parts/duties.h"
#include "node/wire/hash_into.h"

namespace ostraka::protocol {

class DutyJobs {
 public:
  DutyJobs(Duties* duties, JobDesk* desk) : duties_(duties), desk_(desk) {}
  void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, votes_, cross_check_, look_); }
  friend struct FingerprintProbe;

  // `now`: the step in progress.
  void StartVote(std::uint64_t now, const wire::CaseId& about, JobSpec spec, std::uint64_t step);
  void StartCrossCheck(std::uint64_t now, CrossCheckSpec spec);
  // Jobs for votes that were asked for in this step and are not done. A PROOF waits for them.
  std::size_t VotesPending(std::uint64_t step) const;

  bool Owns(JobId id) const {
    return cross_check_ == id || (look_ && look_->id == id) || votes_.contains(id);
  }
  // What a finished job leads to. A vote whose job failed in a step that is over is not missed.
  struct Done {
    bool failed = false;        // the member cannot go on
    std::vector<PeerId> liars;  // that V1 found
  };
  Done Take(JobId id, const JobDesk::Job& job, std::uint64_t now, const JobResult& result);
  // The step was left: what comes is not wanted.
  void Clear();

  void CheckInvariants() const;

 private:
  struct Vote {
    wire::CaseId about;
    std::uint64_t asked_in = 0;
    void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, about, asked_in); }
  };

  struct Look {
    JobId id = 0;
    wire::CaseId about;
    void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, id, about); }
  };
  void StartLook(std::uint64_t now);

  Duties* duties_;
  JobDesk* desk_;
  std::map<JobId, Vote> votes_;
  std::optional<JobId> cross_check_;
  std::optional<Look> look_;
};

}  // namespace ostraka::protocol
