// The trainer over exact kernels: softmax and mlp against a network written by hand, graph files
// against their own definition.
#include "node/train/exact/exact_trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "exact/graph/graph_text.h"
#include "exact/kernels/kernels.h"
#include "exact/models/models.h"
#include "node/os/thread_executor.h"
#include "node/train/batch.h"
#include "node/train/digits.h"
#include "node/train/exact/graph_file.h"
#include "node/train/exact/micro_batch.h"
#include "node/train/initial.h"
#include "node/train/tokens/tokens.h"
#include "node/train/trainer_loader.h"
#include "tests/unit/train/digest_of.h"
#include "tests/unit/train/reference_network.h"

namespace ostraka::train::exact_trainer_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// --- softmax, mlp
// ---------------------------------------------------------------------------------

TrainerOptions OptionsOf(const std::string& model) {
  return {.model = model, .batch_size = 32, .hidden = 24, .exact = true};
}

class ExactTrainerOf : public ::testing::TestWithParam<const char*> {
 protected:
  std::unique_ptr<Trainer> Make() const {
    return MakeTrainerFrom(OptionsOf(GetParam()), {"/nonexistent/module.so"}).value();
  }
};

TEST_P(ExactTrainerOf, AnAbandonedTrainerGivesNothingMore) {
  const auto trainer = Make();
  const std::vector<float> at = trainer->InitialParameters(SeedOf(1));
  ASSERT_TRUE(trainer->Gradient(at, SeedOf(2)).ok());
  trainer->Abandon();
  EXPECT_TRUE(absl::IsUnavailable(trainer->Gradient(at, SeedOf(2)).status()));
  EXPECT_TRUE(absl::IsUnavailable(trainer->GradientAgain(at, SeedOf(2)).status()));
  EXPECT_TRUE(absl::IsUnavailable(trainer->Evaluate(at).status()));
}

TEST_P(ExactTrainerOf, AGradientMatchesTheReference) {
  const auto trainer = Make();
  const Dataset digits = LoadDigits();
  EXPECT_FALSE(trainer->BatchLoss().has_value());
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const std::vector<float> at = trainer->InitialParameters(SeedOf(seed));
    EXPECT_EQ(at, UniformByFanIn(trainer->layout(), SeedOf(seed))) << "as libtorch's models begin";
    const auto rows =
        DrawBatch(SeedOf(100 + seed), static_cast<std::uint32_t>(digits.training.size()), 32);
    const auto gradient = trainer->Gradient(at, SeedOf(100 + seed)).value();
    const auto expected = ReferenceGradient({GetParam(), 24}, digits, digits.training, rows, at);
    ASSERT_EQ(gradient.size(), expected.gradient.size());
    double square = 0;
    double whole = 0;
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      square += std::pow(gradient[i] - expected.gradient[i], 2);
      whole += std::pow(expected.gradient[i], 2);
    }
    EXPECT_LT(std::sqrt(square / whole), 1e-6);
    EXPECT_NEAR(trainer->BatchLoss().value(), expected.loss, 1e-5);
  }
}

TEST_P(ExactTrainerOf, ASecondGradientHasTheSameBitsByOtherInstructions) {
  const auto trainer = Make();
  const std::vector<float> at = trainer->InitialParameters(SeedOf(1));
  const auto first = trainer->Gradient(at, SeedOf(2));
  const auto second = trainer->GradientAgain(at, SeedOf(2));
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(*first, *second);
  EXPECT_NE(*first, *trainer->GradientAgain(at, SeedOf(3)));
}

TEST(OtherKernelsTest, AreNeverScalarOnesForVectorOnes) {
  for (const exact::Level level : exact::kAllLevels) {
    if (!exact::IsSupported(level)) continue;
    const exact::Kernels& kernels = exact::KernelsFor(level);
    const exact::Kernels* expected = &kernels;
    if (level == exact::Level::kAvx512) expected = &exact::KernelsFor(exact::Level::kAvx2);
    EXPECT_EQ(&OtherKernels(kernels), expected) << exact::LevelName(level);
  }
}

