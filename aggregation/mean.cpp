#include "aggregation/mean.h"

#include "aggregation/checks.h"
#include "aggregation/passes.h"
#include "node/base/check.h"

namespace ostraka::aggregation {

base::Status Mean::Aggregate(const Rows& rows, const Executor& executor,
                             std::span<float> out) const {
  OSTRAKA_CHECK(out.size() == rows.dimension);
  RETURN_IF_ERROR(CheckShape(rows));
  // One pass when all is well; a second one only to name what is wrong.
  if (Passes(rows, executor, kernels_).Mean(out.data())) return base::OkStatus();
  return CheckRows(rows, executor);
}

}  // namespace ostraka::aggregation
