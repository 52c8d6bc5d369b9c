// Examples as a graph's inputs: by the names of their columns.
#include "node/train/exact/micro_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "exact/graph/check.h"
#include "exact/graph/graph_text.h"
#include "node/train/exact/exact_trainer.h"
#include "node/train/exact/graph_file.h"
#include "node/train/examples_file.h"

namespace ostraka::train::micro_batch_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Pairs of texts, so to speak: row i reads [i, i + 1] and 2 i, and is of class i mod 3, or of none
// where i is 5.
Dataset Rows(int count = 20) {
  std::string file = "ostraka-examples 1 3 " + std::to_string(count) +
                     " 3 2\nquestion u8[2] 0 40\nmore u8[1] 0 80\nanswer u8[] -1 3\n";
  for (int i = 0; i < count + 5; ++i) {
    for (const int value : {i, i + 1, 2 * i, i == 5 ? 0 : i % 3 + 1}) {
      file.push_back(static_cast<char>(value));
    }
  }
  return ParseExamples(base::AsBytes(std::span<const char>(file))).value();
}

// Of two examples. `more` comes first, so that order is the graph's.
std::string Text(const std::string& lowest = "-1") {
  return "ostraka-graph 1\n"
         "parameter a f32[40,3] normal 1e-01\n"
         "parameter b f32[80,3] normal 1e-01\n"
         "input more i32[2,1] 0 80\n"
         "input question i32[2,2] 0 40\n"
         "input answer i32[2] " +
         lowest +
         " 3\n"
         "%1 f32[2,2,3] = embedding a question\n"
         "%2 f32[2,3] = sum %1 axis=1\n"
         "%3 f32[2,1,3] = embedding b more\n"
         "%4 f32[2,3] = sum %3 axis=1\n"
         "%5 f32[2,3] = add %2 %4\n"
         "%6 f32[] = cross_entropy %5 answer\n"
         "loss %6\n";
}

exact::Graph GraphOfText(const std::string& text) {
  exact::Graph graph = exact::ParseGraph(text).value();
  EXPECT_TRUE(exact::CheckGraph(graph).ok());
  return graph;
}

TEST(MicroBatchOfColumns, GivesEachInputItsColumn) {
  const Dataset data = Rows();
  MicroBatch batch = MicroBatch::For(GraphOfText(Text()), data).value();
  EXPECT_EQ(batch.size(), 2u);
  EXPECT_TRUE(batch.may_be_partial());
  const std::vector<std::uint32_t> rows = {4, 5};
  EXPECT_EQ(batch.Fill(data, data.training, rows), 1u) << "row 5 has no target";
  const auto inputs = batch.inputs();
  ASSERT_EQ(inputs.size(), 3u);
  EXPECT_THAT(inputs[0].integers, ElementsAre(8, 10));
  EXPECT_THAT(inputs[1].integers, ElementsAre(4, 5, 5, 6));
  EXPECT_THAT(inputs[2].integers, ElementsAre(1, -1));
  EXPECT_THAT(batch.targets(), ElementsAre(1, -1));
  EXPECT_EQ(batch.Fill(data, data.training, std::span(rows).first(1)), 1u);
  EXPECT_THAT(batch.inputs()[1].integers, ElementsAre(4, 5, 0, 0));
  EXPECT_THAT(batch.targets(), ElementsAre(1, -1));
}

TEST(MicroBatchOfColumns, TurnsTargetsRoundForAnAttack) {
  Dataset data = Rows();
  data.reversed_targets = true;
  MicroBatch batch = MicroBatch::For(GraphOfText(Text()), data).value();
  batch.Fill(data, data.training, std::vector<std::uint32_t>{3, 5});
  EXPECT_THAT(batch.targets(), ElementsAre(2, -1));
}

// With dropout of six and of two elements, after the inputs of the data.
std::string Dropping() {
  std::string text = Text();
  const auto put = [&text](const std::string& before, const std::string& line) {
    text.insert(text.find(before), line);
  };
  put("%1 ", "input a.keep f32[2,3] keep 7.5e-01\ninput b.keep f32[2] keep 1e-01\n");
  text.replace(text.find("%6 "), std::string::npos,
               "%6 f32[2,3] = mul %5 a.keep\n"
               "%7 f32[2,1] = reshape b.keep\n"
               "%8 f32[2,3] = expand %7\n"
               "%9 f32[2,3] = add %6 %8\n"
               "%10 f32[] = cross_entropy %9 answer\n"
               "loss %10\n");
  return text;
}

