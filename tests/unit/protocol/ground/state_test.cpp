#include "node/protocol/ground/state.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "node/protocol/ground/stored_state.h"
#include "node/wire/limits.h"
#include "tests/unit/protocol/scene.h"
#include "tests/unit/protocol/states.h"

namespace ostraka::protocol::state_test {
namespace {

const SlotNames kSlots = {"velocity"};

TEST(CutPartsTest, IsContiguousCompleteAndEven) {
  for (std::uint64_t dimension = 0; dimension <= 70; ++dimension) {
    for (std::uint32_t count = 1; count <= 20; ++count) {
      const std::vector<PartRange> parts = CutParts(dimension, count);
      ASSERT_EQ(parts.size(), count);
      std::uint64_t next = 0;
      std::uint64_t last_size = dimension;
      for (const PartRange& part : parts) {
        EXPECT_EQ(part.begin, next);
        EXPECT_LE(part.size(), last_size) << "the longer come first";
        EXPECT_LE(parts.front().size() - part.size(), 1u);
        next = part.end;
        last_size = part.size();
      }
      EXPECT_EQ(next, dimension);
    }
  }
}

class StateRootTest : public testing::Test {
 protected:
  static SharedVector Vector(std::vector<float> values) {
    return std::make_shared<const std::vector<float>>(std::move(values));
  }
  const std::vector<float> parameters_ = {1, 2, 3, 4, 5, 6, 7};
  const std::vector<float> velocity_ = {-1, -2, -3, -4, -5, -6, -7};
  const base::TensorLayout layout_ = {{"w", {2, 3}}, {"b", {}}};
  const Digest root_ = StateRoot(SgdState(Vector(parameters_), Vector(velocity_)), layout_);
};

// Sealed in blocks and stored in ledgers: a change here is a new protocol version.
TEST_F(StateRootTest, IsGolden) {
  EXPECT_EQ(root_.Hex(), "fb35d29d9c0e7e5a7c92a760e72c4d494140940d6416e50b8a604ac84c7bbc76");
}

TEST_F(StateRootTest, NamesEveryElementOfBothVectors) {
  std::set<Digest> roots = {root_};
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    std::vector<float> changed = parameters_;
    changed[i] = std::nextafter(changed[i], 100.0F);
    EXPECT_TRUE(
        roots.insert(StateRoot(SgdState(Vector(changed), Vector(velocity_)), layout_)).second);
    changed = velocity_;
    changed[i] = std::nextafter(changed[i], 100.0F);
    EXPECT_TRUE(
        roots.insert(StateRoot(SgdState(Vector(parameters_), Vector(changed)), layout_)).second);
  }
  EXPECT_TRUE(
      roots.insert(StateRoot(SgdState(Vector(velocity_), Vector(parameters_)), layout_)).second)
      << "parameters and velocity exchanged";
}

TEST_F(StateRootTest, NamesTensorsShapesAndTheirOrder) {
  const ModelState state = SgdState(Vector(parameters_), Vector(velocity_));
  std::set<Digest> roots = {root_};
  for (const base::TensorLayout& other :
       {base::TensorLayout{{"v", {2, 3}}, {"b", {}}}, base::TensorLayout{{"w", {2, 3}}, {"c", {}}},
        base::TensorLayout{{"w", {3, 2}}, {"b", {}}}, base::TensorLayout{{"w", {6}}, {"b", {}}},
        base::TensorLayout{{"w", {2, 3}}, {"b", {1}}}, base::TensorLayout{{"w", {7}}},
        base::TensorLayout{{"b", {}}, {"w", {2, 3}}}}) {
    EXPECT_TRUE(roots.insert(StateRoot(state, other)).second);
  }
}

TEST_F(StateRootTest, MinusZeroIsAnotherState) {
  std::vector<float> zero(7, 0.0F);
  std::vector<float> minus_zero = zero;
  minus_zero[6] = -0.0F;
  EXPECT_NE(StateRoot(SgdState(Vector(zero), Vector(zero)), layout_),
            StateRoot(SgdState(Vector(minus_zero), Vector(zero)), layout_));
}

// --- in pieces -----------------------------------------------------------------------------------

// A tensor longer than a piece, one that ends with a full chunk, a scalar, and a short one.
class StatePiecesTest : public testing::Test {
 protected:
  static constexpr std::uint64_t kFloatsAPiece = wire::kStateChunkBytes / sizeof(float);
  static constexpr std::uint64_t kFloatsAChunk = crypto::kChunkBytes / sizeof(float);

  StatePiecesTest() {
    auto parameters = std::make_shared<std::vector<float>>(base::ElementCount(layout_));
    auto velocity = std::make_shared<std::vector<float>>(parameters->size());
    for (std::size_t i = 0; i < parameters->size(); ++i) {
      (*parameters)[i] = static_cast<float>(i % 8191) * 0.5F;
      (*velocity)[i] = -static_cast<float>(i % 4093);
    }
    state_ = SgdState(std::move(parameters), std::move(velocity));
    leaves_ = StateLeaves(state_, layout_);
  }

