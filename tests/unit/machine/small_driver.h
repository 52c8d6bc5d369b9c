// A driver in virtual time for one machine of any kind: what a kind lacks, its driver lacks too.
//
// Every Step goes through a Contract, and a breach ends the program. Stores become durable and jobs
// end after a fixed time; what the machine sends is kept for the test to read.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "node/base/check.h"
#include "node/machine/contract.h"
#include "node/machine/datagrams.h"
#include "node/machine/links.h"
#include "node/machine/machine.h"

namespace ostraka::machine {

template <Kind K>
class SmallDriver {
 public:
  static constexpr base::Duration kFsync = base::Milliseconds(5);
  static constexpr base::Duration kJob = base::Milliseconds(3);

  explicit SmallDriver(std::unique_ptr<Machine<K>> machine) : machine_(std::move(machine)) {}

  void Feed(base::Time at, InputOf<K> input) { pending_.emplace(at, std::move(input)); }

  // Everything due until `until`, in order of time and then of scheduling.
  void Run(base::Time until) {
    while (!pending_.empty() && pending_.begin()->first <= until) {
      auto next = pending_.extract(pending_.begin());
      if (!IsVoid(next.key(), next.mapped())) Step(next.key(), next.mapped());
    }
  }

  template <typename Sent>
  std::vector<Sent> sent() const {
    std::vector<Sent> found;
    for (const ActionOf<K>& action : done_) {
      if (const auto* sent = std::get_if<Sent>(&action)) found.push_back(*sent);
    }
    return found;
  }
  const Contract<K>& contract() const { return contract_; }
  const Machine<K>& machine() const { return *machine_; }

  // The work of a kind with jobs; a test sets it.
  std::function<JobDone<std::uint16_t>(const StartJob<std::uint8_t>&)> run_job;

 private:
  void Step(base::Time now, const InputOf<K>& input) {
    Outbox<K> out;
    OSTRAKA_CHECK(contract_.Step(*machine_, now, input, out) == Breach::kNone);
    machine_->CheckInvariants();
    contract_.CheckInvariants();
    for (ActionOf<K>& action : out.actions()) {
      std::visit([&](const auto& what) { On(now, what); }, action);
      done_.push_back(std::move(action));
    }
  }

  // A timer that was cancelled, or set again, has an older time in the queue.
  bool IsVoid(base::Time at, const InputOf<K>& input) {
    const auto* fired = std::get_if<TimerFired>(&input);
    if (fired == nullptr) return false;
    const auto timer = timers_.find(fired->id);
    if (timer == timers_.end() || timer->second != at) return true;
    timers_.erase(timer);
    return false;
  }

  void On(base::Time, const SetTimer& timer) {
    timers_[timer.id] = timer.at;
    Feed(timer.at, TimerFired{timer.id});
  }
  void On(base::Time, const CancelTimer& timer) { timers_.erase(timer.id); }
  template <typename Record>
  void On(base::Time now, const Store<Record>& store) {
    Feed(now + kFsync, Stored{store.id});
  }
  template <typename Spec>
  void On(base::Time now, const StartJob<Spec>& job) {
    Feed(now + kJob, run_job(job));
  }
  template <typename Other>  // sends and observations
  void On(base::Time, const Other&) {}

  std::unique_ptr<Machine<K>> machine_;
  Contract<K> contract_;
  std::multimap<base::Time, InputOf<K>> pending_;
  std::map<TimerId, base::Time> timers_;
  std::vector<ActionOf<K>> done_;
};

}  // namespace ostraka::machine
