#include "crypto/stream.h"

#include <sodium.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/base/check.h"

namespace ostraka::crypto {

static_assert(std::endian::native == std::endian::little, "NextU64 reads the stream's memory");

Stream::Stream(std::string_view label, const Digest& key)
    : key_(Hasher(kDomainStream).UpdateSized(base::AsBytes(label)).Update(key).Finish().bytes) {
  static_assert(sizeof key_ == crypto_stream_chacha20_KEYBYTES);
}

void Stream::Refill() {
  constexpr std::size_t kBlockBytes = 64;
  static_assert(sizeof buffer_ % kBlockBytes == 0);
  // The original variant has a 64-bit counter. Under a zero nonce its first 2^32 blocks equal RFC
  // 8439's, and it continues where RFC 8439 must stop (256 GiB).
  static constexpr std::array<std::uint8_t, crypto_stream_chacha20_NONCEBYTES> kZeroNonce{};
  buffer_.fill(0);
  OSTRAKA_CHECK(crypto_stream_chacha20_xor_ic(buffer_.data(), buffer_.data(), buffer_.size(),
                                              kZeroNonce.data(), next_block_, key_.data()) == 0);
  next_block_ += buffer_.size() / kBlockBytes;
  used_ = 0;
}

void Stream::Fill(std::span<std::uint8_t> out) {
  while (!out.empty()) {
    if (used_ == buffer_.size()) Refill();
    const std::size_t size = std::min(out.size(), buffer_.size() - used_);
    std::copy_n(buffer_.begin() + static_cast<std::ptrdiff_t>(used_), size, out.begin());
    used_ += size;
    out = out.subspan(size);
  }
}

std::uint64_t Stream::NextU64() {
  std::array<std::uint8_t, 8> bytes;
  Fill(bytes);
  return std::bit_cast<std::uint64_t>(bytes);
}

std::uint64_t Stream::Below(std::uint64_t bound) {
  OSTRAKA_CHECK(bound > 0);
  const std::uint64_t refused = (0 - bound) % bound;  // 2^64 mod bound
  std::uint64_t value = NextU64();
  while (value < refused) value = NextU64();
  return value % bound;
}

std::vector<std::uint32_t> Stream::Permutation(std::uint32_t count) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[Below(i)]);
  return order;
}

}  // namespace ostraka::crypto
