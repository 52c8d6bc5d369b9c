#include "node/config/origin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <memory>
#include <span>
#include <vector>

#include "node/store/checkpoint.h"
#include "node/store/weights_file.h"
#include "tests/unit/os/temp_folder.h"

namespace ostraka::config::origin_test {
namespace {

using ::testing::HasSubstr;

// A folder with the states after steps 5 and 6 of an old run, and a manifest that goes on from 6.
class OriginTest : public os::TempFolderTest {
 protected:
  void SetUp() override {
    TempFolderTest::SetUp();
    for (const std::uint64_t step : {5, 6}) {
      const base::Status written = store::WriteCheckpoint(dir_, {step, kLayout, StateOf(step), {}});
      ASSERT_TRUE(written.ok()) << written;
    }
    manifest_.origin = protocol::Origin{{}, 6, protocol::StateRoot(StateOf(6), kLayout)};
  }
  static protocol::ModelState StateOf(std::uint64_t step) {
    const auto values = std::make_shared<const std::vector<float>>(12, static_cast<float>(step));
    return {values, {{"velocity", values}}};
  }
  std::string PathOf(std::uint64_t step) const { return store::CheckpointPath(dir_, step); }
  std::string Refusal(const std::string& path, const base::TensorLayout& layout) const {
    const auto state = ReadOrigin(manifest_, path, layout);
    EXPECT_EQ(state.status().code(), absl::StatusCode::kInvalidArgument);
    return base::MessageOf(state.status());
  }

  static inline const base::TensorLayout kLayout = {{"x", {12}}};
  protocol::Manifest manifest_;
};

TEST_F(OriginTest, GivesTheStateThatTheManifestNames) {
  const auto state = ReadOrigin(manifest_, PathOf(6), kLayout);
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ(*state->parameters, std::vector<float>(12, 6.0F));
  EXPECT_EQ(*state->slots.at(0).values, std::vector<float>(12, 6.0F));
}

TEST_F(OriginTest, ARunWithoutAnOriginHasNoStateAndTakesNoFile) {
  manifest_.origin.reset();
  const auto state = ReadOrigin(manifest_, "", kLayout);
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ(state->parameters, nullptr);
  EXPECT_TRUE(state->slots.empty());
  EXPECT_THAT(Refusal(PathOf(6), kLayout), HasSubstr("of its own"));
}

TEST_F(OriginTest, RefusesTheStateOfAnotherOptimizer) {
  manifest_.training.optimizer = aggregation::Optimizer::kAdamW;
  EXPECT_THAT(Refusal(PathOf(6), kLayout), HasSubstr("another optimizer than adamw"));
  manifest_.training.optimizer = aggregation::Optimizer::kNesterov;
  EXPECT_TRUE(ReadOrigin(manifest_, PathOf(6), kLayout).ok()) << "it has the slot of SGD";
}

TEST_F(OriginTest, RefusesAnotherStateAnotherModelAndNoFile) {
  EXPECT_THAT(Refusal(PathOf(5), kLayout), HasSubstr("is not the state after step 6"));
  EXPECT_THAT(Refusal(PathOf(6), {{"y", {12}}}), HasSubstr("another model"));
  EXPECT_THAT(Refusal("", kLayout), HasSubstr("--origin"));
  EXPECT_EQ(ReadOrigin(manifest_, PathOf(7), kLayout).status().code(), absl::StatusCode::kNotFound);
}

// --- trained weights ----------------------------------------------------------------------------

class WeightsTest : public os::TempFolderTest {
 protected:
  static inline const base::TensorLayout kLayout = {{"a", {2, 3}}, {"b", {2}}};

