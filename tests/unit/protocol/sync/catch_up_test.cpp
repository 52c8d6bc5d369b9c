// The way back of one who was away: what it believes, from whom, and that liars cost it time only.
#include "node/protocol/sync/catch_up.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "node/wire/limits.h"
#include "tests/unit/protocol/member/whole/past_run.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol {
namespace {

using scene::DigestOf;
using scene::PeerNumber;
using wire::PullKind;

SharedBlob BytesOf(const Block& block) { return crypto::MakeBlob(wire::EncodeBlock(block)); }

void Attest(CatchUp& way, const Block& block, std::uint32_t members) {
  for (std::uint32_t i = 0; i < members; ++i) {
    way.OnAttest(PeerNumber(i), HeightOf(block), wire::BlockDigest(block));
  }
}

// How one answers a request; an honest member by default.
using Answer = std::function<void(CatchUp&, const CatchUp::Request&)>;

class Members {
 public:
  explicit Members(const PastRun& run) : run_(run) {}

  std::map<std::uint32_t, Answer> liars;  // by number
  std::map<PullKind, std::size_t> asked;

  void AnswerHonestly(CatchUp& way, const CatchUp::Request& request) const {
    switch (request.pull.kind) {
      case PullKind::kFollow:
        way.OnBlock(request.to, *run_.head(), BytesOf(*run_.head()));
        Attest(way, *run_.head(), 5);
        return;
      case PullKind::kBlock:
        for (std::uint64_t i = 0; i < request.pull.index && i <= request.step + 1; ++i) {
          const Block& block = *run_.blocks[request.step + 1 - i];
          way.OnBlock(request.to, block, BytesOf(block));
        }
        return;
      case PullKind::kResult: {
        const SharedBlob& blob = run_.results[request.step][request.pull.index];
        if (blob != nullptr) way.OnResult(request.to, request.step, request.pull.index, blob);
        return;
      }
      case PullKind::kState:
        return AnswerState(way, request);
      default:
        FAIL() << "asked for something else";
    }
  }

  // Until it is at the head, or for `rounds`. Asserts that what it applies is the run.
  void Bring(CatchUp& way, std::size_t rounds = 400) {
    for (std::size_t i = 0; i < rounds && !way.at_head(); ++i) {
      const std::vector<CatchUp::Request> requests = way.Wants(now_);
      ASSERT_LE(requests.size(), kMaxRequests);
      for (const CatchUp::Request& request : requests) {
        ASSERT_NE(request.to, PeerNumber(kSelf));
        ++asked[request.pull.kind];
        const auto liar = liars.find(NumberOf(request.to));
        (liar == liars.end() ? Answer([this](CatchUp& w, const auto& r) { AnswerHonestly(w, r); })
                             : liar->second)(way, request);
      }
      Take(way);
      ASSERT_TRUE(way.wake());
      if (requests.empty()) now_ = std::max(now_, *way.wake());
    }
  }

  std::uint64_t applied() const { return applied_; }
  std::uint64_t blocks_told() const { return blocks_told_; }

 private:
  static std::uint32_t NumberOf(const PeerId& peer) {
    return static_cast<std::uint32_t>(scene::NumbersOfPeers({peer}).front());
  }

  void AnswerState(CatchUp& way, const CatchUp::Request& request) const {
    const std::uint64_t step = request.step;
    const std::uint64_t index = request.pull.index;
    const wire::Slot slot{.run_id = {},
                          .incarnation = 0,
                          .step = step,
                          .phase = wire::Phase::kC,
                          .type = wire::MessageType::kChunk,
                          .draw = 0,
                          .iteration = 0};
    const std::vector<StatePiece> pieces = StatePieces(run_.layout, run_.states[0].slots.size());
    base::Bytes bytes;
    if (index == 0) {
      for (const Digest& leaf : StateLeaves(run_.states[step], run_.layout)) {
        bytes.insert(bytes.end(), leaf.bytes.begin(), leaf.bytes.end());
      }
    } else {
      bytes = PieceOf(run_.states[step], pieces[index - 1]);
    }
    way.OnState(request.to, slot, {step, index, pieces.size() + 1},
                crypto::MakeBlob(std::move(bytes)));
  }

