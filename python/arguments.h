// What all functions of the module share: Python's keywords as a rule's arguments, errors as
// exceptions, and threads.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "aggregation/rules/pipeline.h"
#include "aggregation/shared/parameters.h"
#include "node/base/status.h"
#include "node/os/thread_executor.h"

namespace ostraka::python {

namespace py = pybind11;

// ValueError with the status's line, unless it is ok.
void ThrowIfError(const base::Status& status);
template <typename T>
T ValueOrThrow(base::StatusOr<T> value) {
  ThrowIfError(value.status());
  return std::move(value).value();
}

// Every keyword as its text. TypeError for a value that is no number and no string.
aggregation::Arguments ArgumentsOf(const py::kwargs& keywords);

// Takes `name` out of the keywords; none if it is not there.
py::object Take(py::kwargs& keywords, const char* name);

// "nnm", "bucketing:s=2", or several of them in a list.
std::vector<aggregation::ElementSpec> ElementsOf(const py::object& pre);

// Threads borrowed for one call: those of an earlier call with as many, if they are idle. Two calls
// at once have different ones. None: as many as the machine runs.
class Threads {
 public:
  explicit Threads(const py::object& count);
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  const aggregation::Executor& executor() const { return *executor_; }

 private:
  std::size_t count_;
  std::unique_ptr<os::ThreadExecutor> executor_;
};

}  // namespace ostraka::python