TEST_P(ExactTrainerOf, HeldOutExamplesAreEvaluatedEachOnce) {
  const auto trainer = Make();
  const Dataset digits = LoadDigits();
  std::vector<float> at = trainer->InitialParameters(SeedOf(1));
  for (std::uint64_t step = 0; step < 150; ++step) {
    const auto gradient = trainer->Gradient(at, SeedOf(step)).value();
    for (std::size_t i = 0; i < at.size(); ++i) at[i] -= 0.3F * gradient[i];
  }
  const Evaluation test = trainer->Evaluate(at).value();
  EXPECT_EQ(test.metric, "accuracy");
  EXPECT_EQ(test.on, HeldOut::kTest);
  EXPECT_GT(test.value, 0.9);
  // 355 examples in batches of 32 leave 3 in the last.
  std::vector<std::uint32_t> rows(digits.test.size());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::uint32_t>(i);
  const auto expected = ReferenceGradient({GetParam(), 24}, digits, digits.test, rows, at);
  EXPECT_NEAR(test.loss, expected.loss, 1e-6);
  EXPECT_NEAR(std::round(test.value * 355), test.value * 355, 1e-9);
  EXPECT_NE(trainer->EvaluateOn(at, HeldOut::kValidation)->loss, test.loss);
}

TEST_P(ExactTrainerOf, OfEqualLogitsTheFirstCounts) {
  const auto trainer = Make();
  const std::vector<float> zeros(base::ElementCount(trainer->layout()), 0.0F);
  const Dataset digits = LoadDigits();
  const auto first = std::count(digits.test.labels.begin(), digits.test.labels.end(), 0);
  EXPECT_NEAR(trainer->Evaluate(zeros)->value, static_cast<double>(first) / 355, 1e-12);
}

TEST_P(ExactTrainerOf, RowsThatThereAreNotAreRefused) {
  const auto trainer = Make();
  const std::vector<float> at = trainer->InitialParameters(SeedOf(1));
  EXPECT_THAT(base::MessageOf(trainer->GradientOfRows(at, {}, {}).status()),
              HasSubstr("rows below"));
  std::vector<std::uint32_t> rows(32, 1302);
  EXPECT_THAT(base::MessageOf(trainer->GradientOfRows(at, rows, {}).status()),
              HasSubstr("rows below"));
  rows.assign(32, 1301);
  EXPECT_TRUE(trainer->GradientOfRows(at, rows, {}).ok());
  rows.pop_back();
  EXPECT_THAT(base::MessageOf(trainer->GradientOfRows(at, rows, {}).status()),
              HasSubstr("multiple of 32"));
}

INSTANTIATE_TEST_SUITE_P(Models, ExactTrainerOf, ::testing::Values("softmax", "mlp"));

TEST(ExactTrainer, WrongOptionsAreRefusedInOneLine) {
  const auto reason = [](TrainerOptions options) {
    options.exact = true;
    return base::MessageOf(MakeTrainerFrom(options, {}).status());
  };
  EXPECT_THAT(reason({.model = "cnn"}), HasSubstr("use compute_profile tolerant"));
  EXPECT_THAT(reason({.model = "mlp", .batch_size = 0}), HasSubstr("batch_size must be 1"));
  EXPECT_THAT(reason({.model = "mlp", .batch_size = 1303}), HasSubstr("not 1303"));
  EXPECT_THAT(reason({.model = "mlp", .hidden = 0}), HasSubstr("hidden must be 1"));
  EXPECT_THAT(reason({.model = "mlp", .kernels = "mmx"}), HasSubstr("no kernels 'mmx'"));
  EXPECT_THAT(reason({.model = "graph", .data = "digits"}), HasSubstr("with --graph FILE"));
  EXPECT_THAT(reason({.model = "mlp", .data = "tokens"}), HasSubstr("data tokens are for graphs"));
}

#if defined(__x86_64__)
TEST(ExactTrainer, AThreadThatFlushesSubnormalsGivesNoGradient) {
  const auto trainer = MakeTrainerFrom(OptionsOf("mlp"), {}).value();
  const std::vector<float> at = trainer->InitialParameters(SeedOf(1));
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040U);  // flush to zero, denormals are zero
  const auto refused = trainer->Gradient(at, SeedOf(2));
  const auto unevaluated = trainer->Evaluate(at);
  _mm_setcsr(before);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(unevaluated.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(trainer->Gradient(at, SeedOf(2)).ok());
}
#endif

