#include "node/store/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "crypto/sign.h"
#include "node/base/rng.h"
#include "tests/unit/os/temp_folder.h"

namespace ostraka::store::checkpoint_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class CheckpointTest : public os::TempFolderTest {
 protected:
  static void SetUpTestSuite() { ASSERT_TRUE(crypto::Initialize().ok()); }

  static protocol::SharedVector Floats(std::uint64_t seed, std::size_t count) {
    base::Rng rng(seed);
    std::vector<float> values;
    for (std::size_t i = 0; i < count; ++i) values.push_back(static_cast<float>(rng.Normal()));
    return std::make_shared<const std::vector<float>>(std::move(values));
  }
  static Checkpoint Sample(std::uint64_t step = 41) {
    return {.step = step,
            .layout = {{"layers.0.weight", {3, 5}}, {"layers.0.bias", {3}}},
            .state = {Floats(1, 18), {{"velocity", Floats(2, 18)}}},
            .metadata = {{"run_id", "abc"}, {"model", "mlp \"2\""}}};
  }
  std::string path() const { return CheckpointPath(dir_, 41); }
  static std::string ContentOf(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void Overwrite(const std::string& path, const std::string& content) {
    std::ofstream(path, std::ios::binary) << content;
  }
};

TEST_F(CheckpointTest, RoundTrips) {
  const Checkpoint written = Sample();
  ASSERT_TRUE(WriteCheckpoint(dir_, written).ok());
  EXPECT_EQ(path(), dir_ + "/checkpoints/step-41.safetensors");
  const Checkpoint read = ReadCheckpoint(path()).value();
  EXPECT_EQ(read.step, 41u);
  EXPECT_EQ(read.layout, written.layout);
  EXPECT_EQ(*read.state.parameters, *written.state.parameters);
  EXPECT_EQ(*read.state.slots.at(0).values, *written.state.slots.at(0).values);
  EXPECT_EQ(read.metadata.at("run_id"), "abc");
  EXPECT_EQ(read.metadata.at("model"), "mlp \"2\"");
  EXPECT_EQ(read.metadata.at("format"), "pt");
  EXPECT_EQ(read.metadata.at("state_root"),
            protocol::StateRoot(written.state, written.layout).Hex());
}

TEST_F(CheckpointTest, CheckpointOfTheSameStepIsReplaced) {
  ASSERT_TRUE(WriteCheckpoint(dir_, Sample()).ok());
  Checkpoint other = Sample();
  other.state.parameters = Floats(7, 18);
  ASSERT_TRUE(WriteCheckpoint(dir_, other).ok());
  EXPECT_EQ(*ReadCheckpoint(path())->state.parameters, *other.state.parameters);
}

TEST_F(CheckpointTest, AreListedByStepWithoutStrangers) {
  EXPECT_TRUE(ListCheckpoints(dir_).empty());
  for (const std::uint64_t step : {100U, 9U, 20U}) {
    ASSERT_TRUE(WriteCheckpoint(dir_, Sample(step)).ok());
  }
  for (const char* name : {"step-30.safetensors.tmp", "step-.safetensors", "step-07.safetensors",
                           "step-+7.safetensors", "step-7x.safetensors", "my.safetensors",
                           "step-99999999999999999999.safetensors"}) {
    std::ofstream(CheckpointFolder(dir_) + "/" + name) << "x";
  }
  std::vector<std::uint64_t> steps;
  for (const CheckpointFile& file : ListCheckpoints(dir_)) {
    EXPECT_EQ(file.path, CheckpointPath(dir_, file.step));
    steps.push_back(file.step);
  }
  EXPECT_EQ(steps, (std::vector<std::uint64_t>{9, 20, 100}));
}

TEST_F(CheckpointTest, AnyWrongBitIsFound) {
  ASSERT_TRUE(WriteCheckpoint(dir_, Sample()).ok());
  const std::string whole = ContentOf(path());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string wrong = whole;
    wrong[i] = static_cast<char>(wrong[i] ^ 1 << (i % 8));
    Overwrite(path(), wrong);
    const auto read = ReadCheckpoint(path());
    // The state root does not cover the name of the run, which may be any well-formed text. Nothing
    // else may differ.
    if (read.ok()) {
      EXPECT_EQ(*read->state.parameters, *Sample().state.parameters);
      EXPECT_EQ(*read->state.slots.at(0).values, *Sample().state.slots.at(0).values);
      EXPECT_EQ(read->layout, Sample().layout);
      EXPECT_EQ(read->metadata.at("state_root"),
                protocol::StateRoot(Sample().state, Sample().layout).Hex());
      continue;
    }
    ASSERT_EQ(read.status().code(), absl::StatusCode::kInvalidArgument) << i;
    EXPECT_THAT(base::MessageOf(read.status()),
                StartsWith(path() + ": is no checkpoint of ostraka, or damaged: "));
    EXPECT_THAT(base::MessageOf(read.status()), Not(HasSubstr("\n")));
  }
}

