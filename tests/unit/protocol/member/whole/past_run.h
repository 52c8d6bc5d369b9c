// A run of the past, as those know it who took part, for one who was away.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "node/protocol/sync/catch_up.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol {

inline constexpr std::uint32_t kMemberCount = 7;  // two faults are borne, so three must vouch
inline constexpr std::uint32_t kSelf = 6;
inline constexpr std::uint32_t kColumns = 2;
inline constexpr base::Duration kPatience = base::Seconds(1);

inline SharedBlob FloatBlob(float value, std::size_t count) {
  const std::vector<float> values(count, value);
  const base::ByteView bytes = base::AsBytes(std::span(values));
  return crypto::MakeBlob({bytes.begin(), bytes.end()});
}

// A run as its honest members know it: blocks, what each applied, and the state after each.
class PastRun {
 public:
  // Every `root_every`-th step seals the root of the state that it started from. `dialers`: by
  // number, the members that only dial. REQUIRES: `tensors` have 40 elements.
  PastRun(std::uint64_t height, std::uint64_t root_every,
          base::TensorLayout tensors = {{"w", {30}}, {"b", {10}}}, SlotNames slots = {"velocity"},
          const std::vector<std::uint32_t>& dialers = {})
      : layout(std::move(tensors)), slots_(std::move(slots)) {
    Block genesis = scene::ViewBefore(scene::ManifestOf(kMemberCount), 1);
    genesis.genesis = true;
    for (const std::uint32_t number : dialers) {
      genesis.reach.push_back({scene::PeerNumber(number), true, 0});
    }
    blocks.push_back(std::make_shared<const Block>(genesis));
    states.push_back(StateAt(0));
    for (std::uint64_t step = 0; step < height; ++step) {
      Block block = genesis;
      block.genesis = false;
      block.step = step;
      block.previous = wire::BlockDigest(*blocks.back());
      block.decision = scene::DigestOf(5000 + step);
      // The second column of every third step is void.
      const bool is_void = step % 3 == 2;
      block.columns = {wire::ColumnFate::kApplied,
                       is_void ? wire::ColumnFate::kSumCheck : wire::ColumnFate::kApplied};
      std::vector<SharedBlob> own = {FloatBlob(static_cast<float>(step), 20),
                                     is_void ? nullptr : FloatBlob(-static_cast<float>(step), 20)};
      block.result_roots = {own[0]->root, is_void ? Digest{} : own[1]->root};
      if (step % root_every == 0) block.state_root = StateRoot(states.back(), layout);
      blocks.push_back(std::make_shared<const Block>(std::move(block)));
      results.push_back(std::move(own));
      states.push_back(StateAt(step + 1));
    }
  }

  // One step more, which closes the run and seals its last state.
  void Close() {
    Block block = *blocks.back();
    block.step = blocks.back()->step + 1;
    block.previous = wire::BlockDigest(*blocks.back());
    block.decision = scene::DigestOf(5000 + block.step);
    block.closing = 2;
    block.columns.clear();
    block.result_roots.clear();
    block.state_root = StateRoot(states.back(), layout);
    blocks.push_back(std::make_shared<const Block>(std::move(block)));
    results.emplace_back();
    states.push_back(states.back());
  }

  CatchUp From(std::uint64_t height, bool trust_state = true,
               std::optional<StateParts> kept = std::nullopt) const {
    return CatchUp(scene::PeerNumber(kSelf), layout, Codec::kRaw, blocks[height], states[height],
                   trust_state, kPatience, std::move(kept));
  }
  const SharedBlock& head() const { return blocks.back(); }

  const base::TensorLayout layout;
  std::vector<SharedBlock> blocks;               // by height
  std::vector<ModelState> states;                // after the block of that height
  std::vector<std::vector<SharedBlob>> results;  // by step

 private:
  ModelState StateAt(std::uint64_t height) const {
    float value = static_cast<float>(height);
    ModelState state{std::make_shared<const std::vector<float>>(40, value), {}};
    for (const std::string& slot : slots_) {
      value = -value - 1;
      state.slots.push_back({slot, std::make_shared<const std::vector<float>>(40, value)});
    }
    return state;
  }

  SlotNames slots_;
};

}  // namespace ostraka::protocol
