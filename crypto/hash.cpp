#include "crypto/hash.h"

#include <sodium.h>

#include <algorithm>
#include <bit>

#include "node/base/check.h"

namespace ostraka::crypto {
namespace {

using State = crypto_generichash_blake2b_state;

static_assert(sizeof(State) == 384 && alignof(State) == 64, "Hasher::state_ must fit libsodium's");
static_assert(std::endian::native == std::endian::little, "UpdateU64 hashes the value's memory");

State* AsState(std::array<std::uint8_t, 384>& storage) {
  return reinterpret_cast<State*>(storage.data());
}

}  // namespace

Hasher::Hasher(std::string_view domain) {
  std::array<std::uint8_t, crypto_generichash_blake2b_PERSONALBYTES> personal{};
  OSTRAKA_CHECK(!domain.empty() && domain.size() <= personal.size());
  std::copy(domain.begin(), domain.end(), personal.begin());
  const int failed = crypto_generichash_blake2b_init_salt_personal(
      AsState(state_), /*key=*/nullptr, /*keylen=*/0, Digest::kSize, /*salt=*/nullptr,
      personal.data());
  OSTRAKA_CHECK(failed == 0);
}

Hasher& Hasher::Update(ByteView bytes) {
  OSTRAKA_CHECK(!finished_);
  if (bytes.empty()) return *this;  // An empty view may hold a null pointer.
  OSTRAKA_CHECK(crypto_generichash_blake2b_update(AsState(state_), bytes.data(), bytes.size()) ==
                0);
  return *this;
}

Hasher& Hasher::UpdateU64(std::uint64_t value) {
  return Update(ByteView(reinterpret_cast<const std::uint8_t*>(&value), sizeof value));
}

Hasher& Hasher::UpdateSized(ByteView bytes) { return UpdateU64(bytes.size()).Update(bytes); }

Digest Hasher::Finish() {
  OSTRAKA_CHECK(!finished_);
  finished_ = true;
  Digest digest;
  OSTRAKA_CHECK(crypto_generichash_blake2b_final(AsState(state_), digest.bytes.data(),
                                                 digest.bytes.size()) == 0);
  return digest;
}

Digest Hash(std::string_view domain, ByteView bytes) {
  return Hasher(domain).Update(bytes).Finish();
}

}  // namespace ostraka::crypto
