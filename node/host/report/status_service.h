// Where a run says how it is, and the functions that put it into words.
//
// Thread safety: a plain value; its functions are called on the protocol thread, must return
// quickly, and must not throw.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "node/host/report/node_status.h"
#include "node/host/report/run_history.h"
#include "node/http/http_server.h"

namespace ostraka::host {

struct StatusService {
  std::vector<http::HttpPlace> places;
  // The answer to a path. REQUIRES: set if there are places.
  std::function<http::HttpResponse(std::string_view path, const NodeStatus& status,
                                   const RunHistory& history)>
      answer;
  // Called once, when the places close at the end of the run. May be null.
  std::function<void(const NodeStatus& status, const RunHistory& history)> last;
};

}  // namespace ostraka::host
