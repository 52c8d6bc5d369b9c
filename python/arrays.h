// Python arrays without copying: NumPy's, and objects that expose their memory by DLPack (torch
// tensors), by the buffer protocol or by the array interface.
//
// All functions need the GIL. Errors are py::value_error with one line and a remedy.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <string>
#include <variant>
#include <vector>

#include "aggregation/kernels/rows.h"

namespace ostraka::python {

namespace py = pybind11;

// n rows, and the objects that keep their memory alive.
struct Matrix {
  std::variant<aggregation::Rows, aggregation::DoubleRows> rows;
  std::vector<py::array> owners;
  bool is_torch = false;  // if so, results are tensors

  std::size_t count() const;
  std::size_t dimension() const;
};

// The array that `object` is or shows, never a copy. Refuses what would lose its meaning as plain
// numbers: masked arrays and other subclasses of NumPy's array that are not known here, and tensors
// that are views which negate or conjugate when they are read.
py::array View(const py::handle& object, const std::string& what);

// A two-dimensional array with contiguous rows, or a sequence of one-dimensional arrays. `what`
// ("rows") begins messages.
Matrix AsMatrix(const py::handle& object, const std::string& what);

// A one-dimensional array of `dimension` values of type T.
template <typename T>
py::array AsVector(const py::handle& object, std::size_t dimension, const std::string& what);

// A tensor that shares `array`'s memory if `torch`, else `array`.
py::object AsResult(py::array array, bool torch);

}  // namespace ostraka::python
