// Functions that the whole module shares: Python keywords as a rule's arguments, errors as
// exceptions, and threads.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "aggregation/rules/pipeline.h"
#include "aggregation/shared/parameters.h"
#include "node/base/status.h"
#include "node/os/thread_executor.h"

namespace ostraka::python {

namespace py = pybind11;

// Throws ValueError with the status's line unless it is ok.
void ThrowIfError(const base::Status& status);
template <typename T>
T ValueOrThrow(base::StatusOr<T> value) {
  ThrowIfError(value.status());
  return std::move(value).value();
}

// Converts every keyword's value to text. TypeError for a value that is neither a number nor a
// string.
aggregation::Arguments ArgumentsOf(const py::kwargs& keywords);

// TypeError if `more` is not empty. `takes` are the names of what `call` takes by position, and
// `likely` is the parameter that the first of `more` may have been meant for.
void RefusePositional(const std::string& call, const char* takes, const char* likely,
                      const py::args& more);

// A name that a caller gives. TypeError, beginning with `what`, for what is no string.
std::string TextOf(const py::handle& object, const std::string& what);

// The file that a caller names by a string, bytes or an os.PathLike. TypeError for anything else.
std::string PathOf(const py::handle& object, const std::string& what);

// Removes `name` from the keywords and returns its value; None if it is absent.
py::object Take(py::kwargs& keywords, const char* name);

// The T that `value` is; null for None. TypeError, naming `argument` and an example of what it
// takes, for anything else.
template <typename T>
T* PointerOrThrow(const py::object& value, const std::string& argument,
                  const std::string& example) {
  if (value.is_none()) return nullptr;
  if (!py::isinstance<T>(value)) {
    throw py::type_error(argument + " must be " + example + ", and not of type " +
                         py::str(py::type::of(value).attr("__name__")).cast<std::string>());
  }
  return value.cast<T*>();
}

// A whole number from 0 on. TypeError or ValueError, beginning with `name`, for anything else.
std::uint64_t CountOf(const py::handle& value, const std::string& name);

// The value of keyword `name`; `otherwise` if it is absent. Errors as CountOf.
std::uint64_t TakeCount(py::kwargs& keywords, const char* name, std::uint64_t otherwise);

// Parses "nnm", "bucketing:s=2", or a list of such texts.
std::vector<aggregation::ElementSpec> ElementsOf(const py::object& pre);

// Threads borrowed for one call. Reuses idle threads of an earlier call with an equal count;
// concurrent calls get different threads. None: as many as the machine runs at once.
// The number of threads that `count` asks for. TypeError or ValueError for none from 1 to 1024.
std::size_t ThreadCountOf(const py::object& count);

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
