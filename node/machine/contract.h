// Checks that a driver and a machine keep the contract of node/machine/machine.h: one object for
// each life of a machine, between the two.
//
// Promises:
//   C1 A Step that the driver must not make does not reach the machine (rules 1, 2, 3, 7).
//   C2 A Step whose actions break the contract is reported in the call that made them (2, 3, 5).
//   C3 An input or action that keeps the contract is never reported, whatever the kind.
//   C4 The actions are left as they are; the driver carries them out.
// Not checked: rule 4 (a driver may lose what it likes) and 6; in rule 2, that a result depends on
// the spec alone (compare two runs); and what never comes, such as a job that is still running.
// OpenJobs and OpenStores are for a driver that knows its end.
//
// May not know: any kind's types. The book below takes ids and times; the template reads them off.
// Memory: what is in flight: an id for each job and store, an id and a time for each timer.
// What an attacker can do here: nothing. No input of a transport has an id that is looked up, and
// its content is not read.
//
// Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <type_traits>
#include <variant>

#include "node/base/time.h"
#include "node/machine/machine.h"

namespace ostraka::machine {

enum class Breach : std::uint8_t {
  kNone,
  // The driver's: the machine was not called.
  kNested,         // 1: Step within Step
  kTimeWentBack,   // 1
  kNotStarted,     // 1: an input before Started
  kStartedTwice,   // 1
  kUnknownJob,     // 2: JobDone of a job that is not running
  kNoResult,       // 2: JobDone without a result
  kUnknownStore,   // 3: Stored of a store that is not under way
  kStoreOverlook,  // 3: Stored while an earlier store is under way
  kUnknownTimer,   // 7: TimerFired of a timer that is not set
  kEarlyTimer,     // 7
  // The machine's: it was called, and its actions are in the outbox.
  kJobIdTaken,    // 2: StartJob with the id of a running job
  kStoreIdTaken,  // 3: Store with the id of a store under way
  kActedAtEnd,    // 5: an action after the last observation other than the sends of the rule
};
// "a TimerFired before its time": what happened, for people.
const char* BreachName(Breach breach);

// What the contract remembers of one life of a machine.
class ContractBook {
 public:
  // Inputs, before the machine sees them: kNone, or the driver's breach; then nothing that is in
  // flight has changed.
  Breach Enter(base::Time now, bool is_start);
  Breach TakeJob(JobId id, bool has_result);
  Breach TakeStore(StoreId id);
  Breach TakeTimer(TimerId id);
  void Leave() { inside_ = false; }

  // Actions, in order: kNone, or the machine's breach.
  Breach AddJob(JobId id);
  Breach AddStore(StoreId id);
  void AddTimer(TimerId id, base::Time at) { timers_[id] = at; }
  void DropTimer(TimerId id) { timers_.erase(id); }
  void End() { ended_ = true; }

  bool ended() const { return ended_; }
  std::size_t jobs() const { return jobs_.size(); }
  std::size_t stores() const { return stores_.size(); }
  void CheckInvariants() const;

 private:
  base::Time now_;
  bool started_ = false;
  bool inside_ = false;  // a Step is in progress
  bool ended_ = false;   // the last observation was made
  std::set<JobId> jobs_;
  std::deque<StoreId> stores_;  // oldest first
  std::map<TimerId, base::Time> timers_;
};

// How a machine may treat rule 5. An adversary may go on after the machine inside it has ended.
enum class AfterEnd : std::uint8_t { kSilent, kFree };

template <Kind K>
class Contract {
 public:
  explicit Contract(AfterEnd after_end = AfterEnd::kSilent) : after_end_(after_end) {}

  // Steps `machine`, unless the driver must not (C1). REQUIRES: always the same machine.
  Breach Step(Machine<K>& machine, base::Time now, const InputOf<K>& input, Outbox<K>& out) {
    if (const Breach breach = Take(now, input); breach != Breach::kNone) return breach;
    const bool silent = book_.ended() && after_end_ == AfterEnd::kSilent;
    const bool answers = MayBeAnswered(input);
    const std::size_t before = out.actions().size();
    machine.Step(now, input, out);
    book_.Leave();
    Breach first = Breach::kNone;
    for (std::size_t i = before; i < out.actions().size(); ++i) {
      const ActionOf<K>& action = out.actions()[i];
      const bool allowed = !silent || (answers && IsSend(action));
      const Breach breach = allowed ? Note(action) : Breach::kActedAtEnd;
      if (first == Breach::kNone) first = breach;
    }
    return first;
  }

  AfterEnd after_end() const { return after_end_; }
  bool ended() const { return book_.ended(); }
  std::size_t OpenJobs() const { return book_.jobs(); }
  std::size_t OpenStores() const { return book_.stores(); }
  void CheckInvariants() const { book_.CheckInvariants(); }

 private:
  template <typename T>
  struct IsJobDone : std::false_type {};
  template <typename Result>
  struct IsJobDone<JobDone<Result>> : std::true_type {};
  template <typename T>
  struct IsStartJob : std::false_type {};
  template <typename Spec>
  struct IsStartJob<StartJob<Spec>> : std::true_type {};
  template <typename T>
  struct IsStore : std::false_type {};
  template <typename Record>
  struct IsStore<Store<Record>> : std::true_type {};
  template <typename T, typename List>
  struct IsIn : std::false_type {};
  template <typename T, typename... U>
  struct IsIn<T, Types<U...>> : std::disjunction<std::is_same<T, U>...> {};

  // After the end (rule 5).
  static bool MayBeAnswered(const InputOf<K>& input) {
    return std::visit(
        []<typename T>(const T&) {
          return std::is_same_v<T, Stored> || IsIn<T, typename K::Transport::Inputs>();
        },
        input);
  }
  static bool IsSend(const ActionOf<K>& action) {
    return std::visit(
        []<typename T>(const T&) { return bool{IsIn<T, typename K::Transport::Actions>()}; },
        action);
  }

  Breach Take(base::Time now, const InputOf<K>& input) {
    constexpr std::size_t kStarted = 0;
    Breach breach = book_.Enter(now, input.index() == kStarted);
    if (breach != Breach::kNone) return breach;
    breach = std::visit(
        [this]<typename T>(const T& what) {
          if constexpr (IsJobDone<T>()) return book_.TakeJob(what.id, what.result != nullptr);
          if constexpr (std::is_same_v<T, Stored>) return book_.TakeStore(what.id);
          if constexpr (std::is_same_v<T, TimerFired>) return book_.TakeTimer(what.id);
          return Breach::kNone;
        },
        input);
    if (breach != Breach::kNone) book_.Leave();
    return breach;
  }

  Breach Note(const ActionOf<K>& action) {
    return std::visit(
        [this]<typename T>(const T& what) {
          if constexpr (IsStartJob<T>()) return book_.AddJob(what.id);
          if constexpr (IsStore<T>()) return book_.AddStore(what.id);
          if constexpr (std::is_same_v<T, SetTimer>) book_.AddTimer(what.id, what.at);
          if constexpr (std::is_same_v<T, CancelTimer>) book_.DropTimer(what.id);
          if constexpr (std::is_same_v<T, Observe<typename K::Observation>>) {
            if (K::IsLast(what.what)) book_.End();
          }
          return Breach::kNone;
        },
        action);
  }

  AfterEnd after_end_;
  ContractBook book_;
};

}  // namespace ostraka::machine
