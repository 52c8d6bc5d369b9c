#include "node/protocol/step/own_gradient.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "crypto/parameters_root.h"
#include "node/wire/codec.h"
#include "tests/unit/protocol/scene.h"
#include "tests/unit/protocol/step/step_fixture.h"

namespace ostraka::protocol::own_gradient_test {
namespace {

using wire::MessageType;
using wire::Phase;

constexpr std::size_t kSelf = StepWorld::kSelf;

class OwnGradientTest : public testing::Test {
 protected:
  explicit OwnGradientTest(const StepWorld::Edit& edit = nullptr)
      : w_(edit), pairs_(w_, w_.server, w_.facts), gradient_(w_, w_.followers, w_.facts, pairs_) {}
  void TearDown() override { gradient_.CheckInvariants(); }

  // The jobs run until the parts are there.
  void Work() {
    gradient_.Begin();
    EXPECT_FALSE(RunNext());
    EXPECT_TRUE(RunNext());
  }
  bool RunNext() {
    const auto started = w_.Taken<StartJob>();
    if (started.size() != 1 || !gradient_.Owns(started[0].id)) {
      ADD_FAILURE() << "one job of the gradient was expected";
      return false;
    }
    return gradient_.OnJob(w_.RunJob(started[0]));
  }
  std::vector<PeerId> RecipientsOf(std::uint32_t column, const std::vector<SentFrame>& parts) {
    std::vector<PeerId> to;
    for (const SentFrame& part : parts) {
      if (part.envelope.slot.iteration == column) to.push_back(part.to);
    }
    std::sort(to.begin(), to.end());
    return to;
  }

