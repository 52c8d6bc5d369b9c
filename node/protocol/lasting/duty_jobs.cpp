#include "node/protocol/lasting/duty_jobs.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "node/base/check.h"
#include "node/base/planted.h"

namespace ostraka::protocol {

std::size_t DutyJobs::Recomputing() const {
  const auto votes = std::count_if(votes_.begin(), votes_.end(), [](const auto& vote) {
    return vote.second.about.kind == wire::CaseKind::kGradient;
  });
  return static_cast<std::size_t>(votes) + (look_ ? 1 : 0);
}

bool DutyJobs::HasRoom(std::uint64_t now) const {
  if (base::Planted(base::Bug::kCasesAtOnce)) return true;
  return (recomputing_in_ == now ? recomputations_ : Recomputing()) < kRecomputationsAStep;
}

void DutyJobs::CountRecomputation(std::uint64_t now) {
  if (recomputing_in_ != now) recomputations_ = Recomputing();
  recomputing_in_ = now;
  ++recomputations_;
}

void DutyJobs::StartVote(std::uint64_t now, const wire::CaseId& about, JobSpec spec,
                         std::uint64_t step) {
  if (about.kind == wire::CaseKind::kGradient) CountRecomputation(now);
  votes_.emplace(desk_.Start({.about = step, .asked_in = now}, std::move(spec)), Vote{about, now});
}

void DutyJobs::StartCrossCheck(std::uint64_t now, CrossCheckSpec spec) {
  duties_.BeginCrossCheck(now);
  cross_check_ = desk_.Start({.about = now, .asked_in = now}, std::move(spec));
}

void DutyJobs::StartLook(std::uint64_t now) {
  if (look_ || !HasRoom(now)) return;
  auto next = duties_.NextLook();
  if (!next) return;
  CountRecomputation(now);
  next->spec.purpose = RecomputeSpec::Purpose::kLook;
  look_ = Look{desk_.Start({.about = next->step, .asked_in = now}, std::move(next->spec)),
               next->about, now};
}

std::size_t DutyJobs::Pending(std::uint64_t step) const {
  const auto votes = std::count_if(votes_.begin(), votes_.end(), [step](const auto& vote) {
    return vote.second.asked_in == step;
  });
  return static_cast<std::size_t>(votes) + (look_ && look_->asked_in == step ? 1 : 0);
}

DutyJobs::Done DutyJobs::Take(JobId id, const JobDesk::Job& job, std::uint64_t now,
                              const JobResult& result) {
  const bool failed = std::holds_alternative<JobFailed>(result);
  if (cross_check_ == id) {
    cross_check_.reset();
    if (failed) return {.failed = true, .liars = {}};
    const std::vector<PeerId>& liars = std::get<CrossCheckResult>(result).liars;
    if (!duties_.OnCrossChecked(job.about, liars)) return {};
    return {.failed = false, .liars = liars};
  }
  if (look_ && look_->id == id) {
    duties_.TakeLook(look_->about, result);
    look_.reset();
    StartLook(now);
    return {};
  }
  const auto vote = votes_.extract(id);
  OSTRAKA_CHECK(!vote.empty());
  if (failed) return {.failed = job.asked_in == now, .liars = {}};
  duties_.TakeVerdict(vote.mapped().about, result);
  StartLook(now);
  return {};
}

void DutyJobs::OnBlock(const wire::Block& block) {
  const auto ended = [&block](const wire::CaseId& about) {
    return std::none_of(block.cases.begin(), block.cases.end(),
                        [&](const wire::Case& open) { return open.id == about; });
  };
  std::erase_if(votes_, [&](const auto& vote) {
    if (!ended(vote.second.about)) return false;
    desk_.Stop(vote.first);
    return true;
  });
  if (look_ && ended(look_->about)) desk_.Stop(std::exchange(look_, std::nullopt)->id);
}

void DutyJobs::Clear() {
  votes_.clear();
  cross_check_.reset();
  look_.reset();
}

void DutyJobs::CheckInvariants() const {
  if (!base::Planted(base::Bug::kCasesAtOnce)) {
    OSTRAKA_CHECK(Recomputing() <= kRecomputationsAStep);  // B2
  }
  OSTRAKA_CHECK(!cross_check_ || !votes_.contains(*cross_check_));                      // B1
  OSTRAKA_CHECK(!look_ || (cross_check_ != look_->id && !votes_.contains(look_->id)));  // B1
}

void DutyJobs::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, votes_, cross_check_, look_, recomputing_in_, recomputations_);
}

}  // namespace ostraka::protocol
