#include "node/protocol/state.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol {
namespace {

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
  const Digest root_ = StateRoot({Vector(parameters_), Vector(velocity_)}, layout_);
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
    EXPECT_TRUE(roots.insert(StateRoot({Vector(changed), Vector(velocity_)}, layout_)).second);
    changed = velocity_;
    changed[i] = std::nextafter(changed[i], 100.0F);
    EXPECT_TRUE(roots.insert(StateRoot({Vector(parameters_), Vector(changed)}, layout_)).second);
  }
  EXPECT_TRUE(roots.insert(StateRoot({Vector(velocity_), Vector(parameters_)}, layout_)).second)
      << "parameters and velocity exchanged";
}

TEST_F(StateRootTest, NamesTensorsShapesAndTheirOrder) {
  const ModelState state{Vector(parameters_), Vector(velocity_)};
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
  EXPECT_NE(StateRoot({Vector(zero), Vector(zero)}, layout_),
            StateRoot({Vector(minus_zero), Vector(zero)}, layout_));
}

}  // namespace
}  // namespace ostraka::protocol
