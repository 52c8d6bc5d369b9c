#include "sim/engine/compute_lane.h"

#include <algorithm>
#include <utility>

#include "node/base/check.h"

namespace ostraka::sim {

using protocol::UrgencyOf;

void ComputeLane::Begin(Job job, base::Time at) {
  running_ = std::move(job);
  began_ = at;
  ++ticket_;
}

void ComputeLane::BeginNext(base::Time at) {
  const auto next = std::min_element(
      waiting_.begin(), waiting_.end(),
      [](const Job& a, const Job& b) { return UrgencyOf(*a.spec) < UrgencyOf(*b.spec); });
  if (next == waiting_.end()) return;
  Job job = std::move(*next);
  waiting_.erase(next);
  Begin(std::move(job), at);
}

base::Time ComputeLane::GivesWay(base::Time now) const {
  if (now <= began_) return began_;
  const std::int64_t slice = running_->micro_batch.ns;
  const std::int64_t done = ((now - began_).ns + slice - 1) / slice;
  return std::min(began_ + base::Duration{done * slice}, End());
}

bool ComputeLane::Start(Job job, base::Time now) {
  OSTRAKA_CHECK(job.micro_batch.ns > 0);
  if (!running_) {
    Begin(std::move(job), now);
    return true;
  }
  const base::Time free = GivesWay(now);
  if (UrgencyOf(*job.spec) >= UrgencyOf(*running_->spec) || free == End()) {
    waiting_.push_back(std::move(job));
    return false;
  }
  waiting_.push_front(*std::exchange(running_, std::nullopt));
  Begin(std::move(job), free);
  return true;
}

std::optional<base::Time> ComputeLane::Stop(protocol::JobId id, base::Time now) {
  if (running_ && running_->id == id) {
    const base::Time free = std::max(GivesWay(now), now);
    running_.reset();
    ++ticket_;
    BeginNext(free);
    return free;
  }
  const auto found =
      std::find_if(waiting_.begin(), waiting_.end(), [id](const Job& job) { return job.id == id; });
  if (found == waiting_.end()) return std::nullopt;
  waiting_.erase(found);
  return now;
}

ComputeLane::Job ComputeLane::TakeDone(base::Time now) {
  Job done = *std::exchange(running_, std::nullopt);
  BeginNext(now);
  return done;
}

}  // namespace ostraka::sim
