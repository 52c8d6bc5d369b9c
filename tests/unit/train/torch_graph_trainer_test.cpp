// Graphs trained by libtorch, through the module, beside the trainer over exact kernels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>

#include "exact/graph/graph_text.h"
#include "exact/models/models.h"
#include "node/base/rng.h"
#include "node/train/digits.h"
#include "node/train/exact/constants_file.h"
#include "node/train/tokens/tokens.h"
#include "node/train/trainer_loader.h"
#include "tests/unit/train/digest_of.h"

namespace ostraka::train::torch_graph_trainer_test {
namespace {

using ::testing::HasSubstr;

base::Bytes AText(std::size_t size) {
  base::Rng rng(1);
  base::Bytes text;
  for (std::size_t i = 0; i < size; ++i) {
    text.push_back(static_cast<std::uint8_t>('a' + rng.Below(1 + i % 20)));
  }
  return text;
}

Dataset Records(std::uint32_t context = 12) { return RecordsOf(AText(6000), context).value(); }

exact::ModelOptions Small(const std::string& model) {
  return {.model = model,
          .batch = 4,
          .layers = 2,
          .width = 16,
          .heads = 4,
          .groups = model == "llama" ? 2 : 0,
          .context = 12,
          .channels = 1,
          .side = 8,
          .patch = 4,
          .hidden = 24};
}

struct Named {
  std::string name;
  std::function<exact::Model()> make;
  bool of_images = false;
};

// A LoRA over a gpt, with the tensors of its base as they were drawn.
exact::Model MakeLora() {
  exact::ModelOptions options = Small("gpt");
  const exact::Graph base = exact::MakeModel(options)->graph;
  base::Rng rng(7);
  std::vector<exact::ConstantTensor> tensors;
  for (const exact::Parameter& parameter : base.parameters) {
    exact::ConstantTensor tensor{.name = parameter.name, .shape = parameter.type.shape};
    tensor.values.resize(static_cast<std::size_t>(parameter.type.count()));
    for (float& value : tensor.values) value = 0.1F * static_cast<float>(rng.Normal());
    options.base[tensor.name] = exact::HashOfConstant(tensor.values);
    tensors.push_back(std::move(tensor));
  }
  options.lora_rank = 4;
  exact::Model lora = exact::MakeModel(options).value();
  for (const exact::Constant& constant : lora.graph.constants) {
    lora.constants.push_back(*std::find_if(tensors.begin(), tensors.end(), [&](const auto& each) {
      return each.name == constant.name;
    }));
  }
  return lora;
}

std::vector<Named> Models() {
  const auto made = [](const char* name) {
    return [name] { return exact::MakeModel(Small(name)).value(); };
  };
  return {{"gpt", made("gpt")},
          {"llama", made("llama")},
          {"albert", made("albert")},
          {"lora", MakeLora},
          {"vit", made("vit"), true},
          {"mlp", made("mlp"), true},
          {"softmax", made("softmax"), true}};
}

TrainerOptions OptionsOf(const exact::Model& model, bool of_images) {
  return {.model = "graph",
          .data = of_images ? "digits" : "tokens",
          .batch_size = 12,
          .graph = exact::PrintGraph(model.graph),
          .constants = model.constants.empty() ? "" : ConstantsBytes(model.constants)};
}

base::StatusOr<std::unique_ptr<Trainer>> Make(TrainerOptions options, Dataset data,
                                              bool exact = false) {
  options.exact = exact;
  return MakeTrainerFrom(options, {TORCH_MODULE}, std::move(data));
}

// |a - b| / |b|.
double RelativeError(const std::vector<float>& a, const std::vector<float>& b) {
  double square = 0;
  double whole = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    square += std::pow(double{a[i]} - double{b[i]}, 2);
    whole += std::pow(double{b[i]}, 2);
  }
  return std::sqrt(square / whole);
}

class TorchGraphTrainerOf : public ::testing::TestWithParam<Named> {
 protected:
  Dataset data() const { return GetParam().of_images ? LoadDigits() : Records(); }
  std::unique_ptr<Trainer> Make(bool exact) const {
    auto made = torch_graph_trainer_test::Make(OptionsOf(GetParam().make(), GetParam().of_images),
                                               data(), exact);
    EXPECT_TRUE(made.ok()) << made.status();
    return *std::move(made);
  }
};

// Along a short descent, so that factors that begin at zero have left it.
TEST_P(TorchGraphTrainerOf, ComputesWhatExactKernelsDo) {
  const auto ours = Make(true);
  const auto theirs = Make(false);
  EXPECT_EQ(ours->layout(), theirs->layout());
  std::vector<float> at = ours->InitialParameters(SeedOf(1));
  EXPECT_EQ(at, theirs->InitialParameters(SeedOf(1)));
  double worst = 0;
  for (std::uint64_t step = 0; step < 8; ++step) {
    const auto expected = ours->Gradient(at, SeedOf(step)).value();
    const auto gradient = theirs->Gradient(at, SeedOf(step)).value();
    ASSERT_EQ(gradient.size(), expected.size());
    worst = std::max(worst, RelativeError(gradient, expected));
    EXPECT_NEAR(theirs->BatchLoss().value(), ours->BatchLoss().value(),
                2e-5 * ours->BatchLoss().value());
    for (std::size_t i = 0; i < at.size(); ++i) at[i] -= 0.3F * expected[i];
  }
  EXPECT_LT(worst, 2e-5);
  std::printf("%-8s relative difference of gradients %.2e\n", GetParam().name.c_str(), worst);
  for (const HeldOut part : {HeldOut::kTest, HeldOut::kValidation}) {
    const Evaluation expected = ours->EvaluateOn(at, part).value();
    const Evaluation evaluation = theirs->EvaluateOn(at, part).value();
    EXPECT_EQ(evaluation.metric, expected.metric);
    EXPECT_EQ(evaluation.on, part);
    EXPECT_NEAR(evaluation.loss, expected.loss, 2e-5 * expected.loss);
    // A target whose two largest logits are within rounding may count for one and not the other.
    EXPECT_NEAR(evaluation.value, expected.value, 0.005);
  }
}

TEST_P(TorchGraphTrainerOf, AGradientHasTheSameBitsEachTime) {
  const auto trainer = Make(false);
  const auto other = Make(false);
  const std::vector<float> at = trainer->InitialParameters(SeedOf(1));
  const auto first = trainer->Gradient(at, SeedOf(5)).value();
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    ASSERT_TRUE(trainer->Gradient(at, SeedOf(seed)).ok());
    ASSERT_TRUE(trainer->Evaluate(at).ok());
    // Parameters at another address, of another alignment.
    std::vector<float> shifted(seed, 0.0F);
    shifted.insert(shifted.end(), at.begin(), at.end());
    const auto again = std::span(shifted).subspan(seed);
    ASSERT_EQ(trainer->Gradient(again, SeedOf(5)).value(), first);
    ASSERT_EQ(other->Gradient(again, SeedOf(5)).value(), first);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, TorchGraphTrainerOf, ::testing::ValuesIn(Models()),
                         [](const auto& test) { return test.param.name; });

TEST(TorchGraphTrainer, NonFiniteParametersAreNoError) {
  const auto trainer =
      Make(OptionsOf(exact::MakeModel(Small("gpt")).value(), false), Records()).value();
  std::vector<float> at = trainer->InitialParameters(SeedOf(1));
  at.back() = std::numeric_limits<float>::quiet_NaN();
  const auto gradient = trainer->Gradient(at, SeedOf(1));
  ASSERT_TRUE(gradient.ok()) << gradient.status();
  EXPECT_TRUE(std::isnan(gradient->back()));
  EXPECT_TRUE(trainer->Evaluate(at).ok());
}

TEST(TorchGraphTrainer, AParameterThatTheLossDoesNotReadHasAGradientOfZeros) {
  TrainerOptions options = OptionsOf(exact::MakeModel(Small("mlp")).value(), true);
  const std::string first = "parameter layers.0.weight";
  options.graph.replace(options.graph.find(first), first.size(),
                        "parameter idle f32[3] ones\n" + first);
  const auto trainer = Make(options, LoadDigits()).value();
  const std::vector<float> at = trainer->InitialParameters(SeedOf(1));
  const auto gradient = trainer->Gradient(at, SeedOf(2)).value();
  EXPECT_TRUE(std::all_of(gradient.begin(), gradient.begin() + 3, [](float x) { return x == 0; }));
  const auto exact = Make(options, LoadDigits(), true).value();
  EXPECT_LT(RelativeError(gradient, exact->Gradient(at, SeedOf(2)).value()), 2e-5);
}

TEST(TorchGraphTrainer, WhatDoesNotFitIsRefusedBeforeLibtorchSeesIt) {
  const auto reason = [](const TrainerOptions& options, Dataset data) {
    const auto made = Make(options, std::move(data));
    EXPECT_EQ(made.status().code(), absl::StatusCode::kInvalidArgument) << made.status();
    return base::MessageOf(made.status());
  };
  TrainerOptions options = OptionsOf(exact::MakeModel(Small("gpt")).value(), false);
  options.batch_size = 5;
  EXPECT_THAT(reason(options, Records()), HasSubstr("batch_size must be a multiple of 4"));
  options.batch_size = 4;
  EXPECT_THAT(reason(options, Records(11)), HasSubstr("and a record has 11"));
  options.graph = "no graph\n";
  EXPECT_THAT(reason(options, Records()), HasSubstr("a graph file begins with"));
  TrainerOptions lora = OptionsOf(MakeLora(), false);
  lora.constants.back() = static_cast<char>(lora.constants.back() ^ 1);
  EXPECT_THAT(reason(lora, Records()), HasSubstr("other values than the graph names"));

  // Exact kernels never hold all scores of an attention; libtorch does.
  const exact::Model longer =
      exact::MakeModel(
          {.model = "gpt", .batch = 1, .layers = 1, .width = 8, .heads = 4, .context = 16384})
          .value();
  options = OptionsOf(longer, false);
  options.batch_size = 1;
  const Dataset long_records = RecordsOf(AText(400'000), 16384).value();
  EXPECT_TRUE(Make(options, long_records, true).ok());
  EXPECT_THAT(reason(options, long_records), HasSubstr("MiB, and 8192 MiB are allowed: "));
}

}  // namespace
}  // namespace ostraka::train::torch_graph_trainer_test
