// Refuses objects whose constructor never ran, such as State.__new__(State): pybind11 would read
// memory that nothing was built in. Every bound class names itself with OSTRAKA_READY_CLASS,
// outside any namespace and before the first use of it as an argument; tests/python/sweep_test.py
// crashes for a class that does not.
#pragma once

#include <pybind11/pybind11.h>

#include <typeinfo>

namespace ostraka::python {

// TypeError unless `object`, an instance of the class that is bound to `type`, was constructed.
void RequireReady(pybind11::handle object, const std::type_info& type);

template <typename T>
struct ReadyCaster : pybind11::detail::type_caster_base<T> {
  bool load(pybind11::handle source, bool convert) {
    if (source && pybind11::isinstance<T>(source)) RequireReady(source, typeid(T));
    return pybind11::detail::type_caster_base<T>::load(source, convert);
  }
};

// Keeps pybind11's base class, as State.__base__ gives it, from aborting when it is called.
void GuardBaseClass();

}  // namespace ostraka::python

#define OSTRAKA_READY_CLASS(T) \
  template <>                  \
  struct pybind11::detail::type_caster<T> : ostraka::python::ReadyCaster<T> {}