  void Take(CatchUp& way) {
    for (const SharedBlock& block : way.TakeBlocks()) {
      EXPECT_EQ(wire::BlockDigest(*block), wire::BlockDigest(*run_.blocks[HeightOf(*block)]));
      ++blocks_told_;
    }
    if (const auto state = way.TakeState()) ExpectState(*state->first, state->second);
    while (const auto next = way.Next()) {
      const std::uint64_t step = next->block->step;
      ASSERT_EQ(next->results.size(), run_.results[step].size());
      for (std::size_t j = 0; j < next->results.size(); ++j) {
        const SharedBlob& expected = run_.results[step][j];
        ASSERT_EQ(next->results[j] == nullptr, expected == nullptr);
        if (expected != nullptr) {
          EXPECT_EQ(next->results[j]->root, expected->root);
        }
      }
      ++applied_;
      way.Applied(next->block, run_.states[step + 1]);
    }
  }

  void ExpectState(const Block& block, const ModelState& state) {
    const ModelState& expected = run_.states[HeightOf(block)];
    EXPECT_EQ(*state.parameters, *expected.parameters);
    ASSERT_EQ(SlotNamesOf(state), SlotNamesOf(expected));
    for (std::size_t k = 0; k < state.slots.size(); ++k) {
      EXPECT_EQ(*state.slots[k].values, *expected.slots[k].values);
    }
  }

