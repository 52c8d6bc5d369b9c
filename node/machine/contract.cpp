#include "node/machine/contract.h"

#include <algorithm>

#include "node/base/check.h"

namespace ostraka::machine {

const char* BreachName(Breach breach) {
  switch (breach) {
    case Breach::kNone:
      return "no breach";
    case Breach::kNested:
      return "a Step within a Step";
    case Breach::kTimeWentBack:
      return "time that went back";
    case Breach::kNotStarted:
      return "an input before Started";
    case Breach::kStartedTwice:
      return "a second Started";
    case Breach::kUnknownJob:
      return "a JobDone of no running job";
    case Breach::kNoResult:
      return "a JobDone without a result";
    case Breach::kUnknownStore:
      return "a Stored of no store under way";
    case Breach::kStoreOverlook:
      return "a Stored before that of an earlier store";
    case Breach::kUnknownTimer:
      return "a TimerFired of no set timer";
    case Breach::kEarlyTimer:
      return "a TimerFired before its time";
    case Breach::kJobIdTaken:
      return "a StartJob with the id of a running job";
    case Breach::kStoreIdTaken:
      return "a Store with the id of a store under way";
    case Breach::kActedAtEnd:
      return "an action after the last observation";
  }
  return "unknown";
}

Breach ContractBook::Enter(base::Time now, bool is_start) {
  if (inside_) return Breach::kNested;
  if (is_start && started_) return Breach::kStartedTwice;
  if (!is_start && !started_) return Breach::kNotStarted;
  if (!is_start && now < now_) return Breach::kTimeWentBack;  // the first time may be any
  now_ = now;
  started_ = inside_ = true;
  return Breach::kNone;
}

Breach ContractBook::TakeJob(JobId id, bool has_result) {
  if (!has_result) return Breach::kNoResult;
  return jobs_.erase(id) == 1 ? Breach::kNone : Breach::kUnknownJob;
}

Breach ContractBook::TakeStore(StoreId id) {
  if (!stores_.empty() && stores_.front() == id) {
    stores_.pop_front();
    return Breach::kNone;
  }
  const bool under_way = std::find(stores_.begin(), stores_.end(), id) != stores_.end();
  return under_way ? Breach::kStoreOverlook : Breach::kUnknownStore;
}

Breach ContractBook::TakeTimer(TimerId id) {
  const auto timer = timers_.find(id);
  if (timer == timers_.end()) return Breach::kUnknownTimer;
  if (now_ < timer->second) return Breach::kEarlyTimer;
  timers_.erase(timer);
  return Breach::kNone;
}

Breach ContractBook::AddJob(JobId id) {
  return jobs_.insert(id).second ? Breach::kNone : Breach::kJobIdTaken;
}

Breach ContractBook::AddStore(StoreId id) {
  if (std::find(stores_.begin(), stores_.end(), id) != stores_.end()) return Breach::kStoreIdTaken;
  stores_.push_back(id);
  return Breach::kNone;
}

void ContractBook::CheckInvariants() const {
  const bool idle = jobs_.empty() && stores_.empty() && timers_.empty() && !ended_ && !inside_;
  OSTRAKA_CHECK(started_ || idle);
  const std::set<StoreId> distinct(stores_.begin(), stores_.end());
  OSTRAKA_CHECK(distinct.size() == stores_.size());
}

}  // namespace ostraka::machine
