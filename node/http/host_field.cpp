#include "node/http/host_field.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>

namespace ostraka::http {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kHexDigits = "0123456789abcdefABCDEF";
// unreserved and sub-delims of RFC 3986; '%' is looked at apart.
constexpr std::string_view kNameCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+,;=%";
constexpr std::string_view kScheme = "http://";

bool ConsistsOf(std::string_view text, std::string_view characters) {
  return text.find_first_not_of(characters) == std::string_view::npos;
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

bool IsName(std::string_view name) {
  if (!ConsistsOf(name, kNameCharacters)) return false;
  for (std::size_t at = name.find('%'); at != std::string_view::npos; at = name.find('%', at + 1)) {
    const std::string_view digits = name.substr(at + 1, 2);
    if (digits.size() != 2 || !ConsistsOf(digits, kHexDigits)) return false;
  }
  return true;
}

bool IsIpv6(std::string_view address) {
  in6_addr ignored{};
  return inet_pton(AF_INET6, std::string(address).c_str(), &ignored) == 1;
}

}  // namespace

std::optional<std::string> HostOf(std::string_view authority) {
  std::string_view host = authority;
  std::string_view rest;
  if (authority.starts_with('[')) {
    const std::size_t end = authority.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    host = authority.substr(1, end - 1);
    rest = authority.substr(end + 1);
    if (!IsIpv6(host)) return std::nullopt;
  } else {
    const std::size_t colon = std::min(authority.find(':'), authority.size());
    host = authority.substr(0, colon);
    rest = authority.substr(colon);
    if (!IsName(host)) return std::nullopt;
  }
  // The digits of a port may be missing.
  if (!rest.empty() && (rest.front() != ':' || !ConsistsOf(rest.substr(1), kDigits))) {
    return std::nullopt;
  }
  return Lower(host);
}

std::optional<Target> ParseTarget(std::string_view target) {
  Target parsed;
  if (!target.starts_with('/')) {
    if (Lower(target.substr(0, kScheme.size())) != kScheme) return std::nullopt;
    target.remove_prefix(kScheme.size());
    const std::size_t end = std::min(target.find_first_of("/?#"), target.size());
    parsed.authority = std::string(target.substr(0, end));
    target.remove_prefix(end);
  }
  parsed.path = std::string(target.substr(0, target.find('?')));
  if (parsed.path.empty()) parsed.path = "/";
  return parsed;
}

}  // namespace ostraka::http
