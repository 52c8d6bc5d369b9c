// The newest blocks, for members that were away and for REJOINs that name a block.
//
// Promises [C: CHECKed by CheckInvariants after each change]:
//   B1  At most `capacity` blocks are kept, by height; adding one drops the lowest. [C]
//
// Memory: `capacity` encoded blocks, as in the ledger. Rationale: a decoded block of n columns
// holds n^2 sender ids (131 KB with 64 members, and thousands of blocks are kept), its encoding
// bitmaps.
//
// May not know: who asks for a block, and how it was decided.
//
// What an attacker can do here: nothing. Only decided blocks are added.
//
// Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "crypto/hash_into.h"
#include "node/base/bytes.h"
#include "node/base/check.h"
#include "node/protocol/sync/catch_up.h"
#include "node/wire/block.h"

namespace ostraka::protocol {

class RecentBlocks {
 public:
  struct Kept {
    bool genesis = false;
    std::uint64_t step = 0;
    base::Digest digest;  // BlockDigest
    base::Bytes encoded;
    void HashInto(crypto::Hasher& hasher) const {
      crypto::Feed(hasher, genesis, step, digest, encoded.size());
    }
  };
  // By height, the greatest last.
  using ByHeight = std::map<std::uint64_t, Kept>;

  // REQUIRES: capacity > 0.
  explicit RecentBlocks(std::size_t capacity) : capacity_(capacity) {}
  // The newest block names the ones before it by their digests.
  void HashInto(crypto::Hasher& hasher) const {
    crypto::Feed(hasher, kept_.size());
    if (!kept_.empty()) crypto::Feed(hasher, kept_.begin()->first, *kept_.rbegin());
  }
  friend struct FingerprintProbe;

  // Replaces a block of equal height. The reference is valid until the next call of Add.
  // REQUIRES: if `capacity` blocks are kept, `block` is not lower than all of them.
  const Kept& Add(const wire::Block& block) {
    base::Bytes encoded = wire::EncodeBlock(block);
    const base::Digest digest = wire::DigestOfBlock(encoded);
    Kept& kept = kept_[HeightOf(block)];
    kept = {block.genesis, block.step, digest, std::move(encoded)};
    if (kept_.size() > capacity_) {
      OSTRAKA_CHECK(kept_.begin()->first < HeightOf(block));
      kept_.erase(kept_.begin());
    }
    CheckInvariants();
    return kept;
  }

  // Null if no block of `height` is kept.
  const Kept* Find(std::uint64_t height) const {
    const auto found = kept_.find(height);
    return found == kept_.end() ? nullptr : &found->second;
  }
  const ByHeight& all() const { return kept_; }
  std::size_t size() const { return kept_.size(); }
  // Aborts if B1 is broken.
  void CheckInvariants() const { OSTRAKA_CHECK(kept_.size() <= capacity_); }

 private:
  std::size_t capacity_;
  ByHeight kept_;
};

}  // namespace ostraka::protocol