// --- inputs -----------------------------------------------------------------------------------

Dataset TwoRecords() {
  Dataset data = RecordsOf(base::Bytes(100, 7), 4).value();
  data.training.values = {1, 2, 3, 4, 5, 6, 7, 8};
  data.training.labels = {5, 255};
  return data;
}

MicroBatch BatchOfFours(std::int64_t size, const Dataset& data) {
  const exact::Model gpt =
      exact::MakeModel({.batch = size, .layers = 1, .width = 4, .heads = 1, .context = 4}).value();
  return MicroBatch::For(gpt.graph, data).value();
}

TEST(MicroBatchTest, ATargetIsTheNextTokenAndEmptyPlacesAreLeftOut) {
  const Dataset data = TwoRecords();
  MicroBatch batch = BatchOfFours(3, data);
  const std::vector<std::uint32_t> rows = {1, 0};
  EXPECT_EQ(batch.Fill(data, data.training, rows), 8u);
  const auto inputs = batch.inputs();
  EXPECT_THAT(inputs[0].integers, ElementsAre(5, 6, 7, 8, 1, 2, 3, 4, 0, 0, 0, 0));
  EXPECT_THAT(inputs[1].integers, ElementsAre(6, 7, 8, 255, 2, 3, 4, 5, -1, -1, -1, -1));
}

TEST(MicroBatchTest, ReversedTargetsLeaveTheTokensAlone) {
  Dataset data = TwoRecords();
  data.reversed_targets = true;
  MicroBatch batch = BatchOfFours(1, data);
  const std::vector<std::uint32_t> rows = {1};
  batch.Fill(data, data.training, rows);
  EXPECT_THAT(batch.inputs()[0].integers, ElementsAre(5, 6, 7, 8));
  EXPECT_THAT(batch.inputs()[1].integers, ElementsAre(249, 248, 247, 0));
}

// --- graph files
// ----------------------------------------------------------------------------------

TEST(GraphFile, IsNamedByTheHashOfItsBytes) {
  const std::string path = ::testing::TempDir() + "ostraka-graph-file";
  const std::string text =
      exact::PrintGraph(exact::MakeModel({.model = "softmax", .batch = 2})->graph);
  std::ofstream(path, std::ios::binary) << text;
  EXPECT_EQ(ReadGraphOf(path, exact::GraphId(text)).value(), text);
  EXPECT_THAT(base::MessageOf(ReadGraphOf(path, SeedOf(1)).status()),
              HasSubstr("get the other members' file"));
  std::remove(path.c_str());
  EXPECT_EQ(ReadGraphOf(path, exact::GraphId(text)).status().code(), absl::StatusCode::kNotFound);
}

TEST(ModelIdTest, GoesToTextAndBack) {
  const ModelId id{.name = "graph", .graph = SeedOf(7)};
  EXPECT_EQ(TextOf(id), "graph@" + SeedOf(7).Hex());
  EXPECT_EQ(ParseModelId(TextOf(id)).value(), id);
  EXPECT_EQ(ParseModelId("mlp").value(), (ModelId{.name = "mlp"}));
  EXPECT_EQ(TextOf(ModelId{.name = "mlp"}), "mlp");
  for (const std::string& text :
       {std::string("graph"), std::string("graph@"), "mlp@" + SeedOf(7).Hex(),
        "graph@" + std::string(64, '0'), "graph@" + SeedOf(7).Hex() + "0"}) {
    EXPECT_FALSE(ParseModelId(text).ok()) << text;
  }
}

// A text in which a byte follows from the one before it.
base::Bytes AText(std::size_t size) {
  const std::string line = "Nobody vouches for anybody here. ";
  base::Bytes text;
  for (std::size_t i = 0; i < size; ++i)
    text.push_back(static_cast<std::uint8_t>(line[i % line.size()]));
  return text;
}

