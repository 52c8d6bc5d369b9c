#include "node/config/honest_root.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "crypto/merkle.h"
#include "crypto/parameters_root.h"
#include "node/protocol/ground/roles.h"
#include "node/train/trainer_loader.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::config::honest_root_test {
namespace {

using protocol::scene::DigestOf;
using protocol::scene::PeerNumber;

class HonestRootTest : public testing::Test {
 protected:
  HonestRootTest() {
    manifest_.run_id = DigestOf(1);
    manifest_.compute_profile = protocol::kExact;
    manifest_.training.data = "digits@ab";
    trainer_ = train::MakeTrainer({.model = "softmax", .batch_size = 8, .exact = true}).value();
    parameters_ =
        std::make_shared<const std::vector<float>>(trainer_->InitialParameters(manifest_.run_id));
    for (std::uint32_t i = 0; i < 5; ++i) claim_.before.members.push_back(PeerNumber(i));
    claim_.before.step = 6;
    claim_.before.randomness = DigestOf(2);
    claim_.worker = PeerNumber(2);
    claim_.step = 7;
    claim_.parameters_root = crypto::ParametersRoot(*parameters_);
  }
  base::StatusOr<std::optional<base::Digest>> Root() {
    return HonestRootOf(manifest_, *trainer_, parameters_, claim_);
  }
  // As a worker among `workers` commits to that gradient.
  static base::Digest RootOver(const std::vector<float>& gradient, std::uint32_t workers) {
    std::vector<base::Digest> roots;
    for (const protocol::PartRange& range : protocol::CutParts(gradient.size(), workers)) {
      const auto part = std::span(gradient).subspan(range.begin, range.size());
      roots.push_back(crypto::MerkleRootOfData(base::AsBytes(part)));
    }
    return crypto::MerkleRoot(roots);
  }

  protocol::Manifest manifest_;
  std::unique_ptr<train::Trainer> trainer_;
  protocol::SharedVector parameters_;
  evidence::GradientClaim claim_;
};

TEST_F(HonestRootTest, IsThatOfTheWorkersGradientInItsParts) {
  const base::Digest seed =
      protocol::BatchSeed(manifest_.run_id, manifest_.training.data, DigestOf(2), 7, PeerNumber(2));
  const auto gradient = trainer_->Gradient(*parameters_, seed);
  ASSERT_TRUE(gradient.ok());
  const auto root = Root();
  ASSERT_TRUE(root.ok()) << root.status().message();
  ASSERT_TRUE(*root);
  EXPECT_EQ(**root, RootOver(*gradient, 5));
  claim_.before.drawn = {{PeerNumber(4), PeerNumber(1), 5, {}}};  // four are left to work
  EXPECT_EQ(**Root(), RootOver(*gradient, 4));
}

// Evidence of earlier runs is judged by their rules. Attack: an honest gradient cut into other
// parts than its worker cut it looks false.
TEST_F(HonestRootTest, WhoWasJustAdmittedHeldOtherRolesInEarlierVersions) {
  const base::Digest seed =
      protocol::BatchSeed(manifest_.run_id, manifest_.training.data, DigestOf(2), 7, PeerNumber(2));
  const auto gradient = trainer_->Gradient(*parameters_, seed);
  claim_.before.joined = {PeerNumber(1)};
  EXPECT_EQ(**Root(), RootOver(*gradient, 4));
  manifest_.protocol_version = 7;
  EXPECT_EQ(**Root(), RootOver(*gradient, 4));
  manifest_.protocol_version = 6;
  EXPECT_EQ(**Root(), RootOver(*gradient, 5));
  claim_.before.joined = {PeerNumber(2)};
  EXPECT_EQ(**Root(), RootOver(*gradient, 5));
  manifest_.protocol_version = 7;
  EXPECT_EQ(**Root(), RootOver(*gradient, 4));
  manifest_.protocol_version = protocol::Manifest().protocol_version;
  EXPECT_EQ(*Root(), std::nullopt) << "it does not work";
  claim_.before.joined.clear();
  claim_.before.leaving = {PeerNumber(2)};
  EXPECT_EQ(*Root(), std::nullopt);
}

TEST_F(HonestRootTest, FollowsFromEachPartOfTheClaim) {
  const base::Digest root = **Root();
  const evidence::GradientClaim claim = claim_;
  claim_.before.randomness.bytes[0] ^= 1;
  EXPECT_NE(**Root(), root);
  claim_ = claim;
  ++claim_.step;
  EXPECT_NE(**Root(), root);
  claim_ = claim;
  claim_.worker = PeerNumber(3);
  EXPECT_NE(**Root(), root);
  claim_ = claim;
  manifest_.run_id = DigestOf(9);
  EXPECT_NE(**Root(), root);
}

// Attack: whoever verified a file with a count of 2^32 computed for ever.
TEST_F(HonestRootTest, NothingIsDueByABlockWithCountsThatTheRunDoesNotHave) {
  manifest_.training.most_batches = 2;
  const base::Digest one = **Root();
  claim_.before.batch_counts = {{PeerNumber(2), 2}};
  EXPECT_NE(**Root(), one);
  for (const std::uint32_t count : {0U, 1U, 3U, 4'294'967'295U}) {
    claim_.before.batch_counts = {{PeerNumber(2), count}};
    EXPECT_EQ(*Root(), std::nullopt) << count;
  }
  manifest_.training.most_batches = 1;
  claim_.before.batch_counts = {{PeerNumber(2), 2}};
  EXPECT_EQ(*Root(), std::nullopt);
}

TEST_F(HonestRootTest, NothingIsDueFromAValidatorOrAStranger) {
  claim_.before.drawn = {{PeerNumber(2), PeerNumber(1), 5, {}}};
  EXPECT_FALSE(*Root());
  claim_.before.drawn.clear();
  claim_.worker = PeerNumber(17);
  EXPECT_FALSE(*Root());
}

TEST_F(HonestRootTest, OneOtherBitOfTheParametersIsMissingData) {
  auto other = *parameters_;
  other[3] = std::nextafter(other[3], 1.0F);
  parameters_ = std::make_shared<const std::vector<float>>(other);
  const auto root = Root();
  EXPECT_EQ(root.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(base::MessageOf(root.status()).find("parameters-7.safetensors"), std::string::npos);
}

TEST_F(HonestRootTest, OnlyExactRunsCanBeProven) {
  manifest_.compute_profile = protocol::kTolerant;
  EXPECT_EQ(Root().status().code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace ostraka::config::honest_root_test
