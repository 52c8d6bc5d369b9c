// A state in pieces: only its own are taken, in any order, from a store as from others.
#include "node/protocol/sync/state_fetch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "node/wire/limits.h"
#include "tests/unit/protocol/states.h"

namespace ostraka::protocol::state_fetch_test {
namespace {

// One tensor of three pieces and one of one, and a slot.
class StateFetchTest : public ::testing::Test {
 protected:
  StateFetchTest() {
    std::vector<float> values(base::ElementCount(layout_));
    std::iota(values.begin(), values.end(), 1.0F);
    const auto parameters = std::make_shared<const std::vector<float>>(values);
    std::reverse(values.begin(), values.end());
    state_ = SgdState(parameters, std::make_shared<const std::vector<float>>(std::move(values)));
  }
  SharedBlob Part(std::uint64_t part) const {
    if (part > 0) {
      return crypto::MakeBlob(PieceOf(state_, StatePieces(layout_, 1)[part - 1]));
    }
    base::Bytes bytes;
    for (const Digest& leaf : StateLeaves(state_, layout_)) {
      bytes.insert(bytes.end(), leaf.bytes.begin(), leaf.bytes.end());
    }
    return crypto::MakeBlob(std::move(bytes));
  }
  StateFetch Begin() const {
    return StateFetch(5, StateRoot(state_, layout_), layout_, SlotNamesOf(state_));
  }

  const base::TensorLayout layout_ = {{"w", {2 * wire::kStateChunkBytes / 4 + 9}}, {"b", {3}}};
  ModelState state_;
};

TEST_F(StateFetchTest, IsWholeWithAllPartsInAnyOrder) {
  StateFetch fetch = Begin();
  ASSERT_EQ(fetch.piece_count(), 8u);
  EXPECT_TRUE(fetch.Take(0, *Part(0)));
  for (const std::uint64_t part : {8u, 2u, 1u, 5u, 3u, 7u, 4u, 6u}) {
    EXPECT_TRUE(fetch.Lacks(part));
    EXPECT_TRUE(fetch.Take(part, *Part(part))) << part;
    EXPECT_FALSE(fetch.Lacks(part));
  }
  EXPECT_EQ(fetch.left(), 0u);
  const ModelState whole = fetch.Finish();
  EXPECT_EQ(*whole.parameters, *state_.parameters);
  EXPECT_EQ(*VelocityOf(whole), *VelocityOf(state_));
  EXPECT_EQ(SlotNamesOf(whole), SlotNamesOf(state_));
}

TEST_F(StateFetchTest, TakesNothingElse) {
  StateFetch fetch = Begin();
  EXPECT_FALSE(fetch.Take(1, *Part(1))) << "nothing proves it before the leaves";
  base::Bytes leaves = Part(0)->data;
  leaves[40] ^= 1;
  EXPECT_FALSE(fetch.Take(0, *crypto::MakeBlob(leaves)));
  leaves.pop_back();
  EXPECT_FALSE(fetch.Take(0, *crypto::MakeBlob(leaves)));
  EXPECT_FALSE(fetch.Take(0, *crypto::MakeBlob({})));
  ASSERT_TRUE(fetch.Take(0, *Part(0)));
  EXPECT_FALSE(fetch.Take(0, *Part(0))) << "it is here";
  base::Bytes piece = Part(3)->data;
  piece.back() ^= 1;
  EXPECT_FALSE(fetch.Take(3, *crypto::MakeBlob(piece)));
  EXPECT_FALSE(fetch.Take(3, *Part(2)));
  EXPECT_FALSE(fetch.Take(3, *crypto::MakeBlob({})));
  EXPECT_FALSE(fetch.Take(9, *Part(3)));
  EXPECT_FALSE(fetch.Take(~std::uint64_t{0}, *Part(3)));
  EXPECT_EQ(fetch.left(), 8u);
  EXPECT_TRUE(fetch.Take(3, *Part(3)));
  EXPECT_FALSE(fetch.Take(3, *Part(3)));
  EXPECT_EQ(fetch.left(), 7u);
}

TEST_F(StateFetchTest, KnowsTheBytesOfItsParts) {
  const StateFetch fetch = Begin();
  for (std::uint64_t part = 0; part <= fetch.piece_count(); ++part) {
    EXPECT_EQ(fetch.BytesOf(part), Part(part)->data.size()) << part;
  }
}

}  // namespace
}  // namespace ostraka::protocol::state_fetch_test
