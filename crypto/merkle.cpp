#include "crypto/merkle.h"

#include <algorithm>
#include <utility>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/base/check.h"

namespace ostraka::crypto {
namespace {

Digest ParentOf(const Digest& left, const Digest& right) {
  return Hasher(kDomainNode).Update(left).Update(right).Finish();
}

Digest RootOf(std::size_t leaf_count, const Digest& top) {
  return Hasher(kDomainRoot).UpdateU64(leaf_count).Update(top).Finish();
}

// Number of nodes above a level of `count` nodes: ceil(count / 2), without overflow.
std::size_t LevelAbove(std::size_t count) { return count / 2 + count % 2; }

// Replaces a level by the one above it.
void Fold(std::vector<Digest>& level) {
  const std::size_t pairs = level.size() / 2;
  const std::size_t above = LevelAbove(level.size());
  for (std::size_t i = 0; i < pairs; ++i) level[i] = ParentOf(level[2 * i], level[2 * i + 1]);
  if (above > pairs) level[pairs] = level.back();
  level.resize(above);
}

// A range of a source that is whole in memory.
class SliceInMemory final : public BulkSource {
 public:
  SliceInMemory(std::shared_ptr<const BulkSource> whole, std::uint64_t begin, std::uint64_t size)
      : whole_(std::move(whole)), begin_(begin), size_(size) {}
  std::uint64_t size() const override { return size_; }
  base::Status Read(std::uint64_t offset, std::span<std::uint8_t> out) const override {
    return whole_->Read(begin_ + offset, out);
  }

 private:
  const std::shared_ptr<const BulkSource> whole_;
  const std::uint64_t begin_;
  const std::uint64_t size_;
};

class SourceInMemory final : public BulkSource {
 public:
  explicit SourceInMemory(SharedBlob blob) : blob_(std::move(blob)) {}
  std::uint64_t size() const override { return blob_->data.size(); }
  base::Status Read(std::uint64_t offset, std::span<std::uint8_t> out) const override {
    OSTRAKA_CHECK(offset <= size() && out.size() <= size() - offset);
    std::copy_n(blob_->data.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
    return base::OkStatus();
  }

 private:
  const SharedBlob blob_;
};

}  // namespace

std::size_t ChunkCount(std::size_t byte_count) {
  return byte_count / kChunkBytes + (byte_count % kChunkBytes != 0 ? 1 : 0);
}

Digest ChunkLeaf(ByteView chunk) { return Hash(kDomainLeaf, chunk); }

std::vector<Digest> ChunkLeaves(ByteView data) {
  std::vector<Digest> leaves;
  leaves.reserve(ChunkCount(data.size()));
  while (!data.empty()) {
    const std::size_t size = std::min(data.size(), kChunkBytes);
    leaves.push_back(ChunkLeaf(data.first(size)));
    data = data.subspan(size);
  }
  return leaves;
}

Digest MerkleRoot(std::span<const Digest> leaves) {
  std::vector<Digest> level(leaves.begin(), leaves.end());
  while (level.size() > 1) Fold(level);
  return RootOf(leaves.size(), level.empty() ? Digest{} : level.front());
}

Digest MerkleRootOfData(ByteView data) { return MerkleRoot(ChunkLeaves(data)); }

std::vector<Digest> MerklePath(std::span<const Digest> leaves, std::size_t index) {
  OSTRAKA_CHECK(index < leaves.size());
  std::vector<Digest> path;
  std::vector<Digest> level(leaves.begin(), leaves.end());
  while (level.size() > 1) {
    const std::size_t sibling = index ^ 1;
    if (sibling < level.size()) path.push_back(level[sibling]);
    Fold(level);
    index /= 2;
  }
  return path;
}

bool VerifyMerklePath(const Digest& root, const Digest& leaf, std::size_t index,
                      std::size_t leaf_count, std::span<const Digest> path) {
  if (index >= leaf_count) return false;
  Digest node = leaf;
  for (std::size_t count = leaf_count; count > 1; count = LevelAbove(count), index /= 2) {
    const bool moves_up_unchanged = index % 2 == 0 && index + 1 == count;
    if (moves_up_unchanged) continue;
    if (path.empty()) return false;
    node = index % 2 == 0 ? ParentOf(node, path.front()) : ParentOf(path.front(), node);
    path = path.subspan(1);
  }
  return path.empty() && RootOf(leaf_count, node) == root;
}

SharedBlob MakeBlob(base::Bytes data) {
  std::vector<Digest> leaves = ChunkLeaves(data);
  const Digest root = MerkleRoot(leaves);
  return std::make_shared<const Blob>(Blob{std::move(data), root, std::move(leaves)});
}

std::shared_ptr<const BulkSource> BulkSource::Slice(std::uint64_t offset,
                                                    std::uint64_t size) const {
  return std::make_shared<const SliceInMemory>(shared_from_this(), offset, size);
}

std::shared_ptr<const BulkSource> SourceOf(SharedBlob blob) {
  OSTRAKA_CHECK(blob->source == nullptr);
  return std::make_shared<const SourceInMemory>(std::move(blob));
}

SharedBlob InMemory(SharedBlob blob) {
  if (blob == nullptr || blob->source == nullptr) return blob;
  auto read = std::make_shared<Blob>(Blob{base::Bytes(blob->size()), blob->root, blob->leaves});
  OSTRAKA_CHECK(blob->source->Read(0, read->data).ok());
  return read;
}

SharedBlob LeftTo(std::shared_ptr<const BulkSource> source, const Blob& blob) {
  const bool unhashed = blob.leaves.empty() && !blob.root.is_zero();
  return std::make_shared<const Blob>(
      Blob{{}, blob.root, unhashed ? ChunkLeaves(blob.data) : blob.leaves, std::move(source)});
}

}  // namespace ostraka::crypto
