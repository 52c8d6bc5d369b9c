// The host that a request is for: the Host field and the request target (RFC 9110 7.2, RFC
// 9112 3.2).
//
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ostraka::http {

// The host, in lower case and without brackets, of "name", "name:port" or "[v6]:port" (RFC 3986
// 3.2.2); it may be empty. Nullopt for any other text.
std::optional<std::string> HostOf(std::string_view authority);

struct Target {
  std::optional<std::string> authority;  // of an absolute form: "http://authority/path"
  std::string path;                      // begins with '/', has no query
};
// Nullopt: neither the origin form nor the absolute form of http.
std::optional<Target> ParseTarget(std::string_view target);

}  // namespace ostraka::http
