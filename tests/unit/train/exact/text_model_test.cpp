#include "node/train/exact/text_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "exact/graph/graph_text.h"
#include "exact/models/models.h"
#include "exact/program/differentiate.h"
#include "node/train/exact/graph_file.h"

namespace ostraka::train::text_model_test {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kContext = 8;
const aggregation::SerialExecutor kSerial;

exact::Graph SmallGpt() {
  return exact::MakeModel({.model = "gpt",
                           .batch = 2,
                           .layers = 1,
                           .width = 8,
                           .heads = 2,
                           .context = kContext,
                           .vocabulary = 11})
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

TEST(TextModel, SaysOfATextWhatTheGraphSaysOfItsLastPosition) {
  const exact::Graph graph = SmallGpt();
  const std::vector<float> parameters = DrawnFor(graph);
  TextModel model = TextModel::Make(graph, {}, parameters).value();
  EXPECT_EQ(model.vocabulary(), 11U);
  EXPECT_EQ(model.context(), kContext);
  // The same by a runner, with the text in the second record.
  exact::Runner runner(exact::PlanMemory(exact::Differentiate(graph), {}, 1).value(), {},
                       exact::KernelsFor(exact::Level::kScalar), kSerial);
  const std::vector<std::int32_t> text = {3, 1, 4, 1, 5};
  std::vector<std::int32_t> tokens(2 * kContext, 9);
  std::copy(text.begin(), text.end(), tokens.begin() + kContext);
  const std::vector<std::int32_t> targets(tokens.size());
  const std::vector<exact::InputValues> inputs = {{{}, tokens}, {{}, targets}};
  ASSERT_TRUE(runner.Loss(parameters, inputs).ok());
  const auto row = runner.Logits().subspan((kContext + text.size() - 1) * 11, 11);
  EXPECT_EQ(model.LogitsAfter(text).value(), std::vector<float>(row.begin(), row.end()));
}

TEST(TextModel, SeesALongTextFromItsEnd) {
  const exact::Graph graph = SmallGpt();
  TextModel model = TextModel::Make(graph, {}, DrawnFor(graph)).value();
  const std::vector<std::int32_t> text = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 1};
  const auto end = std::span(text).last(kContext);
  EXPECT_EQ(model.LogitsAfter(text).value(), model.LogitsAfter(end).value());
  EXPECT_NE(model.LogitsAfter(text).value(), model.LogitsAfter(end.last(3)).value());
}

TEST(TextModel, ThatDropsInTrainingDropsNothingHere) {
  const std::string begin =
      "ostraka-graph 1\nparameter w f32[5,4] ones\nparameter v f32[5,4] ones\n"
      "input targets i32[2,3] -1 5\ninput tokens i32[2,3] 0 5\n";
  const std::string end =
      "%3 f32[2,3,5] = linear %2 v\n%4 f32[] = cross_entropy %3 targets\nloss %4\n";
  const exact::Graph dropping = GraphOf(begin +
                                        "input keep f32[2,3,4] keep 5e-01\n"
                                        "%1 f32[2,3,4] = embedding w tokens\n"
                                        "%2 f32[2,3,4] = mul %1 keep\n" +
                                        end)
                                    .value();
  const exact::Graph plain = GraphOf(begin +
                                     "%1 f32[2,3,4] = embedding w tokens\n"
                                     "%2 f32[2,3,4] = mul_scalar %1 scalar=1e+00\n" +
                                     end)
                                 .value();
  const std::vector<float> parameters = DrawnFor(plain);
  const std::vector<std::int32_t> text = {3, 1};
  TextModel model = TextModel::Make(dropping, {}, parameters).value();
  EXPECT_EQ(model.LogitsAfter(text).value(),
            TextModel::Make(plain, {}, parameters)->LogitsAfter(text).value());
}

TEST(TextModel, ThatFillsGapsIsRefused) {
  std::string text = exact::PrintGraph(SmallGpt());
  const std::size_t at = text.find("causal=1");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 8, "causal=0");
  const exact::Graph graph = GraphOf(text).value();
  const auto model = TextModel::Make(graph, {}, DrawnFor(graph));
  EXPECT_THAT(base::MessageOf(model.status()), HasSubstr("depends on later ones"));
  EXPECT_THAT(base::MessageOf(CheckNoLeak(graph, {}, DrawnFor(graph))),
              HasSubstr("sees the tokens that it is to predict"));
}

