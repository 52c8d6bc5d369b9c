#include "dht/wire/endpoint.h"

#include <algorithm>

#include "node/base/check.h"

namespace ostraka::dht {
namespace {

constexpr std::array<std::uint8_t, 12> kV4Form = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
// Keep the forms of prefixes apart, above the at most 48 bits of an address.
constexpr std::uint64_t kV4Tag = std::uint64_t{1} << 63;
constexpr std::uint64_t kWideTag = std::uint64_t{1} << 62;
constexpr std::uint64_t kHostTag = std::uint64_t{1} << 61;

Scope ScopeOfV4(const std::uint8_t* a) {
  if (a[0] == 127) return Scope::kLoopback;
  if (a[0] == 10 || (a[0] == 172 && (a[1] & 0xf0) == 16) || (a[0] == 192 && a[1] == 168) ||
      (a[0] == 169 && a[1] == 254)) {
    return Scope::kPrivate;
  }
  return a[0] == 0 || a[0] >= 224 ? Scope::kNone : Scope::kPublic;
}

Scope ScopeOfV6(const std::array<std::uint8_t, 16>& a) {
  const bool zeros = std::all_of(a.begin(), a.end() - 1, [](std::uint8_t b) { return b == 0; });
  if (zeros) return a[15] == 1 ? Scope::kLoopback : Scope::kNone;
  if ((a[0] & 0xfe) == 0xfc || (a[0] == 0xfe && (a[1] & 0xc0) == 0x80)) return Scope::kPrivate;
  // 2000::/3 is what is handed out; the rest is multicast or reserved.
  return (a[0] & 0xe0) == 0x20 ? Scope::kPublic : Scope::kNone;
}

std::uint64_t BytesFrom(const Endpoint& endpoint, std::size_t begin, std::size_t count) {
  std::uint64_t bits = 0;
  for (std::size_t i = begin; i < begin + count; ++i) bits = bits << 8 | endpoint.address[i];
  return bits;
}

std::string Hex16(unsigned value) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (int shift = 12; shift >= 0; shift -= 4) {
    const unsigned digit = (value >> shift) & 0xf;
    if (digit != 0 || !text.empty() || shift == 0) text += kDigits[digit];
  }
  return text;
}

}  // namespace

Endpoint Endpoint::V4(std::uint32_t address, std::uint16_t port) {
  Endpoint endpoint;
  std::copy(kV4Form.begin(), kV4Form.end(), endpoint.address.begin());
  for (std::size_t i = 0; i < 4; ++i) {
    endpoint.address[12 + i] = static_cast<std::uint8_t>(address >> (24 - 8 * i));
  }
  endpoint.port = port;
  return endpoint;
}

bool Endpoint::IsV4() const { return std::equal(kV4Form.begin(), kV4Form.end(), address.begin()); }

void HashValue(crypto::Hasher& hasher, const Endpoint& endpoint) {
  const auto& [address, port] = endpoint;
  hasher.Update(base::ByteView(address)).UpdateU64(port);
}

Scope ScopeOf(const Endpoint& endpoint) {
  if (endpoint.port == 0) return Scope::kNone;
  return endpoint.IsV4() ? ScopeOfV4(endpoint.address.data() + 12) : ScopeOfV6(endpoint.address);
}

bool IsShared(const Endpoint& endpoint) {
  const std::uint8_t* const v4 = endpoint.address.data() + 12;
  return endpoint.IsV4() && v4[0] == 100 && (v4[1] & 0xc0) == 64;
}

Prefix NarrowPrefix(const Endpoint& endpoint) {
  const bool is_host = ScopeOf(endpoint) == Scope::kPrivate;
  if (endpoint.IsV4()) {
    const std::uint64_t address = BytesFrom(endpoint, 12, 4);
    return {kV4Tag | (is_host ? kHostTag | address : address >> 8)};
  }
  return {is_host ? kHostTag | BytesFrom(endpoint, 10, 6) : BytesFrom(endpoint, 0, 6)};
}

Prefix WidePrefix(const Endpoint& endpoint) {
  const bool has_wide = !endpoint.IsV4() && ScopeOf(endpoint) == Scope::kPublic;
  return has_wide ? Prefix{kWideTag | BytesFrom(endpoint, 0, 4)} : NarrowPrefix(endpoint);
}

std::string TextOf(const Endpoint& endpoint) {
  std::string text;
  if (endpoint.IsV4()) {
    for (std::size_t i = 12; i < 16; ++i) {
      text += (i == 12 ? "" : ".") + std::to_string(endpoint.address[i]);
    }
  } else {
    for (std::size_t i = 0; i < 16; i += 2) {
      text += (i == 0 ? "[" : ":") + Hex16(endpoint.address[i] * 256U + endpoint.address[i + 1]);
    }
    text += "]";
  }
  return text + ":" + std::to_string(endpoint.port);
}

void AppendEndpoint(base::Bytes& out, const Endpoint& endpoint) {
  out.insert(out.end(), endpoint.address.begin(), endpoint.address.end());
  out.push_back(static_cast<std::uint8_t>(endpoint.port >> 8));
  out.push_back(static_cast<std::uint8_t>(endpoint.port & 0xff));
}

Endpoint ReadEndpoint(base::ByteView bytes) {
  OSTRAKA_CHECK(bytes.size() == Endpoint::kSize);
  Endpoint endpoint;
  std::copy_n(bytes.begin(), endpoint.address.size(), endpoint.address.begin());
  endpoint.port = static_cast<std::uint16_t>(bytes[16] << 8 | bytes[17]);
  return endpoint;
}

}  // namespace ostraka::dht
