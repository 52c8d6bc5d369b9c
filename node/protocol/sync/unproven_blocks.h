// Blocks that came to a follower and that nothing proves yet.
//
// Promises [C: CHECKed by CheckInvariants]:
//   U1  Of each sender at most kUnprovenBlocks blocks, of kUnprovenBytes in all, are held, as they
//       came. One limit for all senders together would let a liar push out the true head. [Decoded,
//       a block takes up to 80 times as much: three liars filled 400 MB.] [C]
//
// May not know: what proves a block.
//
// Memory: U1.
//
// What an attacker can do here: fill its own account.
//
// Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "crypto/merkle.h"
#include "node/base/ids.h"
#include "node/protocol/ground/hash_into.h"
#include "node/wire/block.h"
#include "node/wire/limits.h"

namespace ostraka::protocol {

inline constexpr std::size_t kUnprovenBlocks = 64;
inline constexpr std::size_t kUnprovenBytes = wire::kMaxBlockBytes;

class UnprovenBlocks {
 public:
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // `from` sent the block of that digest and height as `encoded`. REQUIRES: it can be decoded.
  void Add(const base::PeerId& from, const base::Digest& digest, std::uint64_t height,
           const crypto::SharedBlob& encoded);
  // A block that is held came from `from`, too. Its height; nullopt if it is not held.
  std::optional<std::uint64_t> AddSender(const base::PeerId& from, const base::Digest& digest);
  bool Contains(const base::Digest& digest) const { return held_.contains(digest); }
  // Null if it is not held.
  std::shared_ptr<const wire::Block> Find(const base::Digest& digest) const;
  void EraseIf(const std::function<bool(std::uint64_t height)>& over);
  std::size_t size() const { return held_.size(); }

 private:
  struct Held {
    std::uint64_t height = 0;
    crypto::SharedBlob encoded;
    std::set<base::PeerId> from;
    void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, height, encoded, from); }
  };
  void BoundThoseOf(const base::PeerId& from);

  std::map<base::Digest, Held> held_;
};

}  // namespace ostraka::protocol
