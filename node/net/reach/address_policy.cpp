#include "node/net/reach/address_policy.h"

#include <algorithm>

#include "node/base/check.h"
#include "node/net/mesh/address_book.h"
#include "node/net/udp/resolver.h"

namespace ostraka::net {
namespace {

using dht::Endpoint;
using dht::Scope;

constexpr std::size_t kV4Begin = 12;  // of the four bytes in an Endpoint's sixteen
constexpr std::size_t kV4Network = 3;
constexpr std::size_t kV6Network = 8;

bool IsLinkLocal(const Endpoint& endpoint) {
  const auto& a = endpoint.address;
  if (endpoint.IsV4()) return a[kV4Begin] == 169 && a[kV4Begin + 1] == 254;
  return a[0] == 0xfe && (a[1] & 0xc0) == 0x80;
}

// 6to4 and Teredo: packets to them end at an IPv4 address that the announcer chose.
bool HoldsV4(const Endpoint& endpoint) {
  const auto& a = endpoint.address;
  if (endpoint.IsV4()) return false;
  return (a[0] == 0x20 && a[1] == 0x02) || (a[0] == 0x20 && a[1] == 0x01 && a[2] == 0 && a[3] == 0);
}

bool IsPrivate(const Endpoint& endpoint) {
  return dht::ScopeOf(endpoint) == Scope::kPrivate || dht::IsShared(endpoint);
}

std::vector<std::uint8_t> NetworkOf(const Endpoint& endpoint) {
  const auto begin = endpoint.address.begin() + (endpoint.IsV4() ? kV4Begin : 0);
  return {begin, begin + static_cast<std::ptrdiff_t>(endpoint.IsV4() ? kV4Network : kV6Network)};
}

}  // namespace

AddressPolicy::AddressPolicy(const std::vector<std::string>& named) {
  bool any = false;
  bool elsewhere = false;
  for (const std::string& text : named) {
    const auto endpoint = NumericEndpoint(text);
    if (!endpoint) continue;
    any = true;
    elsewhere = elsewhere || dht::ScopeOf(*endpoint) != Scope::kLoopback;
    if (IsPrivate(*endpoint)) networks_.insert(NetworkOf(*endpoint));
  }
  on_loopback_ = any && !elsewhere;
}

bool AddressPolicy::MayDial(const Endpoint& endpoint) const {
  if (IsLinkLocal(endpoint) || HoldsV4(endpoint)) return false;
  switch (dht::ScopeOf(endpoint)) {
    case Scope::kNone:
      return false;
    case Scope::kLoopback:
      return on_loopback_;
    case Scope::kPrivate:
    case Scope::kPublic:
      break;
  }
  if (!IsPrivate(endpoint)) return true;
  return endpoint.port >= kLeastPrivatePort && networks_.contains(NetworkOf(endpoint));
}

std::vector<std::string> AddressPolicy::Dialable(const std::vector<Endpoint>& announced) const {
  std::vector<std::string> texts;
  for (const bool v4 : {false, true}) {
    for (const Endpoint& endpoint : announced) {
      if (endpoint.IsV4() != v4 || !MayDial(endpoint)) continue;
      const std::string text = dht::TextOf(endpoint);
      const bool is_new = std::find(texts.begin(), texts.end(), text) == texts.end();
      if (is_new && texts.size() < AddressBook::kMaxPerSource) texts.push_back(text);
    }
  }
  OSTRAKA_CHECK(texts.size() <= AddressBook::kMaxPerSource);  // P1
  return texts;
}

}  // namespace ostraka::net
