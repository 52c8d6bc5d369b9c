// A trained state as a folder of transformers.
#include "node/cli/node/hf_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <span>

#include "node/base/bytes.h"
#include "node/base/safetensors.h"
#include "node/store/weights_file.h"
#include "tests/unit/os/temp_folder.h"

namespace ostraka::cli::hf_folder_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(PrefixOver, IsWhatAWrapperAdded) {
  const base::TensorLayout known = {{"model.embed.weight", {5, 2}}, {"head.weight", {2}}};
  const base::TensorLayout same = {{"model.embed.weight", {5, 2}}};
  EXPECT_EQ(PrefixOver(same, known).value(), "");
  const base::TensorLayout wrapped = {{"m.model.embed.weight", {5, 2}}, {"m.head.weight", {2}}};
  EXPECT_EQ(PrefixOver(wrapped, known).value(), "m.");
  const base::TensorLayout deep = {{"a.b.model.embed.weight", {5, 2}}};
  EXPECT_EQ(PrefixOver(deep, known).value(), "a.b.");
  for (const base::TensorLayout& other :
       {base::TensorLayout{{"model.embed.weight", {2, 5}}},
        base::TensorLayout{{"m.model.embed.weight", {5, 2}}, {"head.weight", {2}}},
        base::TensorLayout{{"m.other.weight", {5, 2}}}, base::TensorLayout{{"alone", {1}}}}) {
    EXPECT_THAT(base::MessageOf(PrefixOver(other, known).status()),
                HasSubstr("and the folder's model has model.embed.weight, head.weight"));
  }
}

class HfFolderTest : public os::TempFolderTest {
 protected:
  void SetUp() override {
    TempFolderTest::SetUp();
    original_ = dir_ + "/original";
    std::filesystem::create_directory(original_);
    for (const char* name : {"config.json", "tokenizer.json", "merges.txt", "modeling.py",
                             "model.safetensors.index.json", "README.md", "pytorch_model.bin"}) {
      Write(name, "{}");
    }
    checkpoint_.step = 7;
    checkpoint_.layout = {{"m.a", {2}}, {"m.b", {1, 1}}};
    checkpoint_.state.parameters =
        std::make_shared<const std::vector<float>>(std::vector<float>{1, 2, 3});
    checkpoint_.metadata = {{"format", "pt"}, {"state_root", "00"}};
  }

  void Write(const std::string& name, const std::string& text) {
    std::ofstream(original_ + "/" + name, std::ios::binary) << text;
  }
  void WriteTensors(const std::string& name, const base::TensorLayout& layout,
                    const std::vector<float>& values) {
    const std::string header = base::SafetensorsHeader(layout, {});
    Write(name, header + std::string(reinterpret_cast<const char*>(values.data()),
                                     values.size() * sizeof(float)));
  }
  std::vector<std::string> NamesIn(const std::string& folder) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  std::string Refusal(const std::string& out) {
    const auto made = WriteHfFolder(checkpoint_, original_, out);
    return made.ok() ? "made" : base::MessageOf(made.status());
  }

  std::string original_;
  store::Checkpoint checkpoint_;
};

TEST_F(HfFolderTest, HasSettingsTokenizerAndTensorsButNoProgram) {
  WriteTensors("model-00001-of-00002.safetensors", {{"a", {2}}, {"frozen", {2}}}, {9, 9, 4, 5});
  WriteTensors("model-00002-of-00002.safetensors", {{"b", {1, 1}}}, {9});
  const std::string out = dir_ + "/out";
  const auto made = WriteHfFolder(checkpoint_, original_, out);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->frozen, 1u);
  EXPECT_THAT(NamesIn(out),
              ElementsAre("config.json", "merges.txt", "model.safetensors", "tokenizer.json"));
  const auto tensors = store::ReadTensors(out + "/model.safetensors").value();
  ASSERT_EQ(tensors.size(), 3u);
  EXPECT_EQ(tensors[0].spec.name, "a");
  EXPECT_THAT(tensors[0].values, ElementsAre(1, 2));
  EXPECT_EQ(tensors[1].spec.name, "b");
  EXPECT_THAT(tensors[1].values, ElementsAre(3));
  EXPECT_EQ(tensors[2].spec.name, "frozen");
  EXPECT_THAT(tensors[2].values, ElementsAre(4, 5));
}

TEST_F(HfFolderTest, WithoutTensorsOfTheOriginalKeepsTheNames) {
  const std::string out = dir_ + "/out";
  const auto made = WriteHfFolder(checkpoint_, original_, out);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(store::ReadTensors(out + "/model.safetensors")->at(0).spec.name, "m.a");
}

TEST_F(HfFolderTest, LeavesNothingBehindAnError) {
  const std::string out = dir_ + "/out";
  WriteTensors("model.safetensors", {{"a", {3}}, {"b", {1, 1}}}, {9, 9, 9, 9});
  EXPECT_THAT(Refusal(out), HasSubstr("the run trains the tensors m.a, m.b"));
  Write("model.safetensors", "garbage");
  EXPECT_THAT(Refusal(out), HasSubstr("model.safetensors"));
  WriteTensors("model.safetensors", {{"a", {2}}, {"b", {1, 1}}}, {9, 9, 9});
  WriteTensors("more.safetensors", {{"b", {1, 1}}}, {9});
  EXPECT_THAT(Refusal(out), HasSubstr("tensor b is in another file of the folder, too"));
  std::filesystem::remove(original_ + "/more.safetensors");
  EXPECT_THAT(Refusal(dir_ + "/no/out"), HasSubstr("cannot make"));
  EXPECT_FALSE(std::filesystem::exists(out));
  std::filesystem::create_directory(out);
  EXPECT_THAT(Refusal(out), HasSubstr("exists: give another folder"));
  EXPECT_TRUE(std::filesystem::is_empty(out)) << "it was not ours";
  std::filesystem::remove(original_ + "/config.json");
  EXPECT_THAT(Refusal(dir_ + "/other"), HasSubstr("holds no config.json"));
  original_ = dir_ + "/none";
  EXPECT_THAT(Refusal(dir_ + "/other"), HasSubstr("cannot be read"));
}

}  // namespace
}  // namespace ostraka::cli::hf_folder_test
