// The kernels' text with one care taken away at a time.
#pragma once

#include "exact/device/emulated_device.h"

namespace ostraka::exact::testing {

enum class Spoil {
  kNothing,
  kSubnormalsFlushed,  // results of all operations
  kChainsPadded,       // with zeros, to whole tiles
  kNanAsItComes,       // not canonical when it is stored
  kDivisionOff,        // by one unit in the last place
  kRootOff,            // the same
  kFmaInTwoRoundings,
  kSumsFromTheFirst,  // of their elements, not from +0
  kRowsNotPadded,     // to whole lanes
  kInfinityKept,      // in a gradient of local steps
  kMomentsSubnormal,  // as they are stored
};

// The choice holds until the next call, for all devices that have these kernels.
EmulatedKernels SpoiltKernels(Spoil spoil);

}  // namespace ostraka::exact::testing
