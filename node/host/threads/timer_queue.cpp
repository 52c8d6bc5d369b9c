#include "node/host/threads/timer_queue.h"

#include <algorithm>
#include <utility>

#include "node/base/check.h"

namespace ostraka::host {

TimerQueue::TimerQueue(boost::asio::io_context& io, std::function<base::Time()> clock,
                       std::function<void(Id)> fired)
    : clock_(std::move(clock)), fired_(std::move(fired)), timer_(io) {}

void TimerQueue::Set(Id id, base::Time at) {
  const auto old = places_.find(id);
  if (old != places_.end()) due_.erase(old->second);
  const Place place{at, next_sequence_++};
  places_[id] = place;
  due_.emplace(place, id);
  Arm();
}

void TimerQueue::Cancel(Id id) {
  const auto found = places_.find(id);
  if (found == places_.end()) return;
  due_.erase(found->second);
  places_.erase(found);
  Arm();
}

void TimerQueue::Clear() {
  due_.clear();
  places_.clear();
  timer_.Cancel();
}

void TimerQueue::CheckInvariants() const {
  OSTRAKA_CHECK(due_.size() == places_.size());
  for (const auto& [place, id] : due_) {
    const auto found = places_.find(id);
    OSTRAKA_CHECK(found != places_.end() && found->second == place);
    OSTRAKA_CHECK(place.sequence < next_sequence_);
  }
}

void TimerQueue::Arm() {
  OSTRAKA_CHECK(due_.size() == places_.size());
  if (due_.empty()) return timer_.Cancel();
  const base::Duration wait = due_.begin()->first.at - clock_();
  timer_.Start(std::max(wait, base::Duration{}), [this] { Fire(); });
}

void TimerQueue::Fire() {
  const base::Time now = clock_();
  // Timers set during this call wait for the next turn, so that a timer that immediately sets
  // itself again cannot starve messages.
  const std::uint64_t limit = next_sequence_;
  while (!due_.empty()) {
    const auto [place, id] = *due_.begin();
    if (place.at > now || place.sequence >= limit) break;
    due_.erase(due_.begin());
    places_.erase(id);
    fired_(id);
  }
  Arm();
}

}  // namespace ostraka::host