class GraphTrainer : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "ostraka-graph-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    dir_ = name;
  }

  // Options of a run that trains the model.
  static TrainerOptions With(const exact::ModelOptions& model, std::uint64_t batch_size) {
    return WithGraph(exact::PrintGraph(exact::MakeModel(model)->graph), batch_size);
  }
  static TrainerOptions WithGraph(const std::string& text, std::uint64_t batch_size) {
    return {
        .model = "graph", .data = "tokens", .batch_size = batch_size, .graph = text, .exact = true};
  }
  static exact::ModelOptions SmallGpt() {
    return {.model = "gpt", .batch = 2, .layers = 1, .width = 16, .heads = 2, .context = 12};
  }
  static Dataset Records() { return RecordsOf(AText(6000), 12).value(); }
  static std::unique_ptr<Trainer> Make(const TrainerOptions& options, Dataset data = Records()) {
    auto made = MakeTrainerFrom(options, {}, std::move(data));
    EXPECT_TRUE(made.ok()) << made.status();
    return *std::move(made);
  }
  static std::string Refusal(const TrainerOptions& options, Dataset data = Records()) {
    return base::MessageOf(MakeTrainerFrom(options, {}, std::move(data)).status());
  }

  std::string dir_;
};

TEST_F(GraphTrainer, AGptLearnsAText) {
  const auto trainer = Make(With(SmallGpt(), 8));
  std::vector<float> at = trainer->InitialParameters(SeedOf(1));
  const Evaluation before = trainer->Evaluate(at).value();
  EXPECT_NEAR(before.loss, std::log(256.0), 0.1) << "it begins by knowing nothing";
  for (std::uint64_t step = 0; step < 120; ++step) {
    const auto gradient = trainer->Gradient(at, SeedOf(step)).value();
    for (std::size_t i = 0; i < at.size(); ++i) at[i] -= 0.5F * gradient[i];
  }
  const Evaluation after = trainer->Evaluate(at).value();
  EXPECT_LT(after.loss, 1.5);
  EXPECT_GT(after.value, 0.5);
  EXPECT_LT(trainer->EvaluateOn(at, HeldOut::kValidation)->loss, 1.5);
}

TEST_F(GraphTrainer, ItBeginsAsTheFileSays) {
  const auto trainer = Make(With(SmallGpt(), 2));
  const std::vector<float> at = trainer->InitialParameters(SeedOf(1));
  EXPECT_NE(at, trainer->InitialParameters(SeedOf(2)));
  std::size_t begin = 0;
  for (const base::TensorSpec& tensor : trainer->layout()) {
    const auto values = std::span(at).subspan(begin, tensor.element_count());
    begin += values.size();
    double square = 0;
    for (const float value : values) square += double{value} * double{value};
    const double deviation = std::sqrt(square / static_cast<double>(values.size()));
    if (tensor.name.ends_with("bias")) {
      EXPECT_EQ(deviation, 0) << tensor.name;
    }
    if (tensor.name.find("ln_") != std::string::npos && tensor.name.ends_with("weight")) {
      EXPECT_EQ(deviation, 1) << tensor.name;
    }
    if (tensor.name == "wte.weight") {
      EXPECT_NEAR(deviation, 0.02, 0.001);
    }
  }
}

TEST_F(GraphTrainer, SeveralMicroBatchesAreAddedInTheOrderOfTheRows) {
  const auto trainer = Make(With(SmallGpt(), 6));
  const std::vector<float> at = trainer->InitialParameters(SeedOf(1));
  const std::vector<std::uint32_t> rows = {3, 9, 27, 81, 100, 200};
  std::vector<std::vector<float>> parts;
  double losses = 0;
  for (std::size_t i = 0; i < rows.size(); i += 2) {
    parts.push_back(trainer->GradientOfRows(at, std::span(rows).subspan(i, 2), {}).value());
    losses += trainer->BatchLoss().value();
  }
  const auto whole = trainer->GradientOfRows(at, rows, {}).value();
  EXPECT_DOUBLE_EQ(trainer->BatchLoss().value(), losses / 3);
  for (std::size_t i = 0; i < at.size(); ++i) {
    ASSERT_EQ(whole[i], ((parts[0][i] + parts[1][i]) + parts[2][i]) * (1.0F / 3)) << i;
  }
}

