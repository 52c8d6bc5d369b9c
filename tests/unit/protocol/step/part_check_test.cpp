#include "node/protocol/step/part_check.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "crypto/merkle.h"
#include "tests/unit/protocol/scene.h"
#include "tests/unit/protocol/step/step_fixture.h"

namespace ostraka::protocol::part_check_test {
namespace {

using scene::DigestOf;
using wire::MessageType;
using wire::Phase;

constexpr std::size_t kWorker = 1;
constexpr std::uint32_t kColumn = 2;

class PartCheckTest : public testing::Test {
 protected:
  // What is found of member 1's COMMIT and PART for column 2, with that body and blob.
  std::string FaultOf(const wire::Part& body, const SharedBlob& blob,
                      std::optional<wire::Commit> commit = std::nullopt) {
    Inbox::Version committed;
    committed.message = w_.Say(kWorker, Phase::kA, MessageType::kCommit,
                               wire::Encode(commit.value_or(w_.CommitBody(kWorker))));
    Inbox::Version part;
    part.message = w_.Say(kWorker, Phase::kA, MessageType::kPart, wire::Encode(body), 0, kColumn);
    part.blob = blob;
    return PartFault(committed, part, kColumn, w_.facts.roles().parts, Codec::kRaw).value_or("");
  }
  wire::Part Body() { return w_.PartBody(kWorker, kColumn); }
  SharedBlob Blob() { return w_.PartsOf(kWorker)[kColumn]; }
  // A gradient of which `data` is part 2: its COMMIT, and the PART under it.
  std::pair<wire::Commit, wire::Part> Under(const SharedBlob& data) {
    std::vector<Digest> roots;
    for (const SharedBlob& part : w_.PartsOf(kWorker)) roots.push_back(part->root);
    roots[kColumn] = data->root;
    wire::Commit commit = w_.CommitBody(kWorker);
    commit.gradient_root = crypto::MerkleRoot(roots);
    wire::Part part = Body();
    part.root = data->root;
    part.path = crypto::MerklePath(roots, kColumn);
    return {commit, part};
  }

  StepWorld w_;
};

TEST_F(PartCheckTest, HonestPartHasNoFault) { EXPECT_EQ(FaultOf(Body(), Blob()), ""); }

TEST_F(PartCheckTest, PartOfAnotherColumnOrRootIsNotUnderTheCommit) {
  wire::Part other = w_.PartBody(kWorker, kColumn + 1);
  other.header = Body().header;
  EXPECT_EQ(FaultOf(other, Blob()), "sent a part that is not under its COMMIT");
  other = Body();
  other.root = DigestOf(3);
  EXPECT_EQ(FaultOf(other, Blob()), "sent a part that is not under its COMMIT");
}

TEST_F(PartCheckTest, HeaderOfAnotherShapeIsAFault) {
  wire::Part body = Body();
  body.header.shape = {w_.facts.roles().parts[kColumn].size() + 1};
  EXPECT_EQ(FaultOf(body, Blob()), "sent a part of another type, codec or shape");
  body.header.shape = {1, w_.facts.roles().parts[kColumn].size()};
  EXPECT_EQ(FaultOf(body, Blob()), "sent a part of another type, codec or shape");
}

TEST_F(PartCheckTest, CommitWithoutAGradientTakesNoPart) {
  wire::Commit commit = w_.CommitBody(kWorker);
  commit.gradient_root.reset();
  EXPECT_EQ(FaultOf(Body(), Blob(), commit), "sent a COMMIT without a gradient");
}

TEST_F(PartCheckTest, NumbersThatAreNotFiniteAreAFaultAlsoUnderTheCommit) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    base::Bytes data = Blob()->data;
    std::memcpy(data.data() + data.size() - sizeof bad, &bad, sizeof bad);
    const SharedBlob blob = crypto::MakeBlob(data);
    const auto [commit, part] = Under(blob);
    EXPECT_EQ(FaultOf(part, blob, commit), "sent a part with NaN, Inf or a wrong length");
  }
}

TEST_F(PartCheckTest, PartWithoutBulkDataIsOurOwnBug) {
  EXPECT_DEATH(FaultOf(Body(), nullptr), "CHECK failed");
}

TEST_F(PartCheckTest, LengthIsExact) {
  for (const int change : {-4, 4, 1}) {
    base::Bytes data = Blob()->data;
    data.resize(data.size() + static_cast<std::size_t>(change));
    const SharedBlob blob = crypto::MakeBlob(data);
    const auto [commit, part] = Under(blob);
    EXPECT_EQ(FaultOf(part, blob, commit), "sent a part with NaN, Inf or a wrong length");
  }
}

TEST_F(PartCheckTest, UnreadableBodyIsAFault) {
  Inbox::Version commit;
  commit.message = w_.Commit(kWorker);
  Inbox::Version part;
  part.message = w_.Say(kWorker, Phase::kA, MessageType::kPart, {1, 2, 3}, 0, kColumn);
  part.blob = Blob();
  const auto fault = PartFault(commit, part, kColumn, w_.facts.roles().parts, Codec::kRaw);
  ASSERT_TRUE(fault);
  EXPECT_NE(fault->find("malformed PART"), std::string::npos);
}

}  // namespace
}  // namespace ostraka::protocol::part_check_test
