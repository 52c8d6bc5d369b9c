#include "python/pickling.h"

namespace ostraka::python {

py::tuple Pickled(const std::string& name, const py::tuple& packed, const py::object& self) {
  return py::make_tuple(name, OSTRAKA_VERSION, packed, py::getattr(self, "__dict__", py::dict()));
}

void RefusePickle(const std::string& name, const std::string& why) {
  throw py::value_error("this is no pickle of an ostraka." + name + ": " +
                        why.substr(0, why.find('\n')));
}

py::tuple PartsOf(const std::string& name, const py::object& state) {
  if (!py::isinstance<py::tuple>(state)) RefusePickle(name, "it is another object");
  auto parts = py::reinterpret_borrow<py::tuple>(state);
  if (parts.size() != 4 || !py::object(parts[0]).equal(py::str(name)) ||
      !py::isinstance<py::tuple>(parts[2]) || !py::isinstance<py::dict>(parts[3])) {
    RefusePickle(name, "it is another object");
  }
  const auto version = py::str(parts[1]).cast<std::string>();
  if (version != OSTRAKA_VERSION) {
    RefusePickle(name, "it is of version " + version + ", and this is " OSTRAKA_VERSION);
  }
  return parts;
}

py::tuple Reduced(const py::object& self) {
  return py::make_tuple(py::module_::import("copyreg").attr("__newobj__"),
                        py::make_tuple(py::type::of(self)), self.attr("__getstate__")());
}

}  // namespace ostraka::python
