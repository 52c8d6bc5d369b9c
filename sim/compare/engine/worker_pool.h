// Processes that work through a list of tasks: one a core, each with one task at a time.
//
// Processes and not threads, because a task runs a library: what crashes or runs out of memory
// there ends one task and not the comparison, and a peak of memory can be told of each task.
//
// A worker is a fork of this process, which must not have started a thread. It dies with its
// parent, also if that is killed. Messages are lines of text. Thread safety: one owner.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "node/base/status.h"
#include "sim/compare/cells/result.h"

namespace ostraka::compare {

struct TaskDone {
  std::size_t task = 0;
  bool died = false;  // the worker did; `text` says how, in one line
  std::string text;   // what `work` returned
  CellCost cost;
};

struct PoolOptions {
  std::size_t workers = 1;
  // Runs in a worker. Returns one line without a line feed.
  std::function<std::string(std::size_t task)> work;
  // Runs here, in the order in which tasks end. An error stops all.
  std::function<base::Status(const TaskDone&)> done;
};

// Runs tasks 0..count-1, begun in this order. OkStatus once `done` has seen each; else `done`'s
// error. Unavailable: the system has no process or pipe to give.
base::Status RunTasks(std::size_t count, const PoolOptions& options);

// Of this machine: as many workers as it runs at once.
std::size_t CoreCount();

}  // namespace ostraka::compare
