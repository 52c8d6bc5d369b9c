// The jobs of a member's duties (duties.h): recomputations for votes and V1. They may outlast the
// step in which they were asked for: a vote is about its case whenever it is ready, and V1 ends in
// the step after the one that it is about.
//
// Promises:
//   B1  A result is handed to the duty that asked for it, and to no other.
//   B2  At most kRecomputationsAStep gradients are recomputed for votes and looks in one step, with
//       those of earlier steps that are not done. Votes go first. One job at a time looks into
//       verdicts (Duties::NextLook).
//   B3  What is recomputed for a case that has ended is stopped.
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

#include "node/protocol/lasting/duties.h"
#include "node/protocol/mail/job_desk.h"
#include "node/protocol/rules/recomputing.h"
#include "node/wire/hash_into.h"

namespace ostraka::protocol {

class DutyJobs {
 public:
  DutyJobs(Duties& duties, JobDesk& desk) : duties_(duties), desk_(desk) {}
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // Another gradient may be recomputed in step `now`.
  bool HasRoom(std::uint64_t now) const;

  // `now`: the step in progress.
  void StartVote(std::uint64_t now, const wire::CaseId& about, JobSpec spec, std::uint64_t step);
  void StartCrossCheck(std::uint64_t now, CrossCheckSpec spec);
  // The next look, if there is one and room for it.
  void StartLook(std::uint64_t now);
  // Stops what is recomputed for cases that `block` ends.
  void OnBlock(const wire::Block& block);
  // Jobs for votes and looks that were asked for in this step and are not done. A PROOF waits for
  // them.
  std::size_t Pending(std::uint64_t step) const;

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
    std::uint64_t asked_in = 0;
    void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, id, about, asked_in); }
  };
  void CountRecomputation(std::uint64_t now);
  // Those that are not done.
  std::size_t Recomputing() const;

  Duties& duties_;
  JobDesk& desk_;
  std::map<JobId, Vote> votes_;
  std::optional<JobId> cross_check_;
  std::optional<Look> look_;
  std::uint64_t recomputing_in_ = 0;  // the newest step that asked for a recomputation
  std::size_t recomputations_ = 0;    // that it asked for, and those of before that were not done
};

}  // namespace ostraka::protocol
