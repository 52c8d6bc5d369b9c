#include "python/device_functions.h"

#include <pybind11/stl.h>

#include <string>
#include <utility>
#include <vector>

#include "node/device/hosted_device.h"
#include "node/device/serve_device.h"
#include "python/arguments.h"
#include "python/module.h"

namespace ostraka::python {
namespace {

std::string ReprOf(const py::object& object) { return py::repr(object).cast<std::string>(); }

py::list Devices() {
  const device::HostCommand command = ModuleAsHost();
  base::StatusOr<std::vector<device::ListedDevice>> listed;
  {
    const py::gil_scoped_release released;
    listed = device::ListHosted(command);
  }
  py::list devices;
  for (const device::ListedDevice& each : ValueOrThrow(std::move(listed))) {
    if (!each.error.empty()) continue;  // no driver of that kind
    py::dict device;
    device["name"] = each.name;
    device["description"] = each.description;
    device["memory_bytes"] = each.memory_bytes;
    device["is_processor"] = each.is_processor;
    devices.append(std::move(device));
  }
  return devices;
}

}  // namespace

device::HostCommand ModuleAsHost() {
  const py::object program = py::module_::import("sys").attr("executable");
  if (program.is_none() || py::str(program).cast<std::string>().empty()) {
    throw py::value_error("sys.executable names no interpreter, in which a device's driver runs");
  }
  const py::object file = py::module_::import("ostraka").attr("__file__");
  const py::object folder = py::module_::import("os.path").attr("dirname")(file);
  return {
      .program = program.cast<std::string>(),
      .arguments = {"-c", "import sys; sys.path.insert(0, " + ReprOf(folder) +
                              "); import ostraka; sys.exit(ostraka._device_host(sys.argv[1]))"}};
}

void AddDevices(py::module_& module) {
  module.def(
      "devices", &Devices,
      "devices()\n"
      "\n"
      "The devices that OpenCL and CUDA show, as dicts with name ('cuda:0'), description, "
      "memory_bytes and is_processor. Graph.gradient(device=...) takes the names, and checks "
      "there that a device computes the processor's bits.");
  module.def(
      "_device_host",
      [](const std::string& what) {
        const py::gil_scoped_release released;
        return device::RunDeviceHost(what);
      },
      "For a child process of this module's own.");
}

}  // namespace ostraka::python
