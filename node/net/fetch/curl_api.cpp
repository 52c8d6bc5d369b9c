#include "node/net/fetch/curl_api.h"

#include <dlfcn.h>

#include <mutex>
#include <optional>

namespace ostraka::net::curl {
namespace {

template <typename F>
bool Find(void* library, const char* name, F*& function) {
  function = reinterpret_cast<F*>(dlsym(library, name));
  return function != nullptr;
}

bool FindAll(void* library, Api& api) {
#define OSTRAKA_FIND(name) Find(library, #name, api.name)
  return OSTRAKA_FIND(curl_global_init) && OSTRAKA_FIND(curl_easy_init) &&
         OSTRAKA_FIND(curl_easy_cleanup) && OSTRAKA_FIND(curl_easy_setopt) &&
         OSTRAKA_FIND(curl_easy_getinfo) && OSTRAKA_FIND(curl_multi_init) &&
         OSTRAKA_FIND(curl_multi_cleanup) && OSTRAKA_FIND(curl_multi_add_handle) &&
         OSTRAKA_FIND(curl_multi_remove_handle) && OSTRAKA_FIND(curl_multi_perform) &&
         OSTRAKA_FIND(curl_multi_poll) && OSTRAKA_FIND(curl_multi_info_read);
#undef OSTRAKA_FIND
}

}  // namespace

std::vector<std::string> Libraries() { return {"libcurl.so.4", "libcurl-gnutls.so.4"}; }

base::StatusOr<Api> LoadCurl(const std::vector<std::string>& libraries) {
  bool too_old = false;
  for (const std::string& name : libraries) {
    void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) continue;
    Api api;
    if (!FindAll(library, api)) {
      too_old = true;
      continue;
    }
    if (api.curl_global_init(kGlobalDefault) != kOk) {
      return base::Internal("libcurl cannot be readied (curl_global_init)");
    }
    return api;
  }
  return base::FailedPrecondition(
      too_old ? "files of servers are read by libcurl, and the one here is older than 7.66: "
                "install libcurl4 anew"
              : "files of servers are read by libcurl, which is not on this machine: "
                "install libcurl4");
}

base::StatusOr<Api> SharedCurl() {
  static std::mutex mutex;
  static std::optional<Api> loaded;
  const std::lock_guard lock(mutex);
  if (!loaded) {
    ASSIGN_OR_RETURN(loaded, LoadCurl(Libraries()));
  }
  return *loaded;
}

}  // namespace ostraka::net::curl
