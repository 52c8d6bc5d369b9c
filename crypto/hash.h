// Domain-separated BLAKE2b-256.
//
// Every hash in ostraka names what it is a hash of: the domain (1 to 16 ASCII characters) is
// BLAKE2b's personalisation, so a hash of one kind can never be taken for one of another kind.
// Domains in use are the constants of crypto/domains.h and nowhere else.
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
  // The length (eight bytes) and then the bytes: two fields in a row cannot run into each other.
  Hasher& UpdateSized(ByteView bytes);
  Hasher& Update(const Digest& digest) { return Update(digest.view()); }

  // REQUIRES: called once, last.
  Digest Finish();

 private:
  // crypto_generichash_blake2b_state, kept opaque so that libsodium stays in .cpp files.
  alignas(64) std::array<std::uint8_t, 384> state_;
  bool finished_ = false;
};

Digest Hash(std::string_view domain, ByteView bytes);

}  // namespace ostraka::crypto
