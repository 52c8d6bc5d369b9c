// A member that is away catches up: whom it asks, for what, and how long it waits.
#include "node/protocol/sync/catch_up.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/unit/protocol/sync/members.h"

namespace ostraka::protocol::catch_up_asking_test {
namespace {

using scene::PeerNumber;
using wire::PullKind;

TEST(AskingTest, ARequestIsRepeatedToAnotherMemberAfterAWhile) {
  const PastRun run(4, 100);
  CatchUp way = run.From(2);
  const base::Time start{base::Seconds(5).ns};
  const auto first = way.Wants(start, AllHear);
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].pull.kind, PullKind::kFollow);
  EXPECT_EQ(way.wake(), start + kPatience);
  EXPECT_TRUE(way.Wants(start + base::Milliseconds(999), AllHear).empty());
  EXPECT_EQ(way.wake(), start + kPatience);
  std::set<PeerId> asked = {first[0].to};
  for (std::int64_t i = 1; i < 6; ++i) {
    const auto again = way.Wants(start + kPatience * i, AllHear);
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
    for (const CatchUp::Request& request : way.Wants(now, AllHear)) asked.insert(request.to);
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
    for (const CatchUp::Request& request : way.Wants(start, AllHear)) {
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
    for (const CatchUp::Request& request : way.Wants(now, AllHear)) {
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
  CatchUp way(PeerNumber(kSelf), run.layout, Codec::kRaw, run.blocks[0], run.states[0], true,
              base::Microseconds(100));  // a slow line brings 26 bytes meanwhile
  for (std::uint64_t height = 8; height > 0; --height) {
    way.OnBlock(PeerNumber(0), *run.blocks[height], BytesOf(*run.blocks[height]));
  }
  Attest(way, *run.blocks[8], 5);
  ASSERT_GT(ResultsOf(run, 4), kBulkRequests);
  EXPECT_EQ(way.Wants(base::Time{}, AllHear).size(), 1 + kBulkRequests);
}

// [A line of 1 MiB/s was asked for a result of 1.25 MB again after Delta / 2, and so on: the way
// took 260 s where the lines alone needed 7.]
TEST(AskingTest, AResultIsWaitedForAsLongAsASlowLineTakes) {
  const PastRun run(2, 10);
  const base::Duration patience = base::Microseconds(100);
  CatchUp way(PeerNumber(kSelf), run.layout, Codec::kRaw, run.blocks[0], run.states[0], true,
              patience);
  for (std::uint64_t height = 2; height > 0; --height) {
    way.OnBlock(PeerNumber(0), *run.blocks[height], BytesOf(*run.blocks[height]));
  }
  Attest(way, *run.blocks[2], 5);
  const auto results = [&](base::Time now) {
    const auto requests = way.Wants(now, AllHear);
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
  EXPECT_EQ(results(late + base::Microseconds(301)), 3);
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
  EXPECT_EQ(way.Wants(base::Time{}, AllHear).size(), 1 + ResultsOf(run, 4))
      << "the head, and results";
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
    std::vector<CatchUp::Request> asked = way.Wants(start, AllHear);
    std::erase_if(asked, [](const auto& r) { return r.pull.kind != PullKind::kState; });
    return asked;
  };
  const auto first = state_requests();
  ASSERT_EQ(first.size(), 1U);
  const wire::Slot slot = StateChunkOf(20);
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
  way.Wants(now, AllHear);
  for (std::uint32_t i = 0; i < 6; ++i) way.OnResult(PeerNumber(i), 0, 0, run.results[0][0]);
  const base::Duration most = kPatience + kPatience;
  std::size_t asked = 0;
  for (; now < base::Time{} + most; now = now + base::Milliseconds(200)) {
    for (std::uint32_t i = 0; i < 6; ++i) way.OnResult(PeerNumber(i), 0, 0, run.results[0][0]);
    for (const CatchUp::Request& request : way.Wants(now, AllHear)) {
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
    std::vector<CatchUp::Request> asked = way.Wants(start, AllHear);
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
    for (const CatchUp::Request& request : way.Wants(start, AllHear)) {
      asks = asks || request.pull.kind == PullKind::kBlock;
    }
    EXPECT_EQ(asks, height == 59) << "one request brings them all";
    show(height);
  }
  // The root in the block of step 50 is of the state after block 50.
  bool fetches = false;
  for (const CatchUp::Request& request : way.Wants(start + kPatience, AllHear)) {
    const bool of_chain = request.pull.kind == PullKind::kBlock && request.pull.index > 1;
    EXPECT_FALSE(of_chain) << "one block alone is compared with the genesis block (histories.h)";
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
}  // namespace ostraka::protocol::catch_up_asking_test
