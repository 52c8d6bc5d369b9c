// The Python module `ostraka`: rules and attacks of aggregation/ on arrays (README.md here).
#include "python/module.h"

#include <pybind11/pybind11.h>

#include <string>

#include "aggregation/shared/byzfl_names.h"

namespace {

// pybind11 before 2.12 reads a type's size from where NumPy 1 has it. Under NumPy 2 it reads 0
// there, and a result is its first coordinate over and over.
void RefuseNewerNumPy() {
#if PYBIND11_VERSION_HEX < 0x020C0000
  namespace py = pybind11;
  py::object version;
  try {
    version = py::module_::import("numpy").attr("__version__");
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_ImportError)) throw;
    return;  // there is none; the first array will say so
  }
  const auto text = version.cast<std::string>();
  if (text.starts_with("0.") || text.starts_with("1.")) return;
  throw py::import_error("this build of the module is for NumPy 1, and here is NumPy " + text +
                         ": build one for this interpreter with `pip install .` in the source "
                         "folder (python/README.md)");
#endif
}

}  // namespace

PYBIND11_MODULE(ostraka, module) {
  RefuseNewerNumPy();
  ostraka::python::GuardBaseClass();
  pybind11::options options;
  options.disable_function_signatures();  // the docstrings begin with better signatures
  module.doc() =
      "Robust aggregation rules and the attacks against them, on NumPy arrays and torch tensors.\n"
      "\n"
      "    ostraka.rules.krum(rows, f=2)\n"
      "    ostraka.aggregate('trimmed_mean', rows, f=2, pre='nnm')\n"
      "    ostraka.attacks.alie(honest, byzantine=3)\n"
      "    ostraka.export(module, (tokens, targets), 'gpt.graph')  # a PyTorch module, for a run\n"
      "    ostraka.data.pack(texts, tokenizer, 'book.tokens', context=256)  # its data\n"
      "\n"
      "Rows are neither copied nor converted: float32 rows give float32 results, float64 rows "
      "float64 ones. Input that a rule cannot take raises a ValueError of one line. The bits of a "
      "result do not depend on threads, processor or compiler.";
  module.attr("__version__") = OSTRAKA_VERSION;
  ostraka::python::AddRules(module);
  ostraka::python::AddAttacks(module);
  ostraka::python::AddGraphs(module);
  ostraka::python::AddDevices(module);
  module.attr("data") = pybind11::module_::import("ostraka_data");
  // Called for names that the module lacks.
  module.def("__getattr__", [](const std::string& name) {
    throw pybind11::attribute_error("module 'ostraka' has no attribute '" + name + "'" +
                                    ostraka::aggregation::ByzflModuleHint(name));
  });
}
