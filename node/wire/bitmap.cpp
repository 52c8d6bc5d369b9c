#include "node/wire/bitmap.h"

#include <algorithm>
#include <cstdint>

namespace ostraka::wire {

bool HasBit(const base::Bytes& bitmap, std::size_t bit) {
  return bit / 8 < bitmap.size() && ((bitmap[bit / 8] >> (bit % 8)) & 1) != 0;
}

std::optional<std::vector<base::PeerId>> SendersOf(const base::Bytes& bitmap,
                                                   const std::vector<base::PeerId>& members) {
  if (bitmap.size() != (members.size() + 7) / 8) return std::nullopt;
  std::vector<base::PeerId> senders;
  for (std::size_t i = 0; i < bitmap.size() * 8; ++i) {
    if (!HasBit(bitmap, i)) continue;
    if (i >= members.size()) return std::nullopt;
    senders.push_back(members[i]);
  }
  return senders;
}

base::Bytes BitmapOf(const std::vector<base::PeerId>& senders,
                     const std::vector<base::PeerId>& members) {
  base::Bytes bitmap((members.size() + 7) / 8, 0);
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (std::find(senders.begin(), senders.end(), members[i]) == senders.end()) continue;
    bitmap[i / 8] = static_cast<std::uint8_t>(bitmap[i / 8] | 1U << (i % 8));
  }
  return bitmap;
}

}  // namespace ostraka::wire
