// The libtorch module, loaded as programs load it and compared with a network written by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <limits>
#include <numeric>

#include "node/train/batch.h"
#include "node/train/digits.h"
#include "node/train/initial.h"
#include "node/train/text.h"
#include "node/train/trainer_loader.h"
#include "sim/attacks/results/other_work.h"
#include "tests/unit/train/digest_of.h"
#include "tests/unit/train/image_files.h"
#include "tests/unit/train/reference_network.h"

namespace ostraka::train::torch_trainer_test {
namespace {

using ::testing::HasSubstr;

base::StatusOr<std::unique_ptr<Trainer>> Make(const TrainerOptions& options) {
  return MakeTrainerFrom(options, {TORCH_MODULE});
}

std::vector<std::uint32_t> AllRows(const Examples& examples) {
  std::vector<std::uint32_t> rows(examples.size());
  std::iota(rows.begin(), rows.end(), 0u);
  return rows;
}

Dataset WithFlippedLabels(Dataset data) {
  sim::FlipLabels(data.training.labels, data.class_count);
  return data;
}

double Norm(const std::vector<double>& values) {
  double square = 0;
  for (const double value : values) square += value * value;
  return std::sqrt(square);
}

// |a - b| / |b|.
double RelativeError(const std::vector<float>& a, const std::vector<double>& b) {
  std::vector<double> difference(b.size());
  for (std::size_t i = 0; i < b.size(); ++i) difference[i] = a[i] - b[i];
  return Norm(difference) / Norm(b);
}

struct Case {
  std::string model;
  std::uint64_t hidden;
};

class TorchTrainerOf : public ::testing::TestWithParam<Case> {
 protected:
  TrainerOptions options() const {
    return {.model = GetParam().model, .batch_size = 32, .hidden = GetParam().hidden};
  }
  ReferenceNetwork reference() const { return {GetParam().model, GetParam().hidden}; }
};

TEST_P(TorchTrainerOf, GradientMatchesTheReference) {
  const auto trainer = Make(options()).value();
  const Dataset digits = LoadDigits();
  const Dataset flipped = WithFlippedLabels(digits);
  const auto trainer_of_flipped = MakeTrainerFrom(options(), {TORCH_MODULE}, flipped).value();
  const auto row_count = static_cast<std::uint32_t>(digits.training.size());
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const std::vector<float> at = trainer->InitialParameters(SeedOf(seed));
    const auto rows = DrawBatch(SeedOf(100 + seed), row_count, 32);
    for (const bool flip : {false, true}) {
      const Dataset& data = flip ? flipped : digits;
      const auto gradient =
          (flip ? trainer_of_flipped : trainer)->Gradient(at, SeedOf(100 + seed)).value();
      const auto expected = ReferenceGradient(reference(), data, data.training, rows, at);
      ASSERT_EQ(gradient.size(), expected.gradient.size());
      EXPECT_LT(RelativeError(gradient, expected.gradient), 1e-5) << flip;
    }
  }
}

TEST_P(TorchTrainerOf, GradientIsTheSlopeOfTheLoss) {
  const auto trainer = Make(options()).value();
  const Dataset digits = LoadDigits();
  const auto rows = DrawBatch(SeedOf(1), static_cast<std::uint32_t>(digits.training.size()), 32);
  const std::vector<float> at = trainer->InitialParameters(SeedOf(2));
  const auto gradient = trainer->Gradient(at, SeedOf(1)).value();
  const auto loss_at = [&](const std::vector<float>& parameters) {
    return ReferenceGradient(reference(), digits, digits.training, rows, parameters).loss;
  };
  // The step is so small that no unit's ReLU turns on or off. About 130 coordinates, from all
  // tensors.
  constexpr float kStep = 0x1.0p-17F;
  const std::size_t stride = at.size() / 130 + 1;
  for (std::size_t i = 0; i < at.size(); i += stride) {
    std::vector<float> above = at;
    std::vector<float> below = at;
    above[i] += kStep;
    below[i] -= kStep;
    const double slope = (loss_at(above) - loss_at(below)) / (double{above[i]} - double{below[i]});
    EXPECT_NEAR(gradient[i], slope, 1e-5) << i;
  }
}

TEST_P(TorchTrainerOf, EvaluationCoversTheWholeHeldOutPart) {
  const Dataset digits = LoadDigits();
  for (const HeldOut on : {HeldOut::kTest, HeldOut::kValidation}) {
    TrainerOptions with = options();
    with.evaluate_on = on;
    const auto trainer = Make(with).value();
    const Examples& part = on == HeldOut::kTest ? digits.test : digits.validation;
    const std::vector<float> at = trainer->InitialParameters(SeedOf(1));
    const Evaluation evaluation = trainer->Evaluate(at).value();
    EXPECT_EQ(evaluation.metric, "accuracy");
    EXPECT_EQ(evaluation.on, on);
    EXPECT_NEAR(evaluation.loss,
                ReferenceGradient(reference(), digits, part, AllRows(part), at).loss, 1e-5);
    // A whole number of rows, and no more than an untrained network can have right.
    const double right = evaluation.value * static_cast<double>(part.size());
    EXPECT_NEAR(right, std::round(right), 1e-9);
    EXPECT_LT(evaluation.value, 0.5);
  }
}

TEST_P(TorchTrainerOf, GradientHasTheSameBitsEachTime) {
  const auto trainer = Make(options()).value();
  const auto other = Make(options()).value();
  const std::vector<float> at = trainer->InitialParameters(SeedOf(1));
  const auto first = trainer->Gradient(at, SeedOf(5)).value();
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    ASSERT_TRUE(trainer->Gradient(at, SeedOf(seed)).ok());
    // Parameters at another address, of another alignment.
    const std::vector<float> storage = [&] {
      std::vector<float> shifted(seed, 0.0F);
      shifted.insert(shifted.end(), at.begin(), at.end());
      return shifted;
    }();
    const auto again = std::span(storage).subspan(seed);
    ASSERT_EQ(trainer->Gradient(again, SeedOf(5)).value(), first);
    ASSERT_EQ(other->Gradient(again, SeedOf(5)).value(), first);
  }
}

