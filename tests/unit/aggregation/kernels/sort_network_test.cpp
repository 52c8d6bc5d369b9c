#include "aggregation/kernels/sort_network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace ostraka::aggregation::sort_network_test {
namespace {

void Compare(const std::vector<simd::Comparator>& network, std::vector<int>& values) {
  for (const simd::Comparator& comparator : network) {
    const int low = std::min(values[comparator.low], values[comparator.high]);
    const int high = std::max(values[comparator.low], values[comparator.high]);
    // The network does not write a half that is not kept; -1000 makes sure that nobody reads it.
    values[comparator.low] = comparator.keep_low ? low : -1000;
    values[comparator.high] = comparator.keep_high ? high : 1000;
  }
}

// A network that sorts every sequence of zeros and ones sorts everything (Knuth, TAOCP 3, 5.3.4).
TEST(SortNetwork, SortsEverySequenceOfZerosAndOnes) {
  for (std::size_t n = 1; n <= 13; ++n) {
    for (std::size_t begin = 0; begin < n; ++begin) {
      for (const std::size_t end : {begin + 1, n}) {
        const auto network = SortNetwork(n, begin, end);
        for (unsigned bits = 0; bits < (1u << n); ++bits) {
          std::vector<int> values;
          for (std::size_t i = 0; i < n; ++i) values.push_back((bits >> i) & 1);
          std::vector<int> sorted = values;
          std::sort(sorted.begin(), sorted.end());
          Compare(network, values);
          ASSERT_TRUE(std::equal(values.begin() + static_cast<std::ptrdiff_t>(begin),
                                 values.begin() + static_cast<std::ptrdiff_t>(end),
                                 sorted.begin() + static_cast<std::ptrdiff_t>(begin)))
              << n << " " << begin << " " << end << " " << bits;
        }
      }
    }
  }
}

TEST(SortNetwork, OmitsComparisonsThatTheWantedRowsDoNotNeed) {
  EXPECT_EQ(SortNetwork(16, 0, 16).size(), 63u);
  EXPECT_LT(SortNetwork(16, 7, 9).size(), 63u);
  EXPECT_TRUE(SortNetwork(1, 0, 1).empty());
}

}  // namespace
}  // namespace ostraka::aggregation::sort_network_test
