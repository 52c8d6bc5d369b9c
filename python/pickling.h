// What copy, deepcopy and pickle ask of a class: a plain tuple, and the attributes that a subclass
// has. A pickle is for the same version of the module; others are refused in one line.
#pragma once

#include <pybind11/pybind11.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "python/arguments.h"

namespace ostraka::python {

// Numbers as bytes, which pickle keeps as they are.
template <typename T>
py::bytes BytesOf(const std::vector<T>& values) {
  return py::bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

// Throws py::error_already_set or std::exception for what BytesOf has not made.
template <typename T>
std::vector<T> ValuesOf(const py::handle& bytes) {
  const auto text = bytes.cast<std::string>();
  if (text.size() % sizeof(T) != 0) throw py::value_error("no whole number of values");
  std::vector<T> values(text.size() / sizeof(T));
  std::copy(text.begin(), text.end(), reinterpret_cast<char*>(values.data()));
  return values;
}

// The same, of numbers that calls compute with.
template <typename T>
std::vector<T> FiniteValuesOf(const py::handle& bytes) {
  std::vector<T> values = ValuesOf<T>(bytes);
  for (const T value : values) {
    if (!std::isfinite(value)) throw py::value_error("a value is not finite");
  }
  return values;
}

// What __getstate__ returns, and the tuple that it must be when __setstate__ gets it: the class's
// name, the version, what `pack` made, and the attributes of a subclass. PartsOf throws ValueError.
py::tuple Pickled(const std::string& name, const py::tuple& packed, const py::object& self);
py::tuple PartsOf(const std::string& name, const py::object& state);

// ValueError with the first line of `why`.
[[noreturn]] void RefusePickle(const std::string& name, const std::string& why);

// What __reduce__ returns for every protocol. Without it protocols before 2 make an object of
// pybind11's base class.
py::tuple Reduced(const py::object& self);

// Gives `bound` what copy, deepcopy and every protocol of pickle call: `pack` makes a tuple of a T,
// `unpack` a T of that tuple.
template <typename T, typename Pack, typename Unpack>
void AddPickling(py::class_<T>& bound, const std::string& name, Pack pack, Unpack unpack) {
  bound.def(py::pickle(
      [=](const py::object& self) -> py::object {
        return Pickled(name, pack(py::cast<const T&>(self)), self);
      },
      [=](const py::object& state) -> std::pair<std::unique_ptr<T>, py::dict> {
        const py::tuple parts = PartsOf(name, state);
        try {
          return {unpack(py::cast<py::tuple>(parts[2])), py::cast<py::dict>(parts[3])};
        } catch (const std::exception& error) {  // a Python error too
          RefusePickle(name, error.what());
        }
      }));
  bound.def("__reduce__", &Reduced);
}

}  // namespace ostraka::python
