#include "node/net/fetch/url.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>

#include "node/net/fetch/address_rules.h"

namespace ostraka::net {
namespace {

constexpr std::string_view kHttps = "https://";
constexpr std::string_view kHttp = "http://";
constexpr std::size_t kMostHost = 253;  // of a name in the DNS
constexpr std::size_t kMostPortDigits = 5;
constexpr std::size_t kMostShown = 200;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool IsNameCharacter(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '_' ||
         c == '-';
}

// Letters, digits and marks of RFC 3986's pchar; '%' with two digits.
bool IsPath(std::string_view path, bool allow_query) {
  constexpr std::string_view kMarks = "~!$&'()*+,;=:@/";
  for (std::size_t i = 0; i < path.size(); ++i) {
    const char c = path[i];
    if (IsNameCharacter(c) || kMarks.find(c) != std::string_view::npos) continue;
    if (c == '?' && allow_query) continue;
    const bool escape = c == '%' && i + 2 < path.size() && IsHex(path[i + 1]) && IsHex(path[i + 2]);
    if (!escape) return false;
  }
  return true;
}

bool IsHostName(std::string_view host) {
  return !host.empty() && host.size() <= kMostHost && host.front() != '.' &&
         host.find("..") == std::string_view::npos &&
         std::all_of(host.begin(), host.end(), IsNameCharacter);
}

bool IsPort(std::string_view digits) {
  std::uint32_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  return digits.size() <= kMostPortDigits && error == std::errc() &&
         end == digits.data() + digits.size() && port >= 1 && port <= 65'535;
}

// Sets `host`; false: it or the port is malformed.
bool ParseAuthority(std::string_view authority, std::string& host) {
  std::string_view port;
  if (authority.starts_with('[')) {
    const std::size_t close = authority.find(']');
    if (close == std::string_view::npos) return false;
    host = authority.substr(1, close - 1);
    const auto address = ParseIp(host);
    if (!address || address->is_v4) return false;
    port = authority.substr(close + 1);
  } else {
    const std::size_t colon = std::min(authority.find(':'), authority.size());
    host = authority.substr(0, colon);
    if (!IsHostName(host)) return false;
    port = authority.substr(colon);
  }
  return port.empty() || (port.front() == ':' && IsPort(port.substr(1)));
}

bool NamesLoopback(const std::string& host) {
  const auto address = ParseIp(host);
  return host == "localhost" || (address && IsLoopback(*address));
}

struct UrlRules {
  std::size_t most = 0;
  bool query = false;
  bool http = false;  // of a loopback address
};

// InvalidArgument: why, without anything of the text.
base::StatusOr<SourceUrl> ParseUrl(const std::string& url, const UrlRules& rules) {
  if (url.size() > rules.most) {
    return base::InvalidArgument("it has more than " + std::to_string(rules.most) + " characters");
  }
  SourceUrl parsed;
  parsed.https = url.starts_with(kHttps);
  if (!parsed.https && !url.starts_with(kHttp)) {
    return base::InvalidArgument("it does not begin with https://");
  }
  const std::string_view rest =
      std::string_view(url).substr(parsed.https ? kHttps.size() : kHttp.size());
  const std::size_t path = std::min(rest.find_first_of("/?#"), rest.size());
  const std::string_view authority = rest.substr(0, path);
  if (authority.find('@') != std::string_view::npos) {
    return base::InvalidArgument("it has a user or a password, which an address may not have");
  }
  if (!ParseAuthority(authority, parsed.host)) {
    return base::InvalidArgument("its host or port is malformed");
  }
  if (!IsPath(rest.substr(path), rules.query)) {
    return base::InvalidArgument(rules.query
                                     ? "it has a fragment, or a character that must be escaped"
                                     : "it has a query, a fragment, or a character that must be "
                                       "escaped");
  }
  if (!parsed.https && !(rules.http && NamesLoopback(parsed.host))) {
    return base::InvalidArgument(
        "http:// is not protected against changes on the way, and is read only from a loopback "
        "address, with --allow-private-sources (of a manifest's: --sources private): take "
        "https://");
  }
  parsed.text = url;
  return parsed;
}

// A user's text for a message: no secret, nothing that a terminal obeys.
std::string Shown(const std::string& url) {
  if (url.find('@') != std::string::npos) return "(not shown: it may have a password)";
  std::string shown = url.substr(0, kMostShown);
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return shown + (url.size() > kMostShown ? "..." : "");
}

}  // namespace

base::StatusOr<SourceUrl> ParseSourceUrl(const std::string& url, bool allow_private) {
  auto parsed = ParseUrl(url, {kMostSourceUrl, false, allow_private});
  if (!parsed.ok()) {
    return base::InvalidArgument("the address of a source is https://HOST[:PORT]/PATH, not " +
                                 Shown(url) + ": " + base::MessageOf(parsed.status()));
  }
  if (!parsed->text.ends_with('/')) parsed->text += '/';
  return parsed;
}

base::Status CheckSourceUrl(const std::string& url, bool allow_private) {
  return ParseSourceUrl(url, allow_private).status();
}

base::StatusOr<SourceUrl> ParseRedirect(const std::string& url, bool allow_http) {
  return ParseUrl(url, {kMostRedirectUrl, true, allow_http});
}

base::Status CheckFileName(const std::string& file) {
  if (!file.empty() && file.size() <= kMostFileName && file.front() != '.' &&
      std::all_of(file.begin(), file.end(), IsNameCharacter)) {
    return base::OkStatus();
  }
  return base::InvalidArgument(
      "a file of a source has a name of at most 200 letters, digits, '.', '_' and '-', and does "
      "not begin with '.': give it another name there");
}

}  // namespace ostraka::net
