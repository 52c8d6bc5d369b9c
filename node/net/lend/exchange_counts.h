// What a node's status and report say of the chunks that members lend each other. Values only.
#pragma once

#include <cstdint>

namespace ostraka::net {

struct ExchangeCounts {
  std::uint64_t borrowed = 0;  // chunks
  std::uint64_t lent = 0;      // chunks that were queued for others
  bool operator==(const ExchangeCounts&) const = default;
};

}  // namespace ostraka::net
