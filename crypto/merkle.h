// Merkle trees over 64 KiB chunks, with domains that separate leaves, nodes and roots.
//
//   leaf  = H(kDomainLeaf, chunk)
//   node  = H(kDomainNode, left | right); an odd node at the end of a level moves up unchanged
//   root  = H(kDomainRoot, u64 leaf count | top); with no leaves, top is 32 zero bytes
//
// Binding the count in the root means that a path cannot be replayed in a tree of another size.
// Lists of digests (parts of a gradient, coins of a step) use this construction too: their leaves
// are the digests themselves, which already carry a domain.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "crypto/bulk_source.h"
#include "node/base/bytes.h"
#include "node/base/ids.h"

namespace ostraka::crypto {

using base::ByteView;
using base::Digest;

inline constexpr std::size_t kChunkBytes = 64 * 1024;

// Number of leaves of `byte_count` bytes: ceil(byte_count / 64 KiB); 0 for none.
std::size_t ChunkCount(std::size_t byte_count);
Digest ChunkLeaf(ByteView chunk);
// One leaf per chunk; the last chunk may be short.
std::vector<Digest> ChunkLeaves(ByteView data);

Digest MerkleRoot(std::span<const Digest> leaves);
// MerkleRoot(ChunkLeaves(data)).
Digest MerkleRootOfData(ByteView data);

// Siblings from the leaf up. REQUIRES: index < leaves.size().
std::vector<Digest> MerklePath(std::span<const Digest> leaves, std::size_t index);

// True iff `leaf` is leaf `index` of `leaf_count` under `root`. Any input is safe.
bool VerifyMerklePath(const Digest& root, const Digest& leaf, std::size_t index,
                      std::size_t leaf_count, std::span<const Digest> path);

// Bulk bytes with their root: shared by Sends, and checked by a transport on arrival.
// INVARIANT: root == MerkleRootOfData(data), or zero in unprotected runs, where nothing is hashed.
// Only MakeBlob, and a transport that checked the chunks, set a root.
struct Blob {
  base::Bytes data;
  Digest root;
  // ChunkLeaves(data), so that a transport need not hash again; empty if unknown.
  std::vector<Digest> leaves = {};
  // If set, these are the bytes, and `data` is empty. Only what is sent or stored may have it: who
  // looks into a blob reads `data`.
  std::shared_ptr<const BulkSource> source = nullptr;

  std::uint64_t size() const { return source != nullptr ? source->size() : data.size(); }
};
using SharedBlob = std::shared_ptr<const Blob>;
SharedBlob MakeBlob(base::Bytes data);
// The bytes of a blob in memory, which it holds. REQUIRES: it has no source.
std::shared_ptr<const BulkSource> SourceOf(SharedBlob blob);
// The same blob with its bytes in memory: for stores that are no disks. REQUIRES: its source, if it
// has one, can be read.
SharedBlob InMemory(SharedBlob blob);
// The same blob without its bytes, which `source` has.
SharedBlob LeftTo(std::shared_ptr<const BulkSource> source, const Blob& blob);

}  // namespace ostraka::crypto
