#include "node/protocol/parts/duty_jobs.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "node/base/check.h"

namespace ostraka::protocol {

void DutyJobs::StartVote(std::uint64_t now, const wire::CaseId& about, JobSpec spec,
                         std::uint64_t step) {
  votes_.emplace(desk_->Start({.about = step, .asked_in = now}, std::move(spec)), Vote{about, now});
}

void DutyJobs::StartCrossCheck(std::uint64_t now, CrossCheckSpec spec) {
  duties_->BeginCrossCheck(now);
  cross_check_ = desk_->Start({.about = now, .asked_in = now}, std::move(spec));
}

void DutyJobs::StartLook(std::uint64_t now) {
  if (look_) return;
  auto next = duties_->NextLook();
  if (!next) return;
  look_ = Look{desk_->Start({.about = next->step, .asked_in = now}, std::move(next->spec)),
               next->about};
}

std::size_t DutyJobs::VotesPending(std::uint64_t step) const {
  return static_cast<std::size_t>(
      std::count_if(votes_.begin(), votes_.end(),
                    [step](const auto& vote) { return vote.second.asked_in == step; }));
}

DutyJobs::Done DutyJobs::Take(JobId id, const JobDesk::Job& job, std::uint64_t now,
                              const JobResult& result) {
  const bool failed = std::holds_alternative<JobFailed>(result);
  if (cross_check_ == id) {
    cross_check_.reset();
    if (failed) return {.failed = true, .liars = {}};
    const std::vector<PeerId>& liars = std::get<CrossCheckResult>(result).liars;
    if (!duties_->OnCrossChecked(job.about, liars)) return {};
    return {.failed = false, .liars = liars};
  }
  if (look_ && look_->id == id) {
    duties_->TakeLook(look_->about, result);
    look_.reset();
    StartLook(now);
    return {};
  }
  const auto vote = votes_.extract(id);
  OSTRAKA_CHECK(!vote.empty());
  if (failed) return {.failed = job.asked_in == now, .liars = {}};
  duties_->TakeVerdict(vote.mapped().about, result);
  StartLook(now);
  return {};
}

void DutyJobs::Clear() {
  votes_.clear();
  cross_check_.reset();
  look_.reset();
}

void DutyJobs::CheckInvariants() const {
  OSTRAKA_CHECK(!cross_check_ || !votes_.contains(*cross_check_));                      // B1
  OSTRAKA_CHECK(!look_ || (cross_check_ != look_->id && !votes_.contains(look_->id)));  // B1
}

}  // namespace ostraka::protocol
