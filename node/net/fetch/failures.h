// What an answer or an end of libcurl that is no success means to who reads a file: worth another
// try later (Unavailable), or not. Sentences of ours, with numbers alone of the server's.
//
// Thread safety: pure functions.
#pragma once

#include "node/base/status.h"
#include "node/net/fetch/curl_api.h"

namespace ostraka::net {

// REQUIRES: `status` is no success of HTTP.
base::Status FailureOfStatus(int status);

// REQUIRES: `code` is not kOk.
base::Status FailureOfCode(curl::Code code);

}  // namespace ostraka::net
