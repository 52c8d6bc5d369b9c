#include "crypto/merkle.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <limits>

#include "crypto/domains.h"
#include "crypto/hash.h"

namespace ostraka::crypto::merkle_test {
namespace {

using base::Bytes;

std::vector<Digest> Leaves(std::size_t count) {
  std::vector<Digest> leaves;
  for (std::size_t i = 0; i < count; ++i) {
    const Bytes chunk{static_cast<std::uint8_t>(i)};
    leaves.push_back(ChunkLeaf(chunk));
  }
  return leaves;
}

// The tree by its other definition: the left half is the largest power of two below the whole (as
// in RFC 6962). Moving odd nodes up unchanged must give an equal root.
Digest NaiveTop(std::span<const Digest> leaves) {
  if (leaves.empty()) return Digest{};
  if (leaves.size() == 1) return leaves.front();
  std::size_t left = 1;
  while (left * 2 < leaves.size()) left *= 2;
  return Hasher(kDomainNode)
      .Update(NaiveTop(leaves.first(left)))
      .Update(NaiveTop(leaves.subspan(left)))
      .Finish();
}

Digest NaiveRoot(std::span<const Digest> leaves) {
  return Hasher(kDomainRoot).UpdateU64(leaves.size()).Update(NaiveTop(leaves)).Finish();
}

// Expected values: a Python model over hashlib.blake2b.
TEST(MerkleRoot, MatchesGoldenValues) {
  EXPECT_EQ(MerkleRoot(Leaves(0)).Hex(),
            "b54e9765e3eb5cb739da41d1d6cf7a991484ad2f461f9a01c41d36b8672b8a05");
  EXPECT_EQ(MerkleRoot(Leaves(1)).Hex(),
            "4d5e398b62ae416d80290d438ee9d0ec715da3a6f1062332ef254d4e874bddca");
  EXPECT_EQ(MerkleRoot(Leaves(2)).Hex(),
            "fcb0d8e63d35a7986634ce5fcabdf77732042e4979de7f5e8bff3de4ae4fe2f0");
  EXPECT_EQ(MerkleRoot(Leaves(7)).Hex(),
            "2f906d33bc305efb5afaee62c136eed7babcfe45c0949bdea8f6a4c8a40961c7");
  EXPECT_EQ(MerkleRoot(Leaves(40)).Hex(),
            "c974db428afa9e89aa46160dd97c5f8e297123894886d327d9c5d147a8f56173");
}

RC_GTEST_PROP(MerkleRoot, EqualsTheRecursiveModel, (std::vector<std::uint64_t> seeds)) {
  std::vector<Digest> leaves;
  for (const std::uint64_t seed : seeds) {
    leaves.push_back(Hasher(kDomainLeaf).UpdateU64(seed).Finish());
  }
  RC_ASSERT(MerkleRoot(leaves) == NaiveRoot(leaves));
}

RC_GTEST_PROP(MerkleRoot, ChangesWithAnyLeaf, ()) {
  std::vector<Digest> leaves = Leaves(*rc::gen::inRange<std::size_t>(1, 100));
  const Digest root = MerkleRoot(leaves);
  const auto index = *rc::gen::inRange<std::size_t>(0, leaves.size());
  const auto bit = *rc::gen::inRange(0, 256);
  leaves[index].bytes[static_cast<std::size_t>(bit) / 8] ^=
      static_cast<std::uint8_t>(1 << (bit % 8));
  RC_ASSERT(MerkleRoot(leaves) != root);
}

TEST(MerkleRoot, SeparatesLeavesNodesAndRoots) {
  const std::vector<Digest> leaves = Leaves(2);
  const Digest node = Hasher(kDomainNode).Update(leaves[0]).Update(leaves[1]).Finish();
  const std::vector<Digest> one{node};
  EXPECT_NE(MerkleRoot(leaves), MerkleRoot(one)) << "the count is bound";
  EXPECT_NE(MerkleRoot(one), node);
}

TEST(MerklePath, VerifiesForEveryIndexAndNoOther) {
  for (std::size_t count = 0; count <= 40; ++count) {
    const std::vector<Digest> leaves = Leaves(count);
    const Digest root = MerkleRoot(leaves);
    for (std::size_t index = 0; index < count; ++index) {
      const std::vector<Digest> path = MerklePath(leaves, index);
      ASSERT_TRUE(VerifyMerklePath(root, leaves[index], index, count, path))
          << index << " of " << count;
      for (std::size_t other = 0; other <= count; ++other) {
        if (other == index) continue;
        ASSERT_FALSE(VerifyMerklePath(root, leaves[index], other, count, path))
            << index << " as " << other << " of " << count;
      }
      for (std::size_t other_count = 0; other_count <= 2 * count + 2; ++other_count) {
        if (other_count == count) continue;
        ASSERT_FALSE(VerifyMerklePath(root, leaves[index], index, other_count, path))
            << index << " of " << count << " as of " << other_count;
      }
    }
  }
}

TEST(MerklePath, FailsWhenAnythingIsAltered) {
  for (const std::size_t count : {1u, 2u, 3u, 7u, 8u, 33u}) {
    const std::vector<Digest> leaves = Leaves(count);
    const Digest root = MerkleRoot(leaves);
    for (std::size_t index = 0; index < count; ++index) {
      const std::vector<Digest> path = MerklePath(leaves, index);
      for (std::size_t at = 0; at < path.size(); ++at) {
        std::vector<Digest> altered = path;
        altered[at].bytes[at % 32] ^= 1;
        EXPECT_FALSE(VerifyMerklePath(root, leaves[index], index, count, altered));
        std::vector<Digest> shorter = path;
        shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(at));
        EXPECT_FALSE(VerifyMerklePath(root, leaves[index], index, count, shorter));
      }
      std::vector<Digest> longer = path;
      longer.push_back(Digest{});
      EXPECT_FALSE(VerifyMerklePath(root, leaves[index], index, count, longer));
      Digest other_leaf = leaves[index];
      other_leaf.bytes[31] ^= 0x80;
      EXPECT_FALSE(VerifyMerklePath(root, other_leaf, index, count, path));
      Digest other_root = root;
      other_root.bytes[0] ^= 1;
      EXPECT_FALSE(VerifyMerklePath(other_root, leaves[index], index, count, path));
    }
  }
}

RC_GTEST_PROP(MerklePath, HasNoMoreThanTheDepth, ()) {
  const auto count = *rc::gen::inRange<std::size_t>(1, 2000);
  const auto index = *rc::gen::inRange<std::size_t>(0, count);
  const std::vector<Digest> leaves = Leaves(count);
  const std::vector<Digest> path = MerklePath(leaves, index);
  std::size_t depth = 0;
  while ((std::size_t{1} << depth) < count) ++depth;
  RC_ASSERT(path.size() <= depth);
  RC_ASSERT(VerifyMerklePath(MerkleRoot(leaves), leaves[index], index, count, path));
}

TEST(VerifyMerklePath, IsSafeAtTheLimitsOfItsNumbers) {
  constexpr std::size_t kMax = std::numeric_limits<std::size_t>::max();
  const std::vector<Digest> path(64);
  EXPECT_FALSE(VerifyMerklePath(Digest{}, Digest{}, 0, 0, {}));
  EXPECT_FALSE(VerifyMerklePath(Digest{}, Digest{}, kMax, kMax, path));
  EXPECT_FALSE(VerifyMerklePath(Digest{}, Digest{}, kMax - 1, kMax, path));
  EXPECT_FALSE(VerifyMerklePath(Digest{}, Digest{}, 0, kMax, path));
}

TEST(Chunks, CountsAndCutsAt64Kib) {
  EXPECT_EQ(ChunkCount(0), 0u);
  EXPECT_EQ(ChunkCount(1), 1u);
  EXPECT_EQ(ChunkCount(kChunkBytes), 1u);
  EXPECT_EQ(ChunkCount(kChunkBytes + 1), 2u);
  EXPECT_EQ(ChunkCount(std::numeric_limits<std::size_t>::max()), std::size_t{1} << 48);
  const Bytes data(2 * kChunkBytes + 5, 9);
  const ByteView view(data);
  const std::vector<Digest> expected{ChunkLeaf(view.first(kChunkBytes)),
                                     ChunkLeaf(view.subspan(kChunkBytes, kChunkBytes)),
                                     ChunkLeaf(view.last(5))};
  EXPECT_EQ(ChunkLeaves(data), expected);
  EXPECT_TRUE(ChunkLeaves({}).empty());
}

TEST(Blob, CarriesTheRootOfItsData) {
  Bytes data(2 * kChunkBytes + 5);
  for (std::size_t i = 0; i < data.size(); ++i) {
    data[i] = static_cast<std::uint8_t>(i * 7 + i / kChunkBytes);
  }
  const SharedBlob blob = MakeBlob(data);
  EXPECT_EQ(blob->data, data);
  EXPECT_EQ(blob->root, MerkleRootOfData(data));
  EXPECT_EQ(blob->root.Hex(), "54da1bcc4b04bc8d7b8def1980a750fb748fe0a020ab1257d16b041397e622ee");
  EXPECT_EQ(MakeBlob({})->root, MerkleRoot({}));
}

TEST(MerkleDeathTest, RefusesThePathOfAMissingLeaf) {
  EXPECT_DEATH(MerklePath(Leaves(3), 3), "CHECK failed");
}

}  // namespace
}  // namespace ostraka::crypto::merkle_test
