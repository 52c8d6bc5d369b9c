#include "crypto/sign.h"

#include <sodium.h>

#include "node/base/check.h"

namespace ostraka::crypto {

static_assert(PeerId::kSize == crypto_sign_ed25519_PUBLICKEYBYTES);
static_assert(Signature::kSize == crypto_sign_ed25519_BYTES);
static_assert(SigningKey::kSeedSize == crypto_sign_ed25519_SEEDBYTES);

SigningKey SigningKey::Generate() {
  Secret seed(kSeedSize);
  FillRandom(seed.span());
  return FromSeed(seed.span());
}

SigningKey SigningKey::FromSeed(ByteView seed) {
  OSTRAKA_CHECK(seed.size() == kSeedSize);
  // libsodium expands the seed in this buffer, so no copy of it is left on the stack.
  Secret secret(crypto_sign_ed25519_SECRETKEYBYTES);
  PeerId id;
  OSTRAKA_CHECK(
      crypto_sign_ed25519_seed_keypair(id.bytes.data(), secret.span().data(), seed.data()) == 0);
  return SigningKey(std::move(secret), id);
}

Signature SigningKey::Sign(const Digest& digest) const {
  OSTRAKA_CHECK(!secret_.span().empty());  // Moved from.
  Signature signature;
  OSTRAKA_CHECK(crypto_sign_ed25519_detached(signature.bytes.data(), /*siglen_p=*/nullptr,
                                             digest.bytes.data(), digest.bytes.size(),
                                             secret_.span().data()) == 0);
  return signature;
}

ByteView SigningKey::seed() const {
  OSTRAKA_CHECK(!secret_.span().empty());  // Moved from.
  return secret_.span().first(kSeedSize);
}

bool IsKey(const PeerId& id) { return crypto_core_ed25519_is_valid_point(id.bytes.data()) == 1; }

bool PlainVerifier::Verify(const PeerId& signer, const Digest& digest, const Signature& signature) {
  return crypto_sign_ed25519_verify_detached(signature.bytes.data(), digest.bytes.data(),
                                             digest.bytes.size(), signer.bytes.data()) == 0;
}

base::Status Initialize() {
  // 1 means: already initialized.
  if (sodium_init() < 0) {
    return base::Internal("libsodium could not start: check that /dev/urandom can be read");
  }
  return base::OkStatus();
}

void FillRandom(std::span<std::uint8_t> out) {
  // libsodium declares its argument nonnull, and an empty span may hold a null pointer.
  if (!out.empty()) randombytes_buf(out.data(), out.size());
}

std::uint64_t RandomSeed() {
  std::uint64_t seed = 0;
  FillRandom({reinterpret_cast<std::uint8_t*>(&seed), sizeof(seed)});
  return seed;
}

}  // namespace ostraka::crypto