TEST(CheckNoLeak, TakesWhatLooksBackAndWhatIsNoText) {
  const exact::Graph gpt = SmallGpt();
  EXPECT_TRUE(CheckNoLeak(gpt, {}, DrawnFor(gpt)).ok());
  const exact::Graph mlp = exact::MakeModel({.model = "mlp"}).value().graph;
  EXPECT_TRUE(CheckNoLeak(mlp, {}, DrawnFor(mlp)).ok());
}

TEST(TextModel, OfImagesOrWithoutLogitsIsRefused) {
  const exact::Graph mlp = exact::MakeModel({.model = "mlp"}).value().graph;
  EXPECT_THAT(base::MessageOf(TextModel::Make(mlp, {}, DrawnFor(mlp)).status()),
              HasSubstr("does not take tokens"));
  const exact::Graph mean =
      GraphOf(
          "ostraka-graph 1\nparameter w f32[5,4] ones\ninput tokens i32[2,3] 0 5\n"
          "input targets i32[2,3] -1 5\n%1 f32[2,3,4] = embedding w tokens\n"
          "%2 f32[24] = reshape %1\n%3 f32[] = sum %2 axis=0\nloss %3\n")
          .value();
  EXPECT_THAT(base::MessageOf(TextModel::Make(mean, {}, DrawnFor(mean)).status()),
              HasSubstr("its loss is of no logits"));
}

TEST(TextModel, WhoseTrainingFailedSaysSo) {
  const exact::Graph graph = SmallGpt();
  std::vector<float> parameters = DrawnFor(graph);
  for (float& value : parameters) value = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(base::MessageOf(TextModel::Make(graph, {}, parameters).status()),
              HasSubstr("its training failed"));
}

// --- drawing ------------------------------------------------------------------------------------

const std::vector<float> kLogits = {0, std::log(4.0F), std::log(2.0F), std::log(1.0F),
                                    -std::numeric_limits<float>::infinity()};

std::map<std::int32_t, double> Shares(const Sampling& sampling) {
  base::Rng rng(1);
  std::map<std::int32_t, double> shares;
  constexpr int kDraws = 20'000;
  for (int i = 0; i < kDraws; ++i) shares[DrawToken(kLogits, sampling, rng)] += 1.0 / kDraws;
  return shares;
}

TEST(DrawToken, FollowsTheProbabilities) {
  auto shares = Shares({.temperature = 1});
  EXPECT_NEAR(shares[1], 0.5, 0.02);
  EXPECT_NEAR(shares[2], 0.25, 0.02);
  EXPECT_NEAR(shares[0], 0.125, 0.02);
  EXPECT_NEAR(shares[3], 0.125, 0.02);
  EXPECT_FALSE(shares.contains(4));
}

TEST(DrawToken, ByALowTemperatureIsSurer) {
  auto shares = Shares({.temperature = 0.5});  // 16 : 4 : 1 : 1
  EXPECT_NEAR(shares[1], 16.0 / 22, 0.02);
  EXPECT_NEAR(shares[2], 4.0 / 22, 0.02);
  EXPECT_EQ(Shares({.temperature = 0}).size(), 1U);
  EXPECT_EQ(Shares({.temperature = 0}).begin()->first, 1);
}

TEST(DrawToken, OfTheLikeliestAlone) {
  auto two = Shares({.temperature = 1, .top_k = 2});
  EXPECT_EQ(two.size(), 2U);
  EXPECT_NEAR(two[1], 2.0 / 3, 0.02);
  // Half of the probability is the first's; a little more needs the second.
  EXPECT_EQ(Shares({.temperature = 1, .top_p = 0.5}).size(), 1U);
  EXPECT_EQ(Shares({.temperature = 1, .top_p = 0.51}).size(), 2U);
  EXPECT_EQ(Shares({.temperature = 1, .top_p = 1}).size(), 4U);
}

}  // namespace
}  // namespace ostraka::train::text_model_test
