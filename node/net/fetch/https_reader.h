// Files of a server, read in pieces over HTTPS: a source that strangers name.
//
//   https://HOST/PATH/  +  FILE  ─► a GET with a Range ─► at most three redirects ─► 206, the bytes
//
// What an attacker can do here: whoever names the source makes this node connect to public
// addresses of its choice and read a file there, never to addresses of its own networks. The
// server may send wrong bytes (who reads checks their hash), waste the time that FetchLimits
// allow, and learns this node's address. Its words reach no message and no log.
//
// Thread safety: one call at a time for a reader; different readers are independent.
#pragma once

#include <memory>
#include <string>

#include "node/base/range_reader.h"
#include "node/base/status.h"
#include "node/net/fetch/fetch_parts.h"

namespace ostraka::net {

inline constexpr int kMostRedirects = 3;

struct HttpsOptions {
  // Addresses of this machine and its networks are connected to as well, and http:// is read from
  // loopback ones.
  bool allow_private = false;
};

// `url`: as CheckSourceUrl (url.h) takes it. Connects to nobody yet. InvalidArgument: the address.
// FailedPrecondition: there is no libcurl.
base::StatusOr<std::unique_ptr<base::RangeReader>> OpenHttps(const std::string& url,
                                                             HttpsOptions options);

// With other limits, or other rules of addresses: for tests.
base::StatusOr<std::unique_ptr<base::RangeReader>> OpenHttpsWith(const std::string& url,
                                                                 HttpsOptions options,
                                                                 FetchParts parts);

}  // namespace ostraka::net
