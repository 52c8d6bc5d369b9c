// What machines of every kind have in common below their transport: timers, jobs, a store, and
// observations. A kind (node/machine/machine.h) chooses among them and fills in its own types.
//
// Each part lists the inputs and the actions that it adds to a kind. A kind without jobs, a store
// or an owner names NoJobs, NoStore or NoOwner, and its variants then lack those alternatives: such
// a machine cannot start a job, and a driver without a job pool can run it.
//
// Thread safety: plain values; specs and results are immutable once shared.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "node/base/time.h"

namespace ostraka::machine {

// Ids are the machine's. They tell apart what is in flight, and mean nothing to a driver.
using TimerId = std::uint64_t;
using JobId = std::uint64_t;
using StoreId = std::uint64_t;

// A list of types, in order.
template <typename... T>
struct Types {};

// --- timers -------------------------------------------------------------------------------------

struct SetTimer {  // replaces a timer of the same id
  TimerId id = 0;
  base::Time at;
};
struct CancelTimer {
  TimerId id = 0;
};
struct TimerFired {
  TimerId id = 0;
};

// --- jobs ---------------------------------------------------------------------------------------

// Work that is too heavy for the thread that steps the machine.
template <typename Spec>
struct StartJob {
  JobId id = 0;
  std::shared_ptr<const Spec> spec;
};
// Nobody wants the result any more. The driver may end the job early; it comes back all the same.
struct StopJob {
  JobId id = 0;
};
template <typename Result>
struct JobDone {
  JobId id = 0;
  std::shared_ptr<const Result> result;  // never null
};

template <typename Spec, typename Result>
struct JobsOf {
  using Inputs = Types<JobDone<Result>>;
  using Actions = Types<StartJob<Spec>, StopJob>;
};
struct NoJobs {
  using Inputs = Types<>;
  using Actions = Types<>;
};

// --- the store ----------------------------------------------------------------------------------

// Durable facts of a kind's own form.
template <typename Record>
struct Store {
  StoreId id = 0;
  std::vector<Record> records;  // all or none
};
struct Stored {
  StoreId id = 0;
};

template <typename Record>
struct StoreOf {
  using Inputs = Types<Stored>;
  using Actions = Types<Store<Record>>;
};
struct NoStore {
  using Inputs = Types<>;
  using Actions = Types<>;
};

// --- people -------------------------------------------------------------------------------------

// What its owner tells the machine while it runs, in the kind's own form.
template <typename Told>
struct OwnerOf {
  using Inputs = Types<Told>;
};
struct NoOwner {
  using Inputs = Types<>;
};

// --- observations -------------------------------------------------------------------------------

// For people and checkers; nothing flows back from it.
template <typename Observation>
struct Observe {
  Observation what;
};

}  // namespace ostraka::machine
