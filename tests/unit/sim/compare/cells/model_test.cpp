#include "sim/compare/cells/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exact/graph/graph_text.h"
#include "exact/models/models.h"
#include "node/train/trainer_loader.h"

namespace ostraka::compare::model_test {
namespace {

using testing::HasSubstr;

Cell GptCell() {
  Cell cell;
  cell.data = "tokens";
  cell.model = "gpt:layers=1,width=16,heads=2,context=8";
  cell.optimizer = "adamw";
  return cell;
}

TEST(CheckModel, NamesWhatIsWrong) {
  for (const char* known : {"softmax", "mlp", "cnn", "gpt", "llama:layers=3", "albert:width=8"}) {
    EXPECT_TRUE(CheckModel(known).ok()) << known;
  }
  EXPECT_THAT(base::MessageOf(CheckModel("gtp")), HasSubstr("did you mean 'gpt'?"));
  EXPECT_THAT(base::MessageOf(CheckModel("gpt:layer=2")), HasSubstr("layers"));
  EXPECT_FALSE(CheckModel("gpt:layers=0").ok());
  EXPECT_FALSE(CheckModel("mlp:layers=2").ok());
}

TEST(TrainerOptionsOf, AGraphIsMadeFromItsSizes) {
  EXPECT_TRUE(IsGraph(GptCell().model));
  EXPECT_FALSE(IsGraph("mlp"));
  EXPECT_EQ(ContextOf(GptCell().model), 8u);
  const auto options = TrainerOptionsOf(GptCell());
  ASSERT_TRUE(options.ok()) << options.status().ToString();
  EXPECT_TRUE(options->exact);
  EXPECT_TRUE(train::CheckTrainerNames(*options).ok());
  const auto made = exact::MakeModel(
      {.model = "gpt", .batch = 8, .layers = 1, .width = 16, .heads = 2, .context = 8});
  EXPECT_EQ(options->graph, exact::PrintGraph(made->graph));
  EXPECT_THAT(ManifestModelOf(GptCell()), HasSubstr("graph@"));
}

TEST(TrainerOptionsOf, SizesMustFitEachOther) {
  Cell cell = GptCell();
  cell.model = "gpt:width=16,heads=3";
  EXPECT_EQ(TrainerOptionsOf(cell).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace ostraka::compare::model_test
