// The parts of the module, each defined in its own file.
#pragma once

#include <pybind11/pybind11.h>

#include "aggregation/rules/pipeline.h"

namespace ostraka::python {

namespace py = pybind11;

// The memory of a stateful pipeline: a plain value, created empty, changed by each call that uses
// it.
struct PipelineState {
  std::vector<aggregation::State> states;
};

// ostraka.Pipeline, ostraka.State, ostraka.aggregate and a function for every rule in
// ostraka.rules.
void AddRules(py::module_& module);
// ostraka.Memory, ostraka.attack and a function for every attack in ostraka.attacks.
void AddAttacks(py::module_& module);
// ostraka.Graph and ostraka.export.
void AddGraphs(py::module_& module);

}  // namespace ostraka::python
