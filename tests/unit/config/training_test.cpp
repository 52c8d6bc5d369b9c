#include "node/config/training.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "exact/graph/graph_text.h"
#include "node/train/data_source.h"

namespace ostraka::config::training_test {
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

std::string OnMnist() { return train::TextOf(train::DataId{.name = "mnist", .hash = Hash()}); }

TEST(TrainingTest, TheTrainerFollowsFromTheManifestAndThisMachine) {
  const auto options = TrainerOptionsOf(
      ManifestOn(OnMnist()),
      {.data = "mnist:/data", .kernels = "scalar", .evaluate_on = train::HeldOut::kValidation});
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->model, "softmax");
  EXPECT_EQ(options->data, "mnist");
  EXPECT_EQ(options->data_hash, Hash());
  EXPECT_EQ(options->batch_size, 9u);
  EXPECT_EQ(options->hidden, 11u);
  EXPECT_EQ(options->data_seed, 13u);
  EXPECT_EQ(options->data_dir, "/data");
  EXPECT_EQ(options->evaluate_on, train::HeldOut::kValidation);
  EXPECT_EQ(options->kernels, "scalar");
  EXPECT_FALSE(options->exact);
}

TEST(TrainingTest, TheProfileChoosesTheTrainer) {
  protocol::Manifest manifest = ManifestOn(OnMnist());
  manifest.compute_profile = protocol::kExact;
  EXPECT_TRUE(TrainerOptionsOf(manifest, {})->exact);
  EXPECT_TRUE(CheckTraining(manifest).ok());
  manifest.training.model = "cnn";
  EXPECT_THAT(base::MessageOf(CheckTraining(manifest)), HasSubstr("use compute_profile tolerant"));
  for (const char* model : {"softmax", "mlp", "graph"}) EXPECT_EQ(DefaultProfile(model), "exact/1");
  for (const char* model : {"cnn", "toy"}) EXPECT_EQ(DefaultProfile(model), "tolerant");
}

TEST(TrainingTest, AGraphIsNamedByItsFileAndReadsATextAsRecords) {
  const std::string text =
      "ostraka-graph 1\nparameter w f32[2] zeros\n%1 f32[] = sum w axis=0\nloss %1\n";
  const std::string file = ::testing::TempDir() + "ostraka-training-graph";
  std::ofstream(file, std::ios::binary) << text;
  protocol::Manifest manifest =
      ManifestOn(train::TextOf(train::DataId{.name = "tokens", .hash = Hash()}));
  manifest.compute_profile = protocol::kExact;
  manifest.training.model = "graph@" + exact::GraphId(text).Hex();
  const auto options = TrainerOptionsOf(manifest, {.data = "text:/book", .graph = file});
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->model, "graph");
  EXPECT_EQ(options->graph, text);
  EXPECT_EQ(options->data_dir, "/book");
  EXPECT_TRUE(CheckTraining(manifest).ok());
  manifest.training.model = "graph@" + Hash().Hex();
  EXPECT_THAT(base::MessageOf(TrainerOptionsOf(manifest, {.graph = file}).status()),
              HasSubstr("get the other members' file"));
  manifest.training.model = "mlp";
  EXPECT_THAT(base::MessageOf(TrainerOptionsOf(manifest, {.graph = file}).status()),
              HasSubstr("the run trains mlp"));
  manifest.training.model = "graph";
  EXPECT_FALSE(TrainerOptionsOf(manifest, {}).ok()) << "a graph without a hash";
  std::remove(file.c_str());
}

TEST(TrainingTest, RefusesOtherDataThanTheManifests) {
  const auto refused = TrainerOptionsOf(ManifestOn(OnMnist()), {.data = "digits"});
  EXPECT_EQ(base::MessageOf(refused.status()), "--data digits: the run trains on mnist");
  EXPECT_FALSE(TrainerOptionsOf(ManifestOn("mnist"), {}).ok()) << "data without a hash";
}

TEST(TrainingTest, AManifestIsCheckedByNameWithoutItsData) {
  EXPECT_TRUE(CheckTraining(ManifestOn(OnMnist())).ok());
  protocol::Manifest unknown = ManifestOn(OnMnist());
  unknown.training.model = "transformer";
  EXPECT_THAT(base::MessageOf(CheckTraining(unknown)), HasSubstr("unknown model 'transformer'"));
}

protocol::Manifest ManifestOfMembers(std::size_t members, protocol::Codec results) {
  protocol::Manifest manifest;
  manifest.members.resize(members);
  manifest.codecs.results = results;
  return manifest;
}

TEST(TrainingTest, EachMemberNeedsTwoParameters) {
  const protocol::Manifest manifest = ManifestOfMembers(8, protocol::Codec::kRaw);
  EXPECT_TRUE(CheckDimension(16, 8, manifest).ok());
  const base::Status refused = CheckDimension(15, 8, manifest);
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(base::MessageOf(refused), HasSubstr("use --hidden 16 or more"));
}

TEST(TrainingTest, AggregatesInCodesAreNotTooLongForTheOwnersOfTheGenesis) {
  constexpr std::uint64_t kMost = (std::uint64_t{1} << 23) * 7;  // one of the eight validates
  protocol::Manifest manifest = ManifestOfMembers(8, protocol::Codec::kI16);
  EXPECT_TRUE(CheckDimension(kMost, 8, manifest).ok());
  const base::Status refused = CheckDimension(kMost + 7, 256, manifest);
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition) << "whatever the seats";
  EXPECT_THAT(base::MessageOf(refused), HasSubstr("use --result-codec raw"));
  manifest.members[0].only_dials = true;
  EXPECT_FALSE(CheckDimension(kMost, 8, manifest).ok()) << "it owns nothing";
  manifest.codecs.results = protocol::Codec::kRaw;
  EXPECT_TRUE(CheckDimension(kMost * 9, 8, manifest).ok());
}

}  // namespace
}  // namespace ostraka::config::training_test
