// A member that is away catches up: liars cost it time only.
#include "node/protocol/sync/catch_up.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "tests/unit/protocol/sync/members.h"

namespace ostraka::protocol::catch_up_liars_test {
namespace {

using scene::PeerNumber;
using wire::PullKind;

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
    const wire::Slot slot = StateChunkOf(request.step);
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

TEST(LiarTest, WhoSentAFalsePartOfAStateIsTold) {
  const PastRun run(60, 10);
  CatchUp way = run.From(0);
  Members members(run);
  std::set<PeerId> lied;
  const Answer lie = [&](CatchUp& w, const CatchUp::Request& request) {
    if (request.pull.kind != PullKind::kState) return members.AnswerHonestly(w, request);
    const wire::Slot slot = StateChunkOf(request.step);
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

// A sealed root over NaNs cannot be, for no block applies such a result.
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

}  // namespace
}  // namespace ostraka::protocol::catch_up_liars_test
