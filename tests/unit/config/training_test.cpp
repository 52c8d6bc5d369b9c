#include "node/config/training.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/train/data_source.h"

namespace ostraka::config {
namespace {

using ::testing::HasSubstr;

base::Digest Hash() {
  base::Digest hash;
  hash.bytes.fill(7);
  return hash;
}

protocol::Manifest ManifestOn(const std::string& data) {
  protocol::Manifest manifest;
  manifest.training.model = "softmax";
  manifest.training.data = data;
  manifest.training.batch_size = 9;
  manifest.training.hidden = 11;
  manifest.training.data_seed = 13;
  return manifest;
}

std::string OnMnist() { return train::TextOf({.name = "mnist", .hash = Hash()}); }

TEST(TrainingTest, TheTrainerFollowsFromTheManifestAndThisMachine) {
  const auto options =
      TrainerOptionsOf(ManifestOn(OnMnist()), "mnist:/data", train::HeldOut::kValidation);
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->model, "softmax");
  EXPECT_EQ(options->data, "mnist");
  EXPECT_EQ(options->data_hash, Hash());
  EXPECT_EQ(options->batch_size, 9u);
  EXPECT_EQ(options->hidden, 11u);
  EXPECT_EQ(options->data_seed, 13u);
  EXPECT_EQ(options->data_dir, "/data");
  EXPECT_EQ(options->evaluate_on, train::HeldOut::kValidation);
}

TEST(TrainingTest, RefusesOtherDataThanTheManifests) {
  const auto refused = TrainerOptionsOf(ManifestOn(OnMnist()), "digits", train::HeldOut::kTest);
  EXPECT_EQ(base::MessageOf(refused.status()), "--data digits: the run trains on mnist");
  EXPECT_FALSE(TrainerOptionsOf(ManifestOn("mnist"), "", train::HeldOut::kTest).ok())
      << "data without a hash";
}

TEST(TrainingTest, AManifestIsCheckedByNameWithoutItsData) {
  EXPECT_TRUE(CheckTraining(ManifestOn(OnMnist())).ok());
  protocol::Manifest unknown = ManifestOn(OnMnist());
  unknown.training.model = "transformer";
  EXPECT_THAT(base::MessageOf(CheckTraining(unknown)), HasSubstr("unknown model 'transformer'"));
}

TEST(TrainingTest, EachMemberNeedsTwoParameters) {
  EXPECT_TRUE(CheckDimension(16, 8).ok());
  const base::Status refused = CheckDimension(15, 8);
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(base::MessageOf(refused), HasSubstr("use --hidden 16 or more"));
}

}  // namespace
}  // namespace ostraka::config