TEST_F(CheckpointTest, TruncatedAndExtendedFilesAreRefused) {
  ASSERT_TRUE(WriteCheckpoint(dir_, Sample()).ok());
  const std::string whole = ContentOf(path());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    Overwrite(path(), whole.substr(0, size));
    ASSERT_EQ(ReadCheckpoint(path()).status().code(), absl::StatusCode::kInvalidArgument) << size;
  }
  Overwrite(path(), whole + "x");
  EXPECT_EQ(ReadCheckpoint(path()).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ReadCheckpoint(path() + "x").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(CheckpointTest, EachSlotOfAnOptimizerHasTensorsUnderItsName) {
  Checkpoint written = Sample();
  written.state.slots = {{"first_moment", Floats(2, 18)}, {"second_moment", Floats(3, 18)}};
  ASSERT_TRUE(WriteCheckpoint(dir_, written).ok());
  EXPECT_THAT(ContentOf(path()), HasSubstr("\"optimizer.second_moment.layers.0.bias\""));
  const Checkpoint read = ReadCheckpoint(path()).value();
  EXPECT_EQ(read.layout, written.layout);
  ASSERT_EQ(protocol::SlotNamesOf(read.state),
            (protocol::SlotNames{"first_moment", "second_moment"}));
  EXPECT_EQ(*read.state.slots[0].values, *written.state.slots[0].values);
  EXPECT_EQ(*read.state.slots[1].values, *written.state.slots[1].values);

  written.state.slots = {{"other_moment", Floats(2, 18)}};
  ASSERT_TRUE(WriteCheckpoint(dir_, written).ok());
  EXPECT_EQ(ReadCheckpoint(path()).status().code(), absl::StatusCode::kInvalidArgument)
      << "a slot of no optimizer";
}

// A header that claims more than the file contains, directly or by a product that wraps.
TEST_F(CheckpointTest, HostileHeadersAreRefused) {
  std::filesystem::create_directories(CheckpointFolder(dir_));
  const std::string huge_length("\xff\xff\xff\xff\xff\xff\xff\x7f{}", 10);
  const std::string nested(100'000, '[');
  const base::TensorLayout wraps = {{"a", {std::uint64_t{1} << 62, 4}},
                                    {"optimizer.velocity.a", {std::uint64_t{1} << 62, 4}}};
  const base::TensorLayout zero = {{"a", {0}}, {"optimizer.velocity.a", {0}}};
  const base::TensorLayout unpaired = {{"a", {1}}, {"b", {1}}};
  const base::SafetensorsMetadata metadata = {{"step", "1"}};
  for (const std::string& content :
       {huge_length, std::string("\xa0\x86\x01\0\0\0\0\0", 8) + nested,
        base::SafetensorsHeader(wraps, metadata), base::SafetensorsHeader(zero, metadata),
        base::SafetensorsHeader(unpaired, metadata) + std::string(8, '\0'),
        base::SafetensorsHeader({}, metadata), std::string("\2\0\0\0\0\0\0\0[]", 10),
        std::string("\x0b\0\0\0\0\0\0\0{\"a\":[1,2]}", 19)}) {
    Overwrite(path(), content);
    EXPECT_EQ(ReadCheckpoint(path()).status().code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST_F(CheckpointTest, ModelHasOnlyTheParameters) {
  const Checkpoint checkpoint = Sample();
  const std::string out = dir_ + "/model.safetensors";
  ASSERT_TRUE(WriteModel(out, checkpoint).ok());
  const std::string content = ContentOf(out);
  const std::string data(reinterpret_cast<const char*>(checkpoint.state.parameters->data()),
                         18 * sizeof(float));
  EXPECT_TRUE(content.ends_with(data));
  EXPECT_THAT(content, Not(HasSubstr("velocity")));
  EXPECT_THAT(content, HasSubstr("\"step\":\"41\""));
  EXPECT_EQ(WriteModel(out, checkpoint).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ContentOf(out), content);
}

}  // namespace
}  // namespace ostraka::store::checkpoint_test
