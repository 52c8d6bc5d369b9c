#include "python/ready.h"

#include <string>

namespace ostraka::python {
namespace {

namespace py = pybind11;

// pybind11 throws through C for its base class. Classes inherit this, so it makes theirs too.
PyObject* NewObject(PyTypeObject* type, PyObject*, PyObject*) {
  if (py::detail::all_type_info(type).empty()) {
    PyErr_Format(PyExc_TypeError, "%.200s is a base of classes, and has no objects of its own",
                 type->tp_name);
    return nullptr;
  }
  return py::detail::make_new_instance(type);
}

}  // namespace

void RequireReady(py::handle object, const std::type_info& type) {
  auto* const instance = reinterpret_cast<py::detail::instance*>(object.ptr());
  const py::detail::value_and_holder held =
      instance->get_value_and_holder(py::detail::get_type_info(type));
  if (held.holder_constructed()) return;
  const py::handle bound = py::detail::get_type_handle(type, true);
  const auto name = py::str(bound.attr("__name__")).cast<std::string>();
  throw py::type_error("this object was made without its constructor: make it by " + name +
                       "(...)");
}

void GuardBaseClass() {
  auto* const base = reinterpret_cast<PyTypeObject*>(py::detail::get_internals().instance_base);
  base->tp_new = NewObject;
}

}  // namespace ostraka::python
