#include "crypto/parameters_root.h"

#include <gtest/gtest.h>

#include <vector>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "crypto/merkle.h"
#include "node/base/bytes.h"

namespace ostraka::crypto::parameters_root_test {
namespace {

base::Digest RootOf(const std::vector<float>& values) { return ParametersRoot(values); }

// As docs/wire.md has it, for a vector of three chunks.
TEST(ParametersRoot, IsTheHashOfTheCountAndTheChunks) {
  std::vector<float> values(2 * kChunkBytes / sizeof(float) + 3);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) - 7;
  const base::ByteView bytes = base::AsBytes(std::span<const float>(values));
  std::vector<base::Digest> leaves;
  for (std::size_t at = 0; at < bytes.size(); at += kChunkBytes) {
    const std::size_t size = std::min(kChunkBytes, bytes.size() - at);
    leaves.push_back(Hash(kDomainLeaf, bytes.subspan(at, size)));
  }
  ASSERT_EQ(leaves.size(), 3u);
  EXPECT_EQ(RootOf(values),
            Hasher(kDomainParameters).UpdateU64(values.size()).Update(MerkleRoot(leaves)).Finish());
}

TEST(ParametersRoot, IsOfEachBitAndOfTheCount) {
  EXPECT_NE(RootOf({1, 2}), RootOf({2, 1}));
  EXPECT_NE(RootOf({0.0F}), RootOf({-0.0F}));
  EXPECT_NE(RootOf({1}), RootOf({1, 0}));
  EXPECT_NE(RootOf({}), RootOf({0}));
}

}  // namespace
}  // namespace ostraka::crypto::parameters_root_test