  const base::TensorLayout layout_ = {{"long", {kFloatsAPiece + kFloatsAChunk + 3}},
                                      {"full", {2, kFloatsAChunk}},
                                      {"scalar", {}},
                                      {"short", {5}}};
  const std::vector<StatePiece> pieces_ = StatePieces(layout_, 1);
  ModelState state_;
  std::vector<Digest> leaves_;
};

TEST_F(StatePiecesTest, HoldEveryElementOfBothVectorsOnceWithinATensor) {
  EXPECT_EQ(pieces_.size(), 10u) << "two for the long tensor, one for each other, twice";
  std::map<bool, std::uint64_t> elements;
  std::size_t next_leaf = 0;
  for (const StatePiece& piece : pieces_) {
    EXPECT_LT(piece.begin, piece.end);
    EXPECT_LE(PieceOf(state_, piece).size(), wire::kStateChunkBytes);
    EXPECT_EQ(piece.first_leaf, next_leaf);
    next_leaf += piece.leaf_count;
    elements[piece.vector == 1] += piece.end - piece.begin;
    std::uint64_t offset = 0;
    bool within = false;
    for (const base::TensorSpec& tensor : layout_) {
      const std::uint64_t end = offset + tensor.element_count();
      within = within || (offset <= piece.begin && piece.end <= end);
      offset = end;
    }
    EXPECT_TRUE(within);
  }
  EXPECT_EQ(next_leaf, leaves_.size());
  EXPECT_EQ(elements[false], base::ElementCount(layout_));
  EXPECT_EQ(elements[true], base::ElementCount(layout_));
}

TEST_F(StatePiecesTest, PutTogetherTheyAreTheState) {
  std::vector<float> parameters(state_.parameters->size());
  std::vector<float> velocity(parameters.size());
  for (const StatePiece& piece : pieces_) {
    const base::Bytes bytes = PieceOf(state_, piece);
    ASSERT_TRUE(PieceMatches(piece, bytes, leaves_));
    auto& into = piece.vector == 1 ? velocity : parameters;
    std::memcpy(into.data() + piece.begin, bytes.data(), bytes.size());
  }
  EXPECT_EQ(parameters, *state_.parameters);
  EXPECT_EQ(velocity, *VelocityOf(state_));
}

// A run with AdamW has two slots, and a root of its own even where its numbers are those of SGD.
TEST_F(StatePiecesTest, EachSlotHasPiecesLeavesAndAPlaceInTheStore) {
  const SlotNames moments = {"first_moment", "second_moment"};
  ModelState state = FreshState(state_.parameters, aggregation::Optimizer::kAdamW);
  EXPECT_EQ(SlotNamesOf(state), moments);
  EXPECT_EQ(*state.slots[1].values, std::vector<float>(state.parameters->size(), 0));
  state.slots[0].values = VelocityOf(state_);
  state.slots[1].values = state_.parameters;
  const std::vector<Digest> leaves = StateLeaves(state, layout_);
  const std::vector<StatePiece> pieces = StatePieces(layout_, 2);
  EXPECT_EQ(pieces.size(), 15u);
  std::vector<std::vector<float>> found(3, std::vector<float>(state.parameters->size()));
  for (const StatePiece& piece : pieces) {
    const base::Bytes bytes = PieceOf(state, piece);
    ASSERT_TRUE(PieceMatches(piece, bytes, leaves));
    std::memcpy(found.at(piece.vector).data() + piece.begin, bytes.data(), bytes.size());
  }
  EXPECT_EQ(found[0], *state.parameters);
  EXPECT_EQ(found[1], *state.slots[0].values);
  EXPECT_EQ(found[2], *state.slots[1].values);

  const Digest root = StateRoot(state, layout_);
  EXPECT_EQ(StateRootOf(leaves, layout_, moments), root);
  EXPECT_NE(StateRootOf(leaves, layout_, {"second_moment", "first_moment"}), root);
  EXPECT_FALSE(StateRootOf(leaves, layout_, kSlots));
  ModelState exchanged = state;
  std::swap(exchanged.slots[0].values, exchanged.slots[1].values);
  EXPECT_NE(StateRoot(exchanged, layout_), root);

  const base::Bytes encoded = EncodeState(state);
  const auto decoded = DecodeState(encoded, state.parameters->size(), moments);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(StateRoot(*decoded, layout_), root);
  EXPECT_FALSE(DecodeState(encoded, state.parameters->size(), kSlots));
}

TEST_F(StatePiecesTest, AnyWrongBitOrLengthIsRefused) {
  for (const StatePiece& piece : pieces_) {
    const base::Bytes good = PieceOf(state_, piece);
    for (const std::size_t bit : {std::size_t{0}, good.size() * 4 + 3, good.size() * 8 - 1}) {
      base::Bytes bad = good;
      bad[bit / 8] = static_cast<std::uint8_t>(bad[bit / 8] ^ 1U << (bit % 8));
      EXPECT_FALSE(PieceMatches(piece, bad, leaves_)) << bit;
    }
    base::Bytes longer = good;
    longer.resize(good.size() + 4);
    EXPECT_FALSE(PieceMatches(piece, longer, leaves_));
    EXPECT_FALSE(PieceMatches(piece, base::ByteView(good).first(good.size() - 4), leaves_));
    EXPECT_FALSE(PieceMatches(piece, {}, leaves_));
  }
  EXPECT_FALSE(PieceMatches(pieces_[1], PieceOf(state_, pieces_[0]), leaves_)) << "another piece";
  EXPECT_FALSE(PieceMatches(pieces_[0], PieceOf(state_, pieces_[0]), {})) << "no leaves yet";
}

TEST_F(StatePiecesTest, OnlyTheTrueLeavesMakeTheRoot) {
  const Digest root = StateRoot(state_, layout_);
  EXPECT_EQ(StateRootOf(leaves_, layout_, kSlots), root);
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    std::vector<Digest> bad = leaves_;
    bad[i].bytes[31] ^= 1;
    EXPECT_NE(StateRootOf(bad, layout_, kSlots), root) << i;
  }
  std::vector<Digest> fewer = leaves_;
  fewer.pop_back();
  EXPECT_FALSE(StateRootOf(fewer, layout_, kSlots));
  EXPECT_FALSE(StateRootOf({}, layout_, kSlots));
  std::vector<Digest> more = leaves_;
  more.push_back(more.back());
  EXPECT_FALSE(StateRootOf(more, layout_, kSlots));
}

