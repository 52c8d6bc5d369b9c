// What every use of libtorch here needs: one thread, and errors in place of exceptions. Shows no
// libtorch.
//
// Thread safety: libtorch's number of threads is the process's.
#pragma once

#include <exception>
#include <string>

#include "node/base/status.h"

namespace ostraka::train {

// From now on libtorch and its BLAS compute with so many threads. A trainer takes one: nodes of a
// swarm share few cores, and a machine's gradient must not depend on the number of free cores.
void UseThreads(int threads);

// What `function` returns, a Status or a StatusOr; Internal if it throws. The text of libtorch's
// exceptions ends in a stack trace; the first line has the reason.
template <typename Function>
auto CatchAll(Function function) -> decltype(function()) {
  try {
    return function();
  } catch (const std::exception& error) {
    const std::string text = error.what();
    return base::Internal("libtorch: " + text.substr(0, text.find('\n')));
  } catch (...) {
    return base::Internal("libtorch: an exception of unknown kind");
  }
}

}  // namespace ostraka::train
