#include "python/arrays.h"

#include <utility>

namespace ostraka::python {
namespace {

[[noreturn]] void Refuse(const std::string& what, const std::string& why) {
  throw py::value_error(what + ": " + why);
}

bool IsTorch(const py::handle& object) {
  const auto name = py::str(py::type::of(object).attr("__module__")).cast<std::string>();
  return name == "torch" || name.starts_with("torch.");
}

std::string TypeNameOf(const py::handle& object) {
  return py::str(py::type::of(object).attr("__name__")).cast<std::string>();
}

// memmap and matrix add no meaning to their numbers. What an unknown subclass adds, such as a mask
// or a unit, would be dropped without a word.
void CheckSubclass(const py::handle& array, const std::string& what) {
  const auto numpy = py::module_::import("numpy");
  const py::handle type = py::type::handle_of(array);
  if (type.is(numpy.attr("ndarray")) || type.is(numpy.attr("memmap")) ||
      type.is(numpy.attr("matrix"))) {
    return;
  }
  if (py::isinstance(array, numpy.attr("ma").attr("MaskedArray"))) {
    Refuse(what,
           "a masked array, whose mask would be lost: give x.filled(value), or the rows without a "
           "mask as "
           "numpy.asarray(x)");
  }
  Refuse(what,
         "a " + TypeNameOf(array) + ", which may be more than its numbers: give numpy.asarray(x)");
}

// A tensor's memory holds what it views, without the pending sign.
void CheckLazy(const py::handle& object, const std::string& what) {
  for (const char* const name : {"neg", "conj"}) {
    const std::string asks = std::string("is_") + name;
    if (!py::hasattr(object, asks.c_str())) continue;
    if (!object.attr(asks.c_str())().cast<bool>()) continue;
    Refuse(what,
           std::string("a lazy view, whose memory lacks its sign: give x.resolve_") + name + "()");
  }
}

}  // namespace

py::array View(const py::handle& object, const std::string& what) {
  if (py::isinstance<py::array>(object)) {
    CheckSubclass(object, what);
    return py::reinterpret_borrow<py::array>(object);
  }
  const auto numpy = py::module_::import("numpy");
  try {
    if (IsTorch(object)) CheckLazy(object, what);
    if (py::hasattr(object, "__dlpack__")) return numpy.attr("from_dlpack")(object);
    if (PyObject_CheckBuffer(object.ptr()) != 0 || py::hasattr(object, "__array_interface__")) {
      return numpy.attr("asarray")(object);
    }
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_Exception)) throw;  // an interrupt
    PyErr_Clear();
    std::string reason = py::str(error.value()).cast<std::string>();
    for (char& c : reason) c = c == '\n' ? ' ' : c;
    Refuse(what, "its memory cannot be read in place (" + reason +
                     "): give a tensor that is detached, on the CPU, float32 or float64");
  }
  Refuse(what,
         "not an array: give one of NumPy or torch, such as numpy.asarray(x, dtype='float32')");
}

