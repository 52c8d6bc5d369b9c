// Domain-separated BLAKE2b-256.
//
// The domain (1 to 16 ASCII characters) is BLAKE2b's personalisation and names the kind of the
// hashed content, so a hash of one kind can never be taken for a hash of another kind. All domains
// are constants of crypto/domains.h.
//
// Thread safety: Hash is pure; a Hasher has one owner.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "node/base/bytes.h"
#include "node/base/ids.h"

namespace ostraka::crypto {

using base::ByteView;
using base::Digest;

class Hasher {
 public:
  // REQUIRES: 1 <= domain.size() <= 16.
  explicit Hasher(std::string_view domain);

  Hasher& Update(ByteView bytes);
  // Eight bytes, little-endian.
  Hasher& UpdateU64(std::uint64_t value);
  // The length (eight bytes) followed by the bytes, so that adjacent fields cannot be confused.
  Hasher& UpdateSized(ByteView bytes);
  Hasher& Update(const Digest& digest) { return Update(digest.view()); }

  // REQUIRES: called once, as the last call.
  Digest Finish();

 private:
  // crypto_generichash_blake2b_state, kept opaque so that libsodium stays in .cpp files.
  alignas(64) std::array<std::uint8_t, 384> state_;
  bool finished_ = false;
};

Digest Hash(std::string_view domain, ByteView bytes);

}  // namespace ostraka::crypto
