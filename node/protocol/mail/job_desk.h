// Jobs that this member has asked for and that have not come back. Each job belongs to the class
// that started it: only that class knows its number and what the result is for.
//
// Promises:
//   J1  No number is given twice, and each job is taken once.
//   J2  A result that nobody wants is not handed on: this member left the step that asked for it
//       (EndEra), or the owner stopped it. The driver is told so once (StopJob) and may end the
//       work early. Attack: [after each restart and each drop the gradient of a step that was over
//       kept the next one waiting].
//
// May not know: what a job is for.
//
// Memory: a record a job. What an attacker can do here: nothing by itself.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "crypto/hash_into.h"
#include "node/base/check.h"
#include "node/protocol/mail/turn.h"

namespace ostraka::protocol {

class JobDesk {
 public:
  struct Job {
    std::uint64_t about = 0;     // the step that it works on
    std::uint64_t asked_in = 0;  // the step in progress then
    void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, about, asked_in); }
  };

  explicit JobDesk(const Turn& turn) : turn_(turn) {}
  void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, open_, next_); }
  friend struct FingerprintProbe;

  JobId Start(const Job& job, JobSpec spec) {
    const JobId id = next_++;
    open_.emplace(id, Open{job});
    turn_.Do(StartJob{id, std::make_shared<const JobSpec>(std::move(spec))});
    return id;
  }
  // The result of the job is not wanted any more. REQUIRES: it is open, and was not stopped.
  void Stop(JobId id) {
    Open& open = open_.at(id);
    OSTRAKA_CHECK(open.wanted);  // J2
    open.wanted = false;
    turn_.Do(StopJob{id});
  }
  // The job is done. Nullopt if nobody wants it. REQUIRES: Start gave `id`, and it is taken once.
  std::optional<Job> Take(JobId id) {
    const auto node = open_.extract(id);
    OSTRAKA_CHECK(!node.empty());  // J1
    if (!node.mapped().wanted) return std::nullopt;
    return node.mapped().job;
  }
  // This member leaves its step, or halts: no open job is wanted.
  void EndEra() {
    for (const auto& [id, open] : open_) {
      if (open.wanted) Stop(id);
    }
  }

  void CheckInvariants() const {
    OSTRAKA_CHECK(open_.empty() || open_.rbegin()->first < next_);  // J1
  }

  std::size_t open() const { return open_.size(); }
  JobId next() const { return next_; }

 private:
  struct Open {
    Job job;
    bool wanted = true;
    void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, job, wanted); }
  };

  const Turn& turn_;
  std::map<JobId, Open> open_;
  JobId next_ = 1;
};

}  // namespace ostraka::protocol
