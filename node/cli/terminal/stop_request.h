// SIGINT and SIGTERM as a request, for a command that then reports what it has.
//
// The first signal of either kind is the request. A second one ends the process at once, as does
// any before the construction and after the destruction. A signal that the parent made this process
// ignore stays ignored.
//
// Thread safety: `made` may be called by any thread. One object per process at a time.
#pragma once

#include <signal.h>

namespace ostraka::cli {

class StopRequest {
 public:
  StopRequest();
  ~StopRequest();
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;

  bool made() const;

 private:
  struct sigaction old_int_ {};
  struct sigaction old_term_ {};
};

}  // namespace ostraka::cli