  StepWorld w_;
  DisputedPairs pairs_;
  OwnGradient gradient_;
};

class DisputedGradientTest : public OwnGradientTest {
 protected:
  DisputedGradientTest() : OwnGradientTest(InDispute(kSelf, 2)) {}
};
class NoGradientTest : public OwnGradientTest {
 protected:
  NoGradientTest() : OwnGradientTest(Validates(kSelf, 2, 3)) {}
};

TEST_F(OwnGradientTest, GradientIsOfTheBatchThatTheLastCoinDraws) {
  gradient_.Begin();
  const auto started = w_.Taken<StartJob>();
  ASSERT_EQ(started.size(), 1u);
  const auto& spec = std::get<GradientSpec>(*started[0].spec);
  EXPECT_EQ(spec.step, StepWorld::kStep);
  EXPECT_EQ(spec.owner, w_.self);
  EXPECT_EQ(spec.parameters, w_.chain.state().parameters);
  EXPECT_EQ(spec.batch_seed, BatchSeed(w_.manifest->run_id, w_.manifest->training.data,
                                       w_.head().randomness, StepWorld::kStep, w_.self));
  EXPECT_TRUE(w_.Taken<Store>().empty());  // nothing is said yet
}

TEST_F(OwnGradientTest, CommitGoesToAllAndEachPartToItsOwnerAlone) {
  Work();
  const auto own = w_.Utter();
  auto sends = w_.Taken<Send>();
  for (const Send& send : sends) w_.out.Add(send);
  EXPECT_EQ(w_.Sent(MessageType::kCommit).size(), w_.count() - 1);
  for (const Send& send : sends) w_.out.Add(send);
  const auto parts = w_.Sent(MessageType::kPart);
  EXPECT_EQ(parts.size(), w_.count() - 1);
  for (std::uint32_t j = 0; j < w_.count(); ++j) {
    if (w_.OwnerOf(j) == kSelf) continue;
    EXPECT_EQ(RecipientsOf(j, parts), (std::vector<PeerId>{w_.Id(w_.OwnerOf(j))}));
  }
  ASSERT_EQ(own.size(), 2u);  // the COMMIT, and the PART of the own column
  EXPECT_EQ(own[0].message->envelope.body, w_.Commit(kSelf)->envelope.body);
  EXPECT_EQ(own[1].blob->root, w_.PartsOf(kSelf)[w_.ColumnOf(kSelf)]->root);
  ASSERT_EQ(gradient_.parts().size(), w_.count());
  EXPECT_EQ(gradient_.parts()[1]->root, w_.PartsOf(kSelf)[1]->root);
  EXPECT_FALSE(gradient_.parts_lost());
}

TEST_F(OwnGradientTest, CommitAndPartsAreOneTransaction) {
  Work();
  const auto stores = w_.Taken<Store>();
  ASSERT_EQ(stores.size(), 1u);
  EXPECT_EQ(stores[0].records.size(), 1 + w_.count());
}

TEST_F(OwnGradientTest, FollowerGetsTheCommitAndNoPart) {
  const PeerId stranger = scene::PeerNumber(77);
  w_.followers.Note(stranger, w_.now(), 0, 0);
  Work();
  w_.Utter();
  const auto sends = w_.Taken<Send>();
  std::size_t to_stranger = 0;
  for (const Send& send : sends) {
    if (send.to != stranger) continue;
    ++to_stranger;
    EXPECT_EQ(wire::Open(send.frame)->envelope.slot.type, MessageType::kCommit);
  }
  EXPECT_EQ(to_stranger, 1u);
}

TEST_F(DisputedGradientTest, PartOfADisputedPairGoesToAllMembers) {
  Work();
  w_.Utter();
  const auto parts = w_.Sent(MessageType::kPart);
  EXPECT_EQ(RecipientsOf(w_.ColumnOf(2), parts), w_.Others());
  EXPECT_EQ(RecipientsOf(w_.ColumnOf(3), parts), (std::vector<PeerId>{w_.Id(3)}));
}

TEST_F(OwnGradientTest, OtherBitsAfterARestartLoseThePartsAndNothingIsShown) {
  wire::Commit before = w_.CommitBody(kSelf);
  before.gradient_root = scene::DigestOf(4);
  w_.Hear(w_.Say(kSelf, Phase::kA, MessageType::kCommit, wire::Encode(before)));
  Work();
  EXPECT_TRUE(gradient_.parts_lost());
  EXPECT_TRUE(w_.Taken<Store>().empty());
  EXPECT_TRUE(w_.Taken<Send>().empty());
}

TEST_F(OwnGradientTest, EqualBitsAfterARestartAreShown) {
  w_.Hear(w_.Commit(kSelf));
  Work();
  EXPECT_FALSE(gradient_.parts_lost());
  w_.Utter();
  EXPECT_EQ(w_.Sent(MessageType::kPart).size(), w_.count() - 1);
}

TEST_F(NoGradientTest, MemberThatIsNoWorkerCommitsToItsCoinsAtOnce) {
  gradient_.Begin();
  EXPECT_TRUE(w_.Taken<StartJob>().empty());
  const auto own = w_.Utter();
  ASSERT_EQ(own.size(), 1u);
  const auto commit = wire::Decode<wire::Commit>(own[0].message->envelope.body);
  ASSERT_TRUE(commit.ok());
  EXPECT_FALSE(commit->gradient_root);
  EXPECT_EQ(commit->coins_root, w_.CommitBody(kSelf).coins_root);
  EXPECT_TRUE(gradient_.parts().empty());
  EXPECT_TRUE(w_.Sent(MessageType::kPart).empty());
}

// --- profile exact/1 ---

void MakeExact(Manifest& manifest, Block&) {
  manifest.compute_profile = kExact;
  manifest.eps_g = 0;
}

class ExactGradientTest : public OwnGradientTest {
 protected:
  ExactGradientTest() : OwnGradientTest(MakeExact) {}
  // The jobs of Begin: the root's and the gradient's.
  std::vector<StartJob> Started() {
    gradient_.Begin();
    return w_.Taken<StartJob>();
  }
};

TEST_F(ExactGradientTest, CommitNamesTheParametersAndWaitsForBoth) {
  const auto started = Started();
  ASSERT_EQ(started.size(), 2u);
  ASSERT_TRUE(std::holds_alternative<ParametersRootSpec>(*started[0].spec));
  ASSERT_TRUE(gradient_.Owns(started[0].id) && gradient_.Owns(started[1].id));
  EXPECT_TRUE(gradient_.awaits_root());
  EXPECT_FALSE(gradient_.OnJob(w_.RunJob(started[1])));
  EXPECT_TRUE(RunNext());  // the parts are there
  EXPECT_TRUE(w_.Taken<Store>().empty()) << "the root is not";
  EXPECT_FALSE(gradient_.OnJob(w_.RunJob(started[0])));
  EXPECT_EQ(gradient_.parameters_root(), crypto::ParametersRoot(*w_.chain.state().parameters));
  const auto own = w_.Utter();
  ASSERT_FALSE(own.empty());
  EXPECT_EQ(own[0].message->envelope.body, w_.Commit(kSelf)->envelope.body);
  EXPECT_EQ(wire::Decode<wire::Commit>(own[0].message->envelope.body)->parameters_root,
            gradient_.parameters_root());
}

TEST_F(ExactGradientTest, OtherParametersAfterARestartLoseTheParts) {
  wire::Commit before = w_.CommitBody(kSelf);
  before.parameters_root = scene::DigestOf(4);
  w_.Hear(w_.Say(kSelf, Phase::kA, MessageType::kCommit, wire::Encode(before)));
  for (const StartJob& job : Started()) gradient_.OnJob(w_.RunJob(job));
  EXPECT_TRUE(RunNext());
  EXPECT_TRUE(gradient_.parts_lost());
  EXPECT_TRUE(w_.Taken<Store>().empty());
}

class ExactValidatorTest : public OwnGradientTest {
 protected:
  ExactValidatorTest()
      : OwnGradientTest([](Manifest& manifest, Block& head) {
          MakeExact(manifest, head);
          Validates(kSelf, 2, 3)(manifest, head);
        }) {}
};

TEST_F(ExactValidatorTest, MemberWithoutAGradientNamesItsParametersToo) {
  gradient_.Begin();
  EXPECT_TRUE(w_.Taken<Store>().empty());
  EXPECT_FALSE(RunNext());
  const auto own = w_.Utter();
  ASSERT_EQ(own.size(), 1u);
  const auto commit = wire::Decode<wire::Commit>(own[0].message->envelope.body);
  EXPECT_FALSE(commit->gradient_root);
  EXPECT_EQ(commit->parameters_root, crypto::ParametersRoot(*w_.chain.state().parameters));
}

}  // namespace
}  // namespace ostraka::protocol::own_gradient_test
