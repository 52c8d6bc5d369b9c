#include "node/train/exact/text_sampler.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "exact/graph/graph_text.h"
#include "exact/models/models.h"
#include "exact/program/differentiate.h"
#include "node/train/exact/graph_file.h"

namespace ostraka::train::text_sampler_test {
namespace {

constexpr std::size_t kContext = 8;
constexpr std::uint32_t kVocabulary = 300;  // more than bytes
const aggregation::SerialExecutor kSerial;

exact::Graph SmallGpt() {
  return exact::MakeModel({.model = "gpt",
                           .batch = 2,
                           .layers = 1,
                           .width = 8,
                           .heads = 2,
                           .context = kContext,
                           .vocabulary = kVocabulary})
      .value()
      .graph;
}

std::vector<float> DrawnFor(const exact::Graph& graph) {
  base::Rng rng(7);
  std::vector<float> values;
  for (const exact::Parameter& each : graph.parameters) {
    for (std::int64_t i = 0; i < each.type.count(); ++i) {
      values.push_back(0.3F * static_cast<float>(rng.Normal()));
    }
  }
  return values;
}

// Counts micro-batches.
class CountedEngine final : public RunnerEngine {
 public:
  explicit CountedEngine(const exact::Graph& graph)
      : RunnerEngine(exact::Runner(exact::PlanMemory(exact::Differentiate(graph), {}, 1).value(),
                                   {}, exact::KernelsFor(exact::Level::kScalar), kSerial)) {}
  base::StatusOr<float> Loss(std::span<const float> parameters,
                             std::span<const exact::InputValues> inputs) override {
    ++count;
    return RunnerEngine::Loss(parameters, inputs);
  }
  int count = 0;
};

base::Status Wanted() { return base::OkStatus(); }

class TextSamplerTest : public ::testing::Test {
 protected:
  std::optional<TextSample> Continue(std::span<const float> parameters, std::size_t most,
                                     const std::function<base::Status()>& wanted = Wanted) {
    std::vector<std::int32_t> record(2 * kContext, 9);
    std::copy(prompt_.begin(), prompt_.end(), record.begin());
    const std::vector<exact::InputValues> inputs = {{{}, record}, {{}, record}};
    return sampler_.Continue(engine_, parameters, inputs, most, wanted);
  }

  const std::vector<std::int32_t> prompt_ = {72, 299, 108, 111};  // half of the context
  const exact::Graph graph_ = SmallGpt();
  const std::vector<float> parameters_ = DrawnFor(graph_);
  CountedEngine engine_{graph_};
  TextSampler sampler_ = TextSampler::Make(graph_, Speech(kVocabulary)).value();
};

TEST_F(TextSamplerTest, DrawsWhatTheTextModelSays) {
  const TextSample sample = Continue(parameters_, 20).value();
  EXPECT_EQ(engine_.count, 22) << "two to see that it is causal, and one a token";
  TextModel model = TextModel::Make(graph_, {}, parameters_).value();
  std::vector<std::int32_t> tokens = prompt_;
  std::string text;
  for (int i = 0; i < 20; ++i) {
    base::Rng rng(tokens.size());
    tokens.push_back(
        *DrawKnown(model.LogitsAfter(tokens).value(), Speech(kVocabulary), Sampling{}, rng));
    text += static_cast<char>(tokens.back());
  }
  EXPECT_EQ(sample.prompt, "Hlo") << "299 is no byte";
  EXPECT_EQ(sample.text, text);
  EXPECT_EQ(Continue(parameters_, 20)->text, text);
  EXPECT_EQ(engine_.count, 42);
}

TEST_F(TextSamplerTest, EndsWhereSomethingElseIsToBeComputed) {
  const std::string whole = Continue(parameters_, 20)->text;
  int asked = 0;
  const auto wanted = [&] { return ++asked <= 5 ? Wanted() : base::Cancelled("a gradient waits"); };
  EXPECT_EQ(Continue(parameters_, 20, wanted)->text, whole.substr(0, 5));
  EXPECT_FALSE(Continue(parameters_, 20, wanted)) << "it waits from the beginning";
}

TEST_F(TextSamplerTest, OfAModelThatFillsGapsThereIsNone) {
  std::string text = exact::PrintGraph(graph_);
  const std::size_t at = text.find("causal=1");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 8, "causal=0");
  const exact::Graph graph = GraphOf(text).value();
  CountedEngine engine(graph);
  TextSampler sampler = TextSampler::Make(graph, Speech(kVocabulary)).value();
  const std::vector<std::int32_t> record(2 * kContext, 9);
  const std::vector<exact::InputValues> inputs = {{{}, record}, {{}, record}};
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(sampler.Continue(engine, parameters_, inputs, 6, Wanted));
  }
  EXPECT_EQ(engine.count, 2) << "it is looked at once";
}

TEST_F(TextSamplerTest, AfterAStateThatIsNoNumberTheNextOneSpeaks) {
  const std::vector<float> broken(parameters_.size(), std::numeric_limits<float>::quiet_NaN());
  EXPECT_FALSE(Continue(broken, 6));
  EXPECT_TRUE(Continue(parameters_, 6));
  engine_.count = 0;
  EXPECT_FALSE(Continue(broken, 6));
  EXPECT_EQ(engine_.count, 1) << "it says nothing more";
}

TEST(TextSampler, OfImagesThereIsNone) {
  const exact::Graph mlp = exact::MakeModel({.model = "mlp"}).value().graph;
  EXPECT_FALSE(TextSampler::Make(mlp, Speech(256)));
}

}  // namespace
}  // namespace ostraka::train::text_sampler_test
