// Exact searches over subsets of rows, on distances alone.
//
// Ties between best subsets: the lexicographically least sequence of ascending indices. Internal to
// aggregation. Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <vector>

#include "aggregation/shared/selection.h"
#include "node/base/status.h"

namespace ostraka::aggregation {

// The `size` rows with the least largest distance. The graph of pairs farther apart than a
// threshold must have a vertex cover of n - size rows. The search bisects over the distances and
// branches on the row with most conflicts (a factor of at most 1.47 per dropped row).
// FailedPrecondition if that takes more than some ten million steps.
base::StatusOr<std::vector<std::size_t>> LeastDiameterSubset(const SymmetricMatrix& squares,
                                                             std::size_t size);

struct LeastVariance {
  std::vector<std::size_t> rows;
  double largest_eigenvalue = 0;  // of the covariance, sum of squares / size
};

// The `size` rows whose covariance has the least largest eigenvalue; values within 2^-40 of each
// other count as equal. Depth first over prefixes: removing rows can only lower the eigenvalue of
// the scatter, so a prefix that is already worse than the best is cut. FailedPrecondition if that
// takes more than some million steps.
base::StatusOr<LeastVariance> LeastVarianceSubset(const SymmetricMatrix& squares, std::size_t size);

}  // namespace ostraka::aggregation