namespace {

template <typename T>
bool Holds(const py::array& array) {
  return py::isinstance<py::array_t<T>>(array);  // native byte order
}

// `object` is what the caller gave, of which `array` is a view: the remedy is in its terms.
void CheckType(const py::handle& object, const py::array& array, const std::string& what) {
  if (Holds<float>(array) || Holds<double>(array)) return;
  Refuse(what, "dtype " + py::str(array.dtype()).cast<std::string>() +
                   ": values are not converted silently; give " +
                   (IsTorch(object) ? "x.float()" : ".astype('float32')"));
}

std::string ShapeText(const py::array& array) {
  return py::str(array.attr("shape")).cast<std::string>();
}

// Requires the values of a row to be contiguous and aligned for T.
void CheckRow(const py::handle& object, const py::array& array, std::size_t axis,
              const std::string& what) {
  if (array.size() == 0)
    return;  // strides of an empty array mean nothing; the rule reports its
             // own requirement
  const auto item = array.itemsize();
  const auto at = static_cast<py::ssize_t>(axis);
  const bool contiguous = array.shape(at) <= 1 || array.strides(at) == item;
  const bool aligned = reinterpret_cast<std::uintptr_t>(array.data()) % item == 0 &&
                       (array.ndim() < 2 || array.strides(0) % item == 0);
  if (contiguous && aligned) return;
  Refuse(what, std::string("the values of a row are not contiguous: give ") +
                   (IsTorch(object) ? "x.contiguous()" : "numpy.ascontiguousarray(x)"));
}

template <typename T>
void AddRows(const py::array& array, aggregation::BasicRows<T>& rows) {
  const auto* first = static_cast<const char*>(array.data());
  if (array.ndim() == 1) {
    rows.row.push_back(reinterpret_cast<const T*>(first));
    rows.dimension = static_cast<std::size_t>(array.shape(0));
    return;
  }
  rows.dimension = static_cast<std::size_t>(array.shape(1));
  for (py::ssize_t i = 0; i < array.shape(0); ++i) {
    rows.row.push_back(reinterpret_cast<const T*>(first + i * array.strides(0)));
  }
}

// Rows of arrays that were checked and have equal shape and type.
template <typename T>
aggregation::BasicRows<T> RowsOf(const std::vector<py::array>& arrays) {
  aggregation::BasicRows<T> rows;
  for (const py::array& array : arrays) AddRows(array, rows);
  return rows;
}

bool IsSequenceOfArrays(const py::handle& object) {
  return py::isinstance<py::list>(object) || py::isinstance<py::tuple>(object);
}

void AddOneByOne(const py::handle& object, const std::string& what, Matrix& matrix) {
  for (const py::handle& row : py::reinterpret_borrow<py::sequence>(object)) {
    const std::string name = what + "[" + std::to_string(matrix.owners.size()) + "]";
    py::array array = View(row, name);
    CheckType(row, array, name);
    if (array.ndim() != 1) Refuse(name, "shape " + ShapeText(array) + ", a row has one dimension");
    CheckRow(row, array, 0, name);
    const py::array& first = matrix.owners.empty() ? array : matrix.owners.front();
    if (array.shape(0) != first.shape(0)) {
      Refuse(what, "ragged: " + name + " has " + std::to_string(array.shape(0)) + " values and " +
                       what + "[0] " + std::to_string(first.shape(0)));
    }
    if (Holds<float>(array) != Holds<float>(first)) {
      Refuse(what, "float32 and float64 mixed: give all rows with one dtype");
    }
    matrix.is_torch = matrix.is_torch || IsTorch(row);
    matrix.owners.push_back(std::move(array));
  }
  if (matrix.owners.empty()) Refuse(what, "there are none");
}

}  // namespace

std::size_t Matrix::count() const {
  return std::visit([](const auto& r) { return r.count(); }, rows);
}
std::size_t Matrix::dimension() const {
  return std::visit([](const auto& r) { return r.dimension; }, rows);
}

Matrix AsMatrix(const py::handle& object, const std::string& what) {
  Matrix matrix;
  if (IsSequenceOfArrays(object)) {
    AddOneByOne(object, what, matrix);
  } else {
    py::array array = View(object, what);
    CheckType(object, array, what);
    if (array.ndim() != 2) {
      Refuse(what, "shape " + ShapeText(array) + ": give a matrix with one row for each worker");
    }
    CheckRow(object, array, 1, what);
    matrix.is_torch = IsTorch(object);
    matrix.owners.push_back(std::move(array));
  }
  if (Holds<float>(matrix.owners.front())) {
    matrix.rows = RowsOf<float>(matrix.owners);
  } else {
    matrix.rows = RowsOf<double>(matrix.owners);
  }
  return matrix;
}

template <typename T>
py::array AsVector(const py::handle& object, std::size_t dimension, const std::string& what) {
  py::array array = View(object, what);
  CheckType(object, array, what);
  if (!Holds<T>(array)) Refuse(what, "float32 and float64 mixed: give the same dtype as the rows");
  if (array.ndim() != 1 || static_cast<std::size_t>(array.shape(0)) != dimension) {
    Refuse(what, "shape " + ShapeText(array) + ": give one vector of " + std::to_string(dimension) +
                     " values");
  }
  CheckRow(object, array, 0, what);
  return array;
}
template py::array AsVector<float>(const py::handle&, std::size_t, const std::string&);
template py::array AsVector<double>(const py::handle&, std::size_t, const std::string&);

py::object AsResult(py::array array, bool torch) {
  if (!torch) return array;
  return py::module_::import("torch").attr("from_numpy")(array);
}

}  // namespace ostraka::python
