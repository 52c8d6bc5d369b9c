// A member that catches up is shown two histories of its run: it finds them, and F liars do not
// make it find any.
#include "node/protocol/sync/histories.h"

#include <gtest/gtest.h>

#include "tests/unit/protocol/sync/members.h"

namespace ostraka::protocol::histories_test {
namespace {

using scene::DigestOf;
using scene::PeerNumber;
using wire::PullKind;

// Another history, which leaves `run` with the block of `height`.
PastRun Branch(const PastRun& run, std::uint64_t height) {
  PastRun branch = run;
  for (std::uint64_t h = height; h < branch.blocks.size(); ++h) {
    Block block = *branch.blocks[h];
    block.previous = wire::BlockDigest(*branch.blocks[h - 1]);
    block.decision = DigestOf(70'000 + h);
    branch.blocks[h] = std::make_shared<const Block>(std::move(block));
  }
  return branch;
}

Digest DigestAt(const PastRun& run, std::uint64_t height) {
  return wire::BlockDigest(*run.blocks[height]);
}

void Show(CatchUp& way, const PastRun& run, std::uint64_t height) {
  way.OnBlock(PeerNumber(0), *run.blocks[height], BytesOf(*run.blocks[height]));
}

// Members of these numbers, of `count`, work on the block of that height.
void AttestBy(CatchUp& way, const PastRun& run, std::uint64_t height,
              const std::vector<std::uint32_t>& members) {
  for (const std::uint32_t i : members) way.OnAttest(PeerNumber(i), height, DigestAt(run, height));
}

// --- heads ---------------------------------------------------------------------------------------

TEST(TwoHeadsTest, OfOneStepAreTwoHistories) {
  const PastRun run(20, 100);
  const PastRun other = Branch(run, 10);
  CatchUp way = run.From(2);
  AttestBy(way, run, 20, {0, 1, 2});
  AttestBy(way, other, 20, {3, 4});
  EXPECT_FALSE(way.histories().found()) << "two may lie";
  AttestBy(way, other, 20, {5});
  ASSERT_TRUE(way.histories().found());
  EXPECT_EQ(way.histories().found()->height, 20u);
  EXPECT_EQ(way.histories().found()->one.block, DigestAt(run, 20));
  EXPECT_EQ(way.histories().found()->one.shown_by,
            (std::vector<PeerId>{PeerNumber(0), PeerNumber(1), PeerNumber(2)}));
  EXPECT_EQ(way.histories().found()->other.block, DigestAt(other, 20));
  EXPECT_EQ(way.histories().found()->other.shown_by,
            (std::vector<PeerId>{PeerNumber(3), PeerNumber(4), PeerNumber(5)}));
}

// Copies of data folders sign with the same keys.
TEST(TwoHeadsTest, MayBeSignedByTheSameKeys) {
  const PastRun run(20, 100);
  const PastRun other = Branch(run, 10);
  CatchUp way = run.From(2);
  AttestBy(way, run, 20, {0, 1, 2});
  AttestBy(way, other, 20, {0, 1});
  EXPECT_FALSE(way.histories().found());
  AttestBy(way, other, 20, {2});
  EXPECT_TRUE(way.histories().found());
}

TEST(TwoHeadsTest, AnotherBlockOfTheOwnHeightIsAnotherHistory) {
  const PastRun run(20, 100);
  CatchUp way = run.From(20);
  AttestBy(way, Branch(run, 10), 20, {0, 1});
  EXPECT_FALSE(way.histories().found());
  AttestBy(way, Branch(run, 10), 20, {2});
  ASSERT_TRUE(way.histories().found());
  EXPECT_TRUE(way.histories().found()->one.is_known);
  EXPECT_FALSE(way.at_head());
}

// Strangers, and members that left before the view, count for nothing.
TEST(TwoHeadsTest, WhoIsNoMemberShowsNoHistory) {
  const PastRun run(20, 100);
  CatchUp way = run.From(20);
  AttestBy(way, Branch(run, 10), 20, {0, 1, 50, 51, 52, 53});
  EXPECT_FALSE(way.histories().found());
}

// Attack: one liar's COMMIT of another step names a block that all attest to.
TEST(TwoHeadsTest, ACommitOfAStepThatDoesNotFitItsParentShowsNothing) {
  const PastRun run(25, 100);
  CatchUp way = run.From(20);
  Show(way, run, 24);
  AttestBy(way, run, 24, {0, 1, 2});
  way.OnAttest(PeerNumber(5), 20, DigestAt(run, 24));
  AttestBy(way, run, 25, {0, 1, 2});
  way.OnAttest(PeerNumber(5), 25, DigestAt(run, 24));
  AttestBy(way, run, 25, {3});
  EXPECT_FALSE(way.histories().found());
}

// --- the chain -----------------------------------------------------------------------------------

TEST(TwoChainsTest, ABlockThatDoesNotBuildOnTheViewIsOfAnotherHistory) {
  const PastRun run(20, 100);
  const PastRun other = Branch(run, 10);
  CatchUp way = run.From(15);
  AttestBy(way, other, 20, {0, 1, 2});
  for (std::uint64_t height = 20; height > 16; --height) Show(way, other, height);
  EXPECT_FALSE(way.histories().found());
  Show(way, other, 16);
  ASSERT_TRUE(way.histories().found());
  EXPECT_EQ(way.histories().found()->height, 15u);
  EXPECT_EQ(way.histories().found()->one.block, DigestAt(run, 15));
  EXPECT_TRUE(way.histories().found()->one.is_known);
  EXPECT_EQ(way.histories().found()->other.block, DigestAt(other, 15));
  EXPECT_EQ(way.histories().found()->other.shown_by.size(), 3u);
}

// The first head is of one history, and a later one of the other.
TEST(TwoChainsTest, AHeadThatDoesNotBuildOnTheLastOneIsOfAnotherHistory) {
  const PastRun run(30, 100);
  const PastRun other = Branch(run, 10);
  CatchUp way = run.From(2);
  Show(way, run, 20);
  AttestBy(way, run, 20, {0, 1, 2});
  Show(way, other, 25);
  AttestBy(way, other, 25, {3, 4, 5});
  for (std::uint64_t height = 24; height > 20; --height) {
    EXPECT_FALSE(way.histories().found());
    Show(way, other, height);
  }
  ASSERT_TRUE(way.histories().found());
  EXPECT_EQ(way.histories().found()->height, 20u);
}

TEST(TwoChainsTest, ABlockBetweenIsComparedWithTheOneAboveIt) {
  const PastRun run(30, 100);
  const PastRun other = Branch(run, 10);
  CatchUp way = run.From(2);
  Show(way, other, 21);
  AttestBy(way, other, 21, {3, 4, 5});
  Show(way, run, 20);
  AttestBy(way, run, 20, {0, 1, 2});
  ASSERT_TRUE(way.histories().found());
  EXPECT_EQ(way.histories().found()->height, 20u);
}

// --- landmarks -----------------------------------------------------------------------------------

// What each member answers about the past; others answer as `shown` does.
Answer AboutThePast(const Members& members, const PastRun& past) {
  return [&members, &past](CatchUp& way, const CatchUp::Request& request) {
    const bool asks = request.pull.kind == PullKind::kBlock && request.pull.index == 1;
    if (!asks) return members.AnswerHonestly(way, request);
    const Block& block = *past.blocks[request.step + 1];
    if (way.LookAt(request.to, wire::BlockDigest(block)) == CatchUp::Look::kHeld) return;
    way.OnBlock(request.to, block, BytesOf(block));
  };
}

class PastTest : public testing::Test {
 protected:
  // Brings one that holds block 5 of `run` to the head of `shown`, while members of these numbers
  // have the past of `run`.
  void BringOver(const std::vector<std::uint32_t>& of_run) {
    for (std::uint32_t i = 0; i < kSelf; ++i) {
      const bool same = std::find(of_run.begin(), of_run.end(), i) != of_run.end();
      members_.liars[i] = AboutThePast(members_, same ? run_ : shown_);
    }
    members_.Bring(way_);
  }

  const PastRun run_{60, 10};
  const PastRun shown_ = Branch(run_, 3);
  CatchUp way_ = run_.From(5);
  Members members_{shown_};
};

TEST_F(PastTest, WhoseRunDoesNotBuildOnTheOwnBlockIsOfAnotherHistory) {
  BringOver({});
  ASSERT_TRUE(way_.histories().found());
  EXPECT_EQ(way_.histories().found()->height, 5u);
  EXPECT_EQ(way_.histories().found()->one.block, DigestAt(run_, 5));
  EXPECT_TRUE(way_.histories().found()->one.is_known);
  EXPECT_TRUE(way_.histories().found()->one.shown_by.empty());
  EXPECT_EQ(way_.histories().found()->other.block, DigestAt(shown_, 5));
  EXPECT_GE(way_.histories().found()->other.shown_by.size(), 3u);
}

TEST_F(PastTest, AsManyAsMayLieChangeNothing) {
  BringOver({0, 1, 2, 3});
  EXPECT_FALSE(way_.histories().found());
  EXPECT_TRUE(way_.at_head());
}

TEST_F(PastTest, OneMoreShowsTwoHistories) {
  BringOver({0, 1, 2});
  ASSERT_TRUE(way_.histories().found());
  EXPECT_EQ(way_.histories().found()->one.shown_by.size(), 3u);
  EXPECT_EQ(way_.histories().found()->other.shown_by.size(), 3u);
}

TEST_F(PastTest, OneBlockOfEachIsAskedFor) {
  BringOver({0, 1, 2, 3, 4, 5});
  EXPECT_TRUE(way_.at_head());
  // Two answers of 32 blocks bring the chain down to the root of step 50.
  EXPECT_LE(members_.asked[PullKind::kBlock], kSelf + 2);
  EXPECT_GE(members_.asked[PullKind::kBlock], kSelf + 1);
}

// Nobody keeps a block so old.
TEST_F(PastTest, SilenceIsWaitedForOnceAndNotLong) {
  for (std::uint32_t i = 0; i < kSelf; ++i) {
    members_.liars[i] = [this](CatchUp& way, const CatchUp::Request& request) {
      const bool asks = request.pull.kind == PullKind::kBlock && request.pull.index == 1;
      if (!asks) members_.AnswerHonestly(way, request);
    };
  }
  members_.Bring(way_);
  EXPECT_TRUE(way_.at_head());
  EXPECT_FALSE(way_.histories().found());
  EXPECT_TRUE(way_.histories().Waits(base::Time{}));
  EXPECT_FALSE(way_.histories().Waits(base::Time{} + kPatience * 12));
}

// Both heads of the other history are believed before its blocks connect them.
TEST_F(PastTest, TheOwnBlockIsAskedAboutThoughANewerOneIsLeftOut) {
  for (const std::uint64_t height : {47, 52}) {
    Show(way_, shown_, height);
    AttestBy(way_, shown_, height, {0, 1, 2});
  }
  for (const std::uint64_t height : {51, 50}) Show(way_, shown_, height);
  BringOver({});
  ASSERT_TRUE(way_.histories().found());
  EXPECT_EQ(way_.histories().found()->height, 5u);
}

TEST_F(PastTest, WhatHashesProveIsAskedOfNobody) {
  CatchUp way = run_.From(45);
  for (std::uint64_t height = 46; height <= 60; ++height) Show(way, run_, height);
  AttestBy(way, run_, 60, {0, 1, 2});
  Members members(run_);
  members.Bring(way);
  EXPECT_TRUE(way.at_head());
  EXPECT_GT(members.asked[PullKind::kState], 0u);
  EXPECT_EQ(members.asked[PullKind::kBlock], 0u);
  for (const CatchUp::Request& request : way.Wants(base::Time{base::Seconds(99).ns}, AllHear)) {
    EXPECT_NE(request.pull.kind, PullKind::kBlock);
  }
  EXPECT_FALSE(way.histories().Waits(base::Time{}));
}

// It follows one history, and then members of the other that are far ahead are all that it hears.
TEST(CrossingTest, AFarHeadOfTheOtherHistoryIsCompared) {
  const PastRun run(90, 10);
  const PastRun other = Branch(run, 12);
  CatchUp way = run.From(10);
  Show(way, run, 21);
  AttestBy(way, run, 21, {0, 1, 2});
  Members members(other);
  for (std::uint32_t i = 0; i < kSelf; ++i) members.liars[i] = AboutThePast(members, other);
  members.Bring(way);
  ASSERT_TRUE(way.histories().found());
  EXPECT_EQ(way.histories().found()->height, 21u) << "its own block is one of both";
  EXPECT_EQ(way.histories().found()->one.block, DigestAt(run, 21));
}

// The head that is far ahead comes first, and a state of its history is being fetched.
TEST(CrossingTest, ALowerHeadOfTheOtherHistoryIsComparedToo) {
  const PastRun run(90, 10);
  const PastRun other = Branch(run, 12);
  CatchUp way = run.From(10);
  for (std::uint64_t height = 90; height >= 80; --height) Show(way, other, height);
  AttestBy(way, other, 90, {3, 4, 5});
  Show(way, run, 60);
  AttestBy(way, run, 60, {0, 1, 2});
  Members members(other);
  for (std::uint32_t i = 0; i < kSelf; ++i) members.liars[i] = AboutThePast(members, other);
  members.Bring(way);
  ASSERT_TRUE(way.histories().found());
  EXPECT_EQ(way.histories().found()->height, 60u);
}

class LateTest : public testing::Test {
 protected:
  // It holds block 5, and begins to fetch the state of step 80 of `other_`.
  void Fetch() {
    Show(way_, other_, 90);
    AttestBy(way_, other_, 90, {3, 4, 5});
    for (std::uint64_t height = 89; height >= 80; --height) Show(way_, other_, height);
  }
  void Answer(std::uint32_t member, const PastRun& of, std::uint64_t height) {
    const Block& block = *of.blocks[height];
    if (way_.LookAt(PeerNumber(member), wire::BlockDigest(block)) == CatchUp::Look::kHeld) return;
    way_.OnBlock(PeerNumber(member), block, BytesOf(block));
  }

  const PastRun run_{100, 10};
  const PastRun other_ = Branch(run_, 12);
  CatchUp way_ = run_.From(5);
};

// Nobody had attested to the block when it came, and it is no news any more.
TEST_F(LateTest, AnAnswerCountsThoughItsBlockIsHereUnproven) {
  Show(way_, other_, 60);
  Fetch();
  AttestBy(way_, run_, 60, {0, 1, 2});
  for (const std::uint32_t member : {3, 4, 5}) Answer(member, other_, 60);
  ASSERT_TRUE(way_.histories().found());
  EXPECT_EQ(way_.histories().found()->height, 60u);
}

// Late attestations to many blocks do not push out the question about the own one.
TEST_F(LateTest, TheOwnBlockStaysALandmark) {
  Fetch();
  for (const std::uint64_t height : {61, 62, 63, 64, 65}) AttestBy(way_, run_, height, {0, 1, 2});
  for (const std::uint32_t member : {3, 4, 5}) Answer(member, Branch(run_, 3), 5);
  ASSERT_TRUE(way_.histories().found());
  EXPECT_EQ(way_.histories().found()->height, 5u);
}

TEST(HistoriesTest, OfTooManyLandmarksTheOldestGoesButForTheViews) {
  const PastRun run(20, 100);
  Histories histories(kPatience);
  const SharedBlock& view = run.blocks[5];
  histories.KeepLandmark(view, view);
  for (const std::uint64_t height : {10, 11, 12, 13, 14}) {
    histories.KeepLandmark(view, run.blocks[height]);
  }
  EXPECT_FALSE(histories.HasRoom());
  for (const std::uint64_t height : {5, 12, 13, 14}) EXPECT_TRUE(histories.HasLandmarkAt(height));
  for (const std::uint64_t height : {10, 11}) EXPECT_FALSE(histories.HasLandmarkAt(height));
}

// --- beside a fetch ------------------------------------------------------------------------------

// Links of some members are slow: what they attest to lies before the state that is fetched.
TEST(LateAttestTest, ABlockBeforeTheFetchedStateIsOfNoUse) {
  const PastRun run(60, 10);
  CatchUp way = run.From(0);
  Show(way, run, 20);
  AttestBy(way, run, 20, {0, 1});
  AttestBy(way, run, 60, {3, 4, 5});
  for (std::uint64_t height = 60; height >= 50; --height) Show(way, run, height);
  EXPECT_NE(way.Describe().find("state of step 50"), std::string::npos) << way.Describe();
  AttestBy(way, run, 20, {2});
  EXPECT_EQ(HeightOf(*way.head()), 60u);
  EXPECT_FALSE(way.histories().found());
  Members members(run);
  members.Bring(way);
  EXPECT_TRUE(way.at_head());
}

// --- words ---------------------------------------------------------------------------------------

TEST(TwoHistoriesLineTest, NamesTheBlocksAndWhoShowsThem) {
  TwoHistories two;
  two.height = 120;
  two.one = {DigestOf(1), true, {}};
  two.other = {DigestOf(2), false, {}};
  for (std::uint32_t i = 0; i < 6; ++i) two.other.shown_by.push_back(PeerNumber(i));
  const std::string line = two.Line();
  const std::string first = base::ToHex(DigestOf(1).view()).substr(0, 8);
  EXPECT_NE(line.find("block 120"), std::string::npos) << line;
  EXPECT_NE(line.find(first + " (which this node had taken for the run's);"), std::string::npos)
      << line;
  EXPECT_NE(line.find(PeerNumber(3).Short() + " and 2 more."), std::string::npos) << line;
  EXPECT_EQ(line.find(PeerNumber(4).Short()), std::string::npos) << line;
  EXPECT_EQ(line.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace ostraka::protocol::histories_test
