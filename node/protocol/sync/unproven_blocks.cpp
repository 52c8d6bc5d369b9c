#include "node/protocol/sync/unproven_blocks.h"

#include <utility>

#include "node/base/check.h"

namespace ostraka::protocol {

using base::Digest;
using base::PeerId;

void UnprovenBlocks::Add(const PeerId& from, const Digest& digest, std::uint64_t height,
                         const crypto::SharedBlob& encoded) {
  held_.try_emplace(digest, Held{height, encoded, {}}).first->second.from.insert(from);
  BoundThoseOf(from);
}

std::optional<std::uint64_t> UnprovenBlocks::AddSender(const PeerId& from, const Digest& digest) {
  const auto held = held_.find(digest);
  if (held == held_.end()) return std::nullopt;
  const std::uint64_t height = held->second.height;
  held->second.from.insert(from);
  BoundThoseOf(from);
  return height;
}

std::shared_ptr<const wire::Block> UnprovenBlocks::Find(const Digest& digest) const {
  const auto held = held_.find(digest);
  if (held == held_.end()) return nullptr;
  auto block = wire::DecodeBlock(held->second.encoded->data);
  OSTRAKA_CHECK(block.ok());  // as when it came
  return std::make_shared<const wire::Block>(*std::move(block));
}

void UnprovenBlocks::EraseIf(const std::function<bool(std::uint64_t)>& over) {
  std::erase_if(held_, [&](const auto& entry) { return over(entry.second.height); });
}

// U1. Drops the lowest blocks first: the newest is attested to soonest. A block that another member
// sent too stays on that member's account.
void UnprovenBlocks::BoundThoseOf(const PeerId& from) {
  while (true) {
    std::size_t count = 0;
    std::size_t bytes = 0;
    auto lowest = held_.end();
    for (auto it = held_.begin(); it != held_.end(); ++it) {
      if (!it->second.from.contains(from)) continue;
      ++count;
      bytes += it->second.encoded->data.size();
      if (lowest == held_.end() || it->second.height < lowest->second.height) lowest = it;
    }
    if (count <= kUnprovenBlocks && bytes <= kUnprovenBytes) return;
    lowest->second.from.erase(from);
    if (lowest->second.from.empty()) held_.erase(lowest);
  }
}

void UnprovenBlocks::HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, held_); }

}  // namespace ostraka::protocol
