// The addresses of sources: what of a URL is taken. The form is much narrower than RFC 3986 allows,
// so that libcurl and this file cannot read one text in two ways:
//
//   https://host[:port]/path     lower-case scheme; no user, password, query or fragment
//   http://...                   only with `allow_private`, and only of a loopback address
//
// A redirect may have a query, as the signed addresses of CDNs do. What a host's name leads to is
// judged later, when the socket is opened (address_rules.h).
//
// What an attacker can do here: name any public host and port. No text of a redirect is ever in a
// message.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <string>

#include "node/base/status.h"

namespace ostraka::net {

inline constexpr std::size_t kMostSourceUrl = 2'000;
inline constexpr std::size_t kMostRedirectUrl = 8'000;
inline constexpr std::size_t kMostFileName = 200;

struct SourceUrl {
  std::string text;  // printable ASCII
  std::string host;  // letters, digits and "._-:" alone; of an IPv6 address without brackets
  bool https = true;
};

// `text` ends with '/', which is appended if need be. InvalidArgument, in one line.
base::StatusOr<SourceUrl> ParseSourceUrl(const std::string& url, bool allow_private);
base::Status CheckSourceUrl(const std::string& url, bool allow_private);

// `url` is absolute. `allow_http`: of a loopback address. InvalidArgument: why, without the text.
base::StatusOr<SourceUrl> ParseRedirect(const std::string& url, bool allow_http);

// InvalidArgument: not [A-Za-z0-9._-]{1,200}, or it begins with '.'.
base::Status CheckFileName(const std::string& file);

}  // namespace ostraka::net