  // A safetensors file; `header` without its length.
  std::string Write(const std::string& header, base::ByteView data) {
    const std::string path = dir_ + "/model.safetensors";
    std::ofstream file(path, std::ios::binary);
    for (std::size_t i = 0; i < 8; ++i) file.put(static_cast<char>(header.size() >> (8 * i)));
    file << header;
    file.write(reinterpret_cast<const char*>(data.data()),
               static_cast<std::streamsize>(data.size()));
    return path;
  }
  // Of the layout, in another order, with a tensor that the model has not.
  std::string WriteGood() {
    return Write(R"({"__metadata__":{"format":"pt"},"b":{"dtype":"F32","shape":[2],)"
                 R"("data_offsets":[0,8]},"extra":{"dtype":"I64","shape":[1],)"
                 R"("data_offsets":[8,16]},"a":{"dtype":"F32","shape":[2,3],)"
                 R"("data_offsets":[16,40]}})",
                 base::AsBytes(std::span<const float>(kValues)));
  }
  std::string RefusalOf(const std::string& path) {
    const auto origin = OriginOfWeights(path, kLayout, aggregation::Optimizer::kAdamW);
    EXPECT_EQ(origin.status().code(), absl::StatusCode::kInvalidArgument);
    return base::MessageOf(origin.status());
  }

  const std::vector<float> kValues = {7, 8, 0, 0, 1, 2, 3, 4, 5, 6};
};

TEST_F(WeightsTest, AreTakenByNameWithSlotsOfZero) {
  const std::string path = WriteGood();
  protocol::Manifest manifest;
  manifest.training.optimizer = aggregation::Optimizer::kAdamW;
  const WeightsOrigin found =
      OriginOfWeights(path, kLayout, aggregation::Optimizer::kAdamW).value();
  EXPECT_TRUE(found.origin.weights);
  EXPECT_EQ(found.left_out, "extra");
  manifest.origin = found.origin;
  const protocol::ModelState state = ReadOrigin(manifest, path, kLayout).value();
  EXPECT_EQ(*state.parameters, (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(protocol::SlotNamesOf(state), protocol::SlotNamesOf(manifest.training.optimizer));
  for (const auto& slot : state.slots) EXPECT_EQ(*slot.values, std::vector<float>(8));
}

TEST_F(WeightsTest, OfAnotherFileAreRefused) {
  protocol::Manifest manifest;
  manifest.origin =
      OriginOfWeights(WriteGood(), kLayout, manifest.training.optimizer).value().origin;
  EXPECT_THAT(base::MessageOf(ReadOrigin(manifest, "", kLayout).status()),
              HasSubstr("begins with trained weights: give their file with --origin"));
  std::vector<float> others = kValues;
  others[0] += 1;
  const std::string path = Write(R"({"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                                 R"("a":{"dtype":"F32","shape":[2,3],"data_offsets":[16,40]}})",
                                 base::AsBytes(std::span<const float>(others)));
  EXPECT_THAT(base::MessageOf(ReadOrigin(manifest, path, kLayout).status()),
              HasSubstr("holds other weights than those with which this run begins"));
}

TEST_F(WeightsTest, OfHalfTheWidthAreWidened) {
  // 1, -2, the smallest subnormal and the largest of binary16; then 1, -2 and 2^-133 of bfloat16.
  const base::Bytes data = {0x00, 0x3c, 0x00, 0xc0, 0x01, 0x00, 0xff, 0x7b,
                            0x00, 0x80, 0x00, 0x00, 0x80, 0x3f, 0x01, 0x00};
  const std::string path = Write(R"({"a":{"dtype":"F16","shape":[2,3],"data_offsets":[0,12]},)"
                                 R"("b":{"dtype":"BF16","shape":[2],"data_offsets":[12,16]}})",
                                 data);
  const store::Weights weights = store::ReadWeights(path, kLayout).value();
  const std::vector<float>& values = *weights.parameters;
  EXPECT_EQ(values, (std::vector<float>{1, -2, 0x1p-24F, 65504, -0.0F, 0, 1, 0x1p-133F}));
  EXPECT_TRUE(std::signbit(values[4]));
}

TEST_F(WeightsTest, ThatDoNotFitAreRefusedInOneLine) {
  const base::Bytes data(64);
  const auto refused = [&](const std::string& header) { return RefusalOf(Write(header, data)); };
  const std::string a = R"("a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]})";
  EXPECT_THAT(refused("{" + a + "}"), HasSubstr("has no tensor b; did you mean it by a?"));
  EXPECT_THAT(refused("{}"), HasSubstr("has no tensor a, which the model needs"));
  EXPECT_THAT(
      refused("{" + a + R"(,"model.b":{"dtype":"F32","shape":[2],"data_offsets":[24,32]}})"),
      HasSubstr("has no tensor b, but model.b"));
  EXPECT_THAT(refused("{" + a + R"(,"b":{"dtype":"F32","shape":[1,2],"data_offsets":[24,32]}})"),
              HasSubstr("tensor b has the shape [1, 2], in the model it has [2]"));
  EXPECT_THAT(refused("{" + a + R"(,"b":{"dtype":"I64","shape":[2],"data_offsets":[24,40]}})"),
              HasSubstr("is of type I64: F32, F16 and BF16 are read"));
  EXPECT_THAT(refused("{" + a + R"(,"b":{"dtype":"F32","shape":[2],"data_offsets":[24,28]}})"),
              HasSubstr("not as many bytes as its shape says"));
  EXPECT_THAT(refused("{" + a + R"(,"b":{"dtype":"F32","shape":[2],"data_offsets":[60,68]}})"),
              HasSubstr("does not say where tensor b is"));
  EXPECT_THAT(refused("{" + a + R"(,"b":{"dtype":"F32","shape":[2],"data_offsets":[32,24]}})"),
              HasSubstr("does not say where tensor b is"));
  EXPECT_THAT(refused("[1]"), HasSubstr("its header is no JSON object"));
  EXPECT_THAT(refused("{\"a\""), HasSubstr("its header is no JSON object"));
  const base::Bytes infinite = {0, 0, 0x80, 0x7f, 0, 0, 0, 0};
  EXPECT_THAT(
      RefusalOf(Write(R"({"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,8]}})", infinite)),
      HasSubstr("not as many bytes"));
  EXPECT_THAT(base::MessageOf(
                  store::ReadWeights(
                      Write(R"({"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", infinite),
                      {{"b", {2}}})
                      .status()),
              HasSubstr("tensor b has a value that is not finite"));
}

