// Members that bring one back that was away, for tests of catch_up.h.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "node/protocol/sync/catch_up.h"
#include "tests/unit/protocol/member/whole/past_run.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol {

inline bool AllHear(const PeerId&) { return true; }

inline SharedBlob BytesOf(const Block& block) { return crypto::MakeBlob(wire::EncodeBlock(block)); }

inline void Attest(CatchUp& way, const Block& block, std::uint32_t members) {
  for (std::uint32_t i = 0; i < members; ++i) {
    way.OnAttest(scene::PeerNumber(i), HeightOf(block), wire::BlockDigest(block));
  }
}

// The slot of an answer about the state of `step`.
inline wire::Slot StateChunkOf(std::uint64_t step) {
  return {.run_id = {},
          .incarnation = 0,
          .step = step,
          .phase = wire::Phase::kC,
          .type = wire::MessageType::kChunk,
          .draw = 0,
          .iteration = 0};
}

// A block of a height of the run that is none of it.
inline Block ForgedBlock(const PastRun& run, std::uint64_t height, std::uint64_t number) {
  Block block = *run.head();
  block.step = height - 1;
  block.decision = scene::DigestOf(80'000 + number);
  return block;
}

// How one answers a request; an honest member by default.
using Answer = std::function<void(CatchUp&, const CatchUp::Request&)>;

class Members {
 public:
  explicit Members(const PastRun& run) : run_(run) {}

  std::map<std::uint32_t, Answer> liars;  // by number
  std::map<wire::PullKind, std::size_t> asked;

  void AnswerHonestly(CatchUp& way, const CatchUp::Request& request) const {
    switch (request.pull.kind) {
      case wire::PullKind::kFollow:
        way.OnBlock(request.to, *run_.head(), BytesOf(*run_.head()));
        Attest(way, *run_.head(), 5);
        return;
      case wire::PullKind::kBlock:
        for (std::uint64_t i = 0; i < request.pull.index && i <= request.step + 1; ++i) {
          const Block& block = *run_.blocks[request.step + 1 - i];
          way.OnBlock(request.to, block, BytesOf(block));
        }
        return;
      case wire::PullKind::kResult: {
        const SharedBlob& blob = run_.results[request.step][request.pull.index];
        if (blob != nullptr) way.OnResult(request.to, request.step, request.pull.index, blob);
        return;
      }
      case wire::PullKind::kState:
        return AnswerState(way, request);
      default:
        FAIL() << "asked for something else";
    }
  }

  // Until it is at the head, or for `rounds`. Asserts that what it applies is the run.
  void Bring(CatchUp& way, std::size_t rounds = 400) {
    for (std::size_t i = 0; i < rounds && !way.at_head(); ++i) {
      const std::vector<CatchUp::Request> requests = way.Wants(now_, AllHear);
      ASSERT_LE(requests.size(), kMaxRequests);
      for (const CatchUp::Request& request : requests) {
        ASSERT_NE(request.to, scene::PeerNumber(kSelf));
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
    const wire::Slot slot = StateChunkOf(step);
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

}  // namespace ostraka::protocol
