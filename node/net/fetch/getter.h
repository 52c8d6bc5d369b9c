// One GET at a time over libcurl, with the connections of earlier ones. It follows no redirect.
//
// Promises:
//   G1  No transfer is under way between calls of Get.
//   G2  A body has at most the bytes that were wanted; one byte more ends the transfer.
//   G3  Each address is judged when its socket is opened, so a name that leads elsewhere a moment
//       later leads nowhere; without TLS only a loopback address is connected to.
//   G4  Once `unwanted` is true, Get ends within half a second.
//
// May not know: which redirects are followed, how often somebody tries again.
// Memory: the body, and what libcurl keeps for a few connections.
// What an attacker can do here: a server may answer with anything, or nothing. It gets no more time
// than FetchLimits say, no more memory than what was wanted, no redirect, no cookie and no name of
// a user. TLS and HTTP are libcurl's: a hole there is a hole here.
//
// Thread safety: one call at a time.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "node/base/bytes.h"
#include "node/base/range_reader.h"
#include "node/base/status.h"
#include "node/net/fetch/answer_head.h"
#include "node/net/fetch/curl_api.h"
#include "node/net/fetch/fetch_parts.h"
#include "node/net/fetch/url.h"

namespace ostraka::net {

struct GetRequest {
  SourceUrl url;
  std::string leads;  // for people: who leads to the address, such as "example.org"
  Wanted wanted;
  std::chrono::steady_clock::time_point begun;  // of the first GET, if this one follows a redirect
};

struct GetAnswer {
  int status = 0;
  base::Bytes body;      // of a success: what was wanted
  std::string redirect;  // the address, absolute and unchecked; empty: none
};

class Getter {
 public:
  // Internal: libcurl refuses an option that it must know.
  static base::StatusOr<std::unique_ptr<Getter>> Make(const curl::Api& api, bool allow_private,
                                                      FetchParts parts);
  ~Getter();
  Getter(const Getter&) = delete;
  Getter& operator=(const Getter&) = delete;

  // Any well-formed answer that is no success, or a success with what was wanted. Errors as
  // base::RangeReader's, in one line without the name of the file.
  base::StatusOr<GetAnswer> Get(const GetRequest& request,
                                const base::RangeReader::Unwanted& unwanted);

 private:
  class Impl;
  explicit Getter(std::unique_ptr<Impl> impl);

  const std::unique_ptr<Impl> impl_;
};

}  // namespace ostraka::net
