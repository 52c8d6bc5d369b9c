// The constants of a graph: what is written is read again, and nothing else is taken.
#include "node/train/exact/constants_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

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

TEST(ConstantsTest, GraphWithoutConstantsTakesWhatever) {
  EXPECT_TRUE(ConstantsOf({}, "").value().empty());
  EXPECT_TRUE(ConstantsOf({}, "bytes of another graph").value().empty());
}

TEST(ConstantsTest, EveryChangedByteIsRefused) {
  const exact::Graph graph = GraphNaming(Tensors());
  const std::string bytes = ConstantsBytes(Tensors());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_FALSE(ConstantsOf(graph, changed).ok()) << "byte " << i;
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
  const std::string bytes = ConstantsBytes(Tensors());
  Write(bytes + std::string(1'000'000, 'x'));
  EXPECT_EQ(ReadConstants(graph_file(), GraphNaming(Tensors())).value().size(), bytes.size() + 1);
}

}  // namespace
}  // namespace ostraka::train::constants_file_test
