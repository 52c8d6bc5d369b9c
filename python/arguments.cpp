#include "python/arguments.h"

#include <map>
#include <mutex>
#include <utility>

#include "aggregation/shared/byzfl_names.h"

namespace ostraka::python {
namespace {

// Never destroyed: threads must not be joined while the interpreter shuts down.
struct Idle {
  std::mutex mutex;
  std::multimap<std::size_t, std::unique_ptr<os::ThreadExecutor>> executors;
};
Idle& IdleThreads() {
  static Idle* const idle = new Idle;
  return *idle;
}

std::string TypeNameOf(const py::handle& object) {
  return py::str(py::type::of(object).attr("__name__")).cast<std::string>();
}

}  // namespace

std::size_t ThreadCountOf(const py::object& count) {
  if (count.is_none()) return os::AvailableThreads();
  constexpr std::size_t kMost = 1024;
  if (PyIndex_Check(count.ptr()) == 0 || py::isinstance<py::bool_>(count)) {
    throw py::type_error("threads must be an integer");
  }
  const py::object number = py::reinterpret_steal<py::object>(PyNumber_Index(count.ptr()));
  const long value = number ? PyLong_AsLong(number.ptr()) : -1;
  if (PyErr_Occurred() != nullptr) PyErr_Clear();
  if (value < 1 || static_cast<std::size_t>(value) > kMost) {
    throw py::value_error("threads must be 1 to 1024");
  }
  return static_cast<std::size_t>(value);
}

std::string TextOf(const py::handle& object, const std::string& what) {
  if (!py::isinstance<py::str>(object)) {
    throw py::type_error(what + " must be a string, and not of type " + TypeNameOf(object));
  }
  return object.cast<std::string>();
}

std::string PathOf(const py::handle& object, const std::string& what) {
  const bool is_path = py::isinstance<py::str>(object) || py::isinstance<py::bytes>(object) ||
                       py::hasattr(object, "__fspath__");
  if (!is_path) {
    throw py::type_error(what +
                         " must be a file's name, as a string or an os.PathLike, and not of type " +
                         TypeNameOf(object));
  }
  auto path = py::module_::import("os").attr("fsencode")(object).cast<std::string>();
  if (path.find('\0') != std::string::npos) {
    throw py::value_error(what + " has a NUL, which no file's name has");
  }
  return path;
}

void ThrowIfError(const base::Status& status) {
  if (!status.ok()) throw py::value_error(base::MessageOf(status));
}

void RefusePositional(const std::string& call, const char* takes, const char* likely,
                      const py::args& more) {
  if (more.empty()) return;
  throw py::type_error(call + " takes " + takes + " by position, and all else by name, as " + call +
                       "(" + takes + ", " + likely + "=" + py::repr(more[0]).cast<std::string>() +
                       ")");
}

aggregation::Arguments ArgumentsOf(const py::kwargs& keywords) {
  aggregation::Arguments arguments;
  const py::object number = py::module_::import("numbers").attr("Number");
  for (const auto& [key, value] : keywords) {
    auto name = key.cast<std::string>();
    if (name.ends_with('_')) name.pop_back();  // lambda_: lambda is a Python keyword
    const bool is_bool = py::isinstance<py::bool_>(value);
    if (is_bool || !(py::isinstance<py::str>(value) || py::isinstance(value, number))) {
      // ByzFL's searching attacks take objects.
      throw py::type_error(name + " must be a number or a string" +
                           aggregation::ByzflParameterHint("attack", name));
    }
    arguments.emplace_back(name, py::str(value).cast<std::string>());
  }
  return arguments;
}

py::object Take(py::kwargs& keywords, const char* name) {
  if (!keywords.contains(name)) return py::none();
  py::object value = keywords[name];
  if (PyDict_DelItemString(keywords.ptr(), name) != 0) throw py::error_already_set();
  return value;
}

std::uint64_t TakeCount(py::kwargs& keywords, const char* name, std::uint64_t otherwise) {
  const py::object value = Take(keywords, name);
  return value.is_none() ? otherwise : CountOf(value, name);
}

std::uint64_t CountOf(const py::handle& value, const std::string& name) {
  if (PyIndex_Check(value.ptr()) == 0) throw py::type_error(name + " must be a whole number");
  const py::object number = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
  const std::uint64_t count = number ? PyLong_AsUnsignedLongLong(number.ptr()) : 0;
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    throw py::value_error(name + " must be 0 to 2**64 - 1");
  }
  return count;
}

std::vector<aggregation::ElementSpec> ElementsOf(const py::object& pre) {
  std::vector<aggregation::ElementSpec> elements;
  if (pre.is_none()) return elements;
  const auto add = [&elements](const py::handle& text) {
    if (!py::isinstance<py::str>(text)) {
      throw py::type_error(
          std::string("pre: give names as 'nnm' or 'bucketing:s=2', or a list of them") +
          (py::isinstance<py::dict>(text)
               ? "; ByzFL's {'name': 'Clipping', 'parameters': {'c': 2}} is "
                 "'clipping:c=2' here (docs/from-byzfl.md)"
               : ""));
    }
    elements.push_back(ValueOrThrow(aggregation::ParseElement(text.cast<std::string>())));
  };
  if (py::isinstance<py::list>(pre) || py::isinstance<py::tuple>(pre)) {
    for (const py::handle& text : pre) add(text);
  } else {
    add(pre);
  }
  return elements;
}

Threads::Threads(const py::object& count) : count_(ThreadCountOf(count)) {
  Idle& idle = IdleThreads();
  const std::lock_guard lock(idle.mutex);
  const auto found = idle.executors.find(count_);
  if (found == idle.executors.end()) {
    executor_ = std::make_unique<os::ThreadExecutor>(count_);
  } else {
    executor_ = std::move(found->second);
    idle.executors.erase(found);
  }
}

Threads::~Threads() {
  Idle& idle = IdleThreads();
  const std::lock_guard lock(idle.mutex);
  idle.executors.emplace(count_, std::move(executor_));
}

}  // namespace ostraka::python
