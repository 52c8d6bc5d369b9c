#include "aggregation/kernels/sort_network.h"

#include <algorithm>

#include "node/base/check.h"

namespace ostraka::aggregation {
namespace {

std::vector<simd::Comparator> MergeExchange(std::size_t n) {
  std::vector<simd::Comparator> network;
  std::size_t top = 1;
  while (top < n) top *= 2;
  top /= 2;
  for (std::size_t p = top; p > 0; p /= 2) {
    std::size_t q = top;
    std::size_t r = 0;
    std::size_t d = p;
    while (true) {
      for (std::size_t i = 0; i + d < n; ++i) {
        if ((i & p) != r) continue;
        network.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i + d)});
      }
      if (q == p) break;
      d = q - p;
      q /= 2;
      r = p;
    }
  }
  return network;
}

}  // namespace

std::vector<simd::Comparator> SortNetwork(std::size_t n, std::size_t begin, std::size_t end) {
  OSTRAKA_CHECK(begin < end && end <= n);
  const std::vector<simd::Comparator> full = MergeExchange(n);
  std::vector<char> wanted(n, 0);
  std::fill(wanted.begin() + static_cast<std::ptrdiff_t>(begin),
            wanted.begin() + static_cast<std::ptrdiff_t>(end), 1);
  std::vector<simd::Comparator> kept;
  for (auto it = full.rbegin(); it != full.rend(); ++it) {
    simd::Comparator comparator = *it;
    comparator.keep_low = wanted[comparator.low] != 0;
    comparator.keep_high = wanted[comparator.high] != 0;
    if (!comparator.keep_low && !comparator.keep_high) continue;
    wanted[comparator.low] = wanted[comparator.high] = 1;
    kept.push_back(comparator);
  }
  std::reverse(kept.begin(), kept.end());
  return kept;
}

}  // namespace ostraka::aggregation
