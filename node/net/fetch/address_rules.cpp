#include "node/net/fetch/address_rules.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>

namespace ostraka::net {
namespace {

constexpr std::string_view kLoopbackWords = "a loopback address";
constexpr std::string_view kPrivateWords = "a private address";
constexpr std::string_view kReservedWords = "a reserved address";
constexpr std::string_view kExampleWords = "an address for documentation";
constexpr std::string_view kLinkLocalWords = "a link-local address";
constexpr std::string_view kMulticastWords = "a multicast address";
constexpr std::string_view kNobodyWords = "an address of no host";

struct V4Range {
  std::uint32_t begin;
  int bits;
  std::string_view what;
};
constexpr V4Range kV4Ranges[] = {
    {0x00000000, 8, kNobodyWords},
    {0x0a000000, 8, kPrivateWords},  // 10.0.0.0
    {0x64400000, 10, "an address of a carrier's NAT"},
    {0x7f000000, 8, kLoopbackWords},
    {0xa9fe0000, 16, kLinkLocalWords},  // 169.254.0.0, with the metadata services of clouds
    {0xac100000, 12, kPrivateWords},    // 172.16.0.0
    {0xc0000000, 24, kReservedWords},   // 192.0.0.0
    {0xc0000200, 24, kExampleWords},    // 192.0.2.0
    {0xc0586300, 24, kReservedWords},   // 192.88.99.0, relays of 6to4
    {0xc0a80000, 16, kPrivateWords},    // 192.168.0.0
    {0xc6120000, 15, kReservedWords},   // 198.18.0.0, benchmarks
    {0xc6336400, 24, kExampleWords},    // 198.51.100.0
    {0xcb007100, 24, kExampleWords},    // 203.0.113.0
    {0xe0000000, 4, kMulticastWords},
    {0xf0000000, 4, kReservedWords},
};

// `begin`: the first eight bytes. No range that matters is narrower than them.
struct V6Range {
  std::uint64_t begin;
  int bits;
  std::string_view what;
};
constexpr V6Range kV6Ranges[] = {
    {0xfe80'0000'0000'0000, 10, kLinkLocalWords},
    {0xfec0'0000'0000'0000, 10, kPrivateWords},  // site-local, of old
    {0xfc00'0000'0000'0000, 7, kPrivateWords},
    {0xff00'0000'0000'0000, 8, kMulticastWords},
    {0x2001'0000'0000'0000, 23, kReservedWords},  // Teredo among them
    {0x2001'0db8'0000'0000, 32, kExampleWords},
    {0x3fff'0000'0000'0000, 20, kExampleWords},
};
constexpr std::uint64_t kV6Public = 0x2000'0000'0000'0000;
constexpr int kV6PublicBits = 3;

template <typename Word>
bool IsWithin(Word value, Word begin, int bits) {
  const int rest = static_cast<int>(8 * sizeof(Word)) - bits;
  return value >> rest == begin >> rest;
}

template <typename Word>
Word BigEndian(const std::uint8_t* bytes) {
  Word value = 0;
  for (std::size_t i = 0; i < sizeof(Word); ++i) value = value << 8 | bytes[i];
  return value;
}

std::string_view WhyNotPublicV4(std::uint32_t address) {
  for (const V4Range& range : kV4Ranges) {
    if (IsWithin(address, range.begin, range.bits)) return range.what;
  }
  return {};
}

// The IPv4 address that an IPv6 address holds.
std::optional<std::uint32_t> HeldV4(const std::array<std::uint8_t, 16>& bytes) {
  constexpr std::uint32_t kMapped = 0x0000ffff;
  constexpr std::uint64_t kNat64 = 0x0064'ff9b'0000'0000;
  const auto first = BigEndian<std::uint64_t>(bytes.data());
  const auto third = BigEndian<std::uint32_t>(bytes.data() + 8);
  const auto last = BigEndian<std::uint32_t>(bytes.data() + 12);
  if (first == 0 && (third == 0 || third == kMapped)) return last;
  if (first == kNat64 && third == 0) return last;
  if (first >> 48 == 0x2002) return static_cast<std::uint32_t>(first >> 16);
  return std::nullopt;
}

}  // namespace

std::optional<IpAddress> ParseIp(const std::string& text) {
  if (text.find('\0') != std::string::npos) return std::nullopt;  // inet_pton would stop there
  IpAddress address;
  address.is_v4 = inet_pton(AF_INET, text.c_str(), address.bytes.data()) == 1;
  if (address.is_v4) return address;
  if (inet_pton(AF_INET6, text.c_str(), address.bytes.data()) == 1) return address;
  return std::nullopt;
}

std::string TextOf(const IpAddress& address) {
  char text[INET6_ADDRSTRLEN] = {};
  inet_ntop(address.is_v4 ? AF_INET : AF_INET6, address.bytes.data(), text, sizeof text);
  return text;
}

std::optional<IpAddress> IpOf(int family, const sockaddr_storage& address, std::size_t size) {
  IpAddress ip;
  if (family == AF_INET && size >= sizeof(sockaddr_in)) {
    sockaddr_in v4{};
    std::memcpy(&v4, &address, sizeof v4);
    std::memcpy(ip.bytes.data(), &v4.sin_addr, sizeof v4.sin_addr);
    ip.is_v4 = true;
    return ip;
  }
  if (family == AF_INET6 && size >= sizeof(sockaddr_in6)) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, &address, sizeof v6);
    std::memcpy(ip.bytes.data(), &v6.sin6_addr, sizeof v6.sin6_addr);
    return ip;
  }
  return std::nullopt;
}

std::string_view WhyNotPublic(const IpAddress& address) {
  if (address.is_v4) return WhyNotPublicV4(BigEndian<std::uint32_t>(address.bytes.data()));
  const auto first = BigEndian<std::uint64_t>(address.bytes.data());
  const auto second = BigEndian<std::uint64_t>(address.bytes.data() + 8);
  if (first == 0 && second == 1) return kLoopbackWords;
  if (const auto v4 = HeldV4(address.bytes)) return WhyNotPublicV4(*v4);
  for (const V6Range& range : kV6Ranges) {
    if (IsWithin(first, range.begin, range.bits)) return range.what;
  }
  return IsWithin(first, kV6Public, kV6PublicBits) ? std::string_view() : kReservedWords;
}

bool IsLoopback(const IpAddress& address) { return WhyNotPublic(address) == kLoopbackWords; }

}  // namespace ostraka::net
