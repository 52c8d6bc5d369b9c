// States of runs with SGD, for tests.
#pragma once

#include <utility>

#include "node/protocol/ground/state.h"

namespace ostraka::protocol {

inline ModelState SgdState(SharedVector parameters, SharedVector velocity) {
  return {std::move(parameters), {{"velocity", std::move(velocity)}}};
}

inline const SharedVector& VelocityOf(const ModelState& state) { return state.slots.at(0).values; }

}  // namespace ostraka::protocol