TEST_P(TorchTrainerOf, InitialParametersFollowTheLayout) {
  const auto trainer = Make(options()).value();
  EXPECT_EQ(trainer->InitialParameters(SeedOf(1)), UniformByFanIn(trainer->layout(), SeedOf(1)));
}

TEST_P(TorchTrainerOf, GradientsLeaveNoMemoryBehind) {
  const auto trainer = Make(options()).value();
  const std::vector<float> at = trainer->InitialParameters(SeedOf(1));
  const auto run = [&](std::uint64_t count) {
    for (std::uint64_t seed = 0; seed < count; ++seed) {
      ASSERT_TRUE(trainer->Gradient(at, SeedOf(seed)).ok());
    }
  };
  const auto bytes_in_use = [] {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
  };
  run(50);
  const std::size_t before = bytes_in_use();
  run(500);
  // A leaked graph would keep at least a batch's inputs, 8 KiB, each time: 4 MB.
  EXPECT_LT(bytes_in_use(), before + 256 * 1024);
}

TEST_P(TorchTrainerOf, NonFiniteParametersAreNoError) {
  const auto trainer = Make(options()).value();
  std::vector<float> at = trainer->InitialParameters(SeedOf(1));
  at.back() = std::numeric_limits<float>::quiet_NaN();
  const auto gradient = trainer->Gradient(at, SeedOf(1));
  ASSERT_TRUE(gradient.ok()) << gradient.status().ToString();
  EXPECT_TRUE(std::isnan(gradient->back()));
  EXPECT_TRUE(trainer->Evaluate(at).ok());
}

INSTANTIATE_TEST_SUITE_P(Models, TorchTrainerOf,
                         ::testing::Values(Case{"softmax", 64}, Case{"mlp", 64}, Case{"mlp", 1},
                                           Case{"cnn", 64}),
                         [](const auto& test) {
                           return test.param.model + std::to_string(test.param.hidden);
                         });

TEST(TorchTrainer, LayoutsUseTheNamesOfCheckpoints) {
  EXPECT_EQ(Make({.model = "mlp", .hidden = 48}).value()->layout(),
            (base::TensorLayout{{"layers.0.weight", {48, 64}},
                                {"layers.0.bias", {48}},
                                {"layers.1.weight", {10, 48}},
                                {"layers.1.bias", {10}}}));
  EXPECT_EQ(Make({.model = "softmax"}).value()->layout(),
            (base::TensorLayout{{"linear.weight", {10, 64}}, {"linear.bias", {10}}}));
  EXPECT_EQ(Make({.model = "cnn", .hidden = 48}).value()->layout(),
            (base::TensorLayout{{"conv1.weight", {16, 1, 3, 3}},
                                {"conv1.bias", {16}},
                                {"conv2.weight", {32, 16, 3, 3}},
                                {"conv2.bias", {32}},
                                {"fc1.weight", {48, 128}},
                                {"fc1.bias", {48}},
                                {"fc2.weight", {10, 48}},
                                {"fc2.bias", {10}}}));
}