TEST_F(GraphTrainer, ThreadsChangeNoBit) {
  exact::ModelOptions model = SmallGpt();
  model.batch = 8;
  model.width = 256;  // products worth several threads
  TrainerOptions options = With(model, 8);
  const auto one = Make(options);
  const std::vector<float> at = one->InitialParameters(SeedOf(1));
  for (const std::size_t threads : {2U, 3U, 8U}) {
    options.threads = threads;
    options.executor = std::make_shared<os::ThreadExecutor>(threads);
    const auto many = Make(options);
    EXPECT_EQ(many->Gradient(at, SeedOf(2)).value(), one->Gradient(at, SeedOf(2)).value());
    EXPECT_EQ(many->GradientAgain(at, SeedOf(2)).value(), one->Gradient(at, SeedOf(2)).value());
  }
}

// Between two micro-batches a gradient may come, which uses the same memory.
TEST_F(GraphTrainer, AnEvaluationGoesOnWhereItGaveWay) {
  const auto trainer = Make(With(SmallGpt(), 4));
  const std::vector<float> at = trainer->InitialParameters(SeedOf(1));
  const Evaluation whole = trainer->Evaluate(at).value();
  trainer->EndWhere([] { return true; });
  EvaluationProgress progress;
  auto result = trainer->GoOnEvaluating(at, progress);
  std::size_t parts = 1;
  for (; absl::IsCancelled(result.status()); ++parts) {
    EXPECT_EQ(progress.done, parts);
    trainer->EndWhere(nullptr);
    EXPECT_TRUE(trainer->Gradient(at, SeedOf(parts)).ok());
    trainer->EndWhere([] { return true; });
    result = trainer->GoOnEvaluating(at, progress);
  }
  EXPECT_GT(parts, 2u);
  EXPECT_EQ(result->loss, whole.loss);
  EXPECT_EQ(result->value, whole.value);
  EXPECT_EQ(result->metric, whole.metric);
}

TEST_F(GraphTrainer, SaysWhatItsModelWritesWhereThatIsWanted) {
  TrainerOptions options = With(SmallGpt(), 4);
  const auto silent = Make(options);
  options.sample_tokens = 20;
  const auto trainer = Make(options);
  const std::vector<float> at = trainer->InitialParameters(SeedOf(1));
  EvaluationProgress progress;
  const Evaluation evaluation = trainer->GoOnEvaluating(at, progress).value();
  ASSERT_TRUE(evaluation.sample);
  EXPECT_FALSE(evaluation.sample->prompt.empty());
  EXPECT_EQ(evaluation.sample->text.size(), 20u) << "a byte a token";
  EXPECT_EQ(evaluation.loss, trainer->Evaluate(at)->loss);
  EXPECT_FALSE(trainer->Evaluate(at)->sample);
  progress = {};
  EXPECT_FALSE(silent->GoOnEvaluating(at, progress)->sample);

  // A loss does not wait for a sample that gives way.
  trainer->EndWhere([] { return true; });
  progress = {};
  auto result = trainer->GoOnEvaluating(at, progress);
  while (absl::IsCancelled(result.status())) result = trainer->GoOnEvaluating(at, progress);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->loss, evaluation.loss);
  EXPECT_FALSE(result->sample);
}

TEST_F(GraphTrainer, RecomputingChangesNoBit) {
  exact::ModelOptions model = SmallGpt();
  model.layers = 6;
  TrainerOptions options = With(model, 8);
  const auto plain = Make(options);
  options.recompute = true;
  const auto again = Make(options);
  const std::vector<float> at = plain->InitialParameters(SeedOf(1));
  EXPECT_EQ(again->Gradient(at, SeedOf(2)).value(), plain->Gradient(at, SeedOf(2)).value());
  EXPECT_EQ(again->GradientAgain(at, SeedOf(2)).value(), plain->Gradient(at, SeedOf(2)).value());
  EXPECT_EQ(again->BatchLoss(), plain->BatchLoss());
}

TEST_F(GraphTrainer, EveryLevelOfKernelsGivesOneGradient) {
  TrainerOptions options = With(SmallGpt(), 4);
  std::string first;
  for (const exact::Level level : exact::kAllLevels) {
    if (!exact::IsSupported(level)) continue;
    options.kernels = std::string(exact::LevelName(level));
    const auto trainer = Make(options);
    std::vector<float> at = trainer->InitialParameters(SeedOf(3));
    for (std::uint64_t step = 0; step < 3; ++step) {
      const auto gradient = trainer->Gradient(at, SeedOf(step)).value();
      for (std::size_t i = 0; i < at.size(); ++i) at[i] -= 0.5F * gradient[i];
    }
    const std::string mine = FingerprintOf(at);
    if (first.empty()) first = mine;
    EXPECT_EQ(mine, first) << options.kernels;
  }
}

