#include "node/protocol/lasting/chain.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/protocol/scene.h"
#include "tests/unit/protocol/states.h"

namespace ostraka::protocol::chain_test {
namespace {

using scene::DigestOf;
using scene::PeersUpTo;

ModelState StateOf(float value) {
  const auto numbers = std::make_shared<const std::vector<float>>(8, value);
  return SgdState(numbers, numbers);
}

SharedBlock BlockOf(std::uint64_t step, bool genesis = false) {
  auto block = std::make_shared<Block>();
  block->genesis = genesis;
  block->step = step;
  block->members = PeersUpTo(4);
  std::sort(block->members.begin(), block->members.end());
  block->decision = DigestOf(static_cast<int>(step));
  block->delta_us = 1'500;
  return block;
}

class ChainTest : public testing::Test {
 protected:
  Chain chain_{BlockOf(0, true), StateOf(1)};
};

TEST_F(ChainTest, StateFollowsTheHead) {
  chain_.AdvanceHead(BlockOf(0));
  EXPECT_EQ(HeightOf(chain_.head()), 1u);
  EXPECT_EQ(chain_.state().parameters->front(), 1.0F);
  chain_.SetState(StateOf(2));
  EXPECT_EQ(chain_.state().parameters->front(), 2.0F);
  EXPECT_EQ(chain_.delta(), base::Microseconds(1'500));
  chain_.CheckInvariants();
}

TEST_F(ChainTest, ShownHeadIsTheHeadOfNow) {
  const Digest first = chain_.Shown().digest;
  EXPECT_EQ(first, wire::BlockDigest(chain_.head()));
  EXPECT_EQ(chain_.Shown().blob, chain_.Shown().blob);  // encoded once
  chain_.AdvanceHead(BlockOf(0));
  EXPECT_NE(chain_.Shown().digest, first);
  EXPECT_EQ(chain_.Shown().digest, wire::BlockDigest(chain_.head()));
}

TEST_F(ChainTest, ResultThatCameLastIsKept) {
  const SharedBlob first = crypto::MakeBlob({1});
  EXPECT_TRUE(chain_.KeepResult(3, 1, first));
  EXPECT_FALSE(chain_.KeepResult(3, 1, crypto::MakeBlob({1})));
  EXPECT_EQ(chain_.ResultAt(3, 1), first);
  const SharedBlob second = crypto::MakeBlob({2});
  EXPECT_TRUE(chain_.KeepResult(3, 1, second));
  EXPECT_EQ(chain_.ResultAt(3, 1), second);
  EXPECT_EQ(chain_.ResultAt(3, 2), nullptr);
  EXPECT_EQ(chain_.ResultAt(4, 1), nullptr);
  EXPECT_EQ(chain_.ResultAt(3, (std::uint64_t{1} << 32) + 1), nullptr);  // no wrap to column 1
}

TEST_F(ChainTest, ResultsOfOldStepsAreForgotten) {
  for (std::uint64_t step = 0; step < 40; ++step) {
    chain_.KeepResult(step, 0, crypto::MakeBlob({1}));
    chain_.ForgetResults(step);
  }
  EXPECT_EQ(chain_.ResultAt(39 - kPastSteps - 1, 0), nullptr);
  EXPECT_NE(chain_.ResultAt(39 - kPastSteps, 0), nullptr);
  chain_.TrimResults();
  EXPECT_EQ(chain_.ResultAt(39 - kPastSteps, 0), nullptr);
  EXPECT_NE(chain_.ResultAt(39 - kPastSteps + 1, 0), nullptr);
}

TEST_F(ChainTest, PastStepsAndServedStatesAreBounded) {
  for (std::uint64_t step = 0; step < 40; ++step) {
    chain_.Remember(step, PastStep{});
    chain_.Serve(step, {DigestOf(1)});
    chain_.CheckInvariants();
  }
  EXPECT_EQ(chain_.Past(39 - kPastSteps), nullptr);
  EXPECT_NE(chain_.Past(39 - kPastSteps + 1), nullptr);
  EXPECT_EQ(chain_.ServedAt(39 - 2 * kLongWay - 1), nullptr);
  EXPECT_NE(chain_.ServedAt(39 - 2 * kLongWay), nullptr);
  chain_.ForgetPast();
  EXPECT_EQ(chain_.Past(39), nullptr);
  EXPECT_EQ(chain_.ServedAt(39), nullptr);
}

class TrimTest : public ChainTest {
 protected:
  // The head is of step 20, and the past 16 steps have parts and parameters.
  TrimTest() {
    for (std::uint64_t step = 5; step <= 20; ++step) {
      PastStep past;
      past.parameters = std::make_shared<const std::vector<float>>(1, 0.0F);
      past.parts[{0, PeersUpTo(1)[0]}] = {};
      chain_.Remember(step, std::move(past));
    }
  }
  void Trim(const std::vector<wire::CaseId>& open, const LookRange& looks) {
    auto head = std::make_shared<Block>(chain_.head());
    head->genesis = false;
    head->step = 20;
    for (const wire::CaseId& id : open) head->cases.push_back({.id = id});
    chain_.AdvanceHead(std::move(head));
    chain_.TrimPast(looks);
  }
  std::vector<std::uint64_t> Steps(bool with_parts) const {
    std::vector<std::uint64_t> steps;
    for (std::uint64_t step = 5; step <= 20; ++step) {
      const PastStep& past = *chain_.Past(step);
      if (with_parts ? !past.parts.empty() : past.parameters != nullptr) steps.push_back(step);
    }
    return steps;
  }
  using ListOfSteps = std::vector<std::uint64_t>;
};

TEST_F(TrimTest, QuietStepsKeepWhatTheNextAccusationsAndNamingsAreAbout) {
  Trim({}, {});
  EXPECT_EQ(Steps(true), (ListOfSteps{19, 20}));
  EXPECT_EQ(Steps(false), (ListOfSteps{19, 20}));
}

TEST_F(TrimTest, LooksThatMayComeKeepParametersAlone) {
  Trim({}, {.before = 4, .after = 2});
  EXPECT_EQ(Steps(true), (ListOfSteps{19, 20}));
  EXPECT_EQ(Steps(false), (ListOfSteps{15, 16, 17, 18, 19, 20}));
}

// Attack: what a case is about must not be forgotten before it ends, or nobody can vote on it.
TEST_F(TrimTest, OpenCasesKeepTheirStepAndGradientCasesTheStepsAround) {
  Trim({{.kind = wire::CaseKind::kCover, .step = 7},
        {.kind = wire::CaseKind::kGradient, .step = 12}},
       {.before = 1, .after = 2});
  EXPECT_EQ(Steps(true), (ListOfSteps{7, 12, 19, 20}));
  EXPECT_EQ(Steps(false), (ListOfSteps{7, 11, 12, 13, 14, 18, 19, 20}));
}

// A follower that fetches a state has until a root that is more than 2 kLongWay newer.
TEST_F(ChainTest, StateIsServedUntilAMemberThatFetchesItTurnsToANewerOne) {
  for (const std::uint64_t every : {1, 2, 5, 8, 10, 16, 30}) {
    chain_.ForgetPast();
    std::uint64_t newest = 0;
    for (; newest <= 2 * kLongWay; newest += every) {
      chain_.Serve(newest, {DigestOf(1)});
      EXPECT_NE(chain_.ServedAt(0), nullptr) << every << ": at " << newest;
    }
    for (const std::uint64_t last = newest + every; newest <= last; newest += every) {
      chain_.Serve(newest, {DigestOf(1)});
    }
    EXPECT_EQ(chain_.ServedAt(0), nullptr) << every;
  }
}

TEST_F(ChainTest, ServesAsManyStatesAsItSays) {
  for (const std::uint64_t every : {1, 2, 3, 5, 8, 10, 16, 17, 30}) {
    chain_.ForgetPast();
    for (std::uint64_t step = 0; step <= 20 * every; step += every) {
      chain_.Serve(step, {DigestOf(1)});
    }
    std::size_t served = 0;
    for (std::uint64_t step = 0; step <= 20 * every; step += every) {
      served += chain_.ServedAt(step) != nullptr ? 1 : 0;
    }
    EXPECT_EQ(served, Chain::ServedStates(every)) << every;
  }
}

TEST_F(ChainTest, ServedStateStaysAsItWas) {
  chain_.Serve(1, {DigestOf(1)});
  chain_.SetState(StateOf(2));
  EXPECT_EQ(chain_.ServedAt(1)->state->parameters->front(), 1.0F);
}

TEST_F(ChainTest, ResultIsLeftToTheStoreOnceItHasItAndItsStepIsOver) {
  const SharedBlob result = crypto::MakeBlob({1, 2, 3});
  const auto copy = std::make_shared<crypto::DiskCopy>();
  chain_.AdvanceHead(BlockOf(2));
  chain_.KeepResult(2, 0, result);
  chain_.ResultIsStored(2, 0, copy);
  chain_.AdvanceHead(BlockOf(3));
  EXPECT_EQ(chain_.ResultAt(2, 0), result) << "the disk is slow";

  copy->Set(crypto::SourceOf(result));
  EXPECT_EQ(chain_.ResultAt(2, 0), result) << "nothing changes before the next block";
  chain_.KeepResult(3, 0, result);
  chain_.ResultIsStored(3, 0, copy);
  chain_.AdvanceHead(BlockOf(4));
  const SharedBlob left = chain_.ResultAt(2, 0);
  ASSERT_NE(left, nullptr);
  EXPECT_TRUE(left->data.empty());
  EXPECT_EQ(left->source, copy->place());
  EXPECT_EQ(left->root, result->root);
  EXPECT_EQ(left->leaves, result->leaves);
  EXPECT_EQ(left->size(), 3U);
  chain_.AdvanceHead(BlockOf(4));
  EXPECT_EQ(chain_.ResultAt(2, 0), left);
  EXPECT_FALSE(chain_.KeepResult(2, 0, result)) << "it is still that one";
}

// A blob that came without its leaves would have to be read whole to be sent.
TEST_F(ChainTest, ResultThatIsLeftHasItsLeaves) {
  const SharedBlob whole = crypto::MakeBlob({1, 2, 3});
  const auto copy = std::make_shared<crypto::DiskCopy>();
  copy->Set(crypto::SourceOf(whole));
  chain_.KeepResult(2, 0,
                    std::make_shared<const crypto::Blob>(crypto::Blob{whole->data, whole->root}));
  chain_.ResultIsStored(2, 0, copy);
  chain_.AdvanceHead(BlockOf(3));
  EXPECT_EQ(chain_.ResultAt(2, 0)->leaves, whole->leaves);
}

TEST_F(ChainTest, NobodyKeepsAResultThatTheStoreHasAndNoRuleNeeds) {
  auto result = crypto::MakeBlob({1, 2, 3});
  const std::weak_ptr<const crypto::Blob> bytes = result;
  const auto copy = std::make_shared<crypto::DiskCopy>();
  copy->Set(crypto::SourceOf(crypto::MakeBlob({1, 2, 3})));
  chain_.AdvanceHead(BlockOf(2));
  chain_.KeepResult(2, 0, result);
  chain_.ResultIsStored(2, 0, copy);
  PastStep past;
  past.columns.resize(1);
  past.columns[0].result = std::exchange(result, nullptr);
  chain_.Remember(2, std::move(past));
  for (std::uint64_t step = 3; step <= 4; ++step) {
    chain_.AdvanceHead(BlockOf(step));
    chain_.TrimPast({});
    EXPECT_EQ(bytes.expired(), step == 4) << step;
  }
  EXPECT_EQ(chain_.Past(2)->columns.size(), 1U);
  EXPECT_NE(chain_.ResultAt(2, 0), nullptr);
}

TEST_F(ChainTest, StateIsLeftToTheStoreThatHasIt) {
  const auto copy = std::make_shared<crypto::DiskCopy>();
  chain_.AdvanceHead(BlockOf(2));
  chain_.StateIsStored(copy);
  chain_.Serve(3, {DigestOf(1)});
  chain_.AdvanceHead(BlockOf(3));
  chain_.Serve(4, {DigestOf(1)});
  EXPECT_TRUE(chain_.ServedAt(3)->state) << "not yet durable";
  copy->Set(crypto::SourceOf(crypto::MakeBlob({1})));
  chain_.AdvanceHead(BlockOf(4));
  EXPECT_FALSE(chain_.ServedAt(3)->state);
  EXPECT_TRUE(chain_.ServedAt(4)->state) << "it was never stored";
}

TEST_F(ChainTest, ExhibitIsKeptWithItsStep) {
  chain_.Remember(5, PastStep{});
  const PartKey key{2, PeersUpTo(2)[1]};
  chain_.KeepPart(5, key, {nullptr, crypto::MakeBlob({1})});
  EXPECT_TRUE(chain_.Past(5)->parts.contains(key));
}

}  // namespace
}  // namespace ostraka::protocol::chain_test
