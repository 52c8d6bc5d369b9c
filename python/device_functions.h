// Devices of this machine for the module: their drivers run in a child, which is the interpreter
// with this module once more.
//
// Thread safety: with the GIL.
#pragma once

#include "node/device/device_child.h"

namespace ostraka::python {

// Runs `ostraka._device_host` of this module in this interpreter. ValueError if it is embedded in a
// program.
device::HostCommand ModuleAsHost();

}  // namespace ostraka::python
