// The parts of the module, each defined in its own file.
#pragma once

#include <pybind11/pybind11.h>

#include <mutex>
#include <utility>
#include <vector>

#include "aggregation/rules/pipeline.h"
#include "python/ready.h"

namespace ostraka::python {

namespace py = pybind11;

// What calls change and threads may share: they take turns. Lock `turn` without the GIL, or where
// nobody who holds it waits for the GIL; no call does.
template <typename Value>
struct Shared {
  Shared() = default;
  explicit Shared(Value given) : value(std::move(given)) {}
  Value Copy() const {
    const std::lock_guard lock(turn);
    return value;
  }

  Value value;
  mutable std::mutex turn;
};

// The memory of a stateful pipeline: created empty, changed by each call that uses it.
using PipelineState = Shared<std::vector<aggregation::State>>;

// ostraka.Pipeline, ostraka.State, ostraka.aggregate and a function for every rule in
// ostraka.rules.
void AddRules(py::module_& module);
// ostraka.Memory, ostraka.attack and a function for every attack in ostraka.attacks.
void AddAttacks(py::module_& module);
// ostraka.Graph and ostraka.export.
void AddGraphs(py::module_& module);
// ostraka.devices.
void AddDevices(py::module_& module);

}  // namespace ostraka::python

OSTRAKA_READY_CLASS(ostraka::python::PipelineState);
OSTRAKA_READY_CLASS(ostraka::aggregation::Pipeline);
