// Refuses objects whose constructor never ran, such as State.__new__(State): pybind11 would read
// memory that nothing was built in. Every bound class names itself with OSTRAKA_READY_CLASS,
// outside any namespace and before the first use of it as an argument; tests/python/sweep_test.py
// crashes for a class that does not.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <typeinfo>

namespace ostraka::python {

// TypeError unless `object`, an instance of the class that is bound to `type`, was constructed.
inline void RequireReady(pybind11::handle object, const std::type_info& type) {
  namespace detail = pybind11::detail;
  auto* const instance = reinterpret_cast<detail::instance*>(object.ptr());
  detail::value_and_holder held = instance->get_value_and_holder(detail::get_type_info(type));
  if (held.holder_constructed()) return;
  const pybind11::handle bound = detail::get_type_handle(type, true);
  const auto name = pybind11::str(bound.attr("__name__")).cast<std::string>();
  throw pybind11::type_error("this object was made without its constructor: make it by " + name +
                             "(...)");
}

template <typename T>
struct ReadyCaster : pybind11::detail::type_caster_base<T> {
  bool load(pybind11::handle source, bool convert) {
    if (source && pybind11::isinstance<T>(source)) RequireReady(source, typeid(T));
    return pybind11::detail::type_caster_base<T>::load(source, convert);
  }
};

}  // namespace ostraka::python

#define OSTRAKA_READY_CLASS(T) \
  template <>                  \
  struct pybind11::detail::type_caster<T> : ostraka::python::ReadyCaster<T> {}
