#include "node/device/library.h"

#include <dlfcn.h>

namespace ostraka::device {
namespace {

base::Status LoaderError() {
  const char* const error = dlerror();
  return base::Unavailable(error == nullptr ? "the loader gives no reason" : error);
}

}  // namespace

base::StatusOr<void*> LoadLibrary(const std::string& name) {
  void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return LoaderError();
  return library;
}

base::StatusOr<void*> FindSymbol(void* library, const char* symbol) {
  void* const found = dlsym(library, symbol);
  if (found == nullptr) return LoaderError();
  return found;
}

}  // namespace ostraka::device
