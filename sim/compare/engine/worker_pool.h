// Processes that work through a list of tasks: one for each core, each with one task at a time.
//
// Processes instead of threads, because a task runs a library. A crash or a lack of memory there
// ends one task and not the comparison, and each task's peak memory can be measured.
//
// Promises:
//   P1  Every task is reported to `done` once, also if its worker dies.
//   P2  A worker dies with its parent, also if the parent is killed.
//
// May not know: what a task does. Messages are lines of text.
//
// Memory: one unfinished line from each worker.
//
// Thread safety: one owner. Workers are forks of this process, which must not have started a
// thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "node/base/status.h"
#include "sim/compare/cells/result.h"

namespace ostraka::compare {

struct TaskDone {
  std::size_t task = 0;
  bool died = false;  // the worker died; `text` says how, in one line
  std::string text;   // the result of `work`
  CellCost cost;
};

struct PoolOptions {
  std::size_t workers = 1;
  // Runs in a worker before a task, and does not count for its cost. May be empty.
  std::function<void(std::size_t task)> prepare = {};
  // Runs in a worker. Returns one line without a line feed.
  std::function<std::string(std::size_t task)> work;
  // Runs in this process, in the order in which tasks end. An error stops all tasks.
  std::function<base::Status(const TaskDone&)> done;
};

// Runs tasks 0..count-1, started in this order. OkStatus once `done` has seen each; else `done`'s
// error. Unavailable: the system refuses a process or a pipe.
base::Status RunTasks(std::size_t count, const PoolOptions& options);

// The number of workers that this machine can run at once.
std::size_t CoreCount();

}  // namespace ostraka::compare
