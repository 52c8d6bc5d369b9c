// Answers for a while and returns: what a run leaves for those who watched it. Blocks.
//
// Thread safety: a free function.
#pragma once

#include "node/base/status.h"
#include "node/base/time.h"
#include "node/http/http_server.h"

namespace ostraka::http {

// Serves `place` for `time`, or until SIGINT or SIGTERM. HttpServer::Make's errors.
base::Status ServeFor(const HttpPlace& place, base::Duration time, HttpHandler handler);

}  // namespace ostraka::http
