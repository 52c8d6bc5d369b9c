// The Python module `ostraka`: rules and attacks of aggregation/ on arrays (README.md here).
#include "python/module.h"

#include <pybind11/pybind11.h>

PYBIND11_MODULE(ostraka, module) {
  pybind11::options options;
  options.disable_function_signatures();  // the docstrings begin with better signatures
  module.doc() =
      "Robust aggregation rules and the attacks against them, on NumPy arrays and torch tensors.\n"
      "\n"
      "    ostraka.rules.krum(rows, f=2)\n"
      "    ostraka.aggregate('trimmed_mean', rows, f=2, pre='nnm')\n"
      "    ostraka.attacks.alie(honest, byzantine=3)\n"
      "    ostraka.export(module, (tokens, targets), 'gpt.graph')  # a PyTorch module, for a run\n"
      "\n"
      "Rows are neither copied nor converted: float32 rows give float32 results, float64 rows "
      "float64 ones. Input that a rule cannot take raises a ValueError of one line. The bits of a "
      "result do not depend on threads, processor or compiler.";
  module.attr("__version__") = OSTRAKA_VERSION;
  ostraka::python::AddRules(module);
  ostraka::python::AddAttacks(module);
  ostraka::python::AddGraphs(module);
}
