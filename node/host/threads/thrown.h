// What a library threw, as a line for people and as a Status.
//
// Thread safety: any thread.
#pragma once

#include <exception>
#include <string>
#include <utility>

#include "node/base/status.h"

namespace ostraka::host {

// "a library failed: " and the exception's own text, or what to do if memory ran out. One line,
// whatever the text contains. REQUIRES: not null.
std::string DescribeThrown(const std::exception_ptr& thrown);

// Runs `function`. Internal, with the line above, if it threw.
template <typename Function>
base::Status Attempt(Function&& function) {
  try {
    std::forward<Function>(function)();
  } catch (...) {
    return base::Internal(DescribeThrown(std::current_exception()));
  }
  return base::OkStatus();
}

}  // namespace ostraka::host
