// A member that is away catches up: what it believes, and how it gets to the head.
#include "node/protocol/sync/catch_up.h"

#include <gtest/gtest.h>

#include "tests/unit/protocol/sync/members.h"

namespace ostraka::protocol::catch_up_test {
namespace {

using scene::DigestOf;
using scene::PeerNumber;
using wire::PullKind;

// --- the head ------------------------------------------------------------------------------------

TEST(HeadTest, IsBelievedOnceMoreMembersVouchThanMayLie) {
  const PastRun run(4, 100);
  CatchUp way = run.From(2);
  way.OnBlock(PeerNumber(0), *run.head(), BytesOf(*run.head()));
  Attest(way, *run.head(), 2);
  Attest(way, *run.head(), 2);  // the same two again
  const Digest digest = wire::BlockDigest(*run.head());
  way.OnAttest(PeerNumber(1), 9, digest);  // in another step
  way.OnAttest(PeerNumber(99), 4, digest);
  way.OnAttest(PeerNumber(3), 4, DigestOf(1));
  EXPECT_EQ(HeightOf(*way.head()), 2u);
  way.OnAttest(PeerNumber(4), 4, digest);
  EXPECT_EQ(HeightOf(*way.head()), 4u);
}

TEST(HeadTest, TheVouchersMayComeBeforeTheBlock) {
  const PastRun run(4, 100);
  CatchUp way = run.From(2);
  Attest(way, *run.head(), 3);
  EXPECT_EQ(HeightOf(*way.head()), 2u);
  way.OnBlock(PeerNumber(0), *run.head(), BytesOf(*run.head()));
  EXPECT_EQ(HeightOf(*way.head()), 4u);
}

// Nobody's word that there is nothing newer: as many must say so as for a newer one.
TEST(HeadTest, OneWhoMissedNothingLearnsItFromTheVouchers) {
  const PastRun run(4, 100);
  CatchUp way = run.From(4);
  EXPECT_FALSE(way.at_head());
  Attest(way, *run.head(), 2);
  EXPECT_FALSE(way.at_head());
  Attest(way, *run.head(), 3);
  EXPECT_TRUE(way.at_head());
}

// The caller saw enough members show the block: no COMMIT has to prove it.
TEST(HeadTest, ABlockThatIsTrustedIsOne) {
  const PastRun run(4, 100);
  CatchUp way = run.From(3);
  way.Trust(run.blocks[4]);
  EXPECT_EQ(HeightOf(*way.head()), 4u);
  const std::vector<SharedBlock> blocks = way.TakeBlocks();
  ASSERT_EQ(blocks.size(), 1u);
  EXPECT_EQ(wire::BlockDigest(*blocks[0]), wire::BlockDigest(*run.head()));
}

TEST(HeadTest, ALiarsBlocksAreFewAndPushNobodyElsesOut) {
  const PastRun run(4, 100);
  CatchUp way = run.From(2);
  way.OnBlock(PeerNumber(1), *run.head(), BytesOf(*run.head()));
  way.OnBlock(PeerNumber(0), *run.head(), BytesOf(*run.head()));  // the liar's word for it, too
  for (std::uint64_t i = 0; i < 500; ++i) {
    const Block forged = ForgedBlock(run, 1000 + i, i);
    way.OnBlock(PeerNumber(0), forged, BytesOf(forged));
  }
  EXPECT_LE(way.unproven_count(), kUnprovenBlocks + 1);
  Attest(way, *run.head(), 3);
  EXPECT_EQ(HeightOf(*way.head()), 4u);
}

TEST(HeadTest, LargeBlocksAreCountedByTheirBytes) {
  const PastRun run(4, 100);
  CatchUp way = run.From(2);
  for (std::uint64_t i = 0; i < 3; ++i) {
    // The bytes are read only when the block is believed.
    const auto bytes = [&](std::size_t count) {
      return crypto::MakeBlob(base::Bytes(count, static_cast<std::uint8_t>(i)));
    };
    way.OnBlock(PeerNumber(0), ForgedBlock(run, 1000 + i, i), bytes(kUnprovenBytes));
    way.OnBlock(PeerNumber(1), ForgedBlock(run, 1000 + i, 100 + i), bytes(kUnprovenBytes / 2));
  }
  EXPECT_EQ(way.unproven_count(), 3u);
}

// What is held until it is proven: the bytes that came, and not the block that they decode to.
TEST(HeadTest, ABlockThatNothingProvesIsKeptAsItCame) {
  const PastRun run(4, 100);
  CatchUp way = run.From(2);
  const SharedBlob bytes = BytesOf(*run.head());
  const Digest digest = wire::BlockDigest(*run.head());
  EXPECT_EQ(way.LookAt(PeerNumber(0), digest), CatchUp::Look::kNew);
  way.OnBlock(PeerNumber(0), *run.head(), bytes);
  EXPECT_EQ(bytes.use_count(), 2);
  EXPECT_EQ(way.LookAt(PeerNumber(1), digest), CatchUp::Look::kHeld);
  Attest(way, *run.head(), 3);
  EXPECT_EQ(wire::BlockDigest(*way.head()), digest);
  EXPECT_EQ(bytes.use_count(), 1);
  // The believed one names the one below.
  EXPECT_EQ(way.LookAt(PeerNumber(0), run.head()->previous), CatchUp::Look::kProven);
  EXPECT_EQ(way.LookAt(PeerNumber(0), DigestOf(1)), CatchUp::Look::kNew);
  EXPECT_EQ(way.LookAt(PeerNumber(0), digest), CatchUp::Look::kNew) << "a copy";
  way.OnBlock(PeerNumber(0), *run.blocks[3], BytesOf(*run.blocks[3]));
  EXPECT_EQ(way.LookAt(PeerNumber(0), run.head()->previous), CatchUp::Look::kNew) << "a copy";
}

// --- the chain -----------------------------------------------------------------------------------

TEST(ChainTest, AnOlderBlockIsBelievedOnlyForTheNewerOnesSake) {
  const PastRun run(6, 100);
  CatchUp way = run.From(2);
  Block forged = *run.blocks[5];
  forged.decision = DigestOf(1);
  way.OnBlock(PeerNumber(0), forged, BytesOf(forged));
  way.OnBlock(PeerNumber(0), *run.blocks[3], BytesOf(*run.blocks[3]));
  way.OnBlock(PeerNumber(0), *run.head(), BytesOf(*run.head()));
  Attest(way, *run.head(), 3);
  EXPECT_TRUE(way.TakeBlocks().empty()) << "there is a gap above the view";
  way.OnBlock(PeerNumber(0), *run.blocks[4], BytesOf(*run.blocks[4]));
  EXPECT_TRUE(way.TakeBlocks().empty()) << "block 5 is still missing";
  way.OnBlock(PeerNumber(1), *run.blocks[5], BytesOf(*run.blocks[5]));
  const std::vector<SharedBlock> blocks = way.TakeBlocks();
  ASSERT_EQ(blocks.size(), 4u);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    EXPECT_EQ(wire::BlockDigest(*blocks[i]), wire::BlockDigest(*run.blocks[3 + i]));
  }
  EXPECT_TRUE(way.TakeBlocks().empty()) << "each is told once";
}

// --- ways ----------------------------------------------------------------------------------------

TEST(WayTest, AShortOneIsMadeByResults) {
  const PastRun run(20, 2);
  CatchUp way = run.From(20 - kLongWay);
  Members members(run);
  members.Bring(way);
  EXPECT_TRUE(way.at_head()) << way.Describe();
  EXPECT_EQ(members.applied(), kLongWay);
  EXPECT_EQ(members.blocks_told(), kLongWay);
  EXPECT_EQ(members.asked[PullKind::kState], 0u);
}

TEST(WayTest, ALongOneStartsFromTheNewestSealedState) {
  const PastRun run(60, 10);
  CatchUp way = run.From(0);
  Members members(run);
  members.Bring(way);
  EXPECT_TRUE(way.at_head()) << way.Describe();
  EXPECT_EQ(members.asked[PullKind::kState], 1 + StatePieces(run.layout, 1).size());
  EXPECT_EQ(members.applied(), 10u) << "the root of the state after block 50 is the newest";
  EXPECT_EQ(HeightOf(*way.view()), 60u);
}

TEST(WayTest, AFetchedStateHasEverySlotOfTheOptimizer) {
  const PastRun run(60, 10, {{"w", {30}}, {"b", {10}}}, {"first_moment", "second_moment"});
  CatchUp way = run.From(0);
  Members members(run);
  members.Bring(way);
  EXPECT_TRUE(way.at_head()) << way.Describe();
  EXPECT_EQ(members.asked[PullKind::kState], 1 + StatePieces(run.layout, 2).size());
}

TEST(WayTest, WithoutASealedRootALongOneIsMadeByResultsToo) {
  const PastRun run(60, 1000);
  CatchUp way = run.From(40);
  Members members(run);
  members.Bring(way);
  EXPECT_TRUE(way.at_head()) << way.Describe();
  EXPECT_EQ(members.applied(), 20u);
}

TEST(WayTest, AStateThatIsNotTrustedIsFetchedHoweverShortTheWay) {
  const PastRun run(21, 10);
  CatchUp way = run.From(20, false);
  way.OnBlock(PeerNumber(0), *run.head(), BytesOf(*run.head()));
  Attest(way, *run.head(), 3);
  EXPECT_FALSE(way.Next());
  Members members(run);
  members.Bring(way);
  EXPECT_TRUE(way.at_head()) << way.Describe();
  EXPECT_EQ(members.asked[PullKind::kState], 1 + StatePieces(run.layout, 1).size());
  EXPECT_EQ(members.applied(), 1u);
}

// Members serve the states of the newest two roots, and after the last block no newer one comes.
TEST(WayTest, StateThatTheEndOfTheRunReplacedIsFetchedNoMore) {
  PastRun run(54, 10);
  CatchUp way = run.From(0);
  Members members(run);
  for (std::uint32_t i = 0; i < kMemberCount; ++i) {
    members.liars[i] = [&](CatchUp& w, const CatchUp::Request& request) {
      const bool state = request.pull.kind == PullKind::kState;
      if (!state || request.step == run.head()->step) members.AnswerHonestly(w, request);
    };
  }
  members.Bring(way, 20);
  EXPECT_FALSE(way.at_head()) << "it fetches the state of step 50";
  run.Close();
  members.Bring(way);
  EXPECT_TRUE(way.at_head()) << way.Describe();
  EXPECT_EQ(HeightOf(*way.view()), 55u);
}

// A line that brings no state while members keep it: the user is told what is wrong.
TEST(WayTest, SaysThatItsLineIsTooSlow) {
  const PastRun run(100, 10);
  CatchUp way = run.From(0);
  const auto show = [&](std::uint64_t height) {
    way.OnBlock(PeerNumber(0), *run.blocks[height], BytesOf(*run.blocks[height]));
    Attest(way, *run.blocks[height], 3);
    for (std::uint64_t below = height - 1; below + 32 > height; --below) {
      way.OnBlock(PeerNumber(0), *run.blocks[below], BytesOf(*run.blocks[below]));
    }
  };
  show(52);
  EXPECT_EQ(way.Describe(), "at block 0 of 52, 0 of 4 pieces of the state of step 50");
  show(62);
  EXPECT_EQ(way.Describe(), "at block 0 of 62, 0 of 4 pieces of the state of step 50");
  show(82);
  EXPECT_EQ(
      way.Describe(),
      "at block 0 of 82, 0 of 4 pieces of the state of step 80 (earlier ones did not come in "
      "the 16 steps for which members keep them: 1; this run needs a faster line, or a larger "
      "--bandwidth)");
}

// --- a fetch that was killed ---------------------------------------------------------------------

// What came of the state of step 50 until it was killed, with the leaves.
StateParts KeptOf(const PastRun& run, std::uint64_t pieces) {
  CatchUp way = run.From(0);
  Members members(run);
  StateParts kept;
  const Answer until_killed = [&](CatchUp& w, const CatchUp::Request& request) {
    if (request.pull.kind == PullKind::kState && kept.parts.size() > pieces) return;
    members.AnswerHonestly(w, request);
    StateParts fresh = w.TakeParts();
    if (!fresh.parts.empty()) kept.step = fresh.step;
    kept.parts.merge(fresh.parts);
  };
  for (std::uint32_t i = 0; i < kMemberCount; ++i) members.liars[i] = until_killed;
  members.Bring(way, 10);
  EXPECT_EQ(kept.parts.size(), pieces + 1);
  return kept;
}

TEST(KilledTest, WhatIsKeptOfAStateIsNotFetchedAgain) {
  const PastRun run(60, 10);
  const StateParts kept = KeptOf(run, 3);
  EXPECT_EQ(kept.step, 50u);
  CatchUp way = run.From(0, true, kept);
  Members members(run);
  members.Bring(way);
  EXPECT_TRUE(way.at_head()) << way.Describe();
  EXPECT_EQ(members.asked[PullKind::kState], 1u) << "one piece of four, and no leaves";
}

// The newest root is that of step 50 when it was killed, and of 60 when it is back.
TEST(KilledTest, AKeptStateIsFetchedOnThoughThereIsANewerOne) {
  const PastRun before(60, 10);
  const PastRun after(66, 10);
  CatchUp way = after.From(0, true, KeptOf(before, 3));
  Members members(after);
  members.Bring(way);
  EXPECT_TRUE(way.at_head()) << way.Describe();
  EXPECT_EQ(members.asked[PullKind::kState], 1u);
  EXPECT_EQ(members.applied(), 16u) << "from block 50 on";
}

TEST(KilledTest, AKeptStateThatMembersServeNoMoreIsLeft) {
  const PastRun before(60, 10);
  const PastRun after(77, 10);
  CatchUp way = after.From(0, true, KeptOf(before, 3));
  Members members(after);
  members.Bring(way);
  EXPECT_TRUE(way.at_head()) << way.Describe();
  EXPECT_EQ(members.asked[PullKind::kState], 5u);
  EXPECT_EQ(members.applied(), 7u) << "from block 70 on";
}

// A store may hold anything: other bytes, a step without a root, one that is over or to come.
TEST(KilledTest, KeptPartsThatAreNoneCostNothing) {
  const PastRun run(66, 10);
  StateParts wrong = KeptOf(run, 3);
  for (auto& [part, blob] : wrong.parts) blob = FloatBlob(7, 10);
  for (const std::uint64_t step : {60u, 55u, 50u, 3u, 0u, 99u}) {
    wrong.step = step;
    CatchUp way = run.From(4, true, wrong);
    Members members(run);
    members.Bring(way);
    EXPECT_TRUE(way.at_head()) << step << ": " << way.Describe();
    EXPECT_EQ(members.asked[PullKind::kState], 5u) << step;
  }
}

TEST(KilledTest, AStateThatIsWholeInTheStoreIsTakenAtOnce) {
  const PastRun run(60, 10);
  StateParts kept = KeptOf(run, 3);
  const ModelState& state = run.states[50];
  const std::vector<StatePiece> pieces = StatePieces(run.layout, state.slots.size());
  for (std::uint64_t part = 1; part <= pieces.size(); ++part) {
    kept.parts[part] = crypto::MakeBlob(PieceOf(state, pieces[part - 1]));
  }
  CatchUp way = run.From(0, true, kept);
  Members members(run);
  members.Bring(way);
  EXPECT_TRUE(way.at_head()) << way.Describe();
  EXPECT_EQ(members.asked[PullKind::kState], 0u);
}

}  // namespace
}  // namespace ostraka::protocol::catch_up_test