// Headers of 0x180 and 0x4b50 bytes, whose lengths begin as a pickle and as a zip archive do.
TEST_F(WeightsTest, AreNoPicklesForTheLengthOfTheirHeader) {
  for (const std::size_t length : {std::size_t{0x180}, std::size_t{0x4b50}}) {
    std::string header = R"({"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
    header.resize(length, ' ');
    const std::string path = Write(header, base::AsBytes(std::span<const float>(kValues)));
    const store::Weights weights = store::ReadWeights(path, {{"b", {2}}}).value();
    EXPECT_EQ(*weights.parameters, (std::vector<float>{7, 8}));
  }
}

TEST_F(WeightsTest, ThatAreNoSafetensorsAreRefused) {
  const auto refused = [&](std::string bytes) {
    const std::string path = dir_ + "/model.bin";
    std::ofstream(path, std::ios::binary) << bytes;
    return RefusalOf(path);
  };
  EXPECT_THAT(refused("PK\x03\x04 a zip archive"), HasSubstr("save_model(model, FILE)"));
  EXPECT_THAT(refused("\x80\x02}q a pickle"), HasSubstr("it is a pickle"));
  EXPECT_THAT(refused("short"), HasSubstr("it is too short"));
  EXPECT_THAT(refused(std::string(8, '\xff') + "{}"), HasSubstr("header is longer than it may be"));
  EXPECT_THAT(refused(std::string("\x03\0\0\0\0\0\0\0{}", 10)),
              HasSubstr("header is longer than it may be"));
  EXPECT_EQ(store::ReadWeights(dir_ + "/none", kLayout).status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace ostraka::config::origin_test