// The numbers are those of proofs/verifier/gradient.py (draw_inputs).
TEST(MicroBatchThatDraws, GivesAllPeersTheSame) {
  const Dataset data = Rows();
  MicroBatch batch = MicroBatch::For(GraphOfText(Dropping()), data).value();
  base::Digest seed;
  seed.bytes.fill(7);
  const std::vector<std::uint32_t> rows = {4, 6};
  EXPECT_EQ(batch.Fill(data, data.training, rows), 2u);
  ASSERT_EQ(batch.inputs().size(), 5u);
  EXPECT_THAT(batch.inputs()[3].floats, ElementsAre(1, 1, 1, 1, 1, 1)) << "as evaluations have it";
  const float kept = 1.0F / 0.75F;
  batch.Draw(seed, 10);
  EXPECT_THAT(batch.inputs()[3].floats, ElementsAre(kept, kept, kept, 0, kept, kept));
  batch.Draw(seed, 0);
  EXPECT_THAT(batch.inputs()[3].floats, ElementsAre(kept, kept, 0, kept, kept, 0));
  EXPECT_THAT(batch.inputs()[4].floats, ElementsAre(0, 0));
  EXPECT_THAT(batch.inputs()[2].integers, ElementsAre(1, 0)) << "what the data have stays";
  batch.Fill(data, data.training, rows);
  EXPECT_THAT(batch.inputs()[4].floats, ElementsAre(1, 1));
}

TEST(MicroBatchThatDraws, KeepsAsManyAsItSays) {
  const std::string text =
      "ostraka-graph 1\nparameter a f32[40,1500] normal 1e-01\ninput question i32[1,2] 0 40\n"
      "input keep f32[1,2,1500] keep 9e-01\n%1 f32[1,2,1500] = embedding a question\n"
      "%2 f32[1,2,1500] = mul %1 keep\n%3 f32[3000] = reshape %2\n%4 f32[] = sum %3 axis=0\n"
      "loss %4\n";
  const Dataset data = Rows();
  MicroBatch batch = MicroBatch::For(GraphOfText(text), data).value();
  batch.Fill(data, data.training, std::vector<std::uint32_t>{0});
  base::Digest seed;
  seed.bytes.fill(7);
  batch.Draw(seed, 1);
  const auto inputs = batch.inputs();
  const auto first = inputs[1].floats.first(1500);
  EXPECT_EQ(std::count(first.begin(), first.end(), 0.0F), 143);
  EXPECT_EQ(first[1468], 0.0F) << "beyond the first 1,024, for which bytes are drawn at once";
  EXPECT_EQ(first[1469], 1.0F / 0.9F);
}

TEST(MicroBatchThatDraws, TakesNoMemoryBeforeThePlanHasALimit) {
  TrainerOptions options{.model = std::string(kGraphModel), .batch_size = 2, .exact = true};
  options.graph =
      "ostraka-graph 1\nparameter a f32[40,3] normal 1e-01\n"
      "input question i32[2,2] 0 40\n";
  for (int i = 0; i < 1000; ++i) {
    options.graph += "input keep." + std::to_string(i) + " f32[2147483647] keep 5e-01\n";
  }
  options.graph +=
      "%1 f32[2,2,3] = embedding a question\n%2 f32[12] = reshape %1\n"
      "%3 f32[] = sum %2 axis=0\nloss %3\n";
  EXPECT_THAT(base::MessageOf(MakeExactTrainer(options, Rows()).status()), HasSubstr("bytes"));
}

// A gradient depends on the seed's draws, each micro-batch has its own, and an evaluation has none.
TEST(MicroBatchThatDraws, IsDrawnAnewForEachSeed) {
  TrainerOptions options{.model = std::string(kGraphModel), .batch_size = 4, .exact = true};
  options.graph = Dropping();
  const auto trainer = MakeExactTrainer(options, Rows(4)).value();  // each batch has all rows
  options.graph = Text();
  const auto plain = MakeExactTrainer(options, Rows(4)).value();
  const std::vector<float> x = trainer->InitialParameters({});
  base::Digest other;
  other.bytes[0] = 1;
  const std::vector<float> gradient = trainer->Gradient(x, {}).value();
  EXPECT_EQ(trainer->Gradient(x, {}).value(), gradient);
  EXPECT_EQ(trainer->GradientAgain(x, {}).value(), gradient);
  EXPECT_NE(trainer->Gradient(x, other).value(), gradient);
  EXPECT_EQ(plain->Gradient(x, other).value(), plain->Gradient(x, {}).value());
  // b.keep adds one number to all classes, which no probability depends on.
  EXPECT_NEAR(trainer->Evaluate(x)->loss, plain->Evaluate(x)->loss, 1e-6);
}

