#include "aggregation/shared/krum_scores.h"

#include <algorithm>
#include <cmath>

#include "node/base/check.h"

namespace ostraka::aggregation {

std::size_t KrumScore::NeighbourCount(std::size_t n, std::size_t f) const {
  const std::size_t others = n - 1;
  const std::size_t wanted = n > f + not_counted ? n - f - not_counted : 1;
  return std::min(others, wanted);
}

KrumScore KrumScoreOf(std::string_view variant) {
  using MultiCount = KrumScore::MultiCount;
  if (variant == "byzfl") return {2, 1, MultiCount::kAllButF};
  if (variant == "epfl") return {4, 2, MultiCount::kOne};
  if (variant == "byzmom") return {1, 1, MultiCount::kAllButFAndTwo};
  OSTRAKA_CHECK(variant == "paper");
  return {};
}

std::vector<double> KrumScores(const SymmetricMatrix& squares, std::span<const char> removed,
                               std::size_t neighbours, const KrumScore& score) {
  const std::size_t n = squares.size();
  const auto is_removed = [&](std::size_t i) { return !removed.empty() && removed[i] != 0; };
  std::vector<double> scores(n, 0.0);
  std::vector<double> near;
  for (std::size_t i = 0; i < n; ++i) {
    if (is_removed(i)) continue;
    near.clear();
    for (std::size_t j = 0; j < n; ++j) {
      if (j != i && !is_removed(j)) near.push_back(squares(i, j));
    }
    std::sort(near.begin(), near.end());
    for (std::size_t k = 0; k < std::min(neighbours, near.size()); ++k) {
      const double square = near[k];
      scores[i] += score.power == 2   ? square
                   : score.power == 1 ? std::sqrt(square)
                                      : square * square;
    }
  }
  return scores;
}

}  // namespace ostraka::aggregation
