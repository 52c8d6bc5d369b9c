// Checks that rules share. Internal to aggregation.
#pragma once

#include "aggregation/kernels/rows.h"

namespace ostraka::aggregation {

// InvalidArgument unless n > 0, d > 0 and no row pointer is null. Reads no value.
base::Status CheckShape(const Rows& rows);
base::Status CheckShape(const DoubleRows& rows);

// InvalidArgument if one of `dimension` values violates the conditions of CheckRows.
base::Status CheckReferenceValues(const float* reference, std::size_t dimension);
base::Status CheckReferenceValues(const double* reference, std::size_t dimension);

}  // namespace ostraka::aggregation