TEST_F(StatePiecesTest, TheOwnStoreGivesBackWhatItGot) {
  const base::Bytes encoded = EncodeState(state_);
  const auto decoded = DecodeState(encoded, state_.parameters->size(), kSlots);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(*decoded->parameters, *state_.parameters);
  EXPECT_EQ(*VelocityOf(*decoded), *VelocityOf(state_));
  EXPECT_FALSE(DecodeState(encoded, state_.parameters->size() + 1, kSlots));
  EXPECT_FALSE(DecodeState(base::ByteView(encoded).first(encoded.size() - 1),
                           state_.parameters->size(), kSlots));
  EXPECT_FALSE(DecodeState({}, 0, kSlots));
  base::Bytes lying = encoded;
  lying[0] ^= 1;
  EXPECT_FALSE(DecodeState(lying, state_.parameters->size(), kSlots));
}

TEST_F(StatePiecesTest, StoredStateIsReadInAnyPieces) {
  const base::Bytes whole = EncodeState(state_);
  const auto source = StateSource(state_);
  ASSERT_EQ(source->size(), whole.size());
  for (std::size_t size = 1; size < whole.size(); size = 3 * size + 2) {
    for (std::size_t at = 0; at + size <= whole.size(); at += 1 + size / 2) {
      base::Bytes part(size);
      ASSERT_TRUE(source->Read(at, part).ok());
      ASSERT_TRUE(
          std::equal(part.begin(), part.end(), whole.begin() + static_cast<std::ptrdiff_t>(at)))
          << size << " bytes from " << at;
      if (at > 2000 && at + 2000 < whole.size()) at += whole.size() / 7;
    }
  }
  base::Bytes beyond(2);
  EXPECT_DEATH(static_cast<void>(source->Read(whole.size() - 1, beyond)), "CHECK failed");
}

// A manifest's defaults: each rooted state is stored, so that none has to stay in memory.
TEST(StoresState, InStepsWithARoot) {
  const auto stored = [](std::uint64_t roots) {
    Manifest manifest;
    manifest.state_root_every = roots;
    std::vector<std::uint64_t> heights;
    for (std::uint64_t height = 1; height <= 64; ++height) {
      if (StoresState(manifest, height)) heights.push_back(height);
    }
    return heights;
  };
  EXPECT_EQ(stored(10), (std::vector<std::uint64_t>{10, 20, 30, 40, 50, 60}));
  EXPECT_EQ(stored(1), (std::vector<std::uint64_t>{16, 32, 48, 64}));
  EXPECT_EQ(stored(5), (std::vector<std::uint64_t>{15, 30, 45, 60}));
  EXPECT_EQ(stored(16), (std::vector<std::uint64_t>{16, 32, 48, 64}));
  EXPECT_EQ(stored(20), (std::vector<std::uint64_t>{16, 20, 32, 40, 48, 60, 64}));
}

}  // namespace
}  // namespace ostraka::protocol::state_test
