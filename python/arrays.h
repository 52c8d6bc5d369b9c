// Arrays from Python without copying them: NumPy's, and what can show its memory by DLPack (torch
// tensors), by the buffer protocol or by the array interface.
//
// Everything here needs the GIL. Errors are py::value_error in one line that says what to do.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <string>
#include <variant>
#include <vector>

#include "aggregation/kernels/rows.h"

namespace ostraka::python {

namespace py = pybind11;

// n rows, with what keeps their memory alive.
struct Matrix {
  std::variant<aggregation::Rows, aggregation::DoubleRows> rows;
  std::vector<py::array> owners;
  bool is_torch = false;  // results are tensors then

  std::size_t count() const;
  std::size_t dimension() const;
};

// An array of two dimensions with contiguous rows, or a sequence of arrays of one dimension. `what`
// begins messages ("rows").
Matrix AsMatrix(const py::handle& object, const std::string& what);

// An array of one dimension, of `dimension` values of type T.
template <typename T>
py::array AsVector(const py::handle& object, std::size_t dimension, const std::string& what);

// The tensor that shares `array`'s memory if `torch`, else `array`.
py::object AsResult(py::array array, bool torch);

}  // namespace ostraka::python