TEST(TorchTrainer, GradientOnATextMatchesTheReference) {
  const std::string file = ::testing::TempDir() + "/ostraka_text";
  const base::Bytes text = RandomBytes(1, 3000, 40);
  WriteBytes(file, text);
  const Dataset data = TextDataset(text).value();
  for (const char* model : {"softmax", "mlp"}) {
    const auto trainer =
        Make({.model = model, .data = "text", .hidden = 20, .data_dir = file}).value();
    const std::vector<float> at = trainer->InitialParameters(SeedOf(3));
    const std::vector<std::uint32_t> rows = {0, 77, 1234};
    const auto gradient = trainer->GradientOfRows(at, rows, {}).value();
    const auto expected = ReferenceGradient({model, 20}, data, data.training, rows, at);
    ASSERT_EQ(gradient.size(), expected.gradient.size());
    EXPECT_LT(RelativeError(gradient, expected.gradient), 1e-5) << model;
    EXPECT_NEAR(trainer->Evaluate(at)->loss,
                ReferenceGradient({model, 20}, data, data.test, AllRows(data.test), at).loss, 1e-5);
  }
  EXPECT_THAT(base::MessageOf(Make({.model = "cnn", .data = "text", .data_dir = file}).status()),
              HasSubstr("for images"));
  std::filesystem::remove(file);
}

TEST(TorchTrainer, SgdWithSevenPeersLearnsDigits) {
  constexpr int kSteps = 200;
  constexpr std::uint64_t kPeers = 7;
  const auto trainer = Make({.model = "mlp"}).value();
  std::vector<float> parameters = trainer->InitialParameters(SeedOf(1));
  for (int step = 0; step < kSteps; ++step) {
    const float rate = 1.0F - static_cast<float>(step) / kSteps;
    std::vector<float> mean(parameters.size(), 0);
    for (std::uint64_t peer = 0; peer < kPeers; ++peer) {
      const auto seed = SeedOf(kPeers * static_cast<std::uint64_t>(step) + peer);
      const auto gradient = trainer->Gradient(parameters, seed).value();
      for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += gradient[i] / kPeers;
    }
    for (std::size_t i = 0; i < mean.size(); ++i) parameters[i] -= rate * mean[i];
  }
  const Evaluation end = trainer->Evaluate(parameters).value();
  EXPECT_GE(end.value, 0.95);
  EXPECT_LT(end.loss, 0.2);
}

TEST(TorchTrainer, RefusesUnsupportedOptions) {
  const auto message_of = [](const TrainerOptions& options) {
    const auto made = Make(options);
    EXPECT_EQ(made.status().code(), absl::StatusCode::kInvalidArgument);
    return base::MessageOf(made.status());
  };
  EXPECT_EQ(message_of({.hidden = 0}), "mlp: hidden must be 1 to 1048576, not 0");
  EXPECT_EQ(message_of({.hidden = (1u << 20) + 1}),
            "mlp: hidden must be 1 to 1048576, not 1048577");
  EXPECT_EQ(message_of({.batch_size = 0}),
            "batch_size must be 1 to 1302, the training rows of digits, not 0");
  EXPECT_THAT(message_of({.batch_size = 1303}), HasSubstr("not 1303"));
  EXPECT_TRUE(Make({.batch_size = 1302}).ok());
}

// Runs in a child process whose memory is limited, so that libtorch throws.
TEST(TorchTrainerDeathTest, AnExceptionOfTheLibraryIsAStatus) {
  const auto run_out_of_memory = [] {
    const auto trainer = Make({.hidden = 1u << 18}).value();
    const std::vector<float> at(base::ElementCount(trainer->layout()), 0.0F);
    // Below what the process has mapped already, so that it gets no more.
    const rlimit limit{.rlim_cur = 1 << 20, .rlim_max = 1 << 20};
    if (setrlimit(RLIMIT_AS, &limit) != 0) std::exit(3);
    const auto gradient = trainer->Gradient(at, SeedOf(1));
    std::cerr << gradient.status().ToString() << "\n";
    std::exit(gradient.status().code() == absl::StatusCode::kInternal ? 0 : 1);
  };
  EXPECT_EXIT(run_out_of_memory(), ::testing::ExitedWithCode(0), "INTERNAL: libtorch: ");
}

}  // namespace
}  // namespace ostraka::train::torch_trainer_test
