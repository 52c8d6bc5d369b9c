// Exact searches over subsets of rows, on distances alone.
//
// Both return the least subset in lexicographic order of its ascending indices among the best.
// Internal to aggregation. Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <vector>

#include "aggregation/shared/selection.h"
#include "node/base/status.h"

namespace ostraka::aggregation {

// The `size` rows whose largest distance is least. The graph of pairs farther apart than a
// threshold must have a vertex cover of n - size rows: bisection over the distances, branching on
// the row in most conflicts (a factor of at most 1.47 a dropped row).
// FailedPrecondition if that takes more than some ten million steps.
base::StatusOr<std::vector<std::size_t>> LeastDiameterSubset(const SymmetricMatrix& squares,
                                                             std::size_t size);

struct LeastVariance {
  std::vector<std::size_t> rows;
  double largest_eigenvalue = 0;  // of the covariance, sum of squares / size
};

// The `size` rows whose covariance has the least largest eigenvalue; values within 2^-40 of each
// other count as equal. Depth first over prefixes: leaving out rows can only lower the eigenvalue
// of the scatter, so a prefix that is already worse than the best is cut.
// FailedPrecondition if that takes more than some million steps.
base::StatusOr<LeastVariance> LeastVarianceSubset(const SymmetricMatrix& squares, std::size_t size);

}  // namespace ostraka::aggregation