TEST_F(GraphTrainer, AGraphOverImagesTrainsOnThem) {
  TrainerOptions options = With({.model = "vit",
                                 .batch = 4,
                                 .layers = 1,
                                 .width = 8,
                                 .heads = 2,
                                 .channels = 1,
                                 .side = 8,
                                 .patch = 4},
                                8);
  options.data = "digits";
  const auto trainer = Make(options, LoadDigits());
  const std::vector<float> at = trainer->InitialParameters(SeedOf(1));
  EXPECT_EQ(trainer->Gradient(at, SeedOf(1))->size(), at.size());
  EXPECT_NEAR(trainer->Evaluate(at)->loss, std::log(10.0), 0.3);
}

TEST_F(GraphTrainer, AFlippedTargetIsAnotherOneAndAnInputIsKept) {
  const TrainerOptions options = With(SmallGpt(), 2);
  Dataset flipped = Records();
  flipped.reversed_targets = true;
  const auto honest = Make(options);
  const auto lying = Make(options, flipped);
  const std::vector<float> at = honest->InitialParameters(SeedOf(1));
  EXPECT_NE(honest->Gradient(at, SeedOf(5)).value(), lying->Gradient(at, SeedOf(5)).value());
  EXPECT_EQ(HashOf(flipped), HashOf(Records()));
}

TEST_F(GraphTrainer, ItsDataComeFromATextOrAPackedFile) {
  const TrainerOptions options = With(SmallGpt(), 2);
  const auto write = [this](const std::string& name, const base::Bytes& bytes) {
    std::ofstream(dir_ + name, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    return dir_ + name;
  };
  TrainerOptions of_text = options;
  of_text.data_dir = write("/text", AText(6000));
  of_text.data_hash = HashOf(Records());
  TrainerOptions of_records = of_text;
  of_records.data_dir = write("/records", PackRecords(Records()));
  EXPECT_TRUE(MakeTrainerFrom(of_text, {}).ok()) << MakeTrainerFrom(of_text, {}).status();
  EXPECT_TRUE(MakeTrainerFrom(of_records, {}).ok()) << MakeTrainerFrom(of_records, {}).status();
  of_text.data_dir = write("/text", AText(6001));
  EXPECT_THAT(base::MessageOf(MakeTrainerFrom(of_text, {}).status()), HasSubstr("get theirs"));
}

TEST_F(GraphTrainer, WhatDoesNotFitIsRefusedInOneLine) {
  const TrainerOptions options = With(SmallGpt(), 3);
  EXPECT_THAT(Refusal(options), HasSubstr("batch_size must be a multiple of 2"));
  EXPECT_THAT(Refusal(WithGraph("no graph\n", 2)), HasSubstr("a graph file begins with"));
  EXPECT_THAT(Refusal(With(SmallGpt(), 2), RecordsOf(AText(6000), 11).value()),
              HasSubstr("and a record has 11"));
  exact::ModelOptions narrow = SmallGpt();
  narrow.vocabulary = 65;
  EXPECT_THAT(Refusal(With(narrow, 2)), HasSubstr("its tokens must allow 0 to 255"));
  EXPECT_THAT(
      Refusal(With(
          {.model = "llama", .batch = 2, .layers = 1, .width = 16, .heads = 2, .context = 12}, 2)),
      HasSubstr("the graph has constants"));
  TrainerOptions images = With({.model = "mlp", .batch = 2, .features = 63}, 2);
  images.data = "digits";
  EXPECT_THAT(Refusal(images, LoadDigits()), HasSubstr("and an example has 64 features"));
  EXPECT_THAT(Refusal(With({.model = "mlp", .batch = 2}, 2)), HasSubstr("its tokens are f32"));
}

}  // namespace
}  // namespace ostraka::train::exact_trainer_test
