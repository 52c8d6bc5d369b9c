// One HTTP GET, for `ostraka status`. Blocks.
//
// Thread safety: a free function.
#pragma once

#include <cstddef>
#include <string>

#include "node/base/status.h"
#include "node/base/time.h"
#include "node/http/http_server.h"

namespace ostraka::http {

// The response to GET `path` at `place`, whatever its status code. NotFound: no server listens
// there. Unavailable: no complete answer in time, or it is too long. InvalidArgument: a malformed
// address, or an answer that is not HTTP.
base::StatusOr<HttpResponse> HttpGet(const HttpPlace& place, const std::string& path,
                                     base::Duration timeout = base::Seconds(5),
                                     std::size_t max_body_bytes = std::size_t{1} << 20);

}  // namespace ostraka::http
