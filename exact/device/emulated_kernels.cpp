// The kernels' text in C++.
#include <bit>
#include <cmath>
#include <string>
#include <type_traits>
#include <utility>

#include "exact/device/emulated_device.h"
#include "exact/device/kernel_list.h"

namespace ostraka::exact {
namespace {

#include "exact/device/emulation.inc"

#include "exact/device/kernels.inc"

#include "exact/device/emulation_table.inc"

}  // namespace

const EmulatedKernels kEmulatedKernels = kTable;

}  // namespace ostraka::exact