  const PastRun& run_;
  base::Time now_;
  std::uint64_t applied_ = 0;
  std::uint64_t blocks_told_ = 0;
};

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

Block ForgedBlock(const PastRun& run, std::uint64_t height, std::uint64_t number) {
  Block block = *run.head();
  block.step = height - 1;
  block.decision = DigestOf(80'000 + number);
  return block;
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

// --- liars ---------------------------------------------------------------------------------------

TEST(LiarTest, SilenceCostsTimeOnly) {
  const PastRun run(60, 10);
  CatchUp way = run.From(0);
  Members members(run);
  for (std::uint32_t i = 0; i < 5; ++i) members.liars[i] = [](CatchUp&, const auto&) {};
  members.Bring(way);
  EXPECT_TRUE(way.at_head()) << way.Describe();
}

TEST(LiarTest, WrongBlocksPiecesAndResultsAreAskedForAgain) {
  const PastRun run(60, 10);
  CatchUp way = run.From(0);
  Members members(run);
  std::uint64_t number = 0;
  const Answer lie = [&](CatchUp& w, const CatchUp::Request& request) {
    const wire::Slot slot{.run_id = {},
                          .incarnation = 0,
                          .step = request.step,
                          .phase = wire::Phase::kC,
                          .type = wire::MessageType::kChunk,
                          .draw = 0,
                          .iteration = 0};
    const std::uint64_t index = request.pull.index;
    switch (request.pull.kind) {
      case PullKind::kFollow:
        for (std::uint64_t height : {std::uint64_t{61}, ~std::uint64_t{0}}) {
          const Block forged = ForgedBlock(run, height, number++);
          w.OnBlock(request.to, forged, BytesOf(forged));
          w.OnAttest(PeerNumber(0), height, wire::BlockDigest(forged));
          w.OnAttest(PeerNumber(1), height, wire::BlockDigest(forged));
        }
        return;
      case PullKind::kBlock: {
        const Block forged = ForgedBlock(run, request.step + 1, number++);
        return w.OnBlock(request.to, forged, BytesOf(forged));
      }
      case PullKind::kState:
        w.OnState(request.to, slot, {request.step, index, 3}, FloatBlob(1, 30));
        w.OnState(request.to, slot, {request.step, index, 3}, crypto::MakeBlob({}));
        w.OnState(request.to, slot, {request.step, ~std::uint64_t{0}, 3}, FloatBlob(1, 30));
        return w.OnState(request.to, slot, {request.step, 0, 3},
                         crypto::MakeBlob(base::Bytes(4 * 32, 7)));
      default:
        w.OnResult(request.to, request.step, index, FloatBlob(123, 20));
        w.OnResult(request.to, request.step, 1 - index, FloatBlob(123, 20));
        w.OnResult(request.to, request.step, ~std::uint64_t{0}, FloatBlob(123, 20));
        w.OnResult(request.to, ~std::uint64_t{0}, index, FloatBlob(123, 20));
        return w.OnResult(request.to, request.step, index, crypto::MakeBlob({}));
    }
  };
  members.liars = {{0, lie}, {1, lie}};
  members.Bring(way);
  EXPECT_TRUE(way.at_head()) << way.Describe();
  EXPECT_EQ(HeightOf(*way.view()), 60u);
}

// A sealed root over NaNs cannot be, for no block applies such a result.
TEST(LiarTest, WhoSentAFalsePartOfAStateIsTold) {
  const PastRun run(60, 10);
  CatchUp way = run.From(0);
  Members members(run);
  std::set<PeerId> lied;
  const Answer lie = [&](CatchUp& w, const CatchUp::Request& request) {
    if (request.pull.kind != PullKind::kState) return members.AnswerHonestly(w, request);
    const wire::Slot slot{.run_id = {},
                          .incarnation = 0,
                          .step = request.step,
                          .phase = wire::Phase::kC,
                          .type = wire::MessageType::kChunk,
                          .draw = 0,
                          .iteration = 0};
    for (int i = 0; i < 3; ++i) {
      w.OnState(request.to, slot, {request.step, request.pull.index, 5}, FloatBlob(1, 30));
    }
    lied.insert(request.to);
  };
  for (std::uint32_t i = 0; i < 5; ++i) members.liars[i] = lie;
  members.Bring(way);
  EXPECT_TRUE(way.at_head()) << way.Describe();
  const auto told = way.TakeLiars();
  std::set<PeerId> named;
  for (const auto& [liar, step] : told) {
    EXPECT_EQ(step, 50u);
    named.insert(liar);
  }
  EXPECT_EQ(named, lied);
  EXPECT_EQ(named.size(), 5u);
  EXPECT_TRUE(way.TakeLiars().empty());
}

TEST(LiarTest, AResultOfNansIsNoneEvenUnderItsRoot) {
  PastRun run(3, 100);
  const SharedBlob nans = FloatBlob(std::numeric_limits<float>::quiet_NaN(), 20);
  Block block = *run.blocks[3];
  block.result_roots[0] = nans->root;
  CatchUp way = run.From(2);
  way.OnBlock(PeerNumber(0), block, BytesOf(block));
  Attest(way, block, 3);
  way.OnResult(PeerNumber(0), 2, 0, nans);
  EXPECT_FALSE(way.Next());
}

// --- asking --------------------------------------------------------------------------------------

TEST(AskingTest, ARequestIsRepeatedToAnotherMemberAfterAWhile) {
  const PastRun run(4, 100);
  CatchUp way = run.From(2);
  const base::Time start{base::Seconds(5).ns};
  const auto first = way.Wants(start);
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].pull.kind, PullKind::kFollow);
  EXPECT_EQ(way.wake(), start + kPatience);
  EXPECT_TRUE(way.Wants(start + base::Milliseconds(999)).empty());
  EXPECT_EQ(way.wake(), start + kPatience);
  std::set<PeerId> asked = {first[0].to};
  for (std::int64_t i = 1; i < 6; ++i) {
    const auto again = way.Wants(start + kPatience * i);
    ASSERT_EQ(again.size(), 1u);
    asked.insert(again[0].to);
  }
  EXPECT_EQ(asked.size(), 6u) << "all but itself";
}

// Blocks come one by one. Each that came was one more question once, for thirty-two blocks of which
// thirty-one were on their way.
// Whom `run`'s member kSelf asks while it catches up and nobody answers with more than the head.
std::set<PeerId> AskedFor(const PastRun& run) {
  CatchUp way = run.From(2);
  way.OnBlock(PeerNumber(0), *run.head(), BytesOf(*run.head()));
  Attest(way, *run.head(), 5);
  std::set<PeerId> asked;
  base::Time now;
  for (int round = 0; round < 30; ++round, now = now + kPatience) {
    for (const CatchUp::Request& request : way.Wants(now)) asked.insert(request.to);
  }
  return asked;
}

// One that only dials has no link with another such member, and bulk data is carried by nobody.
TEST(AskingTest, WhoOnlyDialsAsksThoseThatCanBeDialed) {
  const SlotNames slots = {"velocity"};
  const PastRun run(30, 10, {{"w", {30}}, {"b", {10}}}, slots, {0, 3, kSelf});
  EXPECT_EQ(AskedFor(run),
            (std::set<PeerId>{PeerNumber(1), PeerNumber(2), PeerNumber(4), PeerNumber(5)}));
  const PastRun others(30, 10, {{"w", {30}}, {"b", {10}}}, slots, {0, 3});
  EXPECT_EQ(AskedFor(others).size(), kMemberCount - 1) << "one that can be dialed asks all";
}

TEST(AskingTest, WhenAllOnlyDialAllAreAsked) {
  const PastRun run(30, 10, {{"w", {30}}, {"b", {10}}}, {"velocity"}, {0, 1, 2, 3, 4, 5, kSelf});
  EXPECT_EQ(AskedFor(run).size(), kMemberCount - 1);
}

TEST(AskingTest, ABlockIsAskedForOnceWhileAnswersCome) {
  const PastRun run(100, 200);
  CatchUp way = run.From(0);
  const base::Time start;
  way.OnBlock(PeerNumber(0), *run.head(), BytesOf(*run.head()));
  Attest(way, *run.head(), 3);
  std::vector<std::uint64_t> asked_from;  // heights, downwards
  for (std::uint64_t height = 99; height > 0; --height) {
    for (const CatchUp::Request& request : way.Wants(start)) {
      if (request.pull.kind == PullKind::kBlock) asked_from.push_back(request.step + 1);
    }
    way.OnBlock(PeerNumber(0), *run.blocks[height], BytesOf(*run.blocks[height]));
  }
  EXPECT_EQ(asked_from, (std::vector<std::uint64_t>{99, 67, 35, 3}));
}

TEST(AskingTest, TheRestOfAnAnswerThatStopsIsAskedOfTheNextMember) {
  const PastRun run(60, 200);
  CatchUp way = run.From(0);
  const base::Time start;
  way.OnBlock(PeerNumber(0), *run.head(), BytesOf(*run.head()));
  Attest(way, *run.head(), 3);
  const auto block_request = [&](base::Time now) -> std::optional<CatchUp::Request> {
    for (const CatchUp::Request& request : way.Wants(now)) {
      if (request.pull.kind == PullKind::kBlock) return request;
    }
    return std::nullopt;
  };
  const auto first = block_request(start);
  ASSERT_TRUE(first);
  for (const std::uint64_t height : {59, 58, 57}) {
    way.OnBlock(first->to, *run.blocks[height], BytesOf(*run.blocks[height]));
  }
  // The wait begins anew with what has come, and is a quarter of that for a single answer.
  const base::Time came = start + base::Milliseconds(200);
  EXPECT_FALSE(block_request(came));
  EXPECT_FALSE(block_request(came + base::Milliseconds(249)));
  const auto second = block_request(came + base::Milliseconds(250));
  ASSERT_TRUE(second);
  EXPECT_EQ(second->step + 1, 56U);
  EXPECT_NE(second->to, first->to);
}

// What an old way still waited for must not use up the requests of the new one.
TEST(AskingTest, RequestsOfAWayThatIsOverMakeRoom) {
  const PastRun run(300, 10);
  CatchUp way = run.From(0);
  Members members(run);
  bool deaf = true;  // to questions for blocks far down
  for (std::uint32_t i = 0; i < kMemberCount; ++i) {
    members.liars[i] = [&](CatchUp& w, const CatchUp::Request& request) {
      const bool deep = request.pull.kind == PullKind::kBlock && request.step < 250;
      if (!deaf || !deep) members.AnswerHonestly(w, request);
    };
  }
  members.Bring(way);
  EXPECT_TRUE(way.at_head()) << way.Describe();
  EXPECT_EQ(HeightOf(*way.view()), 300u);
}

// Of the first `blocks`.
std::size_t ResultsOf(const PastRun& run, std::uint64_t blocks) {
  std::size_t results = 0;
  for (std::uint64_t step = 0; step < blocks; ++step) {
    for (const SharedBlob& result : run.results[step]) results += result != nullptr ? 1 : 0;
  }
  return results;
}

// More at a time would take longer over a slow line than they are waited for.
TEST(AskingTest, LargeResultsAreAskedForAFewAtATime) {
  const PastRun run(8, 10);
  CatchUp way(PeerNumber(kSelf), run.layout, run.blocks[0], run.states[0], true,
              base::Microseconds(100));  // a slow line brings 26 bytes meanwhile
  for (std::uint64_t height = 8; height > 0; --height) {
    way.OnBlock(PeerNumber(0), *run.blocks[height], BytesOf(*run.blocks[height]));
  }
  Attest(way, *run.blocks[8], 5);
  ASSERT_GT(ResultsOf(run, 4), kBulkRequests);
  EXPECT_EQ(way.Wants(base::Time{}).size(), 1 + kBulkRequests);
}

// [A line of 1 MiB/s was asked for a result of 1.25 MB again after Delta / 2, and so on: the way
// took 260 s where the lines alone needed 7.]
TEST(AskingTest, AResultIsWaitedForAsLongAsASlowLineTakes) {
  const PastRun run(2, 10);
  const base::Duration patience = base::Microseconds(100);
  CatchUp way(PeerNumber(kSelf), run.layout, run.blocks[0], run.states[0], true, patience);
  for (std::uint64_t height = 2; height > 0; --height) {
    way.OnBlock(PeerNumber(0), *run.blocks[height], BytesOf(*run.blocks[height]));
  }
  Attest(way, *run.blocks[2], 5);
  const auto results = [&](base::Time now) {
    const auto requests = way.Wants(now);
    return std::count_if(requests.begin(), requests.end(), [](const CatchUp::Request& request) {
      return request.pull.kind == PullKind::kResult;
    });
  };
  const base::Time start;
  EXPECT_EQ(results(start), 4);
  EXPECT_EQ(results(start + base::Microseconds(99)), 0);
  const base::Time late = start + patience;
  EXPECT_EQ(results(late), 4) << "nobody has shown how long it takes";
  const auto give = [&](std::uint64_t step, std::uint64_t column, base::Time now) {
    for (std::uint32_t i = 0; i < 6; ++i) {
      way.OnResult(PeerNumber(i), step, column, run.results[step][column]);
    }
    return results(now);
  };
  EXPECT_EQ(give(0, 0, late + base::Microseconds(99)), 0) << "they were asked 199 us ago";
  EXPECT_EQ(results(late + base::Microseconds(101)), 0) << "now it is known that they take so long";
  EXPECT_EQ(results(late + base::Microseconds(201)), 3);
}

// A short way became a long one while nobody answered for results, which nobody keeps any more.
TEST(AskingTest, ResultsThatNobodyGaveMakeRoomForAState) {
  const PastRun run(60, 10);
  CatchUp way = run.From(0);
  Members members(run);
  for (std::uint32_t i = 0; i < kMemberCount; ++i) {
    members.liars[i] = [&](CatchUp& w, const CatchUp::Request& request) {
      const bool old = request.pull.kind == PullKind::kResult && request.step < 10;
      if (!old) members.AnswerHonestly(w, request);
    };
  }
  for (std::uint64_t height = 8; height > 0; --height) {
    way.OnBlock(PeerNumber(0), *run.blocks[height], BytesOf(*run.blocks[height]));
  }
  Attest(way, *run.blocks[8], 5);
  EXPECT_EQ(way.Wants(base::Time{}).size(), 1 + ResultsOf(run, 4)) << "the head, and results";
  members.Bring(way);
  EXPECT_TRUE(way.at_head()) << way.Describe();
  EXPECT_EQ(HeightOf(*way.view()), 60u);
}

// A piece that nobody asked a liar for says nothing of the request: each false one would bring the
// piece once more, from the next member.
TEST(AskingTest, AFalseAnswerCountsOnlyFromTheMemberThatWasAsked) {
  const PastRun run(21, 10);
  CatchUp way = run.From(20, false);
  const base::Time start;
  way.OnBlock(PeerNumber(0), *run.head(), BytesOf(*run.head()));
  Attest(way, *run.head(), 3);
  const auto state_requests = [&] {
    std::vector<CatchUp::Request> asked = way.Wants(start);
    std::erase_if(asked, [](const auto& r) { return r.pull.kind != PullKind::kState; });
    return asked;
  };
  const auto first = state_requests();
  ASSERT_EQ(first.size(), 1U);
  const wire::Slot slot{.step = 20, .phase = wire::Phase::kC, .type = wire::MessageType::kChunk};
  const PeerId other = first[0].to == PeerNumber(1) ? PeerNumber(2) : PeerNumber(1);
  for (int i = 0; i < 100; ++i) {
    way.OnState(other, slot, {20, 0, 5}, FloatBlob(1, 8));
    way.OnState(other, slot, {20, 0, 5}, crypto::MakeBlob({}));
    EXPECT_TRUE(state_requests().empty());
  }
  way.OnState(first[0].to, slot, {20, 0, 5}, FloatBlob(1, 8));
  const auto second = state_requests();
  ASSERT_EQ(second.size(), 1U) << "at once";
  EXPECT_NE(second[0].to, first[0].to);
  EXPECT_TRUE(state_requests().empty());
  Members members(run);
  members.Bring(way);
  EXPECT_TRUE(way.at_head()) << way.Describe();
}

// Attack: a result that is here already, again and again.
TEST(AskingTest, ACopyOfAResultIsNoWork) {
  const PastRun run(2, 10);
  CatchUp way = run.From(0);
  for (std::uint64_t height = 2; height > 0; --height) {
    way.OnBlock(PeerNumber(0), *run.blocks[height], BytesOf(*run.blocks[height]));
  }
  Attest(way, *run.blocks[2], 5);
  base::Time now;
  way.Wants(now);
  for (std::uint32_t i = 0; i < 6; ++i) way.OnResult(PeerNumber(i), 0, 0, run.results[0][0]);
  const base::Duration most = kPatience + kPatience;
  std::size_t asked = 0;
  for (; now < base::Time{} + most; now = now + base::Milliseconds(200)) {
    for (std::uint32_t i = 0; i < 6; ++i) way.OnResult(PeerNumber(i), 0, 0, run.results[0][0]);
    for (const CatchUp::Request& request : way.Wants(now)) {
      asked += request.pull.kind == PullKind::kResult ? 1 : 0;
    }
  }
  EXPECT_GE(asked, 3u) << "each of the other three goes to another member";
}

TEST(AskingTest, AFalseResultCountsOnlyFromTheMemberThatWasAsked) {
  const PastRun run(4, 100);
  CatchUp way = run.From(3);
  const base::Time start;
  way.OnBlock(PeerNumber(0), *run.head(), BytesOf(*run.head()));
  Attest(way, *run.head(), 3);
  const auto result_requests = [&] {
    std::vector<CatchUp::Request> asked = way.Wants(start);
    std::erase_if(asked, [](const auto& r) { return r.pull.kind != PullKind::kResult; });
    return asked;
  };
  const auto first = result_requests();
  ASSERT_EQ(first.size(), 2U);
  const std::uint64_t column = first[0].pull.index;
  const PeerId other = first[0].to == PeerNumber(1) ? PeerNumber(2) : PeerNumber(1);
  way.OnResult(other, 3, column, FloatBlob(123, 20));
  EXPECT_TRUE(result_requests().empty());
  way.OnResult(first[0].to, 3, column, FloatBlob(123, 20));
  const auto second = result_requests();
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(second[0].pull.index, column);
  EXPECT_NE(second[0].to, first[0].to);
}

// What lies below the state that is fetched is of no use any more, and a long way is thousands of
// blocks.
TEST(AskingTest, BlocksBelowTheFetchedStateAreNeitherAskedForNorKept) {
  const PastRun run(60, 10);
  CatchUp way = run.From(0);
  const auto show = [&](std::uint64_t height) {
    way.OnBlock(PeerNumber(0), *run.blocks[height], BytesOf(*run.blocks[height]));
  };
  show(60);
  Attest(way, *run.head(), 3);
  const base::Time start;
  for (std::uint64_t height = 59; height >= 50; --height) {
    bool asks = false;
    for (const CatchUp::Request& request : way.Wants(start)) {
      asks = asks || request.pull.kind == PullKind::kBlock;
    }
    EXPECT_EQ(asks, height == 59) << "one request brings them all";
    show(height);
  }
  // The root in the block of step 50 is of the state after block 50.
  bool fetches = false;
  for (const CatchUp::Request& request : way.Wants(start + kPatience)) {
    EXPECT_NE(request.pull.kind, PullKind::kBlock);
    fetches = fetches || request.pull.kind == PullKind::kState;
  }
  EXPECT_TRUE(fetches);
  for (std::uint64_t height = 49; height > 0; --height) show(height);
  EXPECT_TRUE(way.TakeBlocks().empty()) << "the chain ends at block 50";
  EXPECT_EQ(way.unproven_count(), 0U);
  Members members(run);
  members.Bring(way);
  EXPECT_TRUE(way.at_head()) << way.Describe();
  EXPECT_EQ(members.applied(), 10U);
}

// All links were down while as many pieces were asked for as are at a time.
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
  EXPECT_EQ(way.Describe(),
            "at block 0 of 82, 0 of 4 pieces of the state of step 80 (earlier ones did not come in "
            "the 16 steps for which members keep them: 1; this run needs a faster line)");
}

TEST(AskingTest, PiecesThatNobodyHeardOfAreAskedForAgain) {
  base::TensorLayout tensors;  // two pieces each, of the parameters and of the velocity
  for (int i = 0; i < 10; ++i) tensors.push_back({"w" + std::to_string(i), {4}});
  const PastRun run(60, 10, tensors);
  ASSERT_GT(StatePieces(run.layout, 1).size(), kPieceRequests + 2);
  CatchUp way = run.From(0);
  Members members(run);
  std::size_t lost = 0;
  for (std::uint32_t i = 0; i < kMemberCount; ++i) {
    members.liars[i] = [&](CatchUp& w, const CatchUp::Request& request) {
      const bool piece = request.pull.kind == PullKind::kState && request.pull.index > 0;
      if (piece && lost++ < kPieceRequests + 2) return;
      members.AnswerHonestly(w, request);
    };
  }
  members.Bring(way);
  EXPECT_TRUE(way.at_head()) << way.Describe();
}

}  // namespace
}  // namespace ostraka::protocol
