// Docstrings and descriptions, made from the registries.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "aggregation/attacks/attacks.h"
#include "aggregation/rules/registry.h"

namespace ostraka::python {

namespace py = pybind11;

std::string DocOf(const aggregation::RuleInfo& rule);
std::string DocOf(const aggregation::AttackInfo& attack);

// {"name", "summary", "definition", "source", ..., "parameters": [{"name", "type", ...}]}
py::dict DictOf(const aggregation::Description& about);
py::dict DictOf(const aggregation::AttackInfo& attack);

}  // namespace ostraka::python
