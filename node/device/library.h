// Libraries that are looked for when the program runs. Only *_api.cpp include this.
//
// Thread safety: pure functions.
#pragma once

#include <string>

#include "node/base/status.h"

namespace ostraka::device {

// Loads `name` with names of its own (RTLD_LOCAL), for good. Unavailable, with the loader's reason.
base::StatusOr<void*> LoadLibrary(const std::string& name);

// The address of `symbol`. Unavailable, with the loader's reason: the library has none.
base::StatusOr<void*> FindSymbol(void* library, const char* symbol);

// Sets `function` to the library's of that name.
template <typename F>
base::Status FindFunction(void* library, const char* name, F*& function) {
  ASSIGN_OR_RETURN(void* const symbol, FindSymbol(library, name));
  function = reinterpret_cast<F*>(symbol);
  return base::OkStatus();
}

}  // namespace ostraka::device
