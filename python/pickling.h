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

// Gives `bound` what copy, deepcopy and every protocol of pickle call: `pack` makes a tuple of a T,
// `unpack` a T of that tuple.
template <typename T, typename Pack, typename Unpack>
void AddPickling(py::class_<T>& bound, const std::string& name, Pack pack, Unpack unpack) {
  bound.def(py::pickle(
      [=](const py::object& self) -> py::object {
        const T& value = py::cast<const T&>(self);
        return py::make_tuple(name, OSTRAKA_VERSION, pack(value),
                              py::getattr(self, "__dict__", py::dict()));
      },
      [=](const py::object& state) -> std::pair<std::unique_ptr<T>, py::dict> {
        std::string why = "it is another object";
        try {
          const auto parts = py::cast<py::tuple>(state);
          if (parts.size() == 4 && py::str(parts[0]).cast<std::string>() == name) {
            const auto version = py::str(parts[1]).cast<std::string>();
            if (version == OSTRAKA_VERSION) {
              return {unpack(py::cast<py::tuple>(parts[2])), py::cast<py::dict>(parts[3])};
            }
            why = "it is of version " + version + ", and this is " OSTRAKA_VERSION;
          }
        } catch (const std::exception& error) {  // a Python error too
          why = error.what();
          why = why.substr(0, why.find('\n'));
        }
        throw py::value_error("this is no pickle of an ostraka." + name + ": " + why);
      }));
  // Protocols before 2 would make an object of pybind11's base class, which aborts.
  bound.def("__reduce__", [](const py::object& self) {
    return py::make_tuple(py::module_::import("copyreg").attr("__newobj__"),
                          py::make_tuple(py::type::of(self)), self.attr("__getstate__")());
  });
}

}  // namespace ostraka::python
