#include "node/wire/aggregated_codec.h"

#include <algorithm>
#include <set>

#include "node/base/check.h"
#include "node/wire/canonical.h"

namespace ostraka::wire::internal {
namespace {

std::vector<PeerId> AllSenders(const std::vector<Block::Column>& columns) {
  // Shortcut: most columns have equal senders.
  std::set<PeerId> all;
  const std::vector<PeerId>* last = nullptr;
  for (const Block::Column& column : columns) {
    if (last != nullptr && column.senders == *last) continue;
    all.insert(column.senders.begin(), column.senders.end());
    last = &column.senders;
  }
  return {all.begin(), all.end()};
}

// Bit i is set if all[i] is in `some`. Empty if `some` is empty. REQUIRES: `all` is sorted and
// contains all of `some`.
Bytes BitmapOver(const std::vector<PeerId>& all, const std::vector<PeerId>& some) {
  if (some.empty()) return {};
  OSTRAKA_CHECK(std::adjacent_find(some.begin(), some.end(), std::greater_equal<>()) == some.end());
  Bytes bits((all.size() + 7) / 8);
  auto next = some.begin();
  for (std::size_t i = 0; i < all.size() && next != some.end(); ++i) {
    if (all[i] != *next) continue;
    bits[i / 8] |= static_cast<std::uint8_t>(1 << i % 8);
    ++next;
  }
  return bits;
}

// Refuses set bits beyond `all`: they would be padding, which the canonical form does not allow.
base::Status ReadIncluded(capnp::Data::Reader bits, const std::vector<PeerId>& all,
                          std::vector<PeerId>& out) {
  if (bits.size() == 0) return base::OkStatus();
  if (bits.size() != (all.size() + 7) / 8) return Refuse("included", "a bit a sender");
  const auto is_set = [&](std::size_t i) { return (bits[i / 8] >> i % 8 & 1) != 0; };
  std::size_t count = 0;
  for (std::size_t i = 0; i < all.size(); ++i) count += is_set(i) ? 1 : 0;
  out.reserve(count);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (is_set(i)) out.push_back(all[i]);
  }
  return base::OkStatus();
}

}  // namespace

void WriteAggregated(const std::vector<Block::Column>& columns, schema::Block::Builder root) {
  const std::vector<PeerId> senders = AllSenders(columns);
  if (!senders.empty()) root.setSenders(AsData(senders));
  WriteList(
      columns, [&](unsigned size) { return root.initAggregated(size); },
      [&](const Block::Column& column, schema::AggregatedColumn::Builder item) {
        item.setOwner(AsData(column.owner));
        const Bytes included = BitmapOver(senders, column.senders);
        if (!included.empty()) item.setIncluded(AsData(included));
      });
}

base::Status ReadAggregated(schema::Block::Reader root, std::vector<Block::Column>& out) {
  std::vector<PeerId> senders;
  RETURN_IF_ERROR(ReadPeers(root.getSenders(), "senders", senders));
  const auto read = [&](schema::AggregatedColumn::Reader item, Block::Column& column) {
    RETURN_IF_ERROR(ReadId(item.getOwner(), "owner", column.owner));
    return ReadIncluded(item.getIncluded(), senders, column.senders);
  };
  return ReadList(root.getAggregated(), "aggregated", kMaxParts, out, read);
}

}  // namespace ostraka::wire::internal
