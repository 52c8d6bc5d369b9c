// Eigenvalues and vectors of small symmetric matrices by cyclic Jacobi rotations: accurate and
// bit-identical on every machine, but slow for large matrices.
//
// Internal to aggregation. Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <vector>

namespace ostraka::aggregation {

struct TopEigen {
  double value = 0;
  std::vector<double> vector;  // of length 1
};

// The largest eigenvalue of a row-major n x n symmetric matrix, and one of its vectors: of equal
// eigenvalues, the first after the rotations. REQUIRES: n > 0, finite values.
TopEigen LargestEigen(std::size_t n, std::vector<double> matrix);

// True if every eigenvalue of the matrix is below `bound`, by Cholesky's factorisation of
// bound I - matrix.
bool AllEigenvaluesBelow(std::size_t n, const std::vector<double>& matrix, double bound);

}  // namespace ostraka::aggregation
