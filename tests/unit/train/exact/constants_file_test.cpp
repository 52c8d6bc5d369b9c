// The constants of a graph: what is written is read again, and nothing else is taken.
#include "node/train/exact/constants_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "node/base/safetensors.h"

namespace ostraka::train::constants_file_test {
namespace {

using ::testing::HasSubstr;

// Two constants, of 6 and of 1 floats.
const std::vector<exact::ConstantTensor>& Tensors() {
  static const std::vector<exact::ConstantTensor> kTensors = {
      {"table", {2, 3}, {1, 2, 3, -4, 5.5F, 1e-20F}}, {"scale", {1}, {0.25F}}};
  return kTensors;
}

exact::Graph GraphNaming(const std::vector<exact::ConstantTensor>& tensors) {
  exact::Graph graph;
  for (const exact::ConstantTensor& tensor : tensors) {
    graph.constants.push_back({.name = tensor.name,
                               .type = {exact::Element::kFloat, tensor.shape},
                               .hash = exact::HashOfConstant(tensor.values)});
  }
  return graph;
}

std::string ReasonOf(const exact::Graph& graph, const std::string& bytes) {
  const auto constants = ConstantsOf(graph, bytes);
  return constants.ok() ? "" : base::MessageOf(constants.status());
}

TEST(ConstantsTest, WhatIsWrittenIsRead) {
  const auto constants = ConstantsOf(GraphNaming(Tensors()), ConstantsBytes(Tensors()));
  ASSERT_TRUE(constants.ok()) << constants.status();
  ASSERT_EQ(constants->size(), 2);
  EXPECT_EQ((*constants)[0], Tensors()[0].values);
  EXPECT_EQ((*constants)[1], Tensors()[1].values);
}

// Two bfloat16, among them the least; the second tensor has one value that is none, the third is
// odd.
const std::vector<exact::ConstantTensor>& Mixed() {
  static const std::vector<exact::ConstantTensor> kTensors = {
      {"base.weight", {1, 2}, {-0.0F, 0x1p-133F}},
      {"angles", {2}, {1.0F, 1.00390625F}},
      {"scale", {1}, {0.25F}},
      {"base.bias", {2, 2}, {0x1.fep127F, -1.5F, 3.140625F, 0.0F}}};
  return kTensors;
}

TEST(ConstantsTest, BfloatsTakeHalfTheBytes) {
  const std::string bytes = ConstantsBytes(Mixed());
  const std::string data(
      "\x00\x80\x01\x00"                  // base.weight
      "\x00\x00\x80\x3f\x00\x80\x80\x3f"  // angles
      "\x00\x00\x80\x3e"                  // scale
      "\x7f\x7f\xc0\xbf\x49\x40\x00\x00",
      4 + 8 + 4 + 8);  // base.bias
  EXPECT_EQ(bytes.substr(bytes.size() - data.size()), data);
  EXPECT_THAT(bytes,
              HasSubstr(R"("base.weight":{"dtype":"BF16","shape":[1,2],"data_offsets":[0,4]})"));
  EXPECT_THAT(bytes, HasSubstr(R"("angles":{"dtype":"F32","shape":[2],"data_offsets":[4,12]})"));
  const auto read = ConstantsOf(GraphNaming(Mixed()), bytes);
  ASSERT_TRUE(read.ok()) << read.status();
  for (std::size_t i = 0; i < Mixed().size(); ++i) {
    EXPECT_EQ(exact::HashOfConstant((*read)[i]), exact::HashOfConstant(Mixed()[i].values)) << i;
  }
}

// Builds before this one wrote every tensor so.
TEST(ConstantsTest, AFileOfFloatsAloneIsTheSame) {
  base::TensorLayout layout;
  std::string data;
  for (const exact::ConstantTensor& tensor : Mixed()) {
    layout.push_back({tensor.name, {tensor.shape.begin(), tensor.shape.end()}});
    data.append(reinterpret_cast<const char*>(tensor.values.data()), tensor.values.size() * 4);
  }
  const std::string bytes = base::SafetensorsHeader(layout, {{"format", "pt"}}) + data;
  const auto read = ConstantsOf(GraphNaming(Mixed()), bytes);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->back(), Mixed().back().values);
}

TEST(ConstantsTest, GraphWithoutConstantsTakesWhatever) {
  EXPECT_TRUE(ConstantsOf({}, "").value().empty());
  EXPECT_TRUE(ConstantsOf({}, "bytes of another graph").value().empty());
}

TEST(ConstantsTest, EveryChangedByteIsRefused) {
  for (const auto& tensors : {Tensors(), Mixed()}) {
    const exact::Graph graph = GraphNaming(tensors);
    const std::string bytes = ConstantsBytes(tensors);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(changed[i] ^ 1);
      EXPECT_FALSE(ConstantsOf(graph, changed).ok()) << "byte " << i;
    }
  }
}

TEST(ConstantsTest, OtherSizesAndOrdersAreRefused) {
  const exact::Graph graph = GraphNaming(Tensors());
  const std::string bytes = ConstantsBytes(Tensors());
  EXPECT_THAT(ReasonOf(graph, bytes.substr(0, bytes.size() - 1)),
              HasSubstr("is not one of this graph"));
  EXPECT_THAT(ReasonOf(graph, bytes + '\0'), HasSubstr("is not one of this graph"));
  EXPECT_THAT(ReasonOf(graph, "x"), HasSubstr("is not one of this graph"));
  EXPECT_THAT(ReasonOf(graph, ConstantsBytes({Tensors()[1], Tensors()[0]})),
              HasSubstr("is not one of this graph"));
  EXPECT_THAT(ReasonOf(graph, ""), HasSubstr("their file is not here"));
  std::vector<exact::ConstantTensor> others = Tensors();
  others[1].values[0] = 0.5F;
  EXPECT_EQ(ReasonOf(graph, ConstantsBytes(others)),
            "constant scale has other values than the graph names");
}

class ConstantsFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/ostraka-constants-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    std::remove(ConstantsBeside(graph_file()).c_str());
    std::remove(folder_.c_str());
  }
  std::string graph_file() const { return folder_ + "/a.graph"; }
  void Write(const std::string& bytes) const {
    std::ofstream(ConstantsBeside(graph_file()), std::ios::binary) << bytes;
  }

 private:
  std::string folder_;
};

TEST_F(ConstantsFileTest, IsReadBesideTheGraph) {
  const exact::Graph graph = GraphNaming(Tensors());
  const auto missing = ReadConstants(graph_file(), graph);
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(base::MessageOf(missing.status()),
              HasSubstr("a.graph.constants.safetensors: cannot be opened"));
  Write(ConstantsBytes(Tensors()));
  EXPECT_EQ(ReadConstants(graph_file(), graph).value(), ConstantsBytes(Tensors()));
  EXPECT_EQ(ReadConstants(graph_file(), {}).value(), "");
}

TEST_F(ConstantsFileTest, AHugeFileIsNotReadToItsEnd) {
  for (const auto& tensors : {Tensors(), Mixed()}) {
    const exact::Graph graph = GraphNaming(tensors);
    const std::string bytes = ConstantsBytes(tensors);
    Write(bytes);
    EXPECT_EQ(ReadConstants(graph_file(), graph).value(), bytes);
    Write(bytes + std::string(1'000'000, 'x'));
    const std::string read = ReadConstants(graph_file(), graph).value();
    EXPECT_GT(read.size(), bytes.size());
    EXPECT_LT(read.size(), bytes.size() + 100);
  }
}

}  // namespace
}  // namespace ostraka::train::constants_file_test