std::string Refusal(const std::string& text, const Dataset& data = Rows()) {
  const auto batch = MicroBatch::For(GraphOfText(text), data);
  return batch.ok() ? "accepted" : base::MessageOf(batch.status());
}

std::string With(std::string text, const std::string& old, const std::string& replacement) {
  for (std::size_t at = 0; (at = text.find(old, at)) != std::string::npos;) {
    text.replace(at, old.size(), replacement);
    at += replacement.size();
  }
  return text;
}

TEST(MicroBatchOfColumns, RefusesInputsThatNoColumnHas) {
  EXPECT_EQ(Refusal(Text()), "accepted");
  EXPECT_THAT(Refusal(With(Text(), "question", "questions")),
              HasSubstr("no column is named questions; there are question, more, answer"));
  EXPECT_THAT(Refusal(With(With(Text(), "question i32[2,2]", "question i32[2,3]"), "f32[2,2,3]",
                           "f32[2,3,3]")),
              HasSubstr("its input question is i32[2,3], and the column is 'question u8[2] 0 40'"));
  EXPECT_THAT(Refusal(With(With(Text(), " 0 40", " 0 39"), "a f32[40,3]", "a f32[39,3]")),
              HasSubstr("must allow 0 to 39"));
  EXPECT_THAT(Refusal(Text("0")), HasSubstr("must allow -1 to 2"));
  EXPECT_THAT(Refusal("ostraka-graph 1\nparameter a f32[] normal 1e+00\nloss a\n"),
              HasSubstr("it has no inputs"));
}

TEST(MicroBatchOfColumns, WithoutTargetsTakesWholeOnes) {
  const std::string text =
      "ostraka-graph 1\n"
      "parameter a f32[40,3] normal 1e-01\n"
      "input question i32[4,2] 0 40\n"
      "%1 f32[4,2,3] = embedding a question\n"
      "%2 f32[24] = reshape %1\n"
      "%3 f32[24] = mul %2 %2\n"
      "%4 f32[] = mean %3 axis=0\n"
      "loss %4\n";
  EXPECT_THAT(Refusal(text), HasSubstr("takes 4 examples at once, and there are 3 for validation"));
  const Dataset data = Rows();
  MicroBatch batch =
      MicroBatch::For(GraphOfText(With(With(With(text, "[4,", "[2,"), "24", "12"), "4,2", "2,2")),
                      data)
          .value();
  EXPECT_FALSE(batch.may_be_partial());
  EXPECT_TRUE(batch.targets().empty());
  EXPECT_EQ(batch.Fill(data, data.test, std::vector<std::uint32_t>{0, 1}), 2u);
}

// Classes that follow from the rows alone are learnt, and evaluated over the rows that have one.
TEST(TrainerOfColumns, LearnsAndCountsTargetsAlone) {
  TrainerOptions options{.model = std::string(kGraphModel), .batch_size = 8, .exact = true};
  options.graph = Text();
  const auto trainer = MakeExactTrainer(options, Rows(30)).value();
  std::vector<float> x = trainer->InitialParameters({});
  double first = 0;
  for (std::uint8_t step = 0; step < 60; ++step) {
    base::Digest seed;
    seed.bytes[0] = step;
    const std::vector<float> gradient = trainer->Gradient(x, seed).value();
    if (step == 0) first = trainer->BatchLoss().value();
    for (std::size_t i = 0; i < x.size(); ++i) x[i] -= gradient[i];
  }
  EXPECT_LT(trainer->BatchLoss().value(), first / 2);
  // Of rows 30 to 32 every one has a class, of the test's two as well.
  const auto after = trainer->EvaluateOn(x, HeldOut::kValidation);
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(after->metric, "accuracy");
  const double thirds = after->value * 3;
  EXPECT_EQ(thirds, std::round(thirds)) << "a share of three rows, though micro-batches have two";
}

}  // namespace
}  // namespace ostraka::train::micro_batch_test
