#include "node/train/trainer_loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "node/train/trainer_module.h"
#include "tests/unit/train/digest_of.h"

namespace ostraka::train::trainer_loader_test {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

// The options' defaults need the module.
const TrainerOptions kNeedsModule;

std::string MessageOfOneLine(const base::Status& status, absl::StatusCode code) {
  EXPECT_EQ(status.code(), code) << status.ToString();
  std::string message = base::MessageOf(status);
  EXPECT_THAT(message, Not(HasSubstr("\n")));
  return message;
}

TEST(TrainerLoader, ToyNeedsNoModule) {
  const TrainerOptions options{.model = "toy", .data = "toy", .hidden = 12};
  const auto trainer = MakeTrainerFrom(options, {"/nonexistent/module.so"});
  ASSERT_TRUE(trainer.ok()) << trainer.status().ToString();
  EXPECT_EQ(base::ElementCount((*trainer)->layout()), 12u);
}

TEST(TrainerLoader, UnknownNamesListTheKnownOnes) {
  TrainerOptions options;
  options.model = "mpl";
  EXPECT_EQ(MessageOfOneLine(MakeTrainer(options).status(), absl::StatusCode::kInvalidArgument),
            "unknown model 'mpl'; known: toy softmax mlp cnn graph");
  options = {};
  options.data = "digit";
  EXPECT_EQ(MessageOfOneLine(MakeTrainer(options).status(), absl::StatusCode::kInvalidArgument),
            "unknown data 'digit'; known: toy digits mnist cifar10 text tokens examples stream");
}

TEST(TrainerLoader, ToyModelAndToyDataGoTogether) {
  TrainerOptions options;
  options.data = "toy";
  EXPECT_THAT(MessageOfOneLine(CheckTrainerNames(options), absl::StatusCode::kInvalidArgument),
              HasSubstr("model mlp, data toy"));
  options = {};
  options.model = "toy";
  EXPECT_THAT(MessageOfOneLine(CheckTrainerNames(options), absl::StatusCode::kInvalidArgument),
              HasSubstr("model toy, data digits"));
}

TEST(TrainerLoader, TheCnnIsForImages) {
  EXPECT_EQ(MessageOfOneLine(CheckTrainerNames({.model = "cnn", .data = "text"}),
                             absl::StatusCode::kInvalidArgument),
            "model cnn is for images: data text goes with softmax or mlp");
  EXPECT_TRUE(CheckTrainerNames({.model = "mlp", .data = "text"}).ok());
}

TEST(TrainerLoader, ChecksNamesWithoutAModule) {
  EXPECT_TRUE(CheckTrainerNames(kNeedsModule).ok());
  EXPECT_TRUE(CheckTrainerNames({.model = "softmax"}).ok());
  for (const bool exact : {false, true}) {
    EXPECT_TRUE(CheckTrainerNames({.model = "graph", .data = "tokens", .exact = exact}).ok());
  }
  EXPECT_TRUE(CheckTrainerNames({.model = "toy", .data = "toy"}).ok());
}

TEST(TrainerLoader, LooksBesideTheProgramAndWhereItIsInstalled) {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  EXPECT_THAT(
      ModuleCandidates(),
      ::testing::ElementsAre(folder / "libostraka_torch.so", folder / "lib/libostraka_torch.so",
                             folder.parent_path() / "lib/ostraka/libostraka_torch.so"));
}

TEST(TrainerLoader, AMissingModuleIsNamedWithWhatToDo) {
  const auto made = MakeTrainerFrom(kNeedsModule, {"/nonexistent/a.so", "/nonexistent/b.so"});
  const std::string message = MessageOfOneLine(made.status(), absl::StatusCode::kNotFound);
  EXPECT_THAT(message, AllOf(HasSubstr("model mlp needs libostraka_torch.so"),
                             HasSubstr("/nonexistent/a.so"), HasSubstr("/nonexistent/b.so"),
                             HasSubstr("`make torch` builds it")));
}

TEST(TrainerLoader, AProgramThatLoadsNoModuleNamesThoseThatDo) {
  const std::string message =
      MessageOfOneLine(MakeTrainerFrom(kNeedsModule, {}).status(), absl::StatusCode::kNotFound);
  EXPECT_THAT(message, AllOf(HasSubstr("model mlp needs libostraka_torch.so, which the program of "
                                       "a tarball or wheel does not load"),
                             HasSubstr("ostraka-trainer-torch"), HasSubstr("`make torch`")));
}

TEST(TrainerLoader, LoadsTheFirstExistingModule) {
  const TrainerOptions options{.hidden = 20};
  const auto trainer =
      MakeTrainerFrom(options, {"/nonexistent/a.so", FAKE_MODULE_GOOD, FAKE_MODULE_OLD});
  ASSERT_TRUE(trainer.ok()) << trainer.status().ToString();
  EXPECT_EQ(base::ElementCount((*trainer)->layout()), 21u);
  const std::vector<float> parameters = (*trainer)->InitialParameters(SeedOf(1));
  EXPECT_EQ((*trainer)->Gradient(parameters, SeedOf(1))->size(), 21u);
}

TEST(TrainerLoader, AModuleGetsTheDataThatItsTrainerIsOver) {
  Dataset three;
  three.training.labels = {0, 1, 2};
  const auto trainer = MakeTrainerFrom(kNeedsModule, {FAKE_MODULE_GOOD}, three);
  ASSERT_TRUE(trainer.ok()) << trainer.status().ToString();
  EXPECT_EQ(base::ElementCount((*trainer)->layout()), 3u);
}

TEST(TrainerLoader, TheToyTakesNoDataSet) {
  const TrainerOptions options{.model = "toy", .data = "toy", .hidden = 12};
  EXPECT_EQ(MessageOfOneLine(MakeTrainerFrom(options, {}, Dataset()).status(),
                             absl::StatusCode::kInvalidArgument),
            "model toy has a problem of its own, and no data set");
}

TEST(TrainerLoader, ErrorOfTheModuleIsReturned) {
  const TrainerOptions options{.batch_size = 0};
  const auto made = MakeTrainerFrom(options, {FAKE_MODULE_GOOD});
  EXPECT_EQ(MessageOfOneLine(made.status(), absl::StatusCode::kInvalidArgument),
            "the module refuses batch_size 0");
}

TEST(TrainerLoader, AModuleOfAnotherVersionIsRefused) {
  const auto made = MakeTrainerFrom(kNeedsModule, {FAKE_MODULE_OLD});
  EXPECT_THAT(
      MessageOfOneLine(made.status(), absl::StatusCode::kFailedPrecondition),
      AllOf(HasSubstr(FAKE_MODULE_OLD), HasSubstr("of another build (module version 0, "
                                                  "this program has " +
                                                  std::to_string(kTrainerModuleVersion) + ")")));
}

TEST(TrainerLoader, OtherLibrariesAreRefused) {
  const auto made = MakeTrainerFrom(kNeedsModule, {FAKE_MODULE_NO_ENTRY});
  EXPECT_THAT(MessageOfOneLine(made.status(), absl::StatusCode::kFailedPrecondition),
              EndsWith("is no trainer module: it lacks ostraka_trainer_module"));
}

TEST(TrainerLoader, OtherFilesAreRefused) {
  const std::string file = ::testing::TempDir() + "/ostraka_no_library.so";
  std::ofstream(file) << "this is text";
  const auto made = MakeTrainerFrom(kNeedsModule, {file});
  EXPECT_THAT(MessageOfOneLine(made.status(), absl::StatusCode::kUnavailable), HasSubstr(file));
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace ostraka::train::trainer_loader_test
